"""Validation of game factories: functions that make a `Game` from parameters."""

import inspect
import re
from collections.abc import Callable
from typing import Any

from ludoteca.envs.game import Game, unique

NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def check_game_factory(factory: Any, what: str) -> Callable[..., Game]:
    """Return a factory of games that always returns the same game for the same parameters.

    It is `factory` itself if that is marked `@unique`, and else `unique(factory)`.

    Args:
        factory: the object to validate. It is called with default parameters.
        what: its name in messages, such as `"mygames:dots_and_boxes"`.

    Raises:
        TypeError: if it is not a function, or returns anything but a `Game`.
        ValueError: if its parameters, or those of its game, are invalid.
    """
    if isinstance(factory, Game | type) or not callable(factory):
        kind = "a game, not a function that returns it" if isinstance(factory, Game) else "not one"
        raise TypeError(
            f"{what} must be a factory, a function that returns a Game; it is {kind}: "
            f"{factory!r:.80}"
        )
    parameters = inspect.signature(factory).parameters
    _check_parameters(parameters.values(), what)
    made = factory()
    if not isinstance(made, Game):
        raise TypeError(f"the factory {what} must return a Game, it returned {made!r:.80}")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", made.name):
        raise ValueError(
            f"the factory {what} makes a game called {made.name!r}; a name has lower-case letters, "
            "digits and underscores, and begins with a letter"
        )
    if list(made.params) != list(parameters):
        raise ValueError(
            f"params of the game must hold the parameters of its factory {what}, in their order, "
            f"{list(parameters)}; it holds {list(made.params)}"
        )
    return factory if factory() is made else unique(factory)


def _check_parameters(parameters: Any, what: str) -> None:
    for parameter in parameters:
        if parameter.kind not in NAMED:
            raise ValueError(
                f"the factory {what} must take all its parameters by name, and has {parameter}"
            )
        if parameter.default is parameter.empty:
            raise ValueError(
                f"the factory {what} must have a default for {parameter.name}: a game is made by "
                "its name alone, too"
            )
        if parameter.name in reserved_names():
            raise ValueError(
                f"the factory {what} has a parameter {parameter.name}, which is an option of the "
                "environments; choose another name"
            )


def reserved_names() -> set[str]:
    """Return the names of the options of environments, which no game's parameter can have."""
    from ludoteca.envs.api.aec import GameAECEnv
    from ludoteca.envs.api.parallel import GameParallelEnv
    from ludoteca.envs.api.single import GameEnv
    from ludoteca.envs.api.vector import GameVectorEnv

    faces: tuple[Any, ...] = (GameAECEnv, GameParallelEnv, GameEnv, GameVectorEnv)
    names = {name for face in faces for name in inspect.signature(face).parameters}
    return names - {"params"}

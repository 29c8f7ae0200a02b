"""Validation of game factories: functions that make a `Game` from parameters."""

import inspect
import re
from collections.abc import Callable
from typing import Any

from ludoteca.envs.game import Game, unique

# Kinds of parameters that can be passed by name.
NAMED_KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def check_game_factory(factory: Any, label: str) -> Callable[..., Game]:
    """Validate a game factory; return a factory that makes equal games the same object.

    This is `factory` itself if two calls of it return the same object, as with the decorator
    `unique`, else `unique(factory)`.

    Args:
        factory: the object to validate. It is called with default parameters.
        label: name of the factory in messages, such as `"mygames:dots_and_boxes"`.

    Raises:
        TypeError: if it is not a function, or does not return a `Game`.
        ValueError: if its parameters, or its game's name or `params`, are invalid.
    """
    if isinstance(factory, Game | type) or not callable(factory):
        problem = "a game, not a function" if isinstance(factory, Game) else "not a function"
        raise TypeError(
            f"{label} must be a factory, a function that returns a Game; it is {problem}: "
            f"{factory!r:.80}"
        )
    parameters = inspect.signature(factory).parameters
    _check_parameters(parameters.values(), label)
    made = factory()
    if not isinstance(made, Game):
        raise TypeError(f"the factory {label} must return a Game, it returned {made!r:.80}")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", made.name):
        raise ValueError(
            f"the factory {label} makes a game with the name {made.name!r}; a name consists of "
            "lower-case letters, digits and underscores, and begins with a letter"
        )
    if list(made.params) != list(parameters):
        raise ValueError(
            f"Game.params must have the parameters of its factory {label}, in their order: "
            f"expected {list(parameters)}, got {list(made.params)}"
        )
    return factory if factory() is made else unique(factory)


def _check_parameters(parameters: Any, label: str) -> None:
    """Raise a `ValueError` unless each parameter has a default and a name that is not reserved."""
    for parameter in parameters:
        if parameter.kind not in NAMED_KINDS:
            raise ValueError(
                f"the factory {label} must accept all its parameters by name, got {parameter}"
            )
        if parameter.default is parameter.empty:
            raise ValueError(
                f"the factory {label} must have a default for {parameter.name}, because a game can "
                "be made by its name alone"
            )
        if parameter.name in reserved_names():
            raise ValueError(
                f"the factory {label} has a parameter {parameter.name}, but that is a keyword "
                "argument of the environments; choose another name"
            )


def reserved_names() -> set[str]:
    """Return the names of the environments' keyword arguments.

    Parameters of games must have other names, since environments take both as keyword arguments.
    """
    # Imported late: these modules depend on the registry of games, which imports this module.
    from ludoteca.envs.api.aec import GameAECEnv
    from ludoteca.envs.api.parallel import GameParallelEnv
    from ludoteca.envs.api.single import GameEnv
    from ludoteca.envs.api.vector import GameVectorEnv

    classes: tuple[Any, ...] = (GameAECEnv, GameParallelEnv, GameEnv, GameVectorEnv)
    names = {name for class_ in classes for name in inspect.signature(class_).parameters}
    return names - {"params"}  # `**params` collects the parameters of the game

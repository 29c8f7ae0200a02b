"""Registration of games from other packages: by code, and by entry points."""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from ludoteca.envs.api.registration import register_apis
from ludoteca.envs.extensions import Extension, find_extensions, target_of
from ludoteca.envs.game import Game
from ludoteca.envs.game_factory import check_game_factory
from ludoteca.envs.names import plain_name
from ludoteca.envs.registry import (
    ALIASES,
    EXTENSIONS,
    GAMES,
    add_game,
    game_id,
    game_name,
    game_source,
)

ENTRY_POINT_GROUP = "ludoteca.games"
Factory = TypeVar("Factory", bound=Callable[..., Game])


@overload
def register_game(
    factory: Factory, *, id: str | None = None, aliases: Sequence[str] = ()
) -> Factory: ...
@overload
def register_game(
    factory: None = None, *, id: str | None = None, aliases: Sequence[str] = ()
) -> Callable[[Factory], Factory]: ...
def register_game(
    factory: Any = None, *, id: str | None = None, aliases: Sequence[str] = ()
) -> Any:
    """Register a game by its factory, for this process; also a decorator, with or without options.

    All functions and commands that take the name of a game then accept its name: `make_game`, the
    command `ludoteca`, matches and tournaments, `gymnasium.make("ludoteca/<Name>-v0")`, `make_vec`
    and `pettingzoo.make`; the module `ludoteca.envs.<name>_v0` is made, too. Registering a factory
    of the same name again, for example after an edit in a notebook, replaces it.

        @ludoteca.register_game
        def dots_and_boxes(size: int = 2) -> Game: ...

    Args:
        factory: a function that returns a `Game`. It takes its parameters by name, each has a
            default, and none has the name of a keyword argument of the environments; the game's
            `params` has all of them. For the same parameters it must always return the same object;
            if it does not, it is wrapped in `ludoteca.envs.game.unique`.
        id: the id in Gymnasium and PettingZoo, without `ludoteca/`; by default the game's name in
            camel case with version 0, such as `"DotsAndBoxes-v0"`.
        aliases: other names of the game.

    Returns:
        The registered factory.

    Raises:
        TypeError: if it is not a function that returns a `Game`.
        ValueError: if its parameters are invalid, or if a name is invalid or already registered.
    """
    if factory is None:
        return lambda decorated: register_game(decorated, id=id, aliases=aliases)
    target = target_of(factory) or repr(factory)
    checked_factory = check_game_factory(factory, target)
    name = checked_factory().name
    id = id_of(name) if id is None else id
    if not isinstance(id, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*-v[0-9]+", id):
        raise ValueError(f"the id of a game has the form 'DotsAndBoxes-v0', got {id!r}")
    is_replaced = id in EXTENSIONS and not EXTENSIONS[id].package and GAMES[id] == target
    taken = {key for key, id_ in names_taken().items() if not (is_replaced and id_ == id)}
    for new_name in (name, id, *aliases):
        if plain_name(new_name) in taken:
            raise ValueError(
                f"{target} cannot be registered as {new_name!r}: that is a name of "
                f"{game_id(new_name)} ({game_source(game_id(new_name))})"
            )
    add_game(id, name, Extension(target, factory=checked_factory))
    ALIASES.update(dict.fromkeys(aliases, id))
    register_apis(id)
    return checked_factory


def register_entry_points() -> None:
    """Register the games that installed packages offer as entry points; none is imported.

    An entry point with an error, or with a name that is already registered, causes a warning and is
    ignored.
    """
    taken = {game_name(id_): game_source(id_) for id_ in GAMES} | dict.fromkeys(ALIASES, "ludoteca")
    for name, extension in find_extensions(ENTRY_POINT_GROUP, taken):
        add_game(id_of(name), name, extension)
        register_apis(id_of(name))


def id_of(name: str) -> str:
    """Return the default id of a game, such as `"DotsAndBoxes-v0"` for `"dots_and_boxes"`."""
    return "".join(part.capitalize() for part in name.split("_")) + "-v0"


def names_taken() -> dict[str, str]:
    """Return all names in use, as `plain_name`: names and ids with the game's id, and aliases.

    The value of an alias is a spec string, or the id of a registered extension.
    """
    taken = {plain_name(alias): spec for alias, spec in ALIASES.items()}
    for id_ in GAMES:
        taken |= {plain_name(game_name(id_)): id_, plain_name(id_): id_}
    return taken

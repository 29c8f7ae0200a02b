"""Registration of agents of other packages, by code and by entry points."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, overload

from ludoteca.agents.agent import Agent
from ludoteca.agents.registry import AGENTS, ALIASES, EXTENSIONS, add_agent, agent_source
from ludoteca.agents.validation import check_maker
from ludoteca.envs.api.registration import register_apis
from ludoteca.envs.extensions import Extension, find_extensions, target_of, without_factory
from ludoteca.envs.names import plain_name
from ludoteca.envs.registry import ALIASES as GAME_ALIASES
from ludoteca.envs.registry import EXTENSIONS as GAME_EXTENSIONS
from ludoteca.envs.registry import GAMES, add_game, game_name

ENTRY_POINT_GROUP = "ludoteca.agents"
Maker = TypeVar("Maker", bound=Callable[..., Agent])


@overload
def register_agent(maker: Maker, *, name: str | None = None) -> Maker: ...
@overload
def register_agent(maker: None = None, *, name: str | None = None) -> Callable[[Maker], Maker]: ...
def register_agent(maker: Any = None, *, name: str | None = None) -> Any:
    """Register an agent in this process; usable as a decorator, with or without a name.

    Every spec string can then name the agent: in `make_agent`, the command `ludoteca`, matches,
    tournaments, training, and `opponent=` of environments. Registering the same class or function
    again, such as after an edit in a notebook, replaces it.

        @ludoteca.register_agent
        class PatientAgent(Agent):
            def __init__(self, game: Game, depth: int = 3): ...

        play_match("hex", ["patient:depth=4", "random"], games=100)

    Args:
        maker: a subclass of `Agent`, or a function that returns an agent. It is called with the
            game and, by name, the parameters of the spec string, which are parsed by their
            annotations. The name of the first parameter may be omitted in the spec string;
            parameters without a default are required.
        name: name of the agent; by default that of the function, or of the class in snake case
            without the suffix `Agent`: `patient`.

    Returns:
        `maker`.

    Raises:
        TypeError: if it is neither a subclass of `Agent` nor a function.
        ValueError: if its signature or the name is invalid, or the name is taken.
    """
    if maker is None:
        return lambda given: register_agent(given, name=name)
    target = target_of(maker) or repr(maker)
    check_maker(maker, target)
    name = name_of(maker) if name is None else name
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(
            f"the name of an agent must be lower-case letters, digits, underscores, got {name!r}"
        )
    if target.partition(":")[0] == name:
        raise ValueError(
            f"{target} cannot be registered as {name!r}, the name of its module: {name}:... would "
            "be ambiguous"
        )
    is_replacement = name in EXTENSIONS and not EXTENSIONS[name].package and AGENTS[name] == target
    taken = {
        plain_name(known_name): known_name
        for known_name in [*ALIASES, *AGENTS]
        if not (is_replacement and known_name == name)
    }
    if plain_name(name) in taken:
        other = taken[plain_name(name)]
        raise ValueError(
            f"{target} cannot be registered as {name!r}: that is the agent {other} "
            f"({agent_source(other)})"
        )
    add_agent(name, Extension(target, factory=maker))
    return maker


def register_entry_points() -> None:
    """Register the agents that installed packages declare as entry points, without importing them.

    Invalid entry points, and those whose name is taken, are skipped with a warning.
    """
    taken = {name: agent_source(name) for name in AGENTS} | dict.fromkeys(ALIASES, "ludoteca")
    for name, extension in find_extensions(ENTRY_POINT_GROUP, taken):
        add_agent(name, extension)


class Registrations(NamedTuple):
    """Registrations of games and agents by code, to be sent to another process.

    Attributes:
        games: Gymnasium id, name and `Extension` (import target and source) of each game.
        aliases: ids of games by alias.
        agents: name and `Extension` of each agent.
    """

    games: tuple[tuple[str, str, Extension], ...]
    aliases: dict[str, str]
    agents: tuple[tuple[str, Extension], ...]


def code_registrations() -> Registrations:
    """Return the games and agents that were registered by code in this process.

    `restore_registrations` registers them in a child process. Those of entry points, whose
    extension has a `package`, are left out: a child process finds them itself.
    """
    games = tuple(
        (id_, game_name(id_), without_factory(extension))
        for id_, extension in GAME_EXTENSIONS.items()
        if not extension.package
    )
    ids = {id_ for id_, _, _ in games}
    return Registrations(
        games,
        {alias: id_ for alias, id_ in GAME_ALIASES.items() if id_ in ids},
        tuple(
            (name, without_factory(extension))
            for name, extension in EXTENSIONS.items()
            if not extension.package
        ),
    )


def restore_registrations(registered: Registrations) -> None:
    """Register the games and agents of the parent process, without importing them.

    A name that is registered in this process already is kept.
    """
    for id_, name, extension in registered.games:
        if id_ not in GAMES:
            add_game(id_, name, extension)
            register_apis(id_)
    GAME_ALIASES.update(registered.aliases)
    for name, extension in registered.agents:
        if name not in AGENTS:
            add_agent(name, extension)


def name_of(maker: Any) -> str:
    """Return the default name of an agent, such as `"patient"` for `PatientAgent`."""
    name = str(getattr(maker, "__name__", type(maker).__name__))
    if isinstance(maker, type):
        name = name.removesuffix("Agent") or name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()

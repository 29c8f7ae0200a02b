"""The command `ludoteca list`: all games and agents, or everything about one of them."""

import importlib
import inspect
import re
import warnings
from collections.abc import Iterable, Iterator
from textwrap import fill
from typing import Annotated

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text
from tyro.conf import Positional, arg

from ludoteca.agents.registry import (
    AGENTS,
    agent_params,
    agent_source,
    find_maker,
    incompatibility_reason,
    make_agent,
    parse_agent_spec,
    resolve_alias,
)
from ludoteca.agents.registry import ALIASES as AGENT_ALIASES
from ludoteca.envs.game import Game
from ludoteca.envs.names import did_you_mean
from ludoteca.envs.registry import (
    ALIASES,
    GAMES,
    find_factory,
    game_id,
    game_name,
    game_source,
    make_game,
)
from ludoteca.envs.spec import parse_name
from ludoteca.envs.targets import split_target
from ludoteca.evaluate.docstring_params import describe_params
from ludoteca.terminal_table import TerminalTable

OWN_SOURCE = "ludoteca"  # source of the games and agents of this package


def list_command(
    name: Annotated[Positional[str | None], arg(metavar="[NAME]", help_behavior_hint="")] = None,
) -> None:
    """List all games and agents, or show everything about one of them.

    Args:
        name: a game, such as hex or hex:board_size=5, or an agent, such as mcts; by default all.
    """
    if name is None:
        page = all_games_and_agents()
    else:
        game = find_game(name)
        page = agent_details(name) if game is None else game_details(game)
    Console(highlight=False).print(page, soft_wrap=True)


class WrappedText:
    """Paragraphs wrapped to the width of the terminal."""

    def __init__(self, text: str, style: str = ""):
        self._text, self._style = text, style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for paragraph in self._text.split("\n"):
            wrapped = fill(paragraph, options.max_width, break_on_hyphens=False)
            yield Text(wrapped, self._style, no_wrap=True, overflow="ignore")


def all_games_and_agents() -> RenderableType:
    """Return the table of all games with their default parameters, and the names of all agents."""
    table = TerminalTable(("game", "id", "players", "observation", "actions"), text_columns=3)
    for id_ in GAMES:
        try:
            game = make_game(id_)
        except Exception as error:  # an extension package may be broken
            if game_source(id_) == OWN_SOURCE:
                raise
            warnings.warn(f"the game {game_name(id_)} is left out: {error}", stacklevel=2)
            continue
        params = ", ".join(f"{key}={value}" for key, value in game.params.items())
        table.add(
            game.name,
            id_,
            f"{game.num_players} {'simultaneous' if game.simultaneous else 'sequential'}",
            " x ".join(map(str, game.observation_shape)),
            str(game.num_actions),
            below=f"{params or 'no parameters'}{_source_suffix(game_source(id_))}",
        )
    foreign_agents = [name for name in AGENTS if agent_source(name) != OWN_SOURCE]
    return Group(
        table,
        Text(),
        WrappedText(f"Agents: {', '.join(name for name in AGENTS if name not in foreign_agents)}."),
        *[
            WrappedText(f"Agent of another package: {name}{_source_suffix(agent_source(name))}.")
            for name in foreign_agents
        ],
        Text(),
        WrappedText(
            "`ludoteca list hex` shows everything about a game, and the agents that play it; "
            "`ludoteca list mcts` shows everything about an agent. Ids in Gymnasium and PettingZoo "
            "begin with ludoteca/, as in ludoteca/Hex-v0. Other accepted names: "
            f"{', '.join([*ALIASES, *AGENT_ALIASES])}."
        ),
    )


def find_game(name: str) -> Game | None:
    """Return the game of a spec string, or None if the string names an agent.

    Raises:
        ValueError: if the string names neither, or the game's parameters are wrong.
    """
    if parse_name(resolve_alias(parse_name(name))) in AGENTS:
        return None
    try:
        game_id(name)
    except ValueError:
        if split_target(name) is not None:  # module:attribute
            return _target_game(name)
        hint = did_you_mean(parse_name(name), [*_game_names(), *ALIASES, *AGENTS, *AGENT_ALIASES])
        raise ValueError(
            f"unknown game or agent {parse_name(name)!r}{hint}; there are "
            f"{', '.join(_game_names())}, and the agents {', '.join(AGENTS)}"
        ) from None
    return make_game(name)


def _target_game(name: str) -> Game | None:
    """Return the game of a target `module:attribute`, or None if the target makes agents.

    Raises:
        ValueError: if the target makes neither.
    """
    try:
        find_factory(name)
    except ValueError:
        if _makes_agents(name):
            return None
        raise
    return make_game(name)


def _makes_agents(target: str) -> bool:
    """Return whether a target `module:attribute` makes agents."""
    try:
        parse_agent_spec(target)
    except ValueError:
        return False
    return True


def game_details(game: Game) -> RenderableType:
    """Return the rules, properties and parameters of a game, and the agents that play it."""
    factory = find_factory(game.spec)
    properties = TerminalTable(("", ""), sentences=True)
    for name, value in _properties(game):
        properties.add(name, value)
    headings = ("parameter", "default", "value", "meaning")
    title = f"Parameters, as options of commands such as `ludoteca match {game.spec_name}`"
    params = TerminalTable(headings, text_columns=3, title=title, sentences=True)
    descriptions = describe_params(factory)
    for key, parameter in inspect.signature(factory).parameters.items():
        params.add(
            f"--{key.replace('_', '-')}",
            str(parameter.default),
            str(game.params[key]),
            descriptions.get(key, ""),
        )
    agents = TerminalTable(("agent", "method"), title="Agents that play this game", sentences=True)
    missing = []
    for name in AGENTS:
        try:
            if not incompatibility_reason(name, game):
                agents.add(name, _agent_sentence(name, game))
        except ImportError as error:
            missing.append(f"{name} ({error})")
    footer = "`ludoteca list AGENT` shows the parameters of an agent."
    if missing:
        footer = f"{footer} Not installed: {', '.join(missing)}."
    module = importlib.import_module(factory.__module__)
    about = f"{_summary(module)}\n\n{_summary(factory)}"
    sections: list[RenderableType] = [WrappedText(about), Text(), properties, Text()]
    if params.rows:
        sections += [params, Text()]
    return Group(*sections, agents, Text(), WrappedText(footer))


def agent_details(name: str) -> RenderableType:
    """Return the method, parameters and networks of the agent of a spec string.

    Raises:
        ImportError: if a package that the agent needs is missing.
    """
    name, _ = parse_agent_spec(name)
    params = TerminalTable(("parameter", "default", "meaning"), text_columns=2, sentences=True)
    descriptions = _param_descriptions(name)
    for key, parameter in agent_params(name).items():
        default = "required" if parameter.default is parameter.empty else repr(parameter.default)
        params.add(key, default, descriptions.get(key, ""))
    sections: list[RenderableType] = [WrappedText(f"{name}: {_summary(find_maker(name))}"), Text()]
    if params.rows:
        sections += [params, Text()]
    shipped = _shipped(name)
    if shipped:
        sections += [
            WrappedText(f"Networks that come with the package: {', '.join(shipped)}."),
            Text(),
        ]
    other_names = [
        key if spec == name else f"{key} ({spec})"
        for key, spec in AGENT_ALIASES.items()
        if parse_name(spec) == name
    ]
    if other_names:
        sections += [WrappedText(f"Other names: {', '.join(other_names)}."), Text()]
    spec = name
    if shipped:
        spec = shipped[0]
    elif agent_params(name):
        spec = f"{name}:{next(iter(agent_params(name)))}=..."
    sections.append(WrappedText(f"For example: ludoteca match GAME --agents random {spec}"))
    return Group(*sections)


def _properties(game: Game) -> list[tuple[str, str]]:
    """Return the names and values of a game's properties."""
    planes, rows, columns = game.observation_shape
    if game.spec_name != game.name:
        id_fact = ("id", f'none: ludoteca.make_game("{game.spec_name}") makes it')
        source = f"the module {game.spec_name.rpartition(':')[0]}"
    else:
        id_ = f"ludoteca/{game_id(game.name)}"
        id_fact = (
            "id",
            f'{id_}, as in gymnasium.make("{id_}") or pettingzoo.make("aec", "{id_}")',
        )
        source = game_source(game_id(game.name))
    return [
        id_fact,
        *([("source", source)] if source != OWN_SOURCE else []),
        ("spec", game.spec),
        ("players", f"{game.num_players}, {'simultaneous' if game.simultaneous else 'sequential'}"),
        ("observation", f"{planes} planes of {rows} x {columns}, 0 to {game.observation_high}"),
        ("actions", f"{game.num_actions}: {_shortened(game.action_names)}"),
        ("longest game", f"{game.max_plies} plies"),
        ("symmetries", f"{len(game.symmetries())}, with the identity"),
        ("state size", f"{game.state.itemsize} bytes"),
    ]


def _source_suffix(source: str) -> str:
    """Return the source of a game or agent in parentheses, or `""` for this package."""
    return f" ({source})" if source != OWN_SOURCE else ""


def _shortened(names: tuple[str, ...]) -> str:
    """Return up to 10 names as text; of more names, the first four and the last two."""
    if len(names) <= 10:
        return ", ".join(names)
    return f"{', '.join(names[:4])}, ... {', '.join(names[-2:])}"


def _summary(documented_object: object) -> str:
    """Return a docstring without its sections such as `Args:`.

    Each paragraph is one line; indented blocks, such as pictures of an encoding, keep their lines.
    """
    text = (inspect.getdoc(documented_object) or "").replace("`", "")
    text = re.split(r"\n\n(?=(?:Args|Attributes|Raises|Returns):)", text)[0]
    paragraphs = [
        paragraph if paragraph.startswith("    ") else " ".join(paragraph.split())
        for paragraph in text.split("\n\n")
    ]
    return "\n\n".join(paragraphs)


def _game_names() -> Iterable[str]:
    return (game_name(id_) for id_ in GAMES)


def _agent_sentence(name: str, game: Game) -> str:
    """Return the first sentence of an agent's docstring, and its shipped networks for the game."""
    text = re.split(r"(?<=\.)\s", _summary(find_maker(name)))[0]
    shipped = []
    for spec in _shipped(name):
        try:
            make_agent(spec, game)
        except ValueError:
            continue
        shipped.append(spec)
    if shipped:
        return f"{text} Comes with the package: {', '.join(shipped)}."
    required = [
        f"{name}:{key}=..."
        for key, parameter in agent_params(name).items()
        if parameter.default is parameter.empty
    ]
    return f"{text} Needs {', '.join(required)}." if required else text


def _shipped(name: str) -> list[str]:
    """Return the spec strings of an agent with each shipped network."""
    if "path" not in agent_params(name):
        return []
    from ludoteca.agents.networks.weights import shipped_weights

    return [f"{name}:{network}" for network in shipped_weights(name)]


def _param_descriptions(name: str) -> dict[str, str]:
    """Return the descriptions of an agent's parameters, from the docstrings of its maker."""
    maker = find_maker(name)
    descriptions: dict[str, str] = {}
    # A maker of agents of several classes names these classes in `documented_by`.
    for documented_object in getattr(maker, "documented_by", (maker,)):
        documented_object = (
            documented_object.__init__ if inspect.isclass(documented_object) else documented_object
        )
        descriptions |= describe_params(documented_object)
    return descriptions

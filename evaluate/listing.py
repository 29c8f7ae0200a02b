"""`ludoteca list`: which games there are, and all about one of them."""

import importlib
import inspect
import re
from collections.abc import Callable
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ludoteca.agents.registry import AGENTS, agent_params, find_maker
from ludoteca.envs.game import Game
from ludoteca.envs.registry import GAMES, find_factory, game_id, make_game


def games_table() -> Table:
    """Return the table of all games, with their default parameters."""
    table = Table(
        caption="ids are ludoteca/...; ludoteca list GAME tells all about a game",
        caption_justify="left",
        show_lines=True,
    )
    table.add_column("game, id", no_wrap=True)
    table.add_column("players")
    table.add_column("parameters", overflow="fold")
    table.add_column("observation", no_wrap=True)
    table.add_column("actions", justify="right")
    for id_ in GAMES:
        game = make_game(id_)
        table.add_row(
            f"[bold]{game.name}[/bold]\n{id_}",
            f"{game.num_players}, {'at once' if game.simultaneous else 'in turn'}",
            "\n".join(f"{key}={value}" for key, value in game.params.items()) or "none",
            " x ".join(map(str, game.observation_shape)),
            str(game.num_actions),
        )
    return table


def game_details(game: Game) -> RenderableType:
    """Return everything about one game."""
    factory = find_factory(game.name)
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column(overflow="fold")
    for name, value in _facts(game):
        facts.add_row(name, Text(value))
    params = Table(title="parameters", title_justify="left")
    for heading in ("parameter", "default", "here", "what it may be"):
        params.add_column(heading, overflow="fold")
    described = describe_params(factory)
    for key, parameter in inspect.signature(factory).parameters.items():
        here = game.params[key]
        params.add_row(
            f"--{key.replace('_', '-')}", str(parameter.default), str(here), described.get(key, "")
        )
    agents = Table(title="agents", title_justify="left", show_lines=True)
    agents.add_column("agent", overflow="fold", max_width=26)
    agents.add_column("what it does")
    for name in AGENTS:
        agents.add_row(*_describe_agent(name))
    module = importlib.import_module(factory.__module__)
    about = f"{_summary(module)}\n\n{_summary(factory)}"
    return Group(Text(about), "", facts, "", params, "", agents)


def describe_params(factory: Callable[..., Any]) -> dict[str, str]:
    """Return what the section `Args:` of a docstring says about each parameter."""
    section = re.search(
        r"^Args:\n(.*?)(?=^\S|\Z)", inspect.getdoc(factory) or "", flags=re.DOTALL | re.MULTILINE
    )
    found: dict[str, str] = {}
    for entry in re.split(r"\n(?=    \w)", section.group(1)) if section else ():
        name, _, text = entry.strip().partition(":")
        found[name] = " ".join(text.split()).replace("`", "")
    return found


def _facts(game: Game) -> list[tuple[str, str]]:
    id_ = f"ludoteca/{game_id(game.name)}"
    planes, rows, columns = game.observation_shape
    return [
        ("id", f'{id_}, as in gymnasium.make("{id_}") or pettingzoo.make("aec", "{id_}")'),
        ("spec", game.spec),
        ("players", f"{game.num_players}, {'all at once' if game.simultaneous else 'in turn'}"),
        ("observation", f"{planes} planes of {rows} x {columns}, 0 to {game.observation_high}"),
        ("actions", f"{game.num_actions}: {_shortened(game.action_names)}"),
        ("longest game", f"{game.max_plies} plies"),
        ("symmetries", str(len(game.symmetries()))),
        ("bytes a position", str(game.state.itemsize)),
    ]


def _shortened(names: tuple[str, ...]) -> str:
    if len(names) <= 10:
        return ", ".join(names)
    return f"{', '.join(names[:4])}, ... {', '.join(names[-2:])}"


def _summary(thing: object) -> str:
    """Return a docstring up to its sections, a line for each paragraph."""
    text = (inspect.getdoc(thing) or "").replace("`", "")
    text = re.split(r"\n\n(?=(?:Args|Attributes|Raises|Returns):)", text)[0]
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _describe_agent(name: str) -> tuple[str, str]:
    try:
        params = agent_params(name)
        text = "\n".join(_summary(find_maker(name)).split("\n\n")[:2])
    except ImportError as error:
        return name, f"not installed: {error}"
    needs = ",".join(
        f"{key}=..." if parameter.default is parameter.empty else f"{key}={parameter.default}"
        for key, parameter in params.items()
    )
    return f"{name}:{needs}" if needs else name, text

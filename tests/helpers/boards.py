"""One small board per game for tests of compiled code, and representative games.

Each board size has another state type, for which all code is compiled again. So tests of other
sizes are interpreted, or slow. Tests of machine code run for one game of each kind by default
(`REPRESENTATIVES`), and for all games in `make test-slow` (`EVERY_GAME`).
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from ludoteca.envs.game import Game
from ludoteca.envs.registry import GAMES, make_game

# So small that games end within the few steps of a test; other games have their defaults.
SMALL = {
    "HungryGeese-v0": "num_players=3,rows=4,columns=5,episode_steps=10",
    "Othello-v0": "board_size=4,auto_pass=True",
    "Hex-v0": "board_size=3,swap=True,first=white",
    "Connect4-v0": "rows=3,columns=4,connect=3",
    "Tron-v0": "rows=4,columns=5",
    "AtariGo-v0": "board_size=3",
    "Breakthrough-v0": "rows=5,columns=3",
    "BreakthroughHoles-v0": "rows=5,columns=3,holes=b3",
    "BreakthroughSuicide-v0": "rows=4,columns=2",
    "KnightThrough-v0": "rows=6,columns=4",
    "KnightFight-v0": "board_size=6",
    "SheepAndWolf-v0": "board_size=4",
    "TicTacToeLarge-v0": "board_size=4,line=3",
    "FreeForAll-v0": "board_size=3,plies=8",
}


def small_spec(id_: str) -> str:
    """Return the specification of a registered game on its small board."""
    return f"{id_}:{SMALL.get(id_, '')}"


def small_game(id_: str) -> Game:
    """Return a registered game on its small board."""
    return make_game(small_spec(id_))


# Kinds of games that compiled code treats differently.
KINDS: dict[str, Callable[[Game], bool]] = {
    "sequential": lambda game: not game.simultaneous,
    "with automatic passes": lambda game: "auto_pass" in game.params,
    "simultaneous, two players": lambda game: game.simultaneous and game.num_players == 2,
    "simultaneous, more players": lambda game: game.simultaneous and game.num_players > 2,
    "with chance": lambda game: game.has_chance,
}


def representatives() -> tuple[str, ...]:
    """Return the shortest registered game of each kind."""
    games = {id_: make_game(id_) for id_ in GAMES}
    chosen = []
    for is_of_kind in KINDS.values():
        of_kind = [id_ for id_, game in games.items() if is_of_kind(game)]
        chosen.append(min(of_kind, key=lambda id_: games[id_].max_plies))
    return tuple(dict.fromkeys(chosen))


REPRESENTATIVES = representatives()
EVERY_GAME = [
    pytest.param(id_, marks=() if id_ in REPRESENTATIVES else pytest.mark.slow) for id_ in GAMES
]


def other_parameters(id_: str) -> tuple[str, ...]:
    """Return the parameters that the page of a game lists besides the defaults."""
    from ludoteca.evaluate.new_game.pages import PAGES, tables

    name = make_game(id_).name
    page = Path(__file__).parents[2] / PAGES / f"{name}.md"
    rows = tables(page.read_text(encoding="utf-8"), name)["Other parameter values"]
    return tuple(row[0].strip("`").partition(":")[2] for row in rows)

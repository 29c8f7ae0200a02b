"""Which games exist, and how to make one by name."""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from ludoteca.envs.game import Game
from ludoteca.envs.spec import parse_name, parse_spec

# One line per game: its id, and the factory that makes it from parameters.
GAMES = {
    "HungryGeese-v0": "ludoteca.envs.games.hungry_geese:hungry_geese",
    "Othello-v0": "ludoteca.envs.games.othello:othello",
    "Hex-v0": "ludoteca.envs.games.hex:hex",
    "Connect4-v0": "ludoteca.envs.games.connect4:connect4",
    "TicTacToe-v0": "ludoteca.envs.games.tictactoe:tictactoe",
    "Tron-v0": "ludoteca.envs.games.tron:tron",
    "AtariGo-v0": "ludoteca.envs.games.atari_go:atari_go",
    "Breakthrough-v0": "ludoteca.envs.games.breakthrough:breakthrough",
    "BreakthroughHoles-v0": "ludoteca.envs.games.breakthrough:breakthrough_holes",
    "BreakthroughSuicide-v0": "ludoteca.envs.games.breakthrough:breakthrough_suicide",
    "KnightThrough-v0": "ludoteca.envs.games.knight_through:knight_through",
    "SheepAndWolf-v0": "ludoteca.envs.games.sheep_and_wolf:sheep_and_wolf",
    "TicTacToeLarge-v0": "ludoteca.envs.games.tictactoe:tictactoe_large",
    "FreeForAll-v0": "ludoteca.envs.games.free_for_all:free_for_all",
}


def make_game(name: str, **params: Any) -> Game:
    """Return a game by name, id or spec string.

    `name` is, for example, `"hex"`, `"Hex-v0"`, `"ludoteca/Hex-v0"` or `"hex:board_size=5"`.

    Raises:
        ValueError: if there is no such game or parameter, or a value is out of range.
    """
    factory = find_factory(parse_name(name))
    known = inspect.signature(factory).parameters
    name, given = parse_spec(name, known=known)
    params = given | params
    for key in params:
        if key not in known:
            raise ValueError(f"{name} has no parameter {key!r}; it has {', '.join(known)}")
    return factory(**params)


def find_factory(name: str) -> Callable[..., Game]:
    """Return the function that makes games called `name`."""
    found = GAMES.get(game_id(name))
    assert found is not None
    module, _, attribute = found.partition(":")
    factory: Callable[..., Game] = getattr(importlib.import_module(module), attribute)
    return factory


def game_id(name: str) -> str:
    """Return the id, such as `"Hex-v0"`, of a game's name or id in any spelling.

    Raises:
        ValueError: if there is no such game.
    """
    wanted = name.removeprefix("ludoteca/").lower()
    for id_, factory in GAMES.items():
        if wanted in (id_.lower(), id_.lower().removesuffix("-v0"), factory.partition(":")[2]):
            return id_
    names = ", ".join(factory.partition(":")[2] for factory in GAMES.values())
    raise ValueError(f"unknown game {name!r}; there are {names}")

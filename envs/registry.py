"""Which games exist, and how to make one by name."""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from ludoteca.envs.game import Game
from ludoteca.envs.names import did_you_mean, plain_name
from ludoteca.envs.params import unknown_parameter
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
# Other names of games, as spec strings; case, hyphens and underscores do not matter.
ALIASES = {
    "geese": "hungry_geese",
    "reversi": "othello",
    "connect_four": "connect4",
    "four_in_a_row": "connect4",
    "noughts_and_crosses": "tictactoe",
    "gomoku": "tictactoe:board_size=15,line=5",
    "five_in_a_row": "tictactoe:board_size=15,line=5",
    "light_cycles": "tron",
    "capture_go": "atari_go",
    "ponnuki": "atari_go",
    "wolf_and_sheep": "sheep_and_wolf",
}


def make_game(name: str, **params: Any) -> Game:
    """Return a game by name, id or spec string.

    `name` is, for example, `"hex"`, `"Hex-v0"`, `"ludoteca/Hex-v0"`, `"hex:board_size=5"`, or an
    alias such as `"gomoku"`. Case, hyphens and underscores do not matter.

    Raises:
        ValueError: if there is no such game or parameter, or a value is out of range. For a keyword
            argument that the game does not have, it is an `UnknownParameter`, also a `TypeError`.
    """
    alias = ALIASES.get(_alias(parse_name(name)), "")
    factory = find_factory(parse_name(name))
    known = inspect.signature(factory).parameters
    name, given = parse_spec(name, known=known)
    for key in given:
        if key not in known:
            near = did_you_mean(key, known)
            raise ValueError(f"{name} has no parameter {key!r}{near}; it has {', '.join(known)}")
    for key in params:
        if key not in known:
            raise unknown_parameter(name, key, known)
    return factory(**(parse_spec(alias)[1] | given | params))


def find_factory(name: str) -> Callable[..., Game]:
    """Return the function that makes games called `name`."""
    found = GAMES.get(game_id(name))
    assert found is not None
    module, _, attribute = found.partition(":")
    factory: Callable[..., Game] = getattr(importlib.import_module(module), attribute)
    return factory


def game_id(name: str) -> str:
    """Return the id, such as `"Hex-v0"`, of a game's name, id or alias in any spelling.

    Raises:
        ValueError: if there is no such game.
    """
    name = parse_name(name)
    wanted = plain_name(parse_name(ALIASES.get(_alias(name), name)).removeprefix("ludoteca/"))
    for id_, factory in GAMES.items():
        plain = plain_name(factory.partition(":")[2])
        if wanted in (plain, f"{plain}v0"):
            return id_
    names = [factory.partition(":")[2] for factory in GAMES.values()]
    near = did_you_mean(name, [*names, *ALIASES])
    raise ValueError(f"unknown game {name!r}{near}; there are {', '.join(names)}")


def _alias(name: str) -> str:
    """Return the key in `ALIASES` of a name in any spelling, or `""`."""
    return next((key for key in ALIASES if plain_name(key) == plain_name(name)), "")

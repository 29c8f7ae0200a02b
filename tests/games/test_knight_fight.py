"""Tests of the rules of Knight Fight, on small boards drawn as text.

`W` and `B` are the knights, `*` is an arrow.
"""

from typing import Any

import numpy as np
import pytest

from ludoteca.envs.game import Game
from ludoteca.envs.games.knight_fight import BLACK, UNDECIDED, WHITE, knight_fight

CODES = ".WB*wb"  # `w` and `b` are knights on arrows


def position(lines: list[str], to_move: int, attack: bool) -> tuple[Game, Any]:
    """Return the game and the position drawn as text."""
    board = np.array([list(line) for line in lines])
    game = knight_fight(len(board))
    s = game.new()
    for player, letter in enumerate("WB"):
        s.knights[player] = np.flatnonzero(board == letter)[0]
    s.arrows[:] = board == "*"
    s.to_move, s.attack = to_move, attack
    assert game.validate(s) == ""
    return game, s


def picture(game: Game, s: Any) -> list[str]:
    """Return the rows of the board, drawn as text."""
    return ["".join(CODES[code] for code in row) for row in game.layout.cells(s)]


def legal_names(game: Game, s: Any) -> set[str]:
    """Return the names of the legal actions."""
    return {game.action_names[action] for action in game.legal(s)}


def play(game: Game, s: Any, *actions: str) -> None:
    """Play legal actions, given by their names."""
    for name in actions:
        assert name in legal_names(game, s)
        game.step(s, game.action_names.index(name))


def returns(game: Game, s: Any) -> list[float]:
    """Return the returns of both players."""
    out = np.zeros(2, np.float32)
    game.returns(s, out)
    return out.tolist()


def test_white_jumps_first_and_then_turns_are_an_attack_and_a_jump() -> None:
    game = knight_fight()
    s = game.new()
    assert game.player is not None
    players = []
    for name in ("b3", "orthogonal", "i8", "diagonal", "d4", "diagonal"):
        players.append(game.player(s))
        play(game, s, name)
    assert players == [WHITE, BLACK, BLACK, WHITE, WHITE, BLACK]
    assert picture(game, s) == [
        ".........*",
        ".......*.*",
        "........B.",
        ".......*.*",
        "..........",
        "..*.*.....",
        ".*.W......",
        "***.*.....",
        ".*........",
        "*.........",
    ]
    assert legal_names(game, s) == {"g7", "g9", "h6", "h10", "j6", "j10"}


def test_a_jump_onto_an_arrow_loses() -> None:
    board = ["..*B", "....", "..*.", "W..."]
    game, s = position(board, WHITE, attack=False)
    assert legal_names(game, s) == {"b3", "c2"}
    play(game, s, "c2")
    assert (s.winner, returns(game, s)) == (BLACK, [-1, 1])
    assert game.is_terminal(s)
    assert picture(game, s) == ["..*B", "....", "..w.", "*..."]


def test_knights_do_not_capture() -> None:
    game, s = position(["....", ".B..", "....", "W..."], WHITE, attack=False)
    assert legal_names(game, s) == {"c2"}


# Attacks, boards before and after them, and the winner.
ATTACKS = [
    ("orthogonal", "....|.B..|....|...W", ".*..|*B*.|.*..|...W", UNDECIDED),
    ("diagonal", "....|.B..|....|...W", "*.*.|.B..|*.*.|...W", UNDECIDED),
    ("orthogonal", "...B|....|....|W...", "..*B|...*|....|W...", UNDECIDED),
    ("diagonal", "...B|..W.|....|....", "...B|..w.|....|....", BLACK),
    ("orthogonal", "...B|..W.|....|....", "..*B|..W*|....|....", UNDECIDED),
]


@pytest.mark.parametrize(("attack", "before", "after", "winner"), ATTACKS)
def test_attacks_put_arrows_beside_the_opponent(
    attack: str, before: str, after: str, winner: int
) -> None:
    game, s = position(before.split("|"), WHITE, attack=True)
    assert legal_names(game, s) == {"orthogonal", "diagonal"}
    play(game, s, attack)
    assert (picture(game, s), s.winner) == (after.split("|"), winner)
    assert s.to_move == WHITE


def test_planes() -> None:
    game, s = position(["..*B", "....", "....", "W..."], BLACK, attack=True)
    out = np.zeros(game.observation_shape, np.int8)
    game.observe(s, BLACK, out)
    assert [np.argwhere(plane).tolist() for plane in out[:3]] == [[[0, 3]], [[3, 0]], [[0, 2]]]
    assert (out[3] == 1).all()
    s.attack = 0
    game.observe(s, WHITE, out)
    assert [np.argwhere(plane).tolist() for plane in out[:2]] == [[[3, 0]], [[0, 3]]]
    assert (out[3] == 0).all()


# Messages of `validate`, and the fields of a position that cause them.
INVALID = {
    "both knights are on arrows": {"arrows": 1},
    "arrows must be 0 or 1": {"arrows": 2},
    "expected two different cells": {"knights": 3},
    "to_move 2 is not a player": {"to_move": 2},
    "attack 2 is not 0 or 1": {"attack": 2},
    "winner is 1, but the cells say -1": {"winner": 1},
}


@pytest.mark.parametrize("reason", INVALID)
def test_invalid_positions(reason: str) -> None:
    game, s = position(["..*B", "....", "....", "W..."], WHITE, attack=False)
    for field, value in INVALID[reason].items():
        s[field] = value
    assert reason in game.validate(s)


@pytest.mark.parametrize("board_size", [3, 20, 4.5])
def test_invalid_sizes_are_errors(board_size: Any) -> None:
    with pytest.raises(ValueError, match="board_size"):
        knight_fight(board_size)

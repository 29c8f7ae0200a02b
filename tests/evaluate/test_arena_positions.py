"""Tests of positions that are set up on the board, in every game, and of their validation."""

import random
import re

import numpy as np
import pytest

from ludoteca.envs.registry import GAMES, game_name, make_game
from ludoteca.envs.render.status import board_codes
from ludoteca.evaluate.arena.position_setup import (
    can_be_edited,
    editor_view,
    position_from_cells,
)
from ludoteca.evaluate.play.history import copy_position

pytestmark = pytest.mark.interpreted

SPECS = {"hex": "hex:board_size=5"}
EDITED = [game_name(id_) for id_ in GAMES if can_be_edited(make_game(id_))]


def test_all_games_but_rule_sheets_can_be_edited():
    assert {game_name(id_) for id_ in GAMES} - set(EDITED) == {"gdl"}


def positions(game, seed):
    """Yield positions of a random game before its end."""
    rng = random.Random(seed)
    s = game.new(seed)
    while not game.is_terminal(s):
        yield copy_position(game, s)
        if game.simultaneous:
            legal = [game.legal(s, p) or [0] for p in range(game.num_players)]
            game.step(s, np.array([rng.choice(actions) for actions in legal]))
        else:
            game.step(s, rng.choice(game.legal(s)))


@pytest.mark.parametrize("name", EDITED)
@np.errstate(over="ignore")  # interpreted random number generators wrap around
def test_a_position_is_made_again_from_its_cells(name):
    game = make_game(SPECS.get(name, name))
    legal = game.legal
    if game.simultaneous:

        def legal(s):
            return [game.legal(s, p) for p in range(game.num_players)]

    for seed in range(2):
        for ply, s in enumerate(positions(game, seed)):
            if ply % 10 and ply > 6:  # later positions are tested at every tenth ply, to save time
                continue
            player = 0 if game.simultaneous else game.player(s)
            # The board of Knight Fight does not show all of a position: the rest is kept from the
            # edited position. In other games it is replaced, so any position can be edited.
            bases = (s,) if name == "knight_fight" else (s, game.new(seed + 1))
            for base in bases:
                before = {field: base[field].copy() for field in base.dtype.names}
                rebuilt = position_from_cells(
                    game, base, board_codes(game, s).ravel().tolist(), player
                )
                for field, value in before.items():  # the edited position is not changed
                    assert np.array_equal(base[field], value)
                assert np.array_equal(board_codes(game, rebuilt), board_codes(game, s))
                assert legal(rebuilt) == legal(s)
                if name == "hungry_geese":
                    assert rebuilt.length.tolist() == s.length.tolist()


# Changes of cells: (row, column, code of the piece). Odd codes of geese are bodies: the body of
# goose A (codes 2 and 3) has a gap here, and that of goose B (4 and 5) has none.
GOOSE = [(0, 0, 2), (0, 1, 3), (0, 10, 3), (5, 5, 4), (5, 6, 5), (5, 7, 5)]
# Game, changes of its starting position, and the reason why the result is refused.
REASONS = [
    ("tictactoe", [(0, 0, 1), (0, 1, 1), (0, 2, 1)], "over in this position: X wins"),
    ("othello", [(3, 3, 0), (4, 4, 0)], "over in this position: black wins, black 2, white 0"),
    ("connect4", [(3, 3, 1)], "the piece in column 4 must lie on another piece"),
    ("connect4", [(5, k, 2) for k in range(4)], "over in this position: yellow wins"),
    ("hex:board_size=3", [(k, 0, 1) for k in range(3)], "over in this position: black wins"),
    ("atari_go", [(0, 0, 1)], "do not fit the player to move; with white to move it is possible"),
    ("breakthrough", [(0, 0, 1)], "has broken through already"),
    ("breakthrough", [(2, 2, 3)], "hole is impossible at c4"),
    ("sheep_and_wolf", [(3, 3, 1)], "must be on different dark cells"),
    ("sheep_and_wolf", [(3, 4, 1)], "there are 2 wolves and 4 sheep"),
    ("free_for_all", [(2, 0, 0)], "an empty cell is impossible at a3"),
    ("knight_fight", [(5, 5, 1)], "expected one piece 'white' on the board, got 2"),
    ("tron", [(2, 2, 0)], "expected one piece 'red' on the board, got 0"),
    ("tron", [(2, 3, 4)], "expected one piece 'blue' on the board, got 2"),
    ("hungry_geese", GOOSE, "the cells of goose A do not form a line behind its head"),
    ("hungry_geese", [(0, k, 1) for k in range(3)], "foods, at most 2 are possible"),
    ("gdl", [], "can only be set up as JSON"),
]


@pytest.mark.parametrize(("spec", "changes", "reason"), REASONS)
def test_impossible_positions_are_refused_with_a_reason(spec, changes, reason):
    game = make_game(spec)
    s = game.new()
    cells = board_codes(game, s).copy()
    if changes is GOOSE:
        cells[:] = 0
    for row, column, code in changes:
        cells[row, column] = code
    with pytest.raises(ValueError, match=re.escape(reason)):
        position_from_cells(game, s, cells.ravel().tolist(), 0)


def test_the_order_of_a_goose_is_found_across_the_border():
    game = make_game("hungry_geese")
    cells = np.zeros((7, 11), np.int8)
    cells[0, 0], cells[6, 0], cells[6, 10], cells[5, 10] = 2, 3, 3, 3  # goose A
    cells[3, 3] = 4
    rebuilt = position_from_cells(game, game.new(1), cells.ravel().tolist(), 0)
    assert rebuilt.length.tolist() == [4, 1, 0, 0]
    assert rebuilt.body[0, :4].tolist() == [0, 66, 76, 65]  # cells 11 * row + column, from the head
    # South, across the border; goose B has one cell, so no action is known.
    assert rebuilt.last_action.tolist()[:2] == [2, -1]
    game.step(rebuilt, np.array([0, 1, 0, 0]))
    assert rebuilt.length[0] == 0  # action 0, north, turned the goose back, which is its end


def test_fixed_cells_and_their_pieces_are_not_offered():
    view = editor_view(make_game("breakthrough_holes"), make_game("breakthrough_holes").new())
    assert [piece["name"] for piece in view["pieces"] if piece["is_offered"]] == ["white", "black"]
    assert sum(code == 3 for code in view["fixed"]) == 4  # the holes
    view = editor_view(make_game("free_for_all"), make_game("free_for_all").new())
    assert sorted(code for code in view["fixed"] if code) == [1, 2, *[3] * 8]
    view = editor_view(make_game("hungry_geese"), make_game("hungry_geese").new())
    assert all(piece["is_offered"] for piece in view["pieces"])
    assert view["players"] == []

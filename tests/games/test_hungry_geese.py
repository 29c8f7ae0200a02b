"""Tests of the rules of Hungry Geese, on boards drawn as text; see `drawn_geese`."""

from typing import Any

import numpy as np
import pytest
from drawn_geese import play, position

from ludoteca.envs.game import Game
from ludoteca.envs.games.goose_positions import NONE, geese
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.record_views import view_records
from ludoteca.envs.symmetry import Symmetry


def returns_of(game: Game, s: Any) -> list[float]:
    """Return the returns of all geese."""
    out = np.zeros(game.num_players)
    game.returns(s, out)
    return out.tolist()


def view(game: Game, s: Any, player: int) -> Any:
    """Return the observation of a player."""
    planes = np.zeros(game.observation_shape, np.int8)
    game.observe(s, player, planes)
    return planes


def test_food_is_refilled_only_where_there_is_room() -> None:
    game, s = position(["0*a", "***", "***"], min_food=9)
    assert play(game, s, "SN") == ["1*b", "0**", "**a"]
    assert s.num_food == 5
    play(game, s, "SW")  # both eat again: still no cell is free
    assert s.num_food == 3
    play(game, s, "WN")  # goose 0 runs into goose 1, which eats: all that goose 0 leaves is filled
    assert s.length.tolist() == [0, 4]
    assert s.num_food == 5
    assert s.food.tolist()[5:] == [NONE] * 4


def test_a_game_of_one_goose_ends_after_one_step() -> None:
    game = hungry_geese(num_players=1)
    s = game.new()
    assert not game.is_terminal(s)
    play(game, s, "N")
    assert game.is_terminal(s)
    assert s.score.tolist() == [200 + s.length[0]]
    assert returns_of(game, s) == [0]


def test_a_game_takes_199_moves_and_a_survivor_of_length_22_scores_20022() -> None:
    empty = "..........."
    game, s = position(["0123456789.", empty, empty, "a..........", *[empty] * 3], steps=196)
    s.body[0, 10:23] = [10, *range(21, 9, -1)]  # to the end of row 0, and back along row 1
    s.length[0] = 23
    s.occupied[:2] = 1
    s.occupied[2, 0] = 0
    assert game.validate(s) != ""
    s.body[0, :22] = [*range(11), *range(21, 10, -1)]
    s.length[0] = 22
    assert game.validate(s) == ""
    play(game, s, "NE")
    play(game, s, "NE")
    assert not game.is_terminal(s)
    play(game, s, "NE")
    assert game.is_terminal(s)
    assert s.steps == game.max_plies == 199
    assert s.score.tolist() == [20022, 20001]
    assert returns_of(game, s) == [1, -1]


def test_the_longest_possible_game_does_not_overflow() -> None:
    game, s = position(
        ["0...", "....", "a..."],
        steps=9_998,
        hunger_rate=10_000,
        episode_steps=10_000,
        max_length=10_000,
        extra_planes=True,
    )
    play(game, s, "EE")
    assert game.is_terminal(s)
    assert s.score.tolist() == [10_000 * 10_001 + 1] * 2
    assert view(game, s, 0)[-2:, 0, 0].tolist() == [100, 99]


def test_returns_are_paid_when_a_goose_dies_and_stay() -> None:
    rows = ["0.....", ".....*", "a.....", "......", "A.....", "......", "k....."]
    game, s = position(rows, steps=0)
    for moves, expected in [
        ("EEEE", [0, 0, 0, 0]),
        ("EEEW", [0, 0, 0, -1]),
        ("EEW-", [0, 0, -1 / 3, -1]),
        ("WW--", [2 / 3, 2 / 3, -1 / 3, -1]),
    ]:
        assert not game.is_terminal(s)
        play(game, s, moves)
        assert returns_of(game, s) == pytest.approx(expected)
    assert game.is_terminal(s)


def test_the_longer_of_two_geese_that_die_together_wins() -> None:
    game, s = position(["10.a", "....", "...."])
    play(game, s, "EW")
    assert game.is_terminal(s)
    assert returns_of(game, s) == [1, -1]


def test_dying_in_the_first_step_scores_nothing() -> None:
    game, s = position(["0.a", "...", "..."], steps=0)
    play(game, s, "EW")
    assert s.score.tolist() == [0, 0]
    assert returns_of(game, s) == [0, 0]


BEFORE = [
    "...........",
    ".01.....a..",
    "........b..",
    "...........",
    "..*...A....",
    "......B..k.",
    "...*..C..l.",
]
AFTER = [
    ".0.........",
    ".1......ba.",
    "...........",
    "...........",
    "..*..AB....",
    "......C....",
    "...*.......",
]
# The cells of `AFTER` by goose, as (row, column); goose 3 is dead.
NOBODY: list[tuple[int, int]] = []
HEADS = [[(0, 1)], [(1, 9)], [(4, 5)], NOBODY]
TAILS = [[(1, 1)], [(1, 8)], [(5, 6)], NOBODY]
BODIES = [[(0, 1), (1, 1)], [(1, 9), (1, 8)], [(4, 5), (4, 6), (5, 6)], NOBODY]
LAST_HEADS = [[(1, 1)], [(1, 8)], [(4, 6)], NOBODY]
FOODS = [[(4, 2), (6, 3)]]


def planes_of(cells: list[list[tuple[int, int]]]) -> Any:
    """Return planes `[N, 7, 11]` from the marked cells of each plane."""
    planes = np.zeros((len(cells), 7, 11), np.int8)
    for plane, marked in zip(planes, cells, strict=True):
        for row, column in marked:
            plane[row, column] = 1
    return planes


@pytest.mark.parametrize("player", range(4))
def test_17_planes_show_the_view_of_a_player(player: int) -> None:
    """Goose 3 died in the last step by turning back: its planes are empty from every view."""
    game, s = position(BEFORE, last="NNNN")
    assert play(game, s, "NEWS") == AFTER
    order = [(player + k) % 4 for k in range(4)]
    parts = [[part[p] for p in order] for part in (HEADS, TAILS, BODIES, LAST_HEADS)]
    expected = planes_of([plane for part in parts for plane in part] + FOODS)
    assert expected.shape == game.observation_shape == (17, 7, 11)
    assert np.array_equal(view(game, s, player), expected)


def test_there_are_no_last_heads_at_the_start() -> None:
    game = hungry_geese()
    planes = view(game, game.new(3), 2)
    assert not planes[12:16].any()
    assert planes[:16].sum(axis=(1, 2)).tolist() == [1] * 12 + [0] * 4
    assert np.array_equal(planes[:4], planes[4:8])
    assert planes[16].sum() == 2


def test_extra_planes_show_the_time() -> None:
    game, s = position(BEFORE, steps=50, extra_planes=True)
    play(game, s, "NEWN")
    planes = view(game, s, 1)
    assert planes.shape == (19, 7, 11)
    assert (planes[17] == 25).all()  # percent: 51 of 199 steps
    assert (planes[18] == 27).all()  # percent: 11 of 40 steps since the last hunger


def moved(game: Game, s: Any, symmetry: Symmetry) -> Any:
    """Return the position as a symmetry maps it."""
    other = view_records(game.empty(1))[0]
    for name in game.state.names or ():
        other[name] = s[name]
    other.occupied.ravel()[symmetry.cells] = s.occupied.ravel()
    other.body[:] = symmetry.cells[s.body]
    for name, mapping in (
        ("food", symmetry.cells),
        ("last_head", symmetry.cells),
        ("last_action", symmetry.actions),
    ):
        other[name] = np.where(s[name] == NONE, NONE, mapping[s[name]])
    return other


# The torus has rows * columns translations times 4 symmetries of a rectangle, or 8 of a square.
@pytest.mark.parametrize(("rows", "columns", "count"), [(7, 11, 308), (5, 5, 200), (3, 4, 48)])
def test_symmetries_commute_with_the_rules(rows: int, columns: int, count: int) -> None:
    game = hungry_geese(num_players=3, rows=rows, columns=columns, min_food=3, hunger_rate=7)
    symmetries = game.symmetries()
    assert len({symmetry.cells.tobytes() for symmetry in symmetries}) == len(symmetries) == count
    assert (symmetries[0].cells == np.arange(rows * columns)).all()
    rng = np.random.default_rng(rows)
    for seed, symmetry in enumerate([symmetries[i] for i in rng.permutation(count)[:16]]):
        s = game.new(seed)
        while not game.is_terminal(s):
            other = moved(game, s, symmetry)
            assert game.validate(other) == "", symmetry.name
            for p in range(3):
                expected = symmetry.observation(view(game, s, p))
                assert np.array_equal(view(game, other, p), expected), symmetry.name
            actions = (s.last_action + rng.integers(-1, 2, 3)) % 4  # ahead, left or right
            food, other_food = s.food.copy(), other.food.copy()
            with np.errstate(over="ignore"):  # SplitMix64 wraps around
                game.step(s, actions)
                game.step(other, symmetry.actions[actions])
            assert geese(other) == [symmetry.cells[goose].tolist() for goose in geese(s)]
            for name in ("last_head", "last_action", "score", "length", "num_food"):
                assert np.array_equal(other[name], moved(game, s, symmetry)[name]), symmetry.name
            # New food appears at random cells; the remaining food must be equal.
            left, other_left = np.isin(food, s.food), np.isin(other_food, other.food)
            assert np.array_equal(left, other_left), symmetry.name


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("length", [2, 100], "lengths"),
        ("length", [-1, 1], "lengths"),
        ("start", [0, 99], "start"),
        ("body", 77, "outside the board"),
        ("body", -1, "outside the board"),
        ("body", 5, "share a cell"),
        ("occupied", 0, "occupied"),
        ("num_food", 3, "num_food"),
        ("food", [7, 7], "food"),
        ("food", [3, 77], "food"),
        ("last_action", 4, "last_action"),
        ("last_head", 77, "last_head"),
        ("steps", 200, "steps"),
    ],
)
def test_validate_refuses_impossible_positions(field: str, value: Any, problem: str) -> None:
    game = hungry_geese(num_players=2)
    s = game.new(1)
    assert game.validate(s) == ""
    s[field] = value
    assert problem in game.validate(s)

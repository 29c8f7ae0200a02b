"""Contract of `Game`, for every registered game: a new game is tested by registering it."""

from typing import Any

import numpy as np
import pytest
from boards import REPRESENTATIVES, other_parameters, small_spec
from hypothesis import given, settings
from hypothesis import strategies as st

from ludoteca.envs.contract import (
    check_compiled,
    check_copy,
    check_ends,
    check_init,
    check_names,
    check_play,
    check_repeats,
    check_symmetric_play,
    check_symmetries,
)
from ludoteca.envs.game import Game
from ludoteca.envs.registry import GAMES, make_game

# Tested parameters besides the defaults: the smallest and largest boards, odd shapes, and every
# option. Games without an entry are tested with the other parameters of their pages.
VARIANTS = {
    "HungryGeese-v0": (
        "num_players=2,rows=3,columns=4,hunger_rate=3,min_food=4,max_length=3,episode_steps=30",
        "num_players=1",
        "num_players=3,rows=3,columns=3,min_food=20,hunger_rate=1",
        "num_players=8,extra_planes=True,episode_steps=2",
        "num_players=8,rows=20,columns=20,max_length=1",
    ),
    "Othello-v0": (
        "board_size=6,auto_pass=True",
        "board_size=4",
        "board_size=4,auto_pass=True,planes=absolute",
        "planes=absolute",
    ),
    "Hex-v0": (
        "board_size=4,first=white,swap=True",
        "board_size=2",
        "board_size=2,swap=True",
        "board_size=19",
    ),
    "Connect4-v0": (
        "rows=3,columns=9,connect=3",
        "rows=2,columns=2,connect=2",
        "rows=20,columns=20,connect=20",
        "rows=20,columns=2,connect=5",
    ),
    "TicTacToe-v0": ("board_size=5,line=4", "board_size=15,line=5", "board_size=4,line=3"),
    "Tron-v0": ("rows=3,columns=8", "rows=2,columns=2", "rows=20,columns=20"),
    "AtariGo-v0": ("board_size=5", "board_size=2", "board_size=19"),
    "Breakthrough-v0": ("rows=8,columns=8", "rows=4,columns=2", "rows=5,columns=7"),
    "BreakthroughHoles-v0": (
        "rows=7,columns=3,holes=a3+b4+c4+b5",
        "rows=8,columns=8",
        "rows=5,columns=2,holes=a3",
    ),
    "BreakthroughSuicide-v0": ("rows=4,columns=8", "rows=8,columns=2"),
    "KnightThrough-v0": ("rows=5,columns=6", "rows=4,columns=4", "rows=8,columns=5"),
    "SheepAndWolf-v0": ("board_size=6", "board_size=4"),
    "TicTacToeLarge-v0": ("board_size=6,line=5", "board_size=15"),
    "FreeForAll-v0": (
        "board_size=3,plies=100,move=king,capture=knight",
        "board_size=4,plies=100,move=king",
        "board_size=6,capture=knight",
        "plies=1",
    ),
}
VARIANTS |= {name: other_parameters(name) for name in GAMES if name not in VARIANTS}
SPECS = [f"{name}:{params}" for name in GAMES for params in ("", *VARIANTS[name])]


def is_large(game: Game) -> bool:
    """Return whether checks take long: the board is large and is not the default of its game."""
    is_default = game.spec == make_game(game.name).spec
    return not is_default and (game.state.itemsize > 700 or game.max_plies > 220)


def small_specs(mark: pytest.MarkDecorator) -> list[Any]:
    """Return all games on small boards, and larger boards for the slow tests.

    Args:
        mark: mark of the small boards of games that are not representative (`boards.KINDS`).
    """
    small = [
        pytest.param(small_spec(name), marks=() if name in REPRESENTATIVES else mark)
        for name in GAMES
    ]
    larger = [f"{name}:{params}" for name in GAMES for params in ("", *VARIANTS[name][:1])]
    return [*small, *(pytest.param(spec, marks=pytest.mark.slow) for spec in larger)]


all_specs = pytest.mark.parametrize(
    "spec",
    [
        pytest.param(spec, marks=pytest.mark.slow if is_large(make_game(spec)) else ())
        for spec in SPECS
    ],
)
small_boards = pytest.mark.parametrize("spec", small_specs(pytest.mark.interpreted))
seeds = st.integers(0, 2**32 - 1)


def test_variants_are_of_registered_games() -> None:
    assert set(VARIANTS) <= set(GAMES)


@all_specs
@settings(max_examples=4, deadline=None)
@given(prefix=st.lists(st.integers(0, 2**16), max_size=40), seed=seeds)
def test_every_position_keeps_the_contract(spec: str, prefix: list[int], seed: int) -> None:
    check_play(make_game(spec), prefix, seed)


@all_specs
@settings(max_examples=3, deadline=None)
@given(prefix=st.lists(st.integers(0, 2**16), max_size=40), seed=seeds)
def test_init_overwrites_all_fields_but_the_settings(
    spec: str, prefix: list[int], seed: int
) -> None:
    check_init(make_game(spec), prefix, seed)


@all_specs
@settings(max_examples=3, deadline=None)
@given(seed=seeds, fraction=st.floats(0, 1))
def test_a_copy_has_the_same_future(spec: str, seed: int, fraction: float) -> None:
    check_copy(make_game(spec), seed, fraction)


@pytest.mark.parametrize("spec", small_specs(pytest.mark.slow))
def test_compiled_equals_interpreted(spec: str) -> None:
    check_compiled(make_game(spec))


@small_boards
def test_the_same_actions_make_the_same_game(spec: str) -> None:
    check_repeats(make_game(spec), 5, seed=8, interpreted=False)


@small_boards
def test_many_games_end_in_time(spec: str) -> None:
    check_ends(make_game(spec), games=60)


@all_specs
def test_action_names_are_unique(spec: str) -> None:
    check_names(make_game(spec))


@all_specs
def test_the_spec_string_makes_the_same_game(spec: str) -> None:
    game = make_game(spec)
    assert make_game(game.spec).params == game.params


def test_numpy_integers_are_valid_parameters() -> None:
    game = make_game("connect4", rows=np.int64(5), columns=np.int32(6))
    assert game is make_game("connect4:rows=5,columns=6")
    assert game.spec == "connect4:rows=5,columns=6,connect=4"
    with pytest.raises(ValueError, match=r"rows must be an integer from 2 to 20, got 5\.5"):
        make_game("connect4", rows=np.float64(5.5))


@all_specs
def test_symmetries_are_a_group(spec: str) -> None:
    check_symmetries(make_game(spec))


@small_boards
def test_symmetries_commute_with_play(spec: str) -> None:
    """Play commutes with symmetries, up to the players' names, if they keep the first position."""
    game = make_game(spec)
    if game.has_chance:
        pytest.skip("random events are not mapped by symmetries")
    check_symmetric_play(game)

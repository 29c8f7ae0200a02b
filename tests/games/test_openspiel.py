"""Random games replayed by OpenSpiel's rules: positions and results are equal at every ply.

By default some games are compared, and ours are interpreted. The slow tests compare thousands; our
side of them is one compiled call, so only OpenSpiel's Python interface costs time.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ludoteca.envs.engine.trajectory import Trajectory, record_trajectory
from ludoteca.envs.game import Game
from ludoteca.envs.interpreted import cache_by_mode
from ludoteca.envs.jit import compiled
from ludoteca.envs.registry import make_game

pyspiel = pytest.importorskip("pyspiel")
make_observation = pytest.importorskip("open_spiel.python.observation").make_observation

SLICE = 500  # games recorded at a time, to keep memory small
QUICK_PLIES = 250  # minimum sum of `max_plies` of the games that are compared by default


def black_white(planes: Any) -> Any:
    """Convert OpenSpiel's planes (empty, black, white) to ours (first, second player)."""
    return planes[:, [1, 2]]


def o_x(planes: Any) -> Any:
    """Convert OpenSpiel's planes (empty, o, x) to ours: x, the first player, and o."""
    return planes[:, [2, 1]]


def bottom_up(planes: Any) -> Any:
    """Convert OpenSpiel's planes (x, o, empty; rows from the bottom) to ours, from the top."""
    return planes[:, :2, ::-1]


def hex_planes(planes: Any) -> Any:
    """Convert OpenSpiel's nine planes, one per type of stone, to our six, without the padding.

    OpenSpiel's types, from plane 0: white that won, white at the west, white at the east, other
    white, empty, other black, black at the south, black at the north, black that won
    (open_spiel/games/hex/hex.h, CellState).
    """
    white_won, west, east, white, _, black, south, north, black_won = planes.swapaxes(0, 1)
    blacks, whites = black + south + north + black_won, white_won + west + east + white
    return np.stack((blacks, whites, west, east, north, south), 1)


def breakthrough_planes(planes: Any) -> Any:
    """Convert OpenSpiel's planes (black, white, empty) to ours, where its black is our white."""
    first, second, _ = planes[:, :, ::-1].swapaxes(0, 1)
    return np.stack((first, second, np.ones_like(first)), 1)


# Spec strings of ours and of OpenSpiel, number of games of the slow test, and conversion of planes.
CASES = [
    ("othello", "othello", 10_000, black_white),
    ("connect4", "connect_four", 10_000, bottom_up),
    (
        "connect4:rows=5,columns=8,connect=3",
        "connect_four(rows=5,columns=8,x_in_row=3)",
        1000,
        bottom_up,
    ),
    ("tictactoe", "tic_tac_toe", 10_000, o_x),
    ("tictactoe:board_size=5", "mnk(m=5,n=5,k=5)", 10_000, o_x),
    ("tictactoe:board_size=7,line=4", "mnk(m=7,n=7,k=4)", 1000, o_x),
    *((f"hex:board_size={n}", f"hex(board_size={n})", 2_500, hex_planes) for n in (2, 3, 5, 7, 11)),
    ("tictactoe_large", "mnk(m=5,n=5,k=5)", 1000, o_x),
    ("breakthrough", "breakthrough(rows=6,columns=6)", 3000, breakthrough_planes),
    ("breakthrough:rows=8,columns=8", "breakthrough", 1000, breakthrough_planes),
    ("breakthrough:rows=7,columns=5", "breakthrough(rows=7,columns=5)", 1000, breakthrough_planes),
    ("hex:board_size=3,swap=True", "hex(board_size=3,swap=True)", 1000, hex_planes),
    ("hex:board_size=6,swap=True", "hex(board_size=6,swap=True)", 1000, hex_planes),
]


cases = pytest.mark.parametrize(
    ("ours", "theirs", "games", "planes"), CASES, ids=[case[0] for case in CASES]
)


@cases
@pytest.mark.slow
def test_many_random_games(
    ours: str, theirs: str, games: int, planes: Callable[[Any], Any]
) -> None:
    compare(ours, theirs, games, planes)


@cases
@pytest.mark.interpreted
def test_some_random_games(
    ours: str, theirs: str, games: int, planes: Callable[[Any], Any]
) -> None:
    compare(ours, theirs, -(-QUICK_PLIES // make_game(ours).max_plies), planes)


def compare(ours: str, theirs: str, games: int, planes: Callable[[Any], Any]) -> None:
    """Play random games in both packages; compare legal actions, movers, planes and returns."""
    game, other = make_game(ours), pyspiel.load_game(theirs)
    our_number = our_numbers(game, other)
    observer = make_observation(other)
    shape = other.observation_tensor_shape()
    for seed in range(0, games, SLICE):
        trajectory = record_trajectory(game, min(SLICE, games - seed), seed=seed)
        for i, plies in enumerate(trajectory.plies):
            seen = replay(trajectory, i, other, observer, our_number)
            expected = planes(seen.reshape(-1, *shape))
            actual = np.zeros((plies + 1, *game.observation_shape), np.int8)
            make_views(game)(trajectory.positions[i, : plies + 1], actual)
            if game.name == "hex":
                actual = actual[..., 1:-1, 1:-1]  # without the padding
                # Our planes show the winning group as connected to both edges, OpenSpiel's do not.
                actual[-1, 2:] = expected[-1, 2:]
            assert np.array_equal(actual, expected), actions_text(trajectory, i)


def our_numbers(game: Game, other: Any) -> list[int]:
    """Return our number of each of OpenSpiel's actions, or -1 without an equivalent.

    Most games have the same numbers. In Breakthrough, OpenSpiel has two actions for each move, one
    of which captures (`"b2c3*"`), and counts rows from the other side.
    """
    if game.name != "breakthrough":
        assert game.num_actions == other.num_distinct_actions()
        return list(range(game.num_actions))
    rows = game.params["rows"]
    numbers = {name: action for action, name in enumerate(game.action_names)}
    actions, state = [], other.new_initial_state()
    for action in range(other.num_distinct_actions()):
        start_column, start_row, end_column, end_row, *_ = state.action_to_string(action)
        start, end = (
            f"{column}{rows + 1 - ord(row) + ord('0')}"
            for column, row in ((start_column, start_row), (end_column, end_row))
        )
        actions.append(numbers.get(f"{start}-{end}", -1))
    return actions


def replay(trajectory: Trajectory, i: int, other: Any, observer: Any, our_number: list[int]) -> Any:
    """Replay game i in OpenSpiel and compare it; return the observations of player 0."""
    plies = int(trajectory.plies[i])
    legal: list[int] = []
    numbers, movers = [], []
    seen = np.empty((plies + 1, observer.tensor.size), np.float32)
    state = other.new_initial_state()
    for ply, action in enumerate(trajectory.actions[i, :plies, 0].tolist()):
        theirs = {our_number[number]: number for number in state.legal_actions()}
        actions = sorted(theirs)
        assert action in actions, (
            f"{actions_text(trajectory, i)}\nply {ply}: OpenSpiel allows {actions}"
        )
        legal += actions
        numbers.append(len(actions))
        movers.append(state.current_player())
        observer.set_from(state, 0)
        seen[ply] = observer.tensor
        state.apply_action(theirs[action])
    observer.set_from(state, 0)
    seen[plies] = observer.tensor
    ours = trajectory.legal[i, :plies, 0]
    assert ours.sum(1).tolist() == numbers, actions_text(trajectory, i)
    assert np.nonzero(ours)[1].tolist() == legal, actions_text(trajectory, i)
    assert trajectory.mover[i, :plies].tolist() == movers, actions_text(trajectory, i)
    assert trajectory.over[i, plies], actions_text(trajectory, i)
    assert state.is_terminal(), actions_text(trajectory, i)
    assert trajectory.returns[i, plies].tolist() == state.returns(), actions_text(trajectory, i)
    return seen


def actions_text(trajectory: Trajectory, i: int) -> str:
    """Return a text with the played actions, to reproduce a failure."""
    return f"game {i}: actions {trajectory.actions[i, : trajectory.plies[i], 0].tolist()}"


@cache_by_mode
def make_views(game: Game) -> Any:
    """Return `views(positions, out)`, which writes the observation of player 0 of each position."""
    observe = game.observe

    @compiled
    def views(positions: Any, out: Any) -> None:
        for t in range(positions.shape[0]):
            observe(positions[t], 0, out[t])

    return views

"""Random games played by OpenSpiel's rules at the same time: equal at every ply.

Our side of a game is one compiled call, so only OpenSpiel's Python interface costs time.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.trace import Trace, record

pyspiel = pytest.importorskip("pyspiel")
observation = pytest.importorskip("open_spiel.python.observation")

CHUNK = 500  # games recorded at a time, to keep memory small


def stones(first: int, second: int) -> Callable[[Any], Any]:
    """Read OpenSpiel planes that show the pieces of player 0 and of player 1, as ours do."""
    return lambda planes: planes[:, [first, second]]


def hex_planes(planes: Any) -> Any:
    """Turn OpenSpiel's nine planes, one per kind of stone, into our six, without the padding.

    Its kinds, from plane 0: white that won, white at the west, white at the east, other white,
    empty, other black, black at the south, black at the north, black that won
    (open_spiel/games/hex/hex.h, CellState).
    """
    white_won, west, east, white, _, black, south, north, black_won = planes.swapaxes(0, 1)
    return np.stack(
        (
            black + south + north + black_won,
            white_won + west + east + white,
            west + white_won,
            east + white_won,
            north + black_won,
            south + black_won,
        ),
        1,
    )


HEX_GAMES = {2: 2500, 3: 2500, 5: 2500, 7: 1500, 11: 1000}
CASES = [
    ("othello", "othello", 10_000, stones(1, 2)),
    ("connect4", "connect_four", 10_000, stones(0, 1)),
    ("connect4:rows=5,columns=8,connect=3", "connect_four(rows=5,columns=8,x_in_row=3)", 1000, None),
    ("tictactoe", "tic_tac_toe", 10_000, stones(2, 1)),
    ("tictactoe:board_size=5", "mnk(m=5,n=5,k=5)", 10_000, stones(2, 1)),
    ("tictactoe:board_size=7,line=4", "mnk(m=7,n=7,k=4)", 1000, stones(2, 1)),
    *(
        (f"hex:board_size={n}", f"hex(board_size={n})", games, hex_planes)
        for n, games in HEX_GAMES.items()
    ),
    ("hex:board_size=3,swap=True", "hex(board_size=3,swap=True)", 1000, hex_planes),
    ("hex:board_size=6,swap=True", "hex(board_size=6,swap=True)", 1000, hex_planes),
]


@pytest.mark.parametrize(("ours", "theirs", "games", "planes"), CASES, ids=[c[0] for c in CASES])
def test_random_games(ours: str, theirs: str, games: int, planes: Any) -> None:
    game, other = make_game(ours), pyspiel.load_game(theirs)
    assert game.num_actions == other.num_distinct_actions()
    observer = observation.make_observation(other)
    for seed in range(0, games, CHUNK):
        trace = record(game, min(CHUNK, games - seed), seed=seed)
        for i in range(len(trace.plies)):
            compare(game, trace, i, other, observer, planes)


def compare(game: Game, trace: Trace, i: int, other: Any, observer: Any, planes: Any) -> None:
    """Replay game i in OpenSpiel, and compare what it showed with our record."""
    plies = int(trace.plies[i])
    actions = trace.actions[i, :plies, 0].tolist()
    legal, mover = [], []
    seen = np.empty((plies + 1, observer.tensor.size), np.float32)
    state = other.new_initial_state()
    for ply, action in enumerate(actions):
        legal.append(state.legal_actions())
        mover.append(state.current_player())
        observer.set_from(state, 0)
        seen[ply] = observer.tensor
        if action not in legal[ply]:
            break
        state.apply_action(action)
    observer.set_from(state, 0)
    seen[plies] = observer.tensor

    def story() -> str:
        return f"{game.spec}, game {i}, actions {actions}; OpenSpiel has {legal[-1]} in\n{state}"

    rows, numbers = np.nonzero(trace.legal[i, :plies, 0])
    ours = np.split(numbers, np.cumsum(np.bincount(rows, minlength=plies))[:-1])
    assert [list(map(int, numbers)) for numbers in ours] == legal, story()
    assert trace.mover[i, :plies].tolist() == mover, story()
    assert state.is_terminal(), story()
    assert trace.over[i, plies], story()
    assert trace.returns[i, plies].tolist() == state.returns(), story()
    if planes is not None:
        shape = tuple(other.observation_tensor_shape())
        theirs = planes(seen.reshape(plies + 1, *shape))
        compare_planes(game, trace.positions[i, : plies + 1], theirs)

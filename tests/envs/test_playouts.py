"""Random playouts of batches of games, compared with exact values."""

from functools import cache

import numpy as np
import pytest
from boards import EVERY_GAME

from ludoteca.envs.engine.playouts import make_playouts, play_randomly
from ludoteca.envs.record_views import view_records
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.registry import make_game

pytestmark = pytest.mark.interpreted

GAMES_PLAYED = 20_000
VALUES: dict[bytes, float] = {}  # exact expected returns of X, by the board


@cache
def expected_value(prefix: tuple[int, ...] = ()) -> float:
    """Return the exact expected return of X under random play in tic-tac-toe, after a prefix."""
    game = make_game("tictactoe")
    s = game.new()
    for action in prefix:
        game.step(s, action)
    out, scores = np.zeros(9, np.int16), np.zeros(2)

    def value(s: np.record) -> float:
        n = game.legal_actions(s, out)
        if n == 0:
            game.returns(s, scores)
            return float(scores[0])
        total = 0.0
        for action in out[:n].tolist():
            child = s.copy()
            game.step(child, action)
            key = child.board.tobytes()
            if key not in VALUES:
                VALUES[key] = value(child)
            total += VALUES[key]
        return total / n

    return value(s)


@pytest.mark.compiled
def test_mean_return_of_tictactoe_is_its_expected_value() -> None:
    totals, plies = play_randomly(make_game("tictactoe"), GAMES_PLAYED)
    assert totals[0] == -totals[1]
    # Five standard errors, since the standard deviation of a return is below 1.
    assert abs(totals[0] / GAMES_PLAYED - expected_value()) < 5 / GAMES_PLAYED**0.5
    assert 5 * GAMES_PLAYED < plies < 9 * GAMES_PLAYED


@pytest.mark.compiled
def test_playouts_from_several_positions_in_one_call() -> None:
    game = make_game("tictactoe")
    prefixes = ((), (4,), (0, 4), (0, 3, 1, 4, 2))  # X has won in the last one
    roots = view_records(game.empty(len(prefixes)))
    for s, prefix in zip(roots, prefixes, strict=True):
        game.init(s, 0)
        for action in prefix:
            game.step(s, action)
    before = roots.tobytes()
    totals = np.zeros((len(prefixes), 2))
    rng = np.array([1], np.uint64)
    make_playouts(game)(roots.view(np.ndarray).view(game.state), GAMES_PLAYED, rng, totals)
    assert roots.tobytes() == before
    for prefix, total in zip(prefixes, totals, strict=True):
        error = total[0] / GAMES_PLAYED - expected_value(prefix)
        assert abs(error) < 5 / GAMES_PLAYED**0.5, prefix
    assert totals[3].tolist() == [GAMES_PLAYED, -GAMES_PLAYED]


@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_seed_determines_the_games_and_the_start_does_not_change(name: str) -> None:
    game = make_game(name)
    start = batch_of_one(game)
    games = 15
    first, plies = play_randomly(game, games, seed=7, from_state=start[0])
    again, plies_again = play_randomly(game, games, seed=7, from_state=start[0])
    other, other_plies = play_randomly(game, games, seed=8, from_state=start[0])
    assert (first.tolist(), plies) == (again.tolist(), plies_again)
    assert (first.tolist(), plies) != (other.tolist(), other_plies)
    assert start.tobytes() == batch_of_one(game).tobytes()
    assert games <= plies <= games * game.max_plies
    assert abs(first.sum()) < 1e-9
    assert (np.abs(first) <= games).all()


def test_a_position_of_another_game_is_an_error() -> None:
    with pytest.raises(ValueError, match="from_state must be one record of hex"):
        play_randomly(make_game("hex"), 1, from_state=make_game("tron").new())

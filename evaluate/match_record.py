"""Counting how games ended, for an agent or a seat."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class MatchRecord:
    """How a number of games ended for one agent, or in one seat.

    Attributes:
        games: how many there were.
        wins: games in which it came first, alone.
        draws: games in which it shared the first place.
        losses: all others.
        points: a win is worth 1, a first place shared by t seats 1 / t for each.
        mean_return: mean of the game's returns, in [-1, 1].
        mean_rank: mean place in the game, 1 the best; who tie have the mean of their places.
    """

    games: int
    wins: int
    draws: int
    losses: int
    points: float
    mean_return: float
    mean_rank: float

    @property
    def win_rate(self) -> float:
        """Share of the games won."""
        return self.wins / self.games if self.games else 0.0

    @property
    def score(self) -> float:
        """Points per game; with two players, a draw counts as half a win."""
        return self.points / self.games if self.games else 0.0


def agent_record(returns: NDArray[np.float64], who: NDArray[np.int64], agent: int) -> MatchRecord:
    """MatchRecord all games for one agent.

    An agent that held several seats of a game has won it if the best of them beat all other agents'
    seats: so its games are independent trials, which its seats are not.

    Args:
        returns: the games' results. Shape `[games, P]`.
        who: which agent sat where; each game has another one too. Shape `[games, P]`.
        agent: the one to tally.
    """
    mine = who == agent
    own = np.where(mine, returns, -np.inf).max(1)
    others = np.where(mine, -np.inf, returns).max(1)
    points = np.where(mine, _points(returns), 0).sum(1)
    held = int(mine.sum())
    return MatchRecord(
        games=len(returns),
        wins=int((own > others).sum()),
        draws=int((own == others).sum()),
        losses=int((own < others).sum()),
        points=float(points.sum()),
        mean_return=float(returns[mine].sum() / held) if held else 0.0,
        mean_rank=float(_ranks(returns)[mine].sum() / held) if held else 0.0,
    )


def seat_record(returns: NDArray[np.float64], seat: int, which: NDArray[np.bool_]) -> MatchRecord:
    """MatchRecord some games as they ended for one seat.

    Args:
        returns: the games' results. Shape `[games, P]`.
        seat: the seat.
        which: the games that count, bool. Shape `[games]`.
    """
    returns = returns[which]
    games = len(returns)
    points = _points(returns)[:, seat]
    wins, losses = int((points == 1).sum()), int((points == 0).sum())
    return MatchRecord(
        games=games,
        wins=wins,
        draws=games - wins - losses,
        losses=losses,
        points=float(points.sum()),
        mean_return=float(returns[:, seat].mean()) if games else 0.0,
        mean_rank=float(_ranks(returns)[:, seat].mean()) if games else 0.0,
    )


def _points(returns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / t for each of the t best of a game, and 0 for the others. Shape `[games, P]`."""
    best = returns == returns.max(1, keepdims=True)
    points: NDArray[np.float64] = best / best.sum(1, keepdims=True)
    return points


def _ranks(returns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each seat's place, 1 the best; who tie have the mean of their places."""
    better = (returns[:, None, :] > returns[:, :, None]).sum(2)
    equal = (returns[:, None, :] == returns[:, :, None]).sum(2)
    ranks: NDArray[np.float64] = better + (equal + 1) / 2
    return ranks

"""Records of a match: wins, draws and losses of an agent or of a seat."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class MatchRecord:
    """Record of one agent, or of one seat.

    In a one-player game a win is the highest possible return, 1; a loss the lowest, -1; and any
    other game counts as a draw of (1 + return) / 2 points.

    Attributes:
        games: number of games.
        wins: games with a sole first place.
        draws: games with a shared first place.
        losses: all other games.
        points: sum over the games: 1 for a win, 1 / t for a first place shared by t seats.
        mean_return: mean return, in [-1, 1].
        mean_rank: mean rank in a game, 1 is the best; tied seats share the mean of their ranks.
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
        """Fraction of games won."""
        return self.wins / self.games if self.games else 0.0

    @property
    def score(self) -> float:
        """Points per game; with two players, a draw counts as half a win."""
        return self.points / self.games if self.games else 0.0


def agent_record(
    returns: NDArray[np.float64], seating: NDArray[np.int64], agent: int
) -> MatchRecord:
    """Return the record of one agent over all games.

    An agent with several seats in a game wins if its best seat beats all seats of other agents.
    So each game counts once, as an independent trial; seats of one game are not independent.

    Args:
        returns: returns of the games. Shape `[games, P]`.
        seating: index of the agent in each seat, at least two agents per game unless it is
            for one player. Shape `[games, P]`.
        agent: index of the agent.
    """
    is_agent = seating == agent
    if returns.shape[1] == 1:
        return seat_record(returns, 0, is_agent[:, 0])
    best_return = np.where(is_agent, returns, -np.inf).max(1)
    best_other = np.where(is_agent, -np.inf, returns).max(1)
    points = np.where(is_agent, _points(returns), 0).sum(1)
    num_seats = int(is_agent.sum())
    return MatchRecord(
        games=len(returns),
        wins=int((best_return > best_other).sum()),
        draws=int((best_return == best_other).sum()),
        losses=int((best_return < best_other).sum()),
        points=float(points.sum()),
        mean_return=float(returns[is_agent].sum() / num_seats) if num_seats else 0.0,
        mean_rank=float(_ranks(returns)[is_agent].sum() / num_seats) if num_seats else 0.0,
    )


def seat_record(returns: NDArray[np.float64], seat: int, mask: NDArray[np.bool_]) -> MatchRecord:
    """Return the record of one seat over some games.

    Args:
        returns: returns of the games. Shape `[games, P]`.
        seat: the seat.
        mask: whether each game counts. Shape `[games]`.
    """
    returns = returns[mask]
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
    """Return 1 / t for each of the t best seats of a game, else 0. Shape `[games, P]`.

    In one-player games, the points are (1 + return) / 2.
    """
    if returns.shape[1] == 1:
        scaled: NDArray[np.float64] = (1 + returns) / 2
        return scaled
    best = returns == returns.max(1, keepdims=True)
    points: NDArray[np.float64] = best / best.sum(1, keepdims=True)
    return points


def _ranks(returns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each seat, 1 is the best; tied seats share the mean of their ranks."""
    num_better = (returns[:, None, :] > returns[:, :, None]).sum(2)
    num_equal = (returns[:, None, :] == returns[:, :, None]).sum(2)
    ranks: NDArray[np.float64] = num_better + (num_equal + 1) / 2
    return ranks

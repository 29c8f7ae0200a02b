"""Results of a tournament: outcomes, and counts by pair, agent and game.

In shapes and indices, g is a kind of game, a and b are agents, and r is a repeat (match of a pair).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.forfeits import Forfeit
from ludoteca.evaluate.match_clock import MoveTimes
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.statistics.ratings import Ratings, rate
from ludoteca.evaluate.tournament.plan import Match, Tournament


@dataclass(frozen=True)
class PairResult:
    """Result of two agents against each other in one game.

    Attributes:
        game: index of the game.
        pair: indices of the agents.
        wins: wins of the first agent of the pair.
        draws: drawn games.
        losses: losses of the first agent.
        wins_first: wins of the first agent in seat 0, in which it moves first.
        wins_second: wins of the first agent in seat 1.
        losses_first: losses of the first agent in seat 0.
        losses_second: losses of the first agent in seat 1.
        wins_by_repeat: wins of the first agent in each repeat (match of the pair).
        losses_by_repeat: losses of the first agent in each repeat; None where unknown.
        mean_plies: mean number of plies of a game.
    """

    game: int
    pair: tuple[int, int]
    wins: int
    draws: int
    losses: int
    wins_first: int
    wins_second: int
    losses_first: int
    losses_second: int
    wins_by_repeat: tuple[int, ...]
    losses_by_repeat: tuple[int | None, ...]
    mean_plies: float

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses


@dataclass(frozen=True)
class RepeatCounts:
    """Counts of a tournament by repeat (match of a pair).

    Attributes:
        wins: wins of the first agent of each pair. Shape `[games, pairs, repeats]`.
        losses: losses of the first agent of each pair, NaN where unknown, like `wins`.
        points: points of each agent. Shape `[games, agents, repeats]`.
    """

    wins: NDArray[np.int64]
    losses: NDArray[np.float64]
    points: NDArray[np.float64]


class Results:
    """Results of all games of a tournament.

    Attributes:
        tournament: the tournament.
        outcomes: outcome of every game for the first agent of the pair: 1, 0 or -1. Shape
            `[games, pairs, repeats, games_per_match]`.
        seconds: playing time, summed over all processes.
        forfeits: pairs of a match and a forfeit in it, sorted by match and game.
        times: times of each agent's moves, or empty without a clock.
        by_repeat: counts by repeat.
    """

    def __init__(
        self,
        tournament: Tournament,
        outcomes: NDArray[np.int8],
        plies: NDArray[np.int64],
        seconds: NDArray[np.float64],
        forfeits: Sequence[tuple[Match, Forfeit]] = (),
        times: Sequence[MoveTimes] = (),
        by_repeat: RepeatCounts | None = None,
    ):
        """Combine the results of all games.

        Args:
            tournament: the tournament.
            outcomes: see the attribute.
            plies: number of plies played, by game and pair. Shape `[games, pairs]`.
            seconds: playing times, of any shape: only their sum counts.
            forfeits: pairs of a match and a forfeit in it.
            times: times of each agent's moves, or empty without a clock.
            by_repeat: counts by repeat, if a pair's outcomes are not in the order of its repeats.
        """
        self.tournament, self.outcomes, self._plies = tournament, outcomes, plies
        self.seconds, self.times = float(seconds.sum()), tuple(times)
        self.forfeits = sorted(
            forfeits, key=lambda pair: (pair[0].game, pair[0].pair, pair[0].repeat, pair[1].game)
        )
        self.by_repeat = self._count_repeats() if by_repeat is None else by_repeat

    def __repr__(self) -> str:
        t = self.tournament
        return f"Results(games={t.games}, agents={t.agents}, {t.total_games} games played)"

    def __str__(self) -> str:
        """Return the table of the agents, the best first, in 80 columns."""
        from rich.console import Console

        from ludoteca.evaluate.tournament.results_table import results_table  # imports this module

        console = Console(file=StringIO(), width=80, color_system=None)
        console.print(results_table(self))
        file = console.file
        assert isinstance(file, StringIO)
        return "\n".join(line.rstrip() for line in file.getvalue().strip("\n").split("\n"))

    def _repr_html_(self) -> str:
        """Return the table of the agents, the best first, as HTML, for notebooks."""
        from ludoteca.evaluate.tournament.results_table import results_table  # imports this module

        return results_table(self)._repr_html_()

    @cached_property
    def pair_results(self) -> list[PairResult]:
        """Results of every two agents in every game."""
        return [
            self._pair_result(game, k)
            for game in range(len(self.tournament.games))
            for k in range(len(self.tournament.pairs))
        ]

    def wins(self) -> NDArray[np.int64]:
        """Return the wins of agent a against b in game g, `[g, a, b]`."""
        return self._pairwise_counts(1, -1)

    def draws(self) -> NDArray[np.int64]:
        """Return the draws of agents a and b in game g, `[g, a, b]`."""
        return self._pairwise_counts(0, 0)

    @cached_property
    def ratings(self) -> Ratings:
        """Ratings of the agents over all games."""
        return rate(self.wins().sum(0), self.draws().sum(0))

    @cached_property
    def ratings_by_game(self) -> list[Ratings]:
        """Ratings of the agents in each game."""
        return [rate(w, d) for w, d in zip(self.wins(), self.draws(), strict=True)]

    @property
    def best_first(self) -> list[int]:
        """Indices of the agents, the highest rating first; equal ones in the agents' order."""
        # Ratings of equal numbers of wins may differ by numerical errors.
        order: list[int] = np.argsort(-self.ratings.elo.round(6), kind="stable").tolist()
        return order

    def win_percentage(self, first: str | int, second: str | int) -> tuple[float, float, float]:
        """Return the percentage of the decisive games of two agents that `first` won.

        Args:
            first: name or index of the agent.
            second: name or index of the other agent.

        Returns:
            The percentage, and the bounds of its 95 % Wilson interval.
        """
        names, wins = self.tournament.names, self.wins().sum(0)
        a, b = (names.index(each) if isinstance(each, str) else each for each in (first, second))
        won, decided = int(wins[a, b]), int(wins[a, b] + wins[b, a])
        low, high = wilson(won, decided)
        return 100 * (won / max(decided, 1)), 100 * low, 100 * high

    def advantages(self) -> NDArray[np.float64]:
        """Return the wins minus the losses of a against b per game, `[a, b]`."""
        wins, t = self.wins().sum(0), self.tournament
        advantages: NDArray[np.float64] = (wins - wins.T) / (t.games_per_pair * len(t.games))
        return advantages

    def points(self) -> NDArray[Any]:
        """Return the points of each agent in each game, `[g, a]`.

        A win is 1 point; a draw is half a point unless draws count as losses.
        """
        wins: NDArray[Any] = self.wins().sum(2)
        return wins if self.tournament.draws == "loss" else wins + self.draws().sum(2) / 2

    def wins_by_repeat(self) -> NDArray[np.float64]:
        """Return the wins of agent a against b in game g and repeat r, `[g, a, b, r]`.

        Unknown ones are NaN.
        """
        t = self.tournament
        wins = np.zeros((len(t.games), len(t.agents), len(t.agents), t.repeats))
        first, second = np.transpose(t.pairs)
        wins[:, first, second], wins[:, second, first] = self.by_repeat.wins, self.by_repeat.losses
        return wins

    @property
    def games_per_agent(self) -> int:
        """Number of games of each agent in each game."""
        return self.tournament.games_per_pair * (len(self.tournament.agents) - 1)

    def _pairwise_counts(self, outcome: int, reverse: int) -> NDArray[np.int64]:
        """Return how often a and b had an outcome in game g, `[g, a, b]`.

        Args:
            outcome: the outcome, -1, 0 or 1, if a is the first agent of the pair.
            reverse: the same outcome if a is the second agent.
        """
        t = self.tournament
        counts = np.zeros((len(t.games), len(t.agents), len(t.agents)), np.int64)
        for k, (a, b) in enumerate(t.pairs):
            counts[:, a, b] = (self.outcomes[:, k] == outcome).sum((1, 2))
            counts[:, b, a] = (self.outcomes[:, k] == reverse).sum((1, 2))
        return counts

    def _count_repeats(self) -> RepeatCounts:
        """Return the counts by repeat of outcomes in the order of the repeats."""
        t = self.tournament
        wins, losses = ((self.outcomes == outcome).sum(3) for outcome in (1, -1))
        drawn = (0.0 if t.draws == "loss" else 0.5) * (self.outcomes == 0).sum(3)
        points = np.zeros((len(t.games), len(t.agents), t.repeats))
        for k, (a, b) in enumerate(t.pairs):
            points[:, a] += wins[:, k] + drawn[:, k]
            points[:, b] += losses[:, k] + drawn[:, k]
        return RepeatCounts(wins, losses.astype(np.float64), points)

    def _pair_result(self, game: int, k: int) -> PairResult:
        """Return the result of pair k in a game."""
        outcomes = self.outcomes[game, k]
        first, second = outcomes[:, ::2], outcomes[:, 1::2]  # seats alternate
        return PairResult(
            game=game,
            pair=self.tournament.pairs[k],
            wins=int((outcomes == 1).sum()),
            draws=int((outcomes == 0).sum()),
            losses=int((outcomes == -1).sum()),
            wins_first=int((first == 1).sum()),
            wins_second=int((second == 1).sum()),
            losses_first=int((first == -1).sum()),
            losses_second=int((second == -1).sum()),
            wins_by_repeat=tuple(self.by_repeat.wins[game, k].tolist()),
            losses_by_repeat=tuple(
                None if np.isnan(n) else int(n) for n in self.by_repeat.losses[game, k]
            ),
            mean_plies=float(self._plies[game, k] / outcomes.size),
        )

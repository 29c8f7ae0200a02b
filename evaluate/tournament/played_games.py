"""Played games of a tournament: the lines of its log, and the outcome of every game.

A match of two agents is played in tasks of some consecutive games; a line of the log holds the
games of a task. The first agent of a pair is the one with the lower index.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.forfeits import Forfeit
from ludoteca.evaluate.match_clock import NO_MOVES, MoveTimes, times_from_json, times_json
from ludoteca.evaluate.tournament.plan import Match, Tournament

OUTCOME_LETTERS = "LDW"  # letters of the outcomes -1, 0 and 1 for the first agent of a pair
MISSING = np.int8(-2)  # outcome of a game that has not been played


@dataclass(frozen=True)
class PlayedGames:
    """Finished consecutive games of a match.

    Attributes:
        match: the match.
        first: index of the first of these games in the match.
        outcomes: a letter of `OUTCOME_LETTERS` per game, for the first agent of the pair.
        plies: total number of plies.
        seconds: total playing time.
        forfeits: forfeits; their `agent` is the index in the pair, 0 or 1.
        times: times of the moves of both agents, or empty without a clock.
    """

    match: Match
    first: int
    outcomes: str
    plies: int
    seconds: float
    forfeits: tuple[Forfeit, ...] = ()
    times: tuple[MoveTimes, ...] = ()


class GameOutcomes:
    """Outcomes of the games of a tournament that have been played.

    Attributes:
        tournament: the tournament.
        outcomes: outcome of every game for the first agent of the pair: 1, 0, -1, or `MISSING`.
            Shape `[games, pairs, repeats, games_per_match]`.
        plies: number of plies played, by game and pair. Shape `[games, pairs]`.
        seconds: playing time, by game and pair. Shape `[games, pairs]`.
        forfeits: pairs of a match and a forfeit in it; its `agent` is the index in the tournament.
        times: times of each agent's moves, or empty without a clock.
    """

    def __init__(self, tournament: Tournament):
        self.tournament = tournament
        shape = (len(tournament.games), len(tournament.pairs))
        self.outcomes: NDArray[np.int8] = np.full(
            (*shape, tournament.repeats, tournament.games_per_match), MISSING
        )
        self.plies = np.zeros(shape, np.int64)
        self.seconds = np.zeros(shape)
        self.forfeits: list[tuple[Match, Forfeit]] = []
        self.times: list[MoveTimes] = []
        if tournament.time_control is not None:
            self.times = [NO_MOVES] * len(tournament.agents)
        self._pair_index = {pair: k for k, pair in enumerate(tournament.pairs)}

    @property
    def games_played(self) -> int:
        """Number of finished games."""
        return int((self.outcomes != MISSING).sum())

    def match_outcomes(self, match: Match) -> NDArray[np.int8]:
        """Return a view of the outcomes of a match. Shape `[games_per_match]`."""
        view: NDArray[np.int8] = self.outcomes[
            match.game, self._pair_index[match.pair], match.repeat
        ]
        return view

    def missing(self, match: Match) -> list[tuple[int, int]]:
        """Return the missing games of a match as ranges `(low, high)` of games low <= k < high."""
        is_missing = np.concatenate([[False], self.match_outcomes(match) == MISSING, [False]])
        bounds = np.flatnonzero(np.diff(is_missing.astype(np.int8)))
        return [(int(low), int(high)) for low, high in bounds.reshape(-1, 2)]

    def parse(self, fields: dict[str, Any]) -> PlayedGames:
        """Return the games of a line of the log.

        Raises:
            ValueError: if the games do not belong to this tournament, or were played before.
            KeyError, TypeError, AttributeError: if the line has other fields than `to_line` writes.
        """
        a, b = fields["pair"]
        played = PlayedGames(
            Match(fields["game"], (a, b), fields["repeat"]),
            fields["first"],
            fields["outcomes"],
            fields["plies"],
            fields["seconds"],
            tuple(Forfeit(**forfeit) for forfeit in fields.get("forfeits", ())),
            tuple(times_from_json(entry) for entry in fields.get("times", ())),
        )
        self.check(played)
        return played

    def check(self, played: PlayedGames) -> None:
        """Validate games, so that `apply` can add them.

        Raises:
            ValueError: if the games do not belong to this tournament, or were played before.
            TypeError: if a value has another type.
        """
        match, t = played.match, self.tournament
        numbers = (match.game, *match.pair, match.repeat, played.first, played.plies)
        if not all(type(number) is int for number in numbers):
            raise TypeError(f"expected integers in {played!s:.400}")
        for forfeit in played.forfeits:
            integers = (forfeit.game, forfeit.agent, forfeit.seat, forfeit.ply)
            texts = (forfeit.kind, forfeit.message)
            if {*map(type, integers)} != {int} or {*map(type, texts)} != {str}:
                raise TypeError(f"expected integers and texts in {forfeit!s:.400}")
        high = played.first + len(played.outcomes)
        if not (
            0 <= match.game < len(t.games)
            and match.pair in self._pair_index
            and 0 <= match.repeat < t.repeats
            and 0 <= played.first < high <= t.games_per_match
            and set(played.outcomes) <= set(OUTCOME_LETTERS)
            and all(forfeit.agent in (0, 1) for forfeit in played.forfeits)
            and len(played.times) == (0 if t.time_control is None else 2)
        ):
            raise ValueError(f"expected games of this tournament, got {played!s:.400}")
        if (self.match_outcomes(match)[played.first : high] != MISSING).any():
            raise ValueError(f"games {played.first} to {high - 1} of {match} were played before")

    def apply(self, played: PlayedGames) -> None:
        """Write validated games into the arrays."""
        game_and_pair = (played.match.game, self._pair_index[played.match.pair])
        outcomes = np.array(
            [OUTCOME_LETTERS.index(letter) - 1 for letter in played.outcomes], np.int8
        )
        self.match_outcomes(played.match)[played.first : played.first + len(outcomes)] = outcomes
        self.plies[game_and_pair] += played.plies
        self.seconds[game_and_pair] += played.seconds
        for a, times in zip(played.match.pair, played.times, strict=False):  # none without a clock
            self.times[a] += times
        self.forfeits += [
            (played.match, replace(forfeit, agent=played.match.pair[forfeit.agent]))
            for forfeit in played.forfeits
        ]


def to_line(played: PlayedGames) -> dict[str, Any]:
    """Return some games as a line of the log, as JSON values."""
    line = {
        "game": played.match.game,
        "pair": played.match.pair,
        "repeat": played.match.repeat,
        "first": played.first,
        "outcomes": played.outcomes,
        "plies": played.plies,
        "seconds": round(played.seconds, 6),
    }
    if played.forfeits:
        line["forfeits"] = [asdict(forfeit) for forfeit in played.forfeits]
    if played.times:
        line["times"] = times_json(played.times)
    return line

"""The record of a tournament: a file that only grows, a line for every few games played.

A line is written in one piece and reaches the disk before the next games are asked for, so a run
that is killed at any moment loses only the games that were being played. A last line that was cut
short is dropped when the record is opened again.
"""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.forfeits import Forfeit
from ludoteca.evaluate.tournament.plan import Match, Tournament
from ludoteca.files import parse_json, read_json, write_whole
from ludoteca.lock import lock_file

FORMAT = 1
TOURNAMENT, GAMES = "tournament.json", "games.jsonl"
LETTERS = "LDW"  # how the first agent of the pair fared: outcomes -1, 0 and 1
MISSING = np.int8(-2)  # the outcome of a game that has not been played


@dataclass(frozen=True)
class PlayedGames:
    """Consecutive games of a match that have been played.

    Attributes:
        match: of which match.
        first: number of the first of them in the match.
        outcomes: a letter for each game: how the first agent of the pair fared.
        plies: of all of them together.
        seconds: that playing took.
        forfeits: what agents left, numbered as in the pair: 0 or 1.
    """

    match: Match
    first: int
    outcomes: str
    plies: int
    seconds: float
    forfeits: tuple[Forfeit, ...] = ()


class GameLog:
    """The games of a tournament that have been played so far, in a folder.

    Attributes:
        outcomes: of every game, for the first agent of the pair: 1, 0, -1, or `MISSING`. Shape
            `[games, pairs, repeats, games_per_match]`.
        plies: of the games played, by game and pair. Shape `[games, pairs]`.
        seconds: that they took, likewise.
        forfeits: games that agents left, and of which matches; agents are numbered as in the
            tournament.
        seconds_per_result: that `add` took on average, the disk included; 0 before it was called.
    """

    seconds_per_result = 0.0

    def __init__(self, tournament: Tournament, folder: Path):
        """Open the record in a folder, or begin one there.

        Raises:
            ValueError: if the folder belongs to another tournament, its record is damaged, or
                another run is writing to it.
            OSError: if it cannot be read or written.
        """
        self.tournament, self.folder = tournament, folder
        self._added = 0
        shape = (len(tournament.games), len(tournament.pairs))
        self.outcomes: NDArray[np.int8] = np.full(
            (*shape, tournament.repeats, tournament.games_per_match), MISSING
        )
        self.plies = np.zeros(shape, np.int64)
        self.seconds = np.zeros(shape)
        self.forfeits: list[tuple[Match, Forfeit]] = []
        self._pair = {pair: k for k, pair in enumerate(tournament.pairs)}
        self._check_folder()
        self._file = (folder / GAMES).open("a+b")
        try:
            if not lock_file(self._file.fileno()):
                raise ValueError(f"another run is playing the tournament in {folder}")
            self._read()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    @property
    def games_played(self) -> int:
        """How many games have been played."""
        return int((self.outcomes != MISSING).sum())

    def match_outcomes(self, match: Match) -> NDArray[np.int8]:
        """Return the outcomes of a match, a view. Shape `[games_per_match]`."""
        view: NDArray[np.int8] = self.outcomes[match.game, self._pair[match.pair], match.repeat]
        return view

    def missing(self, match: Match) -> list[tuple[int, int]]:
        """Return which games of a match have not been played, as ranges `low <= k < high`."""
        absent = np.concatenate([[False], self.match_outcomes(match) == MISSING, [False]])
        edges = np.flatnonzero(np.diff(absent.astype(np.int8)))
        return [(int(low), int(high)) for low, high in edges.reshape(-1, 2)]

    def add(self, played: PlayedGames) -> None:
        """Take down games that have been played, on disk first.

        Raises:
            ValueError: if they are not of this tournament, or were played before.
        """
        began = perf_counter()
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
            line["forfeits"] = [asdict(one) for one in played.forfeits]
        self._check(played)
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._apply(played)
        self._added += 1
        self.seconds_per_result += (perf_counter() - began - self.seconds_per_result) / self._added

    def _check_folder(self) -> None:
        """Make sure that the folder belongs to this tournament."""
        file = self.folder / TOURNAMENT
        mine = self.tournament.identity() | {"format": FORMAT}
        if not file.exists():
            if (self.folder / GAMES).exists():
                raise ValueError(f"{self.folder} has games of a tournament, but no {TOURNAMENT}")
            write_whole(file, json.dumps(mine, indent=2) + "\n")
            return
        try:
            found = read_json(file)
        except ValueError as error:
            raise ValueError(f"{file} is damaged: {error}") from None
        if not isinstance(found, dict):
            raise ValueError(f"{file} is damaged: expected an object, got {found!r:.40}")
        for key, value in mine.items():
            if found.get(key) != value:
                raise ValueError(
                    f"{self.folder} belongs to another tournament: its {key.replace('_', ' ')} is "
                    f"{_text(found.get(key))}, not {_text(value)}; choose another folder"
                )

    def _read(self) -> None:
        """Read the log, and cut off a last line that is not whole."""
        self._file.seek(0)
        content = self._file.read()
        *lines, torn = content.split(b"\n")
        if torn:
            self._file.truncate(len(content) - len(torn))
        for number, line in enumerate(lines, 1):
            try:
                self._apply(self._parse(line))
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
                raise ValueError(
                    f"line {number} of {self.folder / GAMES} is damaged: {error}"
                ) from error

    def _parse(self, line: bytes) -> PlayedGames:
        found: dict[str, Any] = parse_json(line)
        a, b = found["pair"]
        played = PlayedGames(
            Match(found["game"], (a, b), found["repeat"]),
            found["first"],
            found["outcomes"],
            found["plies"],
            found["seconds"],
            tuple(Forfeit(**one) for one in found.get("forfeits", ())),
        )
        self._check(played)
        return played

    def _check(self, played: PlayedGames) -> None:
        match, t = played.match, self.tournament
        numbers = (match.game, *match.pair, match.repeat, played.first, played.plies)
        if not all(type(number) is int for number in numbers):
            raise TypeError(f"expected integers in {played!s:.400}")
        high = played.first + len(played.outcomes)
        if not (
            0 <= match.game < len(t.games)
            and match.pair in self._pair
            and 0 <= match.repeat < t.repeats
            and 0 <= played.first < high <= t.games_per_match
            and set(played.outcomes) <= set(LETTERS)
            and all(one.agent in (0, 1) for one in played.forfeits)
        ):
            raise ValueError(f"{played!s:.400} is not of this tournament")
        if (self.match_outcomes(match)[played.first : high] != MISSING).any():
            raise ValueError(f"games {played.first} to {high - 1} of {match} were played before")

    def _apply(self, played: PlayedGames) -> None:
        """Enter checked games into the arrays."""
        where = (played.match.game, self._pair[played.match.pair])
        outcomes = np.array([LETTERS.index(letter) - 1 for letter in played.outcomes], np.int8)
        self.match_outcomes(played.match)[played.first : played.first + len(outcomes)] = outcomes
        self.plies[where] += played.plies
        self.seconds[where] += played.seconds
        self.forfeits += [
            (played.match, replace(one, agent=played.match.pair[one.agent]))
            for one in played.forfeits
        ]


def _text(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)

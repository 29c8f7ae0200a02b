"""Tournament in progress: its games and ratings so far, read from its folder without its lock."""

from collections import deque
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.targets import untrusted_names
from ludoteca.evaluate.statistics.ratings import Ratings, rate
from ludoteca.evaluate.tournament.game_log import FORMAT_VERSION, GAMES_FILE, TOURNAMENT_FILE
from ludoteca.evaluate.tournament.plan import Tournament
from ludoteca.evaluate.tournament.played_games import GameOutcomes, PlayedGames
from ludoteca.files import read_json
from ludoteca.line_log import INVALID_LINE, LineReader

# Limits of a plan, as the folder may come from an untrusted source.
MAX_PLAN_BYTES = 1 << 20
MAX_GAMES = 10_000_000  # number of planned games
MAX_AGENTS = 64  # also the maximum number of kinds of games
READ_BYTES = 1 << 20  # maximum bytes of the log that one `update` reads
NUM_NEWEST = 20  # number of lines of the log in `newest`
CURVE_POINTS = 60  # maximum number of points of `curve`


class TournamentProgress:
    """Games of a tournament that another process may be playing.

    Attributes:
        tournament: the tournament.
        games: outcomes of the games that have been read.
        wins: wins of agent a against b in game g. Shape `[games, agents, agents]`.
        draws: draws of agents a and b in game g. Shape `[games, agents, agents]`.
        newest: the last lines of the log, the newest last.
        curve: pairs of a number of games and the ratings after these games, `[agents]`, NaN for
            agents without games; at regular intervals.
        is_complete: whether the whole log has been read.
        games_read: number of games that have been read.
    """

    def __init__(self, folder: Path):
        """Read the plan of a tournament; `update` reads its games.

        Raises:
            ValueError: if the plan is damaged, or the tournament is too large.
            OSError: if the plan cannot be read.
        """
        self._plan = folder / TOURNAMENT_FILE
        self._version = _version(self._plan)
        self.tournament = _read_plan(self._plan)
        self.games = GameOutcomes(self.tournament)
        agents = len(self.tournament.agents)
        self.wins = np.zeros((len(self.tournament.games), agents, agents), np.int64)
        self.draws = np.zeros_like(self.wins)
        self.newest: deque[PlayedGames] = deque(maxlen=NUM_NEWEST)
        self.curve: list[tuple[int, NDArray[np.float64]]] = []
        self.is_complete = False
        self.games_read = 0
        self._interval = -(-self.tournament.total_games // CURVE_POINTS)
        self._log = LineReader(folder / GAMES_FILE)

    @property
    def is_replaced(self) -> bool:
        """Whether the plan or the log was replaced, so that both must be read anew."""
        return self._log.is_replaced or _version(self._plan) != self._version

    def update(self) -> None:
        """Read the next games of the log, at most `READ_BYTES` bytes.

        Raises:
            ValueError: if the log is damaged.
            OSError: if it cannot be read.
        """
        self.is_complete = self._log.read(self._add_line, READ_BYTES)

    def ratings(self) -> Ratings | None:
        """Return the ratings of the agents over all games so far, NaN for agents without games.

        They are None before the first game, if the agents with games fall into groups that have not
        played each other yet, or if SciPy is missing.
        """
        wins, draws = self.wins.sum(0), self.draws.sum(0)
        present = np.flatnonzero((wins + wins.T + draws).any(0))
        if len(present) < 2:
            return None
        among = np.ix_(present, present)
        try:
            rated = rate(wins[among], draws[among])
        except (ValueError, ImportError):
            return None
        columns = np.full((3, len(wins)), np.nan)
        columns[:, present] = rated.elo, rated.low, rated.high
        return Ratings(*columns)

    def _add_line(self, line: Any) -> None:
        """Count the games of a line of the log; add a point to `curve` after each interval."""
        played = self.games.parse(line)
        self.games.apply(played)
        game, (a, b) = played.match.game, played.match.pair
        self.wins[game, a, b] += played.outcomes.count("W")
        self.wins[game, b, a] += played.outcomes.count("L")
        self.draws[game, a, b] += played.outcomes.count("D")
        self.draws[game, b, a] = self.draws[game, a, b]
        self.newest.append(played)
        before, self.games_read = self.games_read, self.games_read + len(played.outcomes)
        if before // self._interval < self.games_read // self._interval:
            ratings = self.ratings()
            if ratings is not None:
                self.curve.append((self.games_read, ratings.elo))


def _version(path: Path) -> tuple[int, ...]:
    """Return inode, size and time of a file, which change if it is replaced."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _read_plan(path: Path) -> Tournament:
    """Return the tournament that `GameLog` has written to a folder.

    Raises:
        ValueError: if the file is damaged, or the tournament is too large.
        OSError: if the file cannot be read.
    """
    plan = read_json(path, MAX_PLAN_BYTES)
    try:
        if plan["format"] != FORMAT_VERSION:
            raise ValueError(f"expected format {FORMAT_VERSION}, got {plan['format']!r:.40}")
        count, agents = plan["games_per_pair"], tuple(plan["agents"])
        if len(agents) > MAX_AGENTS or len(plan["games"]) > MAX_AGENTS:
            raise ValueError(
                f"expected at most {MAX_AGENTS} agents and games, got {len(agents)} agents and "
                f"{len(plan['games'])} games"
            )
        total = comb(len(agents), 2) * len(plan["games"])
        if type(count) is not int or count * total > MAX_GAMES:
            raise ValueError(
                f"expected at most {MAX_GAMES:,} games in total, got {count!r:.40} games per pair"
            )
        clock = plan.get("time_control")
        with untrusted_names(path):
            return Tournament(
                games=tuple(plan["games"]),
                agents=agents,
                games_per_pair=count,
                repeats=plan["repeats"],
                seed=plan["seed"],
                time_control=None if clock is None else TimeControl(**clock),
            )
    except (*INVALID_LINE, ImportError) as error:
        raise ValueError(f"{path} is not the plan of a tournament: {error!s:.400}") from None

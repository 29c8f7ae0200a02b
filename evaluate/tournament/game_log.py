"""Log of the games of a tournament: an append-only file.

A line holds the games of one task, some consecutive games of a match, as JSON (`to_line`).
"""

from pathlib import Path
from time import perf_counter

from ludoteca.evaluate.tournament.plan import Tournament
from ludoteca.evaluate.tournament.played_games import GameOutcomes, PlayedGames, to_line
from ludoteca.line_log import LineLog, claim_folder

FORMAT_VERSION = 1
TOURNAMENT_FILE, GAMES_FILE = "tournament.json", "games.jsonl"
OPTIONAL_KEYS = ("time_control",)  # keys that older tournament files lack


class GameLog(LineLog, GameOutcomes):
    """Finished games of a tournament, saved in a folder.

    Attributes:
        folder: the folder.
        seconds_per_result: mean duration of `add`, including writing to disk; 0 before the first
            call.
    """

    seconds_per_result = 0.0

    def __init__(self, tournament: Tournament, folder: Path):
        """Open the log in a folder, or create it.

        Args:
            tournament: the tournament.
            folder: the folder.

        Raises:
            ValueError: if the folder belongs to another tournament, its log is damaged, or another
                run is writing to it.
            OSError: if the log cannot be read or written.
        """
        GameOutcomes.__init__(self, tournament)
        self.folder = folder
        self._num_added = 0  # calls of `add`
        path = folder / GAMES_FILE
        identity = tournament.identity() | {"format": FORMAT_VERSION}
        claim_folder(folder / TOURNAMENT_FILE, identity, path, "tournament", OPTIONAL_KEYS)
        LineLog.__init__(self, path, f"another run is playing the tournament in {folder}")
        try:
            self.read(lambda fields: self.apply(self.parse(fields)))
        except BaseException:
            self.close()
            raise

    def add(self, played: PlayedGames) -> None:
        """Append finished games to the file, then write them into the arrays.

        Raises:
            ValueError: if the games do not belong to this tournament, or were added before.
        """
        start = perf_counter()
        self.check(played)
        self.append(to_line(played))
        self.apply(played)
        self._num_added += 1
        self.seconds_per_result += (
            perf_counter() - start - self.seconds_per_result
        ) / self._num_added

"""Log of the games of a tournament: an append-only file, one line per task of games."""

from pathlib import Path
from time import perf_counter

from ludoteca.evaluate.tournament.plan import Tournament
from ludoteca.evaluate.tournament.played_games import GameOutcomes, PlayedGames, to_line
from ludoteca.line_log import LineLog, claim_folder

FORMAT = 1
TOURNAMENT, GAMES = "tournament.json", "games.jsonl"
OPTIONAL = ("time_control",)  # keys of a tournament that it may lack


class GameLog(LineLog, GameOutcomes):
    """Finished games of a tournament, saved in a folder.

    Attributes:
        seconds_per_result: mean duration of `add`, the disk included; 0 before the first call.
    """

    seconds_per_result = 0.0

    def __init__(self, tournament: Tournament, folder: Path):
        """Open the log in a folder, or create it.

        Raises:
            ValueError: if the folder belongs to another tournament, its log is damaged, or another
                run is writing to it.
            OSError: if it cannot be read or written.
        """
        GameOutcomes.__init__(self, tournament)
        self.folder = folder
        self._added = 0
        path = folder / GAMES
        identity = tournament.identity() | {"format": FORMAT}
        claim_folder(folder / TOURNAMENT, identity, path, "tournament", OPTIONAL)
        LineLog.__init__(self, path, f"another run is playing the tournament in {folder}")
        try:
            self.read(lambda fields: self.apply(self.parse(fields)))
        except BaseException:
            self.close()
            raise

    def add(self, played: PlayedGames) -> None:
        """Add finished games, to the file first.

        Raises:
            ValueError: if they do not belong to this tournament, or were added before.
        """
        start = perf_counter()
        self.check(played)
        self.append(to_line(played))
        self.apply(played)
        self._added += 1
        self.seconds_per_result += (perf_counter() - start - self.seconds_per_result) / self._added

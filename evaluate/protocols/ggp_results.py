"""Results of a series of matches between two players of General Game Playing (GGP)."""

from dataclasses import asdict, dataclass, field
from json import dumps
from pathlib import Path

from ludoteca.evaluate.protocols.ggp_manager import ManagedMatch, RemotePlayer
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.files import write_atomically
from ludoteca.provenance import load_average, run_provenance


@dataclass
class MatchSeries:
    """Matches between two players by one rule sheet.

    Attributes:
        sheet: name of the sheet.
        names: names of the players.
        players: their addresses and clocks.
        matches: the matches so far.
        provenance: command, date, machine and versions of the run.
    """

    sheet: str
    names: list[str]
    players: list[RemotePlayer]
    matches: list[ManagedMatch] = field(default_factory=list)
    provenance: dict[str, dict[str, object]] = field(default_factory=run_provenance)

    def add(self, match: ManagedMatch) -> None:
        """Add the next match."""
        self.matches.append(match)

    def counts(self) -> tuple[int, int, int]:
        """Return the wins, draws and losses of the first player; higher goals win."""
        wins = draws = losses = 0
        for match in self.matches:
            if match.goals:
                first, second = (match.goals[match.seats.index(player)] for player in (0, 1))
                wins += first > second
                draws += first == second
                losses += first < second
        return wins, draws, losses

    def match_line(self) -> str:
        """Return a line about the last match; "too long": it reached the maximum of plies."""
        match = self.matches[-1]
        seats = " - ".join(self.names[seat] for seat in match.seats)
        result = " - ".join(map(str, match.goals)) or "too long"
        line = f"{len(self.matches):3}  {seats}  {result}  {len(match.moves)} plies"
        return f"{line}  faults: {'; '.join(match.faults)}" if match.faults else line

    def summary(self) -> str:
        """Return the result of all matches as a sentence."""
        wins, draws, losses = self.counts()
        # Series are short: see `score_interval` for why it is not used here.
        low, high = wilson(wins + draws / 2, games := wins + draws + losses)
        score = (wins + draws / 2) / games if games else 0.5
        faults = sum(len(match.faults) for match in self.matches)
        return (
            f"{self.sheet}: {self.names[0]} against {self.names[1]}: {wins} wins, {draws} draws, "
            f"{losses} losses; score {100 * score:.1f} % ({100 * low:.1f} to {100 * high:.1f}); "
            f"{faults} moves were missing or illegal"
        )

    def write(self, file: Path) -> None:
        """Write all matches as JSON."""
        self.provenance["about"]["load_average_at_end"] = load_average()
        wins, draws, losses = self.counts()
        content = self.provenance | {
            "sheet": self.sheet,
            "players": [
                {"name": name, **asdict(player)}
                for name, player in zip(self.names, self.players, strict=True)
            ],
            "result": {"wins": wins, "draws": draws, "losses": losses},
            "summary": self.summary(),
            "matches": [asdict(match) for match in self.matches],
        }
        write_atomically(file, dumps(content, indent=1) + "\n")

"""Log of the evaluations of a tuning run: an append-only file, one line per evaluation.

A resumed run makes a new optimizer and first passes it the logged scores instead of playing games.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ludoteca.line_log import LineLog, claim_folder

SETTINGS_FILE, EVALUATIONS_FILE = "settings.json", "evaluations.jsonl"


@dataclass(frozen=True)
class Evaluation:
    """Result of the games of an agent with one choice of values of the tuned parameters.

    Attributes:
        values: values of the parameters by name, as text of the agent's spec string.
        wins: number of games won.
        draws: number of games drawn.
        losses: number of games lost.
        opponent_values: values of the opponent if it was the same agent with other values (a pair
            of an optimizer); None if the opponents were other agents.
    """

    values: dict[str, str]
    wins: int
    draws: int
    losses: int
    opponent_values: dict[str, str] | None = None

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Mean score; a draw counts as half a win."""
        return (self.wins + self.draws / 2) / self.games


class EvaluationLog(LineLog):
    """Evaluations of a tuning run, saved in a folder.

    Attributes:
        evaluations: the evaluations in their order.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]):
        """Open the log in a folder, or create it.

        Args:
            folder: the folder.
            settings: settings that determine the run, as JSON values.

        Raises:
            ValueError: if the folder belongs to a run with other settings, its log is damaged, or
                another run is writing to it.
            OSError: if the log cannot be read or written.
        """
        self.evaluations: list[Evaluation] = []
        claim_folder(folder / SETTINGS_FILE, settings, folder / EVALUATIONS_FILE, "tuning run")
        super().__init__(folder / EVALUATIONS_FILE, f"another run is tuning in {folder}")
        try:
            self.read(lambda fields: self.evaluations.append(_parse(fields)))
        except BaseException:
            self.close()
            raise

    def add(self, evaluation: Evaluation) -> None:
        """Append an evaluation to the file, then to `evaluations`."""
        self.append(asdict(evaluation))
        self.evaluations.append(evaluation)


def _parse(fields: dict[str, Any]) -> Evaluation:
    """Return the evaluation of a line of the log, validated."""
    evaluation = Evaluation(**fields)
    counts = (evaluation.wins, evaluation.draws, evaluation.losses)
    if not all(type(count) is int and count >= 0 for count in counts) or not sum(counts):
        raise ValueError(
            f"expected numbers of wins, draws and losses, at least one game, got {counts!r:.80}"
        )
    return evaluation

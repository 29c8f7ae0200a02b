"""Log of the evaluations of a tuning run: an append-only file, one line per evaluation.

A killed run loses only the evaluations in progress: the same command passes the recorded scores to
its optimizer, and so continues where it stopped.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ludoteca.files import parse_json, read_json, write_whole
from ludoteca.lock import lock_file

SETTINGS, EVALUATIONS = "settings.json", "evaluations.jsonl"


@dataclass(frozen=True)
class Evaluation:
    """Games of an agent with certain values of the tuned parameters.

    Attributes:
        values: the values by parameter, as in the agent's spec string.
        wins: number of games won.
        draws: number of games drawn.
        losses: number of games lost.
        opponent_values: values of the agent that played the games as opponent, in a pair of points;
            None if other agents did.
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


class EvaluationLog:
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
            OSError: if it cannot be read or written.
        """
        self.folder = folder
        self.evaluations: list[Evaluation] = []
        self._check_folder(dict(settings))
        self._file = (folder / EVALUATIONS).open("a+b")
        try:
            if not lock_file(self._file.fileno()):
                raise ValueError(f"another run is tuning in {folder}")
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

    def add(self, evaluation: Evaluation) -> None:
        """Add an evaluation, to the file first."""
        self._file.write(json.dumps(asdict(evaluation)).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.evaluations.append(evaluation)

    def _check_folder(self, own: dict[str, Any]) -> None:
        """Validate that the folder belongs to this run, or make it its own."""
        file = self.folder / SETTINGS
        if not file.exists():
            if (self.folder / EVALUATIONS).exists():
                raise ValueError(f"{self.folder} has evaluations, but no {SETTINGS}")
            write_whole(file, json.dumps(own, indent=2) + "\n")
            return
        saved = read_json(file)
        if not isinstance(saved, dict):
            raise ValueError(f"{file} is damaged: expected an object, got {saved!r:.40}")
        for key, value in own.items():
            if saved.get(key) != value:
                raise ValueError(
                    f"{self.folder} belongs to a run with other settings: its {key} is "
                    f"{saved.get(key)!r:.200}, not {value!r:.200}; choose another folder"
                )

    def _read(self) -> None:
        """Read the log, and cut off a truncated last line."""
        self._file.seek(0)
        content = self._file.read()
        *lines, torn = content.split(b"\n")
        if torn:
            self._file.truncate(len(content) - len(torn))
        for number, line in enumerate(lines, 1):
            try:
                self.evaluations.append(_parse(line))
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(
                    f"line {number} of {self.folder / EVALUATIONS} is damaged: {error}"
                ) from error


def _parse(line: bytes) -> Evaluation:
    fields: dict[str, Any] = parse_json(line)
    evaluation = Evaluation(**fields)
    counts = (evaluation.wins, evaluation.draws, evaluation.losses)
    if not all(type(count) is int and count >= 0 for count in counts) or not sum(counts):
        raise ValueError(f"expected numbers of wins, draws and losses, got {counts!r:.80}")
    return evaluation

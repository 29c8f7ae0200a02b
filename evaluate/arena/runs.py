"""Run folders of trainings, tournaments and matches, which may still be in progress."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from ludoteca.evaluate.arena.tournament_view import tournament_view
from ludoteca.evaluate.arena.training_view import METRICS, SETTINGS, training_view
from ludoteca.evaluate.tournament.game_log import TOURNAMENT_FILE
from ludoteca.evaluate.tournament.progress import TournamentProgress
from ludoteca.files import read_text

MAX_RUNS = 200  # further run folders are not listed
MAX_OPEN = 8  # tournaments whose games are kept in memory; the least recently shown is dropped
MAX_REPLAYS = 500  # of a run; further replays are not listed
MAX_REPLAY_BYTES = 4 << 20
# Written by `ludoteca match --replays`, by reports of trainings, and by other programs.
REPLAY_FILE = re.compile(r"(game_\d+|replay)\.json|.+\.(sgf|ggf)")


@dataclass(frozen=True)
class Run:
    """Run folder.

    Attributes:
        path: path of the folder.
        kind: what was run: a training, a tournament, or a match with replays.
    """

    path: Path
    kind: Literal["training", "tournament", "replays"]

    @property
    def id(self) -> str:
        """Identifier in URLs, which does not reveal the path."""
        return hashlib.sha256(str(self.path.resolve()).encode(errors="replace")).hexdigest()[:12]


def find_runs(folders: Sequence[Path]) -> list[Run]:
    """Return the run folders among the given folders and their direct subfolders, in order.

    Raises:
        ValueError: if one of `folders` is not a folder.
    """
    runs: dict[Path, Run] = {}
    for folder in folders:
        if not folder.is_dir():
            raise ValueError(f"{folder} is not a folder with runs")
        for path in (folder, *sorted(path for path in folder.iterdir() if path.is_dir())):
            run = _as_run(path)
            if run is not None and len(runs) < MAX_RUNS:
                runs.setdefault(path.resolve(), run)
    return list(runs.values())


def _as_run(path: Path) -> Run | None:
    if (path / TOURNAMENT_FILE).is_file():
        return Run(path, "tournament")
    if (path / METRICS).is_file() or (path / SETTINGS).is_file():
        return Run(path, "training")
    return Run(path, "replays") if replay_files(path) else None


def replay_files(run: Path) -> list[Path]:
    """Return the files with replays in a run folder, by name."""
    try:
        files = [path for path in run.iterdir() if REPLAY_FILE.fullmatch(path.name)]
    except OSError:
        return []
    return sorted(path for path in files if path.is_file())[:MAX_REPLAYS]


def read_replay(run: Run, number: int) -> str:
    """Return the text of a replay, by its number among those of the run, from 0.

    Raises:
        ValueError: if no replay has this number, or the file is too large.
        OSError: if the file cannot be read.
    """
    files = replay_files(run.path)
    if not number < len(files):
        raise ValueError(f"the number of a replay must be below {len(files)}, got {number}")
    return read_text(files[number], MAX_REPLAY_BYTES)


class RunViews:
    """Views of runs as JSON values; each call reads the next part of a tournament's log."""

    def __init__(self) -> None:
        self._tournaments: dict[Path, TournamentProgress] = {}
        self._lock = Lock()

    def view(self, run: Run) -> dict[str, Any]:
        """Return the description of a run as JSON values; any thread may call it.

        Raises:
            ValueError: if a file of the run is damaged.
            OSError: if a file cannot be read.
        """
        common = {
            "name": run.path.name,
            "kind": run.kind,
            "replays": [path.name for path in replay_files(run.path)],
        }
        if run.kind == "training":
            return common | training_view(run.path)
        if run.kind == "tournament":
            with self._lock:
                return common | tournament_view(self._progress(run.path), run.path)
        return common

    def _progress(self, path: Path) -> TournamentProgress:
        """Return a tournament with the next part of its log read."""
        progress = self._tournaments.pop(path, None)
        if progress is None or progress.is_replaced:
            progress = TournamentProgress(path)
        self._tournaments[path] = progress
        if len(self._tournaments) > MAX_OPEN:
            del self._tournaments[next(iter(self._tournaments))]
        progress.update()
        return progress

"""Folder of a training run: its settings, and the checkpoint for exact resume."""

import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from errno import EINVAL
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.files import BROKEN_ARCHIVE, atomic_writer, write_atomically
from ludoteca.lock import lock_folder
from ludoteca.train.distributed import ranks, require_process_group

Arrays = dict[str, NDArray[Any]]
NUMBERS = "numbers"  # entry of the checkpoint with its JSON document
NAMES = "arrays"  # key of that document with the names of all arrays
STATE = "state.npz"
TEMPORARY_FILE = re.compile(r"\..+\.(\d+)\.tmp")  # of `files.atomic_writer`, with the process id


class RunDirectory:
    """Folder of one run, with one set of settings.

    In data-parallel training only rank 0 reads and writes it; the others receive its state.

    Attributes:
        path: path of the folder.
    """

    def __init__(
        self,
        path: Path,
        settings: dict[str, Any],
        mutable: tuple[str, ...] = (),
        added: Mapping[str, Any] = MappingProxyType({}),
    ):
        """Open the folder of a run, or of a new one; nothing is written yet.

        Args:
            path: path of the folder.
            settings: settings of the run, as JSON values.
            mutable: names of settings that may differ when a run resumes.
            added: settings that runs of older versions lack, with the values that these runs used.

        Raises:
            ValueError: if the folder holds a run with other settings, or another process trains
                there, or torchrun started several processes that did not join a process group.
        """
        require_process_group()
        self.path, self._settings, self._added = path, settings, added
        self._lock: Any = None
        ranks().broadcast(lambda: self._open(mutable))

    def _open(self, mutable: tuple[str, ...]) -> None:
        """Lock the folder, if it exists, and compare its settings with those of this run."""
        path, settings = self.path, self._settings
        self._lock = lock_folder(path) if path.exists() else None
        file = path / "config.json"
        if file.exists():
            added = {key: value for key, value in self._added.items() if key in settings}
            saved = {**added, **_read_settings(file)}
            current = json.loads(json.dumps(settings))
            differing = [
                f"{key}: {saved.get(key)!r} there, {current.get(key)!r} here"
                for key in sorted({*saved, *current} - set(mutable))
                if saved.get(key) != current.get(key)
            ]
            if differing:
                raise ValueError(
                    f"{path} holds a run with other settings; use another folder, or remove it. "
                    + "; ".join(differing)
                )

    def claim(self) -> None:
        """Write the settings, so that the folder belongs to this run.

        Call it when the run starts, so that invalid settings do not block the folder. Temporary
        files of killed processes are removed.

        Raises:
            ValueError: if another process trains there.
        """
        ranks().broadcast(self._claim)

    def _claim(self) -> None:
        """Lock the folder, remove temporary files, and write the settings."""
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = lock_folder(self.path)
        for file in self.path.glob(".*.tmp"):
            match = TEMPORARY_FILE.fullmatch(file.name)
            if match and not _running(int(match[1])):
                file.unlink(missing_ok=True)
        write_atomically(self.path / "config.json", json.dumps(self._settings, indent=2) + "\n")

    def save_state(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Replace the checkpoint atomically.

        The file is synced to disk, so that no other file can be newer after a power cut.

        Args:
            numbers: JSON values.
            arrays: arrays of numbers or records, by name.
        """
        if not ranks().is_main_process:
            return
        content = io.BytesIO()
        document = numbers | {NAMES: sorted(arrays)}
        text = np.frombuffer(json.dumps(document).encode(), np.uint8)
        np.savez(content, allow_pickle=False, **{NUMBERS: text}, **arrays)
        with atomic_writer(self.path / STATE) as file:
            file.write(content.getvalue())
            file.flush()
            os.fsync(file.fileno())

    def load_state(self) -> tuple[dict[str, Any], Arrays] | None:
        """Return the numbers and arrays of the last checkpoint, or None if there is none.

        Raises:
            ValueError: if the file is damaged.
        """
        return ranks().broadcast(self._load_state)

    def _load_state(self) -> tuple[dict[str, Any], Arrays] | None:
        """Return the last checkpoint in rank 0, see `load_state`."""
        file = self.path / STATE
        if not file.exists():
            return None
        try:
            with file.open("rb") as stream, np.load(stream, allow_pickle=False) as content:
                arrays = {name: content[name] for name in content.files}
            numbers = json.loads(arrays.pop(NUMBERS).tobytes())
            if not isinstance(numbers, dict):
                raise ValueError(f"its numbers are {type(numbers).__name__}, not an object")
            if sorted(arrays) != numbers.pop(NAMES, sorted(arrays)):
                raise ValueError("some of its arrays are missing")
            return numbers, arrays
        except (*BROKEN_ARCHIVE, RuntimeError, MemoryError, OverflowError, OSError) as error:
            if isinstance(error, OSError) and error.errno != EINVAL:
                raise  # only a seek before the start of the file (EINVAL) is due to its content
            raise ValueError(
                f"{file} is damaged ({error or type(error).__name__}): remove it to begin anew, or "
                "use another folder; the networks in this one can be used nevertheless"
            ) from None

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Convert errors in the block, which restores a state, to an error about the file.

        Raises:
            ValueError: if the state does not fit this training.
        """
        try:
            yield
        except (KeyError, TypeError, ValueError, RuntimeError, IndexError, AttributeError) as error:
            raise ValueError(
                f"{self.path / STATE} is not a state that this training can resume from "
                f"({type(error).__name__}: {error}): remove it to begin anew, or use another folder"
            ) from error


def _read_settings(file: Path) -> dict[str, Any]:
    """Return the settings in a `config.json`.

    Raises:
        ValueError: if it is damaged.
    """
    try:
        settings = json.loads(file.read_text())
        if not isinstance(settings, dict):
            raise ValueError(f"expected an object, got {settings!r:.40}")
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{file} is damaged ({error}): restore it, or use another folder"
        ) from None
    return settings


def _running(pid: int) -> bool:
    """Return whether a process with this id exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # not allowed, or not an id: keep the file
        return True
    return True


def with_prefix(prefix: str, arrays: Arrays) -> Arrays:
    """Return the arrays with a prefix before each name."""
    return {f"{prefix}/{name}": array for name, array in arrays.items()}


def without_prefix(prefix: str, arrays: Arrays) -> Arrays:
    """Return the arrays whose names have a prefix, without it."""
    start = f"{prefix}/"
    return {name[len(start) :]: array for name, array in arrays.items() if name.startswith(start)}

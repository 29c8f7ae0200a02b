"""Append-only log: a file of JSON values, one per line, in a folder that belongs to one run.

A line reaches the disk before `append` returns, so a killed process loses only work in progress.
The truncated last line of a process that was killed while writing is removed.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ludoteca.files import open_regular_file, parse_json, read_json, write_atomically
from ludoteca.lock import lock_file

# Exceptions of `LineLog.read`'s callback for invalid values.
INVALID_LINE = (ValueError, KeyError, TypeError, AttributeError, OverflowError)


class LineLog:
    """Log file, locked as long as it is open: one process writes to it at a time."""

    def __init__(self, path: Path, in_use_message: str):
        """Open the file, or create it.

        Args:
            path: the file.
            in_use_message: message of the error if another process writes to it.

        Raises:
            ValueError: if another process writes to it.
            OSError: if it cannot be opened.
        """
        self.path = path
        self._file = path.open("a+b")
        if not lock_file(self._file.fileno()):
            self._file.close()
            raise ValueError(in_use_message)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and release its lock."""
        self._file.close()

    def read(self, callback: Callable[[Any], None]) -> None:
        """Call a function with the value of each line; remove a truncated last line from the file.

        Raises:
            ValueError: if a line is not JSON, or the function raises one of `INVALID_LINE`.
        """
        self._file.seek(0)
        content = self._file.read()
        *lines, truncated = content.split(b"\n")
        if truncated:
            self._file.truncate(len(content) - len(truncated))
        for number, line in enumerate(lines, 1):
            _apply_to_line(self.path, number, line, callback)

    def append(self, value: Mapping[str, Any]) -> None:
        """Append a line with a value."""
        self._file.write(json.dumps(value).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


class LineReader:
    """Reader of a log file that another process may be writing; it neither locks nor changes it.

    Only complete lines are read; the writer may be in the middle of the last one.

    Attributes:
        path: the file; it may not exist yet.
    """

    def __init__(self, path: Path):
        self.path = path
        self._offset = self._num_lines = 0
        self._file_status: os.stat_result | None = None

    @property
    def is_replaced(self) -> bool:
        """Whether the file was replaced, or is shorter than what has been read of it."""
        try:
            now = os.stat(self.path)
        except FileNotFoundError:
            return self._offset > 0
        same = self._file_status is None or os.path.samestat(now, self._file_status)
        return not same or now.st_size < self._offset

    def read(self, callback: Callable[[Any], None], max_bytes: int) -> bool:
        """Call a function with the values of the next lines, of at most `max_bytes` in all.

        After an error, the next call begins with the damaged line.

        Returns:
            Whether all complete lines have been read.

        Raises:
            ValueError: if a line is not JSON or longer than `max_bytes`, or the function raises one
                of `INVALID_LINE`.
            OSError: if the file cannot be read.
        """
        try:
            with open_regular_file(self.path) as file:
                self._file_status = os.fstat(file.fileno())
                file.seek(self._offset)
                content = file.read(max_bytes)
        except FileNotFoundError:
            return True
        *lines, _ = content.split(b"\n")
        if len(content) == max_bytes and not lines:
            raise ValueError(
                f"line {self._num_lines + 1} of {self.path} has over {max_bytes:,} bytes"
            )
        for line in lines:
            _apply_to_line(self.path, self._num_lines + 1, line, callback)
            self._offset += len(line) + 1
            self._num_lines += 1
        return len(content) < max_bytes


def _apply_to_line(path: Path, number: int, line: bytes, callback: Callable[[Any], None]) -> None:
    """Call a function with the value of a line.

    Args:
        path: the file, for messages.
        number: number of the line, from 1.
        line: content of the line.
        callback: the function.

    Raises:
        ValueError: if the line is not JSON, or the function raises one of `INVALID_LINE`.
    """
    try:
        callback(parse_json(line))
    except INVALID_LINE as error:
        raise ValueError(f"line {number} of {path} is damaged: {error}") from error


def claim_folder(
    description: Path,
    identity: Mapping[str, Any],
    log: Path,
    run_kind: str,
    optional: Iterable[str] = (),
) -> None:
    """Validate that a folder belongs to a run, by its description, or write the description.

    Args:
        description: JSON file with the values that identify the run of the folder.
        identity: JSON values that identify this run.
        log: log file; a folder with a log must have a description.
        run_kind: kind of run for messages, such as `"tournament"`.
        optional: keys that a description lacks if their value is None. A saved value is compared
            even if `identity` lacks its key; other keys that only the file has are ignored.

    Raises:
        ValueError: if the folder belongs to another run, or the description is missing or damaged.
        OSError: if it cannot be read or written.
    """
    folder = description.parent
    if not description.exists():
        if log.exists():
            raise ValueError(f"{folder} has the log of a {run_kind}, but no {description.name}")
        write_atomically(description, json.dumps(identity, indent=2) + "\n")
        return
    saved = read_json(description)
    if not isinstance(saved, dict):
        raise ValueError(f"{description} is damaged: expected an object, got {saved!r:.40}")
    for key in [*identity, *(key for key in optional if key in saved and key not in identity)]:
        if saved.get(key) != identity.get(key):
            raise ValueError(
                f"{folder} belongs to another {run_kind}: its {key.replace('_', ' ')} is "
                f"{_text(saved.get(key))}, not {_text(identity.get(key))}; choose another folder"
            )


def _text(value: Any) -> str:
    """Return a JSON value as text, for messages."""
    if isinstance(value, dict):
        return ", ".join(f"{key}={entry}" for key, entry in value.items())
    if value is None or value == []:
        return "none"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)

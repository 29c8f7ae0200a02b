"""Append-only log: a file of JSON values, one in a line, in a folder that belongs to one run.

A line reaches the disk before `append` returns, so a killed process loses only work in progress.
The truncated last line of a process that was killed while writing is cut off.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ludoteca.files import opening, parse_json, read_json, write_whole
from ludoteca.lock import lock_file

# Exceptions of `read` functions on lines that are not what they should be.
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, OverflowError)


class LineLog:
    """Log file, locked as long as it is open: one process writes to it at a time."""

    def __init__(self, path: Path, in_use: str):
        """Open the file, or create it.

        Args:
            path: the file.
            in_use: message of the error if another process writes to it.

        Raises:
            ValueError: if another process writes to it.
            OSError: if it cannot be opened.
        """
        self.path = path
        self._file = path.open("a+b")
        if not lock_file(self._file.fileno()):
            self._file.close()
            raise ValueError(in_use)

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

    def read(self, take: Callable[[Any], None]) -> None:
        """Pass the value of every line to `take`, and cut off a truncated last line.

        Raises:
            ValueError: if a line is not JSON, or `take` does not accept its value.
        """
        self._file.seek(0)
        content = self._file.read()
        *lines, torn = content.split(b"\n")
        if torn:
            self._file.truncate(len(content) - len(torn))
        for number, line in enumerate(lines, 1):
            _take_line(self.path, number, line, take)

    def append(self, value: Mapping[str, Any]) -> None:
        """Append a line."""
        self._file.write(json.dumps(value).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


class LineReader:
    """Reader of a log file that another process may be writing: without its lock, changing nothing.

    Only complete lines are read; the writer may be in the middle of the last one.

    Attributes:
        path: the file; it may not exist yet.
    """

    def __init__(self, path: Path):
        self.path = path
        self._offset = self._lines = 0
        self._file: os.stat_result | None = None

    @property
    def is_replaced(self) -> bool:
        """Whether the file was replaced, or is shorter than what has been read of it."""
        try:
            now = os.stat(self.path)
        except FileNotFoundError:
            return self._offset > 0
        same = self._file is None or os.path.samestat(now, self._file)
        return not same or now.st_size < self._offset

    def read(self, take: Callable[[Any], None], largest: int) -> bool:
        """Pass the values of the next lines to `take`, at most `largest` bytes of them.

        After an error, the next call begins with the damaged line.

        Returns:
            Whether these were the last complete lines.

        Raises:
            ValueError: if a line is not JSON, is longer, or `take` does not accept its value.
            OSError: if the file cannot be read.
        """
        try:
            with opening(self.path) as file:
                self._file = os.fstat(file.fileno())
                file.seek(self._offset)
                content = file.read(largest)
        except FileNotFoundError:
            return True
        *lines, _ = content.split(b"\n")
        if len(content) == largest and not lines:
            raise ValueError(f"line {self._lines + 1} of {self.path} has over {largest:,} bytes")
        for line in lines:
            _take_line(self.path, self._lines + 1, line, take)
            self._offset += len(line) + 1
            self._lines += 1
        return len(content) < largest


def _take_line(path: Path, number: int, line: bytes, take: Callable[[Any], None]) -> None:
    try:
        take(parse_json(line))
    except DAMAGE as error:
        raise ValueError(f"line {number} of {path} is damaged: {error}") from error


def claim_folder(
    description: Path,
    own: Mapping[str, Any],
    log: Path,
    run: str,
    optional: Iterable[str] = (),
) -> None:
    """Validate that a folder belongs to a run, by its description, or write the description.

    Args:
        description: JSON file with what identifies the run.
        own: JSON values that identify this run.
        log: log file, which no folder without a description has.
        run: name of such runs, such as `"tournament"`.
        optional: keys that a description may lack.

    Raises:
        ValueError: if the folder belongs to another run, or the description is missing or damaged.
        OSError: if it cannot be read or written.
    """
    folder = description.parent
    if not description.exists():
        if log.exists():
            raise ValueError(f"{folder} has the log of a {run}, but no {description.name}")
        write_whole(description, json.dumps(own, indent=2) + "\n")
        return
    saved = read_json(description)
    if not isinstance(saved, dict):
        raise ValueError(f"{description} is damaged: expected an object, got {saved!r:.40}")
    for key in [*own, *(key for key in optional if key in saved and key not in own)]:
        if saved.get(key) != own.get(key):
            raise ValueError(
                f"{folder} belongs to another {run}: its {key.replace('_', ' ')} is "
                f"{_text(saved.get(key))}, not {_text(own.get(key))}; choose another folder"
            )


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={entry}" for key, entry in value.items())
    if value is None or value == []:
        return "none"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)

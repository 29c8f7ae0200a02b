"""Files that are never left half written."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file, with the folders it lies in: all of it or, if that fails, nothing.

    Raises:
        OSError: if it cannot be written.
    """
    with writing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def writing(path: str | Path) -> Iterator[BinaryIO]:
    """Write a file piece by piece: it is there when the block ends well, and otherwise not at all.

    Raises:
        OSError: if it cannot be written.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)

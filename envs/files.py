"""Files that are never left half written."""

import os
from pathlib import Path


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file, with the folders it lies in: all of it or, if that fails, nothing.

    Raises:
        OSError: if it cannot be written.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)

"""Where episode files lie: on their own, in folders and in .zip archives."""

import zipfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ludoteca.files import BROKEN_ARCHIVE, MAX_TEXT_BYTES, opening, read_bytes

SIDECAR = "_info.json"  # how the names of files end that tell the ratings of an episode
UNREADABLE = (OSError, *BROKEN_ARCHIVE)


class Place(NamedTuple):
    """A file, or a member of an archive."""

    path: Path
    member: str = ""

    def __str__(self) -> str:
        return f"{self.path}/{self.member}" if self.member else str(self.path)

    @property
    def name(self) -> str:
        """The name without folders."""
        return Path(self.member or self.path).name

    @property
    def stem(self) -> str:
        """The name without folders and ending."""
        return Path(self.name).stem

    def read(self) -> bytes:
        """Return what the file holds.

        Raises:
            ValueError: if it cannot be read.
        """
        try:
            if self.member:
                archive = _archive(self.path)
                size = archive.getinfo(self.member).file_size
                if size > MAX_TEXT_BYTES:
                    raise ValueError(f"it unpacks to {size:,} bytes, more than are read")
                return archive.read(self.member)
            return read_bytes(self.path)
        except UNREADABLE as error:
            raise ValueError(f"it cannot be read: {error}") from None


def find_files(sources: Sequence[Path]) -> tuple[list[Place], list[tuple[str, str]]]:
    """Return all `.json` and `.npz` files in some places, and what cannot be read, with the reason.

    Args:
        sources: files, folders, of which everything below is taken, and archives.

    Raises:
        FileNotFoundError: if a source does not exist.
        ValueError: if one is a file of another kind.
    """
    close_archives()
    places: list[Place] = []
    unreadable: list[tuple[str, str]] = []
    for path in _files(sources):
        if path.suffix != ".zip":
            places.append(Place(path))
            continue
        try:
            members = sorted(_archive(path).namelist())
        except UNREADABLE as error:
            unreadable.append((str(path), f"it cannot be read: {error}"))
            continue
        places += [Place(path, name) for name in members if name.endswith(".json")]
    return places, unreadable


def close_archives() -> None:
    """Close the archives that this process has open."""
    _archive.cache_clear()


def _files(sources: Sequence[Path]) -> Iterator[Path]:
    endings = (".json", ".npz", ".zip")
    for source in sources:
        if source.is_dir():
            yield from sorted(p for p in source.rglob("*") if p.suffix in endings and p.is_file())
        elif not source.exists():
            raise FileNotFoundError(f"there is no {str(source)!r}")
        elif source.suffix not in endings:
            raise ValueError(f"expected a folder, or one of {endings}, got {str(source)!r}")
        else:
            yield source


@lru_cache(maxsize=4)
def _archive(path: Path) -> zipfile.ZipFile:
    with opening(path):  # which refuses what is not a file
        return zipfile.ZipFile(path)

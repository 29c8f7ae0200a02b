"""Files of recorded games: single files, and files in folders and .zip archives."""

import zipfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ludoteca.files import BROKEN_ARCHIVE, MAX_TEXT_BYTES, open_regular_file, read_bytes

SIDECAR = "_info.json"  # suffix of a file with the ratings of an episode
SUFFIXES = (".json", ".npz", ".zip")  # suffixes of files that are read from folders
UNREADABLE = (OSError, *BROKEN_ARCHIVE)  # exceptions of a file that cannot be read


class SourceFile(NamedTuple):
    """File of games.

    Attributes:
        path: the file, or the archive that has it.
        member: name in the archive, or "".
    """

    path: Path
    member: str = ""

    def __str__(self) -> str:
        return f"{self.path}/{self.member}" if self.member else str(self.path)

    @property
    def name(self) -> str:
        """Name without folders."""
        return Path(self.member or self.path).name

    @property
    def stem(self) -> str:
        """Name without folders and suffix."""
        return Path(self.name).stem

    def read(self) -> bytes:
        """Return the content of the file.

        Raises:
            ValueError: if the file cannot be read.
        """
        try:
            if self.member:
                archive = _archive(self.path)
                size = archive.getinfo(self.member).file_size
                if size > MAX_TEXT_BYTES:
                    raise ValueError(
                        f"unpacks to {size:,} bytes, expected at most {MAX_TEXT_BYTES:,}"
                    )
                return archive.read(self.member)
            return read_bytes(self.path)
        except UNREADABLE as error:
            raise ValueError(f"cannot be read: {error}") from None


def find_files(sources: Sequence[Path]) -> tuple[list[SourceFile], list[tuple[str, str]]]:
    """Return the files in some sources, and unreadable archives, each with the reason.

    Args:
        sources: files, folders, which are searched recursively, and archives.

    Raises:
        FileNotFoundError: if a source does not exist.
        ValueError: if a source has another suffix than `SUFFIXES` and `.csv`.
    """
    close_archives()
    files: list[SourceFile] = []
    unreadable: list[tuple[str, str]] = []
    for path in _expand(sources):
        if path.suffix != ".zip":
            files.append(SourceFile(path))
            continue
        try:
            members = sorted(_archive(path).namelist())
        except UNREADABLE as error:
            unreadable.append((str(path), f"cannot be read: {error}"))
            continue
        files += [SourceFile(path, name) for name in members if name.endswith(".json")]
    return files, unreadable


def close_archives() -> None:
    """Close the archives that this process has opened."""
    _archive.cache_clear()


def _expand(sources: Sequence[Path]) -> Iterator[Path]:
    """Yield the files among the sources, and those in folders."""
    for source in sources:
        if source.is_dir():
            yield from sorted(p for p in source.rglob("*") if p.suffix in SUFFIXES and p.is_file())
        elif not source.exists():
            raise FileNotFoundError(f"there is no file or folder {str(source)!r}")
        elif source.suffix not in (*SUFFIXES, ".csv"):
            expected = ", ".join((*SUFFIXES, ".csv"))
            raise ValueError(f"expected a folder, or one of {expected}, got {str(source)!r}")
        else:
            yield source


@lru_cache(maxsize=4)
def _archive(path: Path) -> zipfile.ZipFile:
    """Return an open archive; the last ones stay open."""
    with open_regular_file(path):  # raises if it is not a regular file
        return zipfile.ZipFile(path)

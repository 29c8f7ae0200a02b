"""Files that are never left half written, and files read up to a size, whatever they are."""

import errno
import json
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from lzma import LZMAError
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO

# Opening a FIFO does not wait for who writes to it; on Windows, lines end as they do in the file.
READ_ONLY = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
LARGEST_TEXT = 256 << 20  # bytes of a file that is read at once: replays, states, episodes, results
# Exceptions of `zipfile`, `numpy.load` and their decompressors about content that is damaged.
BROKEN_ARCHIVE = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, LZMAError, struct.error, EOFError,
    LookupError, TypeError, ValueError, OverflowError, NotImplementedError, RuntimeError,
    MemoryError, SyntaxError, TokenError,
)  # fmt: skip


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


@contextmanager
def opening(path: str | Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading; devices, FIFOs and sockets could be read without an end.

    Raises:
        OSError: if it cannot be opened; of folders, `IsADirectoryError`.
        ValueError: if it is not a regular file.
    """
    try:
        number = os.open(path, READ_ONLY)
    except ValueError as error:  # a null character
        raise ValueError(f"{os.fspath(path)!r} is not the name of a file: {error}") from None
    try:
        mode = os.fstat(number).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise ValueError(f"{path}: not a regular file but {_kind(mode)}")
    except BaseException:
        os.close(number)
        raise
    with os.fdopen(number, "rb") as file:
        yield file


def read_bytes(path: str | Path, largest: int = LARGEST_TEXT) -> bytes:
    """Return the content of a file.

    Args:
        path: the file.
        largest: how many bytes it may hold.

    Raises:
        OSError: if it cannot be read.
        ValueError: if it is not a regular file, or larger.
    """
    with opening(path) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(size + 1) if size <= largest else b""
        while size <= largest and len(content) <= largest:  # files of the system have no size
            part = file.read(min(len(content), largest - len(content)) + 1)
            if not part:
                return content
            content += part
    raise ValueError(f"{path}: more than {largest:,} bytes, the most that is read")


def read_text(path: str | Path, largest: int = LARGEST_TEXT) -> str:
    """Return the text of a file in UTF-8.

    Raises:
        OSError: if it cannot be read.
        ValueError: if it is not a regular file, larger than `largest` bytes, or not text.
    """
    try:
        return read_bytes(path, largest).decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not text in UTF-8: {error}") from None


def read_json(path: str | Path, largest: int = LARGEST_TEXT) -> Any:
    """Return the content of a JSON file.

    Raises:
        OSError: if it cannot be read.
        ValueError: if it is not a regular file, larger than `largest` bytes, or not JSON.
    """
    text = read_text(path, largest)
    try:
        return parse_json(text)
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def parse_json(text: str | bytes) -> Any:
    """Return what JSON text holds.

    Raises:
        ValueError: if it is not JSON, or nested more deeply than Python reads it.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"it is not JSON: {error}") from None


@contextmanager
def reading_archive(problem: str) -> Iterator[None]:
    """Turn all errors about content that is damaged into one; files that cannot be read are others.

    Args:
        problem: the message begins with it, such as `"x.npz holds no games"`.

    Raises:
        ValueError: if there is such an error in the block.
        OSError: if a file cannot be read.
    """
    try:
        yield
    except BROKEN_ARCHIVE as error:
        raise ValueError(f"{problem}: {str(error) or type(error).__name__:.800}") from None
    except OSError as error:
        if error.errno != errno.EINVAL:  # an archive that says that a file begins before it
            raise
        raise ValueError(f"{problem}: {error}") from None


def check_archive(
    archive: zipfile.ZipFile, path: str | Path, largest: int, most_files: int = 10_000
) -> None:
    """Look at the sizes in a .zip archive before anything is unpacked.

    Args:
        archive: the archive.
        path: its name, for the message.
        largest: bytes that all its files may hold together, unpacked.
        most_files: how many files it may hold.

    Raises:
        ValueError: if it holds more.
    """
    members = archive.infolist()
    size = sum(member.file_size for member in members)
    if size > largest or len(members) > most_files:
        raise ValueError(
            f"{path} unpacks to {size:,} bytes in {len(members):,} files; expected at most "
            f"{largest:,} bytes in {most_files:,}"
        )


def _kind(mode: int) -> str:
    kinds = (
        (stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
    )  # fmt: skip
    return next((name for is_kind, name in kinds if is_kind(mode)), "something else")

"""Reading and writing of files: atomic writes, reads of limited size, and untrusted archives."""

import errno
import io
import json
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from lzma import LZMAError
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from tokenize import TokenError
from typing import Any, BinaryIO

# Opening a FIFO does not wait for a writer; on Windows, line ends are not translated.
READ_ONLY = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
MAX_TEXT_BYTES = 256 << 20  # default limit for a file that is read whole, such as a replay
# Exceptions of `zipfile`, `numpy.load` and their decompressors for damaged content.
BROKEN_ARCHIVE = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, LZMAError, struct.error, EOFError,
    LookupError, TypeError, ValueError, OverflowError, NotImplementedError, RuntimeError,
    MemoryError, SyntaxError, TokenError,
)  # fmt: skip


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write a file atomically; create missing parent folders.

    Raises:
        OSError: if it cannot be written.
    """
    with atomic_writer(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def atomic_writer(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file for an atomic write: it appears when the block ends without an exception.

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
def open_regular_file(path: str | Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading; refuse devices, FIFOs and sockets, which may never end.

    Raises:
        OSError: if it cannot be opened; for folders, `IsADirectoryError`.
        ValueError: if it is not a regular file.
    """
    try:
        descriptor = os.open(path, READ_ONLY)
    except ValueError as error:  # a null character
        raise ValueError(f"{os.fspath(path)!r} is not the name of a file: {error}") from None
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise ValueError(f"{path}: not a regular file but {_file_type(mode)}")
    except BaseException:
        os.close(descriptor)
        raise
    with os.fdopen(descriptor, "rb") as file:
        yield file


def read_bytes(path: str | Path, max_bytes: int = MAX_TEXT_BYTES) -> bytes:
    """Return the content of a file.

    Args:
        path: the file.
        max_bytes: maximum size in bytes.

    Raises:
        OSError: if it cannot be read.
        ValueError: if it is not a regular file, or larger than `max_bytes`.
    """
    with open_regular_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(size + 1) if size <= max_bytes else b""
        while size <= max_bytes and len(content) <= max_bytes:  # files in /proc report no size
            chunk = file.read(min(len(content), max_bytes - len(content)) + 1)
            if not chunk:
                return content
            content += chunk
    raise ValueError(f"{path}: expected at most {max_bytes:,} bytes, got more")


def read_text(path: str | Path, max_bytes: int = MAX_TEXT_BYTES) -> str:
    """Return the text of a UTF-8 file.

    Raises:
        OSError: if it cannot be read.
        ValueError: if it is not a regular file, larger than `max_bytes` bytes, or not text.
    """
    try:
        return read_bytes(path, max_bytes).decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not text in UTF-8: {error}") from None


def read_json(path: str | Path, max_bytes: int = MAX_TEXT_BYTES) -> Any:
    """Return the content of a JSON file.

    Raises:
        OSError: if it cannot be read.
        ValueError: if it is not a regular file, larger than `max_bytes` bytes, or not JSON.
    """
    text = read_text(path, max_bytes)
    try:
        return parse_json(text)
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: if it is not JSON, or too deeply nested for Python.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None


@contextmanager
def archive_errors_as_value_errors(problem: str) -> Iterator[None]:
    """Convert all errors of damaged content in the block into a `ValueError`.

    Args:
        problem: first part of the message, such as `"x.npz holds no games"`.

    Raises:
        ValueError: if the content is damaged.
        OSError: if a file cannot be read.
    """
    try:
        yield
    except BROKEN_ARCHIVE as error:
        raise ValueError(f"{problem}: {str(error) or type(error).__name__:.800}") from None
    except OSError as error:
        # A damaged bzip2 stream raises an `OSError` without `errno`; a member whose offset is
        # before the start of the archive raises one with EINVAL.
        if error.errno not in (None, errno.EINVAL):
            raise
        raise ValueError(f"{problem}: {error}") from None


def check_archive(
    archive: zipfile.ZipFile, path: str | Path, max_bytes: int, max_files: int = 10_000
) -> None:
    """Validate the sizes in a .zip archive before it is unpacked.

    Args:
        archive: the archive.
        path: name of the archive, for the message.
        max_bytes: maximum total size of its unpacked files.
        max_files: maximum number of files.

    Raises:
        ValueError: if a limit is exceeded.
    """
    members = archive.infolist()
    size = sum(member.file_size for member in members)
    if size > max_bytes or len(members) > max_files:
        raise ValueError(
            f"{path} unpacks to {size:,} bytes in {len(members):,} files; expected at most "
            f"{max_bytes:,} bytes in {max_files:,}"
        )


def pack(folder: Path, subfolder: Path) -> bytes:
    """Return the content of a subfolder of `folder` as a tar archive."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.add(subfolder, subfolder.relative_to(folder))
    return content.getvalue()


def unpack(content: bytes, folder: Path) -> None:
    """Extract an archive of `pack` in a folder, each file or folder in it completely or not at all.

    Files and folders of the same names are replaced.
    """
    with (
        tarfile.open(fileobj=io.BytesIO(content)) as archive,
        TemporaryDirectory(prefix=".", dir=folder) as temporary,
    ):
        archive.extractall(temporary, filter="data")
        for unpacked in Path(temporary).iterdir():
            target = folder / unpacked.name
            if target.exists():
                rmtree(target)
            unpacked.rename(target)


def _file_type(mode: int) -> str:
    """Return the type of a file that is neither regular nor a folder, for messages."""
    file_types = (
        (stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
    )  # fmt: skip
    return next((name for is_type, name in file_types if is_type(mode)), "a file of unknown type")

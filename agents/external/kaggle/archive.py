"""Archives of submissions, as competitors uploaded them: `submission.tar.gz`."""

import shutil
import tarfile
import tempfile
import weakref
import zipfile
from pathlib import Path

from ludoteca.files import check_archive, opening, reading_archive

ENDINGS = (".tar.gz", ".tgz", ".tar", ".zip")
LARGEST = 2 << 30  # bytes of all files together
MOST_FILES = 10_000


def is_archive(path: Path) -> bool:
    """Return whether a path names an archive, by its ending."""
    return path.name.lower().endswith(ENDINGS)


def unpack(path: Path, owner: object) -> Path:
    """Return a temporary folder with the files of an archive, removed along with `owner`.

    Raises:
        ValueError: if it is not an archive, is damaged or too large, or has files outside itself.
        OSError: if it cannot be read or unpacked.
    """
    folder = tempfile.mkdtemp(prefix="ludoteca-submission-")
    remove = weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    try:
        problem = f"{path} is not an archive of a submission"
        with reading_archive(problem), opening(path) as file:
            if path.name.lower().endswith(".zip"):
                with zipfile.ZipFile(file) as zipped:
                    check_archive(zipped, path, LARGEST, MOST_FILES)
                    zipped.extractall(folder)
            else:
                with tarfile.open(fileobj=file) as tarred:
                    _unpack_tar(tarred, path, folder)
    except BaseException as error:
        remove()
        if isinstance(error, tarfile.TarError):
            raise ValueError(f"{problem}: {error}") from None
        raise
    return Path(folder)


def _unpack_tar(archive: tarfile.TarFile, path: Path, folder: str) -> None:
    size = 0
    for number, member in enumerate(archive, 1):
        size += member.size
        if size > LARGEST or number > MOST_FILES:
            raise ValueError(
                f"{path} holds more than {LARGEST >> 20} MiB or {MOST_FILES} files, the most that "
                "is unpacked"
            )
        archive.extract(member, folder, filter="data")

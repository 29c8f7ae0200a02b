"""Archives of submissions in the format of uploads to Kaggle: `submission.tar.gz`."""

import shutil
import tarfile
import tempfile
import weakref
import zipfile
from pathlib import Path

from ludoteca.files import archive_errors_as_value_errors, check_archive, open_regular_file

SUFFIXES = (".tar.gz", ".tgz", ".tar", ".zip")
MAX_BYTES = 2 << 30  # maximum size of all files together
MAX_FILES = 10_000


def is_archive(path: Path) -> bool:
    """Return whether a path names an archive, by its suffix."""
    return path.name.lower().endswith(SUFFIXES)


def unpack(path: Path, owner: object) -> Path:
    """Unpack an archive to a temporary folder, which is removed with `owner`; return the folder.

    Raises:
        ValueError: if it is not an archive, damaged or too large, or has paths outside the folder.
        OSError: if it cannot be read or unpacked.
    """
    folder = tempfile.mkdtemp(prefix="ludoteca-submission-")
    remove = weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    try:
        problem = f"{path} is not an archive of a submission"
        with archive_errors_as_value_errors(problem), open_regular_file(path) as file:
            if path.name.lower().endswith(".zip"):
                with zipfile.ZipFile(file) as zipped:
                    check_archive(zipped, path, MAX_BYTES, MAX_FILES)
                    zipped.extractall(folder)
            else:
                with tarfile.open(fileobj=file) as tarred:
                    _unpack_tar(tarred, path, folder)
    except BaseException as error:  # an interrupt, too, must not leave the folder
        remove()
        if isinstance(error, tarfile.TarError):
            raise ValueError(f"{problem}: {error}") from None
        raise
    return Path(folder)


def _unpack_tar(archive: tarfile.TarFile, path: Path, folder: str) -> None:
    """Unpack a tar archive, whose path is for error messages, to a folder."""
    size = 0
    for count, member in enumerate(archive, 1):
        size += member.size
        if size > MAX_BYTES or count > MAX_FILES:
            raise ValueError(
                f"{path} must contain at most {MAX_BYTES >> 20} MiB and {MAX_FILES} files"
            )
        archive.extract(member, folder, filter="data")

"""Lock of a folder: one process works in it at a time."""

import errno
import os
import shlex
import sys
import time
import weakref
from pathlib import Path

LOCK = ".lock"  # name of the file in the folder
# Errors of file systems that do not support locks.
UNSUPPORTED = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK)
MAX_COMMAND_LENGTH = 200  # maximum number of characters of the command in the file
MAX_HOLDER_BYTES = 4096  # maximum number of bytes read from the file for an error message
RETRY_SECONDS = 0.02  # time between attempts to lock
TIMEOUT = 2.0  # seconds to wait for the end of a process that has just been killed


class FolderLock:
    """Exclusive lock of a folder, held as long as this object or the process lives.

    The kernel releases the lock however the process ends, so no lock is ever stale. The locked file
    stays in the folder, and names the last process that held the lock.

    Attributes:
        process: id of the process that locked the folder. A forked process inherits this object,
            but does not hold the lock.
    """

    def __init__(self, folder: Path):
        """Lock an existing folder; see `lock_folder`."""
        file = folder / LOCK
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
        self._close = weakref.finalize(self, os.close, descriptor)
        deadline = time.monotonic() + TIMEOUT
        while not lock_file(descriptor):
            if time.monotonic() > deadline:
                holder = os.read(descriptor, MAX_HOLDER_BYTES).decode(errors="replace").strip()
                self._close()
                raise ValueError(
                    f"{folder} is in use by {holder or 'another process'}: wait until it ends, end "
                    "it, or use another folder"
                )
            time.sleep(RETRY_SECONDS)
        self.process, self._file_status = os.getpid(), os.fstat(descriptor)
        command = " ".join(shlex.join(getattr(sys, "orig_argv", sys.argv)).split())
        if len(command) > MAX_COMMAND_LENGTH:
            command = f"{command[:MAX_COMMAND_LENGTH]}..."
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {self.process} ({command})\n".encode())

    def holds(self, folder: Path) -> bool:
        """Return whether this process holds this lock, and `folder` still has the locked file."""
        try:
            file_status = os.stat(folder / LOCK)
        except OSError:  # the folder or its file was removed
            return False
        return self.process == os.getpid() and os.path.samestat(file_status, self._file_status)


# The locks of this process that are in use, by the absolute path of the folder.
_locks: "weakref.WeakValueDictionary[Path, FolderLock]" = weakref.WeakValueDictionary()


def lock_folder(folder: Path) -> FolderLock:
    """Lock an existing folder for this process; repeated calls share one lock.

    The lock is released when the last returned object for the folder is deleted.

    Raises:
        ValueError: if another process has locked it.
        OSError: if the folder cannot be written to.
    """
    key = folder.resolve()
    lock = _locks.get(key)
    if lock is None or not lock.holds(folder):
        lock = _locks[key] = FolderLock(folder)
    return lock


def lock_file(descriptor: int) -> bool:
    """Lock an open file until it is closed; return False if another process has locked it.

    Return True where locks are not supported: outside Unix and on some file systems.
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in UNSUPPORTED:
            return True
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise
    return True

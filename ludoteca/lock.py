"""Folders that one process works in at a time."""

import errno
import os
import shlex
import sys
import time
import weakref
from pathlib import Path

LOCK = ".lock"  # the file in the folder
UNSUPPORTED = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK)
SHOWN = 200  # characters of a command
PATIENCE = 2.0  # seconds: a process that has just been killed takes a moment to be gone


class FolderLock:
    """The right to work in a folder, as long as this object is used or the process lives.

    The kernel gives it back however the process ends, so that no lock is ever stale. The file that
    is locked stays in the folder; it names the process that had the lock last.
    """

    def __init__(self, folder: Path):
        """Lock a folder that exists; see `lock_folder`."""
        file = folder / LOCK
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
        self._close = weakref.finalize(self, os.close, descriptor)
        until = time.monotonic() + PATIENCE
        while not lock_file(descriptor):
            if time.monotonic() > until:
                holder = os.pread(descriptor, 4096, 0).decode(errors="replace").strip()
                self._close()
                raise ValueError(
                    f"{folder} is in use by {holder or 'another process'}: wait for its end, end "
                    "it, or use another folder"
                )
            time.sleep(0.02)
        self.process, self._place = os.getpid(), os.fstat(descriptor)
        command = " ".join(shlex.join(getattr(sys, "orig_argv", sys.argv)).split())
        if len(command) > SHOWN:
            command = f"{command[:SHOWN]}..."
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {self.process} ({command})\n".encode(), 0)

    def holds(self, folder: Path) -> bool:
        """Return whether this process has this lock, and the folder still is the one locked."""
        try:
            place = os.stat(folder / LOCK)
        except OSError:
            return False
        return self.process == os.getpid() and os.path.samestat(place, self._place)


_locks: "weakref.WeakValueDictionary[Path, FolderLock]" = weakref.WeakValueDictionary()


def lock_folder(folder: Path) -> FolderLock:
    """Lock a folder that exists for this process; a process may do so any number of times.

    The folder is free again when no object that this function returned for it is used any more.

    Raises:
        ValueError: if another process has locked it.
        OSError: if nothing can be written there.
    """
    key = folder.resolve()
    lock = _locks.get(key)
    if lock is None or not lock.holds(folder):
        lock = _locks[key] = FolderLock(folder)
    return lock


def lock_file(descriptor: int) -> bool:
    """Lock an open file until it is closed; return whether no other process has locked it.

    Where there are no such locks, on systems other than Unix and some file systems, the answer is
    yes.
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

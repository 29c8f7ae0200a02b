"""Locks of folders: one process at a time works in a folder."""

import gc
import os
import shutil
import signal
import sys

import pytest
from ends import start

from ludoteca import lock
from ludoteca.lock import lock_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a Unix system")
# Program that locks the folder of its argument until it is killed.
HOLDER = """
import sys, time
from pathlib import Path
from ludoteca.lock import lock_folder
lock = lock_folder(Path(sys.argv[1]))
print("locked", flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def _short_timeout(monkeypatch):
    """Do not wait long for locks."""
    monkeypatch.setattr(lock, "TIMEOUT", 0.1)


def test_other_processes_cannot_lock_until_the_holder_ends(tmp_path):
    with start(HOLDER, tmp_path) as holder:
        assert holder.stdout.readline() == "locked\n"
        # The message shows the beginning of a long command.
        shown = rf"in use by process {holder.pid} \(.* -c .*import sys, time.*\): wait"
        with pytest.raises(ValueError, match=shown):
            lock_folder(tmp_path)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        held = lock_folder(tmp_path)  # the lock file of the killed process is stale
    assert held.process == os.getpid()
    with start(HOLDER, tmp_path) as other:
        assert other.wait(60) == 1
    del held
    gc.collect()
    with start(HOLDER, tmp_path) as other:
        assert other.stdout.readline() == "locked\n"
        other.kill()


def test_a_run_is_trained_by_one_process_at_a_time(tmp_path):
    from ludoteca.train.run_directory import RunDirectory

    created_later = tmp_path / "late"
    unlocked_run = RunDirectory(created_later, {})  # before the folder exists, it cannot be locked
    created_later.mkdir()
    for folder in (tmp_path, created_later):
        with start(HOLDER, folder) as holder:
            assert holder.stdout.readline() == "locked\n"
            with pytest.raises(ValueError, match=rf"in use by process {holder.pid} "):
                unlocked_run.claim() if folder == created_later else RunDirectory(folder, {})
    run = RunDirectory(tmp_path, {})
    run.claim()
    with start(HOLDER, tmp_path) as other:
        assert other.wait(60) == 1
    assert RunDirectory(tmp_path, {})  # the same process may resume, as in a notebook


def test_a_process_may_lock_a_folder_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path.parent)
    first = lock_folder(tmp_path)
    assert lock_folder(tmp_path) is first
    assert lock_folder(type(tmp_path)(tmp_path.name)) is first
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()  # another folder of the same name
    second = lock_folder(tmp_path)
    assert second is not first
    assert second.holds(tmp_path)
    assert not first.holds(tmp_path)


def test_a_fork_does_not_hold_the_lock(tmp_path):
    held = lock_folder(tmp_path)
    pid = os.fork()
    if pid == 0:
        try:
            lock_folder(tmp_path)
            os._exit(1)
        except ValueError:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert held.holds(tmp_path)


def test_work_continues_where_locks_are_not_supported(tmp_path, monkeypatch):
    import errno
    import fcntl

    def fail(number):
        def flock(*arguments):
            raise OSError(number, os.strerror(number))

        return flock

    monkeypatch.setattr(fcntl, "flock", fail(errno.ENOLCK))
    assert lock_folder(tmp_path).holds(tmp_path)
    monkeypatch.setattr(fcntl, "flock", fail(errno.EIO))
    (tmp_path / "other").mkdir()
    with pytest.raises(OSError, match="Input/output"):
        lock_folder(tmp_path / "other")


def test_a_system_without_functions_of_unix_has_no_locks(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.delattr(os, "pread")
    monkeypatch.delattr(os, "pwrite")
    first, second = lock.FolderLock(tmp_path), lock.FolderLock(tmp_path)
    assert first.holds(tmp_path)
    assert second.holds(tmp_path)
    assert (tmp_path / lock.LOCK).read_text().startswith(f"process {os.getpid()} (")

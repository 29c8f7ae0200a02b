"""Child processes end with their parent, however it ends."""

import os
import signal
import subprocess
import sys
import time

import pytest
from ends import are_gone, is_running, start

from ludoteca.child_processes import ChildProcess, ChildProcesses, run_child

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a Unix system")
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
# Command that ignores SIGTERM, SIGINT and SIGHUP, with a child in the background.
STUBBORN_COMMAND = "trap '' TERM INT HUP; sleep 600 & echo $$ $!; wait; sleep 600"
# Program of a parent that starts the command of its argument as a child.
PARENT = """
import sys, threading, time
from ludoteca.child_processes import ChildProcess
children = []
def work():
    children.append(ChildProcess(["sh", "-c", sys.argv[1]]))
thread = threading.Thread(target=work)
thread.start()
thread.join()  # a child does not end with the thread that started it
time.sleep(600)
"""


def pids_of(process):
    """Return the process ids that a process writes in its next line."""
    return [int(word) for word in process.stdout.readline().split()]


@pytest.mark.parametrize("end_signal", SIGNALS)
def test_a_command_and_its_children_end_with_the_parent(end_signal):
    with start(PARENT, STUBBORN_COMMAND) as parent:
        pids = pids_of(parent)
        assert len(pids) == 2
        time.sleep(0.1)
        assert all(map(is_running, pids))
        parent.send_signal(end_signal)
        assert are_gone(pids)


def test_children_end_with_the_parent_although_its_fork_lives():
    # `os.write` writes a line at once, so that the lines of several processes do not mix.
    forking = "import os\nos.write(1, b'%d\\n' % (os.fork() or os.getpid()))\ntime.sleep(600)"
    with start(PARENT.replace("time.sleep(600)", forking), STUBBORN_COMMAND) as parent:
        # Lines of the command, of the fork and of the parent, in any order: the command's line has
        # two numbers.
        *single, pids = sorted((pids_of(parent) for _ in range(3)), key=len)
        forks = {pid for line in single for pid in line} - {parent.pid}
        assert (len(pids), len(forks)) == (2, 1)
        parent.kill()
        assert are_gone(pids)
        for fork in forks:
            assert is_running(fork)
            os.kill(fork, signal.SIGKILL)


def test_a_command_ends_when_its_guard_is_killed():
    child = ChildProcess(["sh", "-c", "echo $$; exec sleep 600"], stdout=subprocess.PIPE, text=True)
    with child:
        pids = pids_of(child)
        os.kill(child.pid, signal.SIGKILL)
        if sys.platform == "linux":  # only its kernel ends children (PR_SET_PDEATHSIG)
            assert are_gone(pids)


def test_a_child_behaves_like_a_popen(tmp_path):
    done = run_child(
        [sys.executable, "-c", "import sys; print(input()); sys.exit(3)"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert "EOFError" in done.stderr
    assert run_child(["sh", "-c", "exit 3"], cwd=tmp_path).returncode == 3
    assert run_child(["sh", "-c", "kill -SEGV $$"]).returncode == -signal.SIGSEGV
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        run_child(["no-such-program"])
    missing = run_child(["./no-such-program"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert missing.returncode == 127
    assert missing.stderr == "./no-such-program: No such file or directory\n"
    for end, code in (
        (ChildProcess.terminate, -signal.SIGTERM),
        (ChildProcess.kill, -signal.SIGKILL),
    ):
        with ChildProcess(
            ["sh", "-c", "sleep 600 & echo $$ $!; wait"], stdout=subprocess.PIPE
        ) as child:
            pids = pids_of(child)
            end(child)
            assert child.wait(20) == code
            assert are_gone(pids)


def test_a_child_ends_when_its_last_reference_is_deleted():
    child = ChildProcess(["sh", "-c", "echo $$; exec sleep 600"], stdout=subprocess.PIPE)
    pids = pids_of(child)
    child.stdout.close()
    with pytest.warns(ResourceWarning, match="still running"):
        del child
    assert are_gone(pids)


def test_processes_left_by_a_finished_command_are_ended():
    done = run_child(["sh", "-c", "sleep 600 >&- & echo $!"], stdout=subprocess.PIPE, text=True)
    assert are_gone([done.stdout])


def test_an_interrupt_reaches_all_commands_and_waits_for_their_last_work(tmp_path):
    saving = """
        trap 'sleep 0.2; echo saved > "$0"; exit 5' INT; echo > "$0.ready"
        while true; do sleep 0.05; done
    """
    files = [tmp_path / name for name in "ab"]
    code = """
import sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from ludoteca.child_processes import ChildProcesses
with ThreadPoolExecutor(2) as pool, ChildProcesses() as children:
    runs = [pool.submit(children.run, ["sh", "-c", sys.argv[1], file]) for file in sys.argv[2:]]
    for run in runs:
        run.result()
"""
    with start(code, saving, *files) as parent:
        deadline = time.monotonic() + 20
        while not all(file.with_suffix(".ready").exists() for file in files):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        parent.send_signal(signal.SIGINT)
        parent.wait(20)
    assert [file.read_text() for file in files] == ["saved\n", "saved\n"]


def test_commands_that_ignore_an_interrupt_are_killed():
    children = ChildProcesses()
    child = ChildProcess(["sh", "-c", STUBBORN_COMMAND], stdout=subprocess.PIPE)
    children._running.add(child)
    pids = pids_of(child)
    with child:
        children.interrupt(timeout=0.1)
    assert are_gone(pids)
    with pytest.raises(RuntimeError, match="interrupted before 'sh' began"):
        children.run(["sh", "-c", "true"])


def test_a_command_that_has_stopped_its_guard_is_killed():
    stopping = "kill -STOP $PPID; echo $$; exec sleep 600"
    child = ChildProcess(["sh", "-c", stopping], stdout=subprocess.PIPE, text=True)
    pids = pids_of(child)
    start_time = time.monotonic()
    child.kill()
    assert time.monotonic() - start_time < 4
    assert are_gone([child.pid, *pids])
    child.stdout.close()

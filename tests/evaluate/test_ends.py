"""Tests that workers, and tasks of a study, end with their parent process.

Helpers of `ends`: `start` runs Python code in a process, `are_gone` waits for the end of processes.
"""

import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from ends import are_gone, is_running, start

from ludoteca.evaluate.studies.runner import run_tasks

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a Unix system")
SIGNALS = [
    signal.SIGKILL,
    *(pytest.param(number, marks=pytest.mark.slow) for number in (signal.SIGTERM, signal.SIGINT)),
]


# Program with two busy workers: one sleeps, the other holds the interpreter lock (GIL) in a regular
# expression that takes longer than the test.
WORKERS = """
import os, re, time
from functools import partial
from ludoteca.local_executor import LocalExecutor
if __name__ == "__main__":
    with LocalExecutor(2) as workers:
        tasks = [partial(os.getpid), partial(os.getpid)]
        print(*set(workers.run(iter(tasks))), flush=True)
        busy = [partial(time.sleep, 600), partial(re.match, "(a+)+$", "a" * 60 + "b")]
        for _ in workers.run(iter(busy)):
            pass
"""


@pytest.mark.parametrize("signal_number", SIGNALS)
def test_workers_end_with_the_process_that_started_them(tmp_path, signal_number):
    file = tmp_path / "working.py"
    file.write_text(WORKERS)
    code = f"import subprocess, sys, os; os.execv(sys.executable, [sys.executable, {str(file)!r}])"
    with start(code) as parent:
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert pids
        parent.send_signal(signal_number)
        assert are_gone(pids)


@dataclass(frozen=True)
class SlowTask:
    """Task of a study that writes the ids of its process and of a child, and sleeps."""

    name: str
    requires: tuple[str, ...] = ()
    settings = {"seed": 0}  # noqa: RUF012

    def arguments(self, folder):
        """Return the arguments of the Python command."""
        code = (
            "import os, subprocess, sys, time\n"
            "child = subprocess.Popen(['sleep', '600'])\n"
            "with open(sys.argv[1], 'w') as file: print(os.getpid(), child.pid, file=file)\n"
            "time.sleep(600)"
        )
        return ["-c", code, str(folder / f"{self.name}.txt")]

    def artifact(self, folder):
        """Return the file that is never written."""
        return folder / self.name / "results.json"


def run_slow_tasks(folder):
    """Run two tasks of a study that do not finish."""
    run_tasks({name: SlowTask(name) for name in "ab"}, Path(folder), 2, show_progress=False)


STUDY = (
    "import sys; sys.path.insert(0, sys.argv[1]); import test_ends; "
    "test_ends.run_slow_tasks(sys.argv[2])"
)


@pytest.mark.parametrize("signal_number", SIGNALS)
def test_tasks_of_a_study_end_with_it(tmp_path, signal_number):
    folder = tmp_path / "study"
    helpers = Path(__file__).parents[1] / "helpers"
    code = f"import sys; sys.path.insert(0, {str(helpers)!r})\n{STUDY}"
    with start(code, Path(__file__).parent, folder) as study:
        files = [folder / f"{name}.txt" for name in "ab"]
        while not all(file.exists() and file.read_text().endswith("\n") for file in files):
            assert study.poll() is None
            time.sleep(0.02)
        pids = [int(word) for file in files for word in file.read_text().split()]
        assert len(pids) == 4
        assert all(map(is_running, pids))
        with pytest.raises(ValueError, match=f"study is in use by process {study.pid} "):
            run_slow_tasks(folder)
        study.send_signal(signal_number)
        assert are_gone(pids)

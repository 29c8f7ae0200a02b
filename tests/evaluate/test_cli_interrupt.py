"""Tests of interrupted commands and programs."""

import os
import signal
import subprocess
import sys

import pytest
from command_line import MATCH

from ludoteca.interrupt import is_our_program

pytestmark = pytest.mark.interpreted


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("LUDOTECA_DEBUG", raising=False)


def program(path, arguments, interrupted_by):
    """Return a process of ours that gets SIGINT from a module that it imports."""
    for name, code in interrupted_by.items():
        file = path / "modules" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"import os, signal, time\n{code}")
    search = [str(path / "modules"), *sys.path]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, search))}
    env |= {"NUMBA_CACHE_DIR": str(path / "cache")}
    return subprocess.run(
        [sys.executable, "-P", *arguments], capture_output=True, text=True, cwd=path, env=env
    )


WHILE_IMPORTING = {"numba.py": "os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"}
WHILE_COMPILING = {
    "sitecustomize.py": """
from numba.core import event

class Interrupt(event.Listener):
    def on_start(self, event):
        os.kill(os.getpid(), signal.SIGINT)
    def on_end(self, event):
        pass

event.register("numba:compile", Interrupt())
"""
}


@pytest.mark.parametrize(
    "arguments",
    [["-m", "ludoteca", "list"], ["-m", "ludoteca.train.dqn"], ["ludoteca", "list"]],
    ids=["package", "module", "script"],
)
def test_an_interrupted_import_is_one_line(tmp_path, arguments):
    script = "import sys\nfrom ludoteca.__main__ import main\nsys.exit(main())\n"
    (tmp_path / "ludoteca").write_text(script)
    done = program(tmp_path, arguments, WHILE_IMPORTING)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_interrupt_in_other_programs_raises_keyboard_interrupt(tmp_path):
    (tmp_path / "users.py").write_text("import ludoteca\n")
    done = program(tmp_path, ["users.py"], WHILE_IMPORTING)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.endswith("KeyboardInterrupt\n")
    assert "Traceback" in done.stderr


@pytest.mark.compiled
def test_interrupted_compiling_is_one_line(tmp_path):
    done = program(tmp_path, ["-m", "ludoteca", *MATCH, "--games", "2"], WHILE_COMPILING)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_workers_are_not_interrupted_while_they_start(tmp_path):
    (tmp_path / "work.py").write_text(
        "from functools import partial\n"
        "from ludoteca.local_executor import LocalExecutor\n"
        "if __name__ == '__main__':\n"
        "    with LocalExecutor(2) as workers:\n"
        "        print(list(workers.run(partial(pow, 2, k) for k in range(3))))\n"
    )
    interrupt = """
import sys
if "--multiprocessing-fork" in sys.orig_argv:
    os.kill(os.getpid(), signal.SIGINT)
"""
    done = program(tmp_path, ["work.py"], {"sitecustomize.py": interrupt})
    assert (done.returncode, done.stdout, done.stderr) == (0, "[1, 2, 4]\n", "")


@pytest.mark.parametrize(
    ("argv", "original", "ours"),
    [
        (["-m", "x"], ["python", "-P", "-m", "ludoteca.train.dqn", "x"], True),
        (["-m"], ["python", "-mludoteca"], True),
        (["-m"], ["python", "-Pm", "ludoteca"], True),
        (["-m", "ludoteca"], ["python", "-m", "pytest", "ludoteca"], False),
        (["-m"], ["python", "-m", "ludoteca_plus"], False),
        (["/usr/bin/ludoteca", "list"], ["python", "/usr/bin/ludoteca", "list"], True),
        (["mine.py"], ["python", "mine.py"], False),
        (["-c", "-m"], ["python", "-c", "import ludoteca", "-m"], False),
        ([""], ["python"], False),
    ],
)
def test_interrupt_guard_recognizes_our_programs(argv, original, ours):
    assert is_our_program(argv, original) == ours

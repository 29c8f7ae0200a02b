"""Tests of commands and programs that are interrupted (SIGINT, Ctrl-C)."""

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
    """Make the terminal so wide that no output is wrapped."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("LUDOTECA_DEBUG", raising=False)


def run_interrupted(path, arguments, interrupting_modules):
    """Run Python with modules that send SIGINT to the process; return the completed process."""
    for name, code in interrupting_modules.items():
        file = path / "modules" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"import os, signal, time\n{code}")
    python_path = [str(path / "modules"), *sys.path]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, python_path))}
    env |= {"NUMBA_CACHE_DIR": str(path / "cache")}
    return subprocess.run(
        [sys.executable, "-P", *arguments], capture_output=True, text=True, cwd=path, env=env
    )


# A module in place of Numba, and one that Python imports at its start.
INTERRUPT_IMPORT = {"numba.py": "os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"}
INTERRUPT_COMPILATION = {
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
def test_interrupted_import_prints_one_line(tmp_path, arguments):
    script = "import sys\nfrom ludoteca.__main__ import main\nsys.exit(main())\n"
    (tmp_path / "ludoteca").write_text(script)
    completed = run_interrupted(tmp_path, arguments, INTERRUPT_IMPORT)
    assert (completed.returncode, completed.stdout, completed.stderr) == (130, "", "interrupted\n")


def test_interrupt_in_other_programs_raises_keyboard_interrupt(tmp_path):
    (tmp_path / "users.py").write_text("import ludoteca\n")
    completed = run_interrupted(tmp_path, ["users.py"], INTERRUPT_IMPORT)
    assert completed.returncode == -signal.SIGINT
    assert completed.stderr.endswith("KeyboardInterrupt\n")
    assert "Traceback" in completed.stderr


@pytest.mark.compiled
def test_interrupted_compilation_prints_one_line(tmp_path):
    completed = run_interrupted(
        tmp_path, ["-m", "ludoteca", *MATCH, "--games", "2"], INTERRUPT_COMPILATION
    )
    assert (completed.returncode, completed.stdout, completed.stderr) == (130, "", "interrupted\n")


def test_starting_workers_ignore_interrupts(tmp_path):
    (tmp_path / "work.py").write_text(
        "from functools import partial\n"
        "from ludoteca.local_executor import LocalExecutor\n"
        "if __name__ == '__main__':\n"
        "    with LocalExecutor(1) as workers:\n"
        "        print(list(workers.run(partial(pow, 2, k) for k in range(3))))\n"
    )
    interrupt = """
import sys
if "--multiprocessing-fork" in sys.orig_argv:
    os.kill(os.getpid(), signal.SIGINT)
"""
    completed = run_interrupted(tmp_path, ["work.py"], {"sitecustomize.py": interrupt})
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, "[1, 2, 4]\n", "")


@pytest.mark.parametrize(
    ("argv", "original_argv", "is_ours"),
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
def test_interrupt_guard_recognizes_programs_of_the_package(argv, original_argv, is_ours):
    assert is_our_program(argv, original_argv) == is_ours

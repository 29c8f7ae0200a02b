"""Tests that commands without their extra name it in one line, and that the core needs none."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest
from bounds import FOR_USERS, lower_bounds, requirements
from commands import CORE_COMMANDS, EXTRA_COMMANDS, help_and_imports

from ludoteca.extras import explain, extras_of, program_name

INSTALLED = {requirement.partition(";")[0].strip() for requirement in requires("ludoteca") or ()}
needs_metadata = pytest.mark.skipif(
    not INSTALLED.issuperset(requirements()), reason="pyproject.toml is newer than the installation"
)
RUN = Path(__file__).with_name("run_commands.py")
IMPORTED_AS = {
    "pillow": "PIL",
    "sb3-contrib": "sb3_contrib",
    "stable-baselines3": "stable_baselines3",
}
REQUIREMENTS = [
    "numpy>=2",
    "torch>=2.6; extra == 'train'",
    'pillow>=10.1; extra == "render"',
    "pillow>=10.1; extra == 'train'",
    'Stable_Baselines3>=2.6; extra == "train"',
]


def optional(*extras: str) -> set[str]:
    """Return the import names of the packages that extras add to the core."""
    names = lower_bounds(extras).keys() - lower_bounds(()).keys()
    return {IMPORTED_AS.get(name, name) for name in names}


def run(commands: list[list[str]], without: set[str], folder: Path) -> dict[str, tuple[int, str]]:
    """Run commands in a process without some packages; return their status and standard error."""
    done = subprocess.run(
        [sys.executable, "-P", str(RUN), ",".join(without)],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    ends = json.loads(done.stdout.splitlines()[-1])
    return {" ".join(command): tuple(end) for command, end in zip(commands, ends, strict=True)}


@needs_metadata
def test_the_core_is_enough_or_one_line_names_the_extra(tmp_path: Path) -> None:
    more = [list(command) for command in EXTRA_COMMANDS]
    results = run([*CORE_COMMANDS, *more, *help_and_imports()], optional(*FOR_USERS), tmp_path)
    for command in CORE_COMMANDS:
        assert results[" ".join(command)][0] == 0, results[" ".join(command)]
    for command, extra in EXTRA_COMMANDS.items():
        assert f"ludoteca[{extra}]" in results[" ".join(command)][1]
    for command, (status, message) in results.items():
        if status != 0:
            assert status == 2, (command, message)
            assert len(message.splitlines()) == 1, (command, message)
            assert re.search(r"ludoteca\[(train|render|evaluate|arena|notebook)\]", message), (
                command,
                message,
            )
        else:
            assert not command.startswith("ludoteca.train."), command
    needed = [command for command, (status, _) in results.items() if status != 0]
    assert len(needed) >= 15  # else commands with extras were not run


@pytest.mark.slow
@pytest.mark.parametrize("extra", ["train", "evaluate"])
def test_an_extra_is_enough_for_its_commands(extra: str, tmp_path: Path) -> None:
    for package in sorted(optional(extra)):
        pytest.importorskip(package)
    commands = [
        command for command in help_and_imports() if command[0].startswith(f"ludoteca.{extra}.")
    ]
    assert len(commands) >= 8
    for command, (status, message) in run(
        commands, optional(*FOR_USERS) - optional(extra), tmp_path
    ).items():
        if extra == "evaluate" and status == 2:  # it evaluates networks, too
            assert 'pip install "ludoteca[train]"' in message, command
        else:
            assert status == 0, (command, message)


@needs_metadata
@pytest.mark.parametrize("debug", ["", "1"])
def test_a_program_without_its_extra_ends_with_status_2(debug: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(RUN.parent)!r})\n"
        "from run_commands import Blocker\n"
        "sys.meta_path.insert(0, Blocker({'matplotlib'}))\n"
    )
    python_path = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "ludoteca.train.q_learning"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(python_path), "LUDOTECA_DEBUG": debug},
        capture_output=True,
        text=True,
        check=False,
    )
    if debug:
        assert done.returncode == 1
        assert "Traceback" in done.stderr
        return
    needed = 'this needs the package matplotlib: pip install "ludoteca[train]"'
    assert done.stderr == f"ludoteca.train.q_learning: {needed}\n"
    assert (done.returncode, done.stdout) == (2, "")


def test_extras_by_package() -> None:
    assert extras_of("torch.nn", REQUIREMENTS) == ("train",)
    assert extras_of("PIL", REQUIREMENTS) == ("render", "train")
    assert extras_of("stable_baselines3", REQUIREMENTS) == ("train",)
    assert extras_of("numpy", REQUIREMENTS) == ()
    assert extras_of("chess", REQUIREMENTS) == ()


@needs_metadata
def test_only_missing_packages_of_extras_have_clear_errors() -> None:
    assert explain(ValueError("torch")) is None
    assert explain(ModuleNotFoundError("No module named 'chess'", name="chess")) is None
    assert explain(ImportError("cannot import name 'x' from 'torch'", name="torch")) is None
    ours = 'pixels need Pillow: pip install "ludoteca[render]"'
    assert explain(ImportError(ours)) == ours
    error = ModuleNotFoundError("No module named 'scipy.stats'", name="scipy.stats")
    for part in ("evaluate", "train"):
        needed = f'this needs the package scipy: pip install "ludoteca[{part}]"'
        assert explain(error, part) == needed


@pytest.mark.parametrize(
    ("original", "name"),
    [
        (["python", "-P", "-m", "ludoteca.train.dqn", "--games", "3"], "ludoteca.train.dqn"),
        (["python", "-mludoteca.train.dqn"], "ludoteca.train.dqn"),
        (["python", "/usr/bin/ludoteca", "list"], "ludoteca"),
    ],
)
def test_the_name_of_a_program(original: list[str], name: str) -> None:
    assert program_name(original) == name

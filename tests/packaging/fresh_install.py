"""Installs the package into fresh environments and tries there what it offers: `make test-install`.

In one environment without extras and in one for each extra, every command is run and every import
of the documents is tried: each works, or ends with one line that names the extra that it needs.
Type checkers, mypy and Pyright, then check a user's program there. That they see it after an
editable installation, too, is checked by `make typecheck`.
"""

import json
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

from bounds import FOR_USERS, ROOT
from commands import CORE, MORE, tried

HERE = Path(__file__).parent
BUILD = ROOT / "build" / "install"
USER_CODE = HERE / "user_code.py"


def install(name: str, *arguments: str) -> Path:
    """Return the interpreter of a fresh environment into which pip has installed something."""
    folder = BUILD / name
    venv.create(folder, clear=True, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *arguments], check=True, cwd=ROOT)
    return python


def check_wheel() -> Path:
    """Build the wheel; return it. It holds every module and every file that marks types."""
    for folder in (BUILD, ROOT / "build" / "lib"):  # setuptools would pack modules that are gone
        shutil.rmtree(folder, ignore_errors=True)
    wheels = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(BUILD), "."]
    subprocess.run(wheels, check=True, cwd=ROOT)
    (wheel,) = BUILD.glob("*.whl")
    expected = {f"ludoteca/{path.name}" for path in (ROOT / "ludoteca").glob("*.py*")}
    for folder in ("envs", "agents", "train", "evaluate"):
        files = [path for path in (ROOT / folder).rglob("*") if path.suffix == ".py"]
        files += (ROOT / folder).rglob("py.typed")
        expected |= {f"ludoteca/{path.relative_to(ROOT)}" for path in files}
    expected.discard("ludoteca/__pycache__")
    left_out = expected - set(zipfile.ZipFile(wheel).namelist())
    if left_out:
        sys.exit(f"the wheel lacks {', '.join(sorted(left_out))}")
    print(f"{wheel.name}: {len(expected)} modules and markers")
    return wheel


def check_commands(extra: str, python: Path) -> None:
    """Run every command, and end with a message if one neither works nor names an extra."""
    commands = [*CORE, *map(list, MORE), *tried()]
    done = subprocess.run(
        [python, "-P", HERE / "run_commands.py", ""],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=True,
        cwd=BUILD,
    )
    worked = 0
    for command, (status, message) in zip(
        commands, json.loads(done.stdout.splitlines()[-1]), strict=True
    ):
        named = re.search(r"ludoteca\[(\w+)\]", message)
        # dqn:x names a file that is not there: with the extra, this is the error.
        if status == 0 or (extra and MORE.get(tuple(command)) == extra):
            worked += 1
        elif command in CORE or named is None or named[1] == extra or status != 2:
            sys.exit(f"with the extra {extra or '(none)'}, {' '.join(command)} ends: {message}")
    print(f"{extra or 'core'}: {worked} of {len(commands)} commands and imports work, others ask")


def check_types(python: Path) -> None:
    """Check a user's program with mypy and Pyright."""
    checkers = install("checkers", "-c", str(ROOT / "constraints.txt"), "mypy", "pyright").parent
    mypy = ["mypy", "--strict", "--config-file=", "--python-executable", python]
    for command in ([*mypy, USER_CODE.name], ["pyright", "--pythonpath", python, USER_CODE.name]):
        subprocess.run([checkers / command[0], *command[1:]], check=True, cwd=HERE)


def main() -> None:
    """Check the wheel, the environments and the types."""
    wheel = check_wheel()
    for extra in ("", *FOR_USERS):
        what = f"{wheel}[{extra}]" if extra else str(wheel)
        python = install(extra or "core", "-c", str(ROOT / "constraints.txt"), what)
        check_commands(extra, python)
        if not extra:
            check_types(python)


if __name__ == "__main__":
    main()

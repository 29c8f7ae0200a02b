"""Installation test in fresh virtual environments: `make test-install`.

In one environment without extras and in one for each extra, every command and every import of the
documents is run: each works, or ends with one line that names the extra that it needs. Then mypy
and Pyright check a user's program there; for editable installations `make typecheck` does so.
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
from commands import CORE_COMMANDS, EXTRA_COMMANDS, help_and_imports

HERE = Path(__file__).parent
BUILD = ROOT / "build" / "install"
USER_CODE = HERE / "user_code.py"


def install(name: str, *arguments: str) -> Path:
    """Make the environment `name`, run `pip install` in it, and return its interpreter."""
    folder = BUILD / name
    venv.create(folder, clear=True, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *arguments], check=True, cwd=ROOT)
    return python


def check_wheel() -> Path:
    """Build the wheel and return it; exit if it lacks files."""
    for folder in (BUILD, ROOT / "build" / "lib"):  # setuptools would pack deleted modules
        shutil.rmtree(folder, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(BUILD), "."]
    subprocess.run(pip, check=True, cwd=ROOT)
    (wheel,) = BUILD.glob("*.whl")
    check_contents(wheel)
    return wheel


def check_contents(wheel: Path) -> None:
    """Exit if a wheel lacks a module, a `py.typed`, or weights of a network."""
    expected = {f"ludoteca/{path.name}" for path in (ROOT / "ludoteca").glob("*.py*")}
    for folder in ("envs", "agents", "train", "evaluate"):
        files = [path for path in (ROOT / folder).rglob("*") if path.suffix == ".py"]
        files += (ROOT / folder).rglob("py.typed")
        files += (ROOT / folder).rglob("*.safetensors")
        expected |= {f"ludoteca/{path.relative_to(ROOT)}" for path in files}
    expected.discard("ludoteca/__pycache__")
    missing = expected - set(zipfile.ZipFile(wheel).namelist())
    if missing:
        sys.exit(f"the wheel lacks {', '.join(sorted(missing))}")
    print(f"{wheel.name}: {len(expected)} modules, py.typed files and networks")


def check_commands(extra: str, python: Path) -> None:
    """Run every command; exit if one neither works nor names the extra that it needs."""
    commands = [*CORE_COMMANDS, *map(list, EXTRA_COMMANDS), *help_and_imports()]
    process = subprocess.run(
        [python, "-P", HERE / "run_commands.py", ""],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=True,
        cwd=BUILD,
    )
    worked = 0
    for command, (status, message) in zip(
        commands, json.loads(process.stdout.splitlines()[-1]), strict=True
    ):
        named_extra = re.search(r"ludoteca\[(\w+)\]", message)
        # With its extra, dqn:x fails all the same, as the file x does not exist.
        if status == 0 or (extra and EXTRA_COMMANDS.get(tuple(command)) == extra):
            worked += 1
        elif (
            command in CORE_COMMANDS
            or named_extra is None
            or named_extra[1] == extra
            or status != 2
        ):
            sys.exit(f"with the extra {extra or '(none)'}, {' '.join(command)} ends: {message}")
    counts = f"{worked} of {len(commands)} commands and imports work"
    print(f"{extra or 'core'}: {counts}, the others name an extra")


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
        requirement = f"{wheel}[{extra}]" if extra else str(wheel)
        python = install(extra or "core", "-c", str(ROOT / "constraints.txt"), requirement)
        check_commands(extra, python)
        if not extra:
            check_types(python)


if __name__ == "__main__":
    main()

"""Build and check of the distributions: `make package`.

The sdist and, from it, the wheel are built in build/dist by `python -m build` and checked by
`twine check --strict`. The wheel is then installed in clean virtual environments, without extras
and with those for users, where the package is imported and its commands are run.
"""

import subprocess
import sys
import tarfile
import venv
from pathlib import Path

from bounds import FOR_USERS, ROOT
from fresh_install import check_commands, check_contents, install

DIST = ROOT / "build" / "dist"
TOOLS = ROOT / "build" / "package-tools"
# Files that the sdist has beside the packages.
DOCUMENTS = ("README.md", "LICENSE", "pyproject.toml", "PKG-INFO")
PROGRAM = """
import ludoteca
game = ludoteca.make_game("hex:board_size=3")
assert len(game.legal(game.new())) == 9
print(ludoteca.__version__, ludoteca.__file__)
"""


def build_distributions() -> tuple[Path, Path]:
    """Build the sdist and the wheel, check both with twine, and return them."""
    for old in DIST.glob("*"):
        old.unlink()
    venv.create(TOOLS, clear=True, with_pip=True)
    python = TOOLS / "bin" / "python"
    pins = Path(__file__).with_name("package_tools.txt")
    for command in (
        ["-m", "pip", "install", "--quiet", "-r", pins],
        ["-m", "build", "--outdir", DIST, ROOT],
    ):
        subprocess.run([python, *command], check=True, cwd=ROOT)
    (sdist,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    subprocess.run([python, "-m", "twine", "check", "--strict", sdist, wheel], check=True)
    return sdist, wheel


def check_sdist(sdist: Path) -> None:
    """Exit if the sdist lacks a document."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    missing = set(DOCUMENTS) - names
    if missing:
        sys.exit(f"the sdist lacks {', '.join(sorted(missing))}")
    print(f"{sdist.name}: {len(names)} files")


def try_installation(extras: tuple[str, ...], wheel: Path) -> None:
    """Install the wheel with extras in a clean environment, import it, and run its commands."""
    name = "+".join(extras) or "core"
    requirement = f"{wheel}[{','.join(extras)}]" if extras else str(wheel)
    python = install(f"package-{name}", "-c", str(ROOT / "constraints.txt"), requirement)
    folder = python.parents[1]
    run = subprocess.run(
        [python, "-P", "-c", PROGRAM], check=True, cwd=folder, capture_output=True, text=True
    )
    version, path = run.stdout.split()
    if not Path(path).is_relative_to(folder):
        sys.exit(f"{path} is imported instead of the installed package in {folder}")
    command = python.with_name("ludoteca")
    shown = subprocess.run([command, "--version"], check=True, capture_output=True, text=True)
    if version not in shown.stdout:
        sys.exit(f"ludoteca --version prints {shown.stdout!r}, the package has {version}")
    if extras:
        match = ["match", "tictactoe", "--agents", "random", "greedy", "--games", "10"]
        subprocess.run([command, *match], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        print(f"{name}: imported, --version and a match run")
    else:
        check_commands("", python)


def main() -> None:
    """Build and check the distributions."""
    sdist, wheel = build_distributions()
    check_sdist(sdist)
    check_contents(wheel)
    for extras in ((), FOR_USERS):
        try_installation(extras, wheel)
    print(f"built and checked: {sdist.relative_to(ROOT)}, {wheel.relative_to(ROOT)}")


if __name__ == "__main__":
    main()

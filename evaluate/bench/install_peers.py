"""Installation of peers, the packages that benchmarks compare with, in virtual environments.

The peers' dependencies conflict, so each peer that the running interpreter cannot import gets a
separate virtual environment, in `.peers/` of the working directory or `$LUDOTECA_PEERS`.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, NamedTuple

from tyro.conf import Positional, arg

from ludoteca.envs.names import did_you_mean
from ludoteca.evaluate.cli.commands import Command, run_command


class Peer(NamedTuple):
    """Requirements of a peer.

    Attributes:
        modules: modules that an interpreter with the peer can import.
        commands: arguments of `pip install`, one call each.
    """

    modules: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]


PEERS: Mapping[str, Peer] = {
    "openspiel": Peer(("pyspiel",), (("open_spiel==2.0.2",),)),
    "pettingzoo": Peer(("pettingzoo", "pygame"), (("pettingzoo==1.27.0", "pygame>=2.6"),)),
    "pgx": Peer(("pgx",), (("pgx==2.6.0", "jax==0.10.2", "jaxlib==0.10.2"),)),
    # Only the dependencies of Hungry Geese; all those of kaggle-environments take 1.6 GB.
    "kaggle": Peer(
        ("kaggle_environments",),
        (
            ("jsonschema>=4", "numpy>=2", "requests>=2"),
            ("--no-deps", "kaggle-environments==1.33.2"),
        ),
    ),
}


def install_peers(
    peers: Annotated[
        Positional[tuple[str, ...]], arg(metavar="[PEER ...]", help_behavior_hint="")
    ] = (),
) -> None:
    """Install the packages that `ludoteca bench envs --peers` compares with this one.

    Each package that this Python cannot import gets a virtual environment in .peers, or in the
    folder that the environment variable LUDOTECA_PEERS names. Existing environments are kept.

    Args:
        peers: openspiel, pettingzoo, pgx or kaggle; all by default.

    Raises:
        ValueError: if there is no such peer; then none is installed.
        OSError: if a peer cannot be installed.
    """
    for name in peers:
        find_interpreter(name)  # raises for unknown names
    for name in dict.fromkeys(peers or PEERS):
        try:
            print(f"{name}: {install(name)}", flush=True)
        except subprocess.CalledProcessError as error:
            command = " ".join(map(str, error.cmd))
            raise OSError(
                f"{name} cannot be installed: {command} ended with status {error.returncode}"
            ) from None


def install(name: str) -> Path:
    """Return an interpreter that can import the peer; install the peer if there is none.

    Raises:
        ValueError: if there is no such peer.
        subprocess.CalledProcessError: if the peer cannot be installed.
    """
    interpreter = find_interpreter(name)
    if interpreter is not None:
        return interpreter
    folder = peers_folder() / name
    python = _interpreter_path(folder)
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    for arguments in PEERS[name].commands:
        subprocess.run([python, "-m", "pip", "install", "--quiet", *arguments], check=True)
    _stamp_file(folder).touch()
    return python


def find_interpreter(name: str) -> Path | None:
    """Return an interpreter that can import the peer, or None.

    It is that of the peer's virtual environment, else the running one.

    Raises:
        ValueError: if there is no such peer.
    """
    if name not in PEERS:
        hint = did_you_mean(name, PEERS)
        raise ValueError(f"unknown peer {name!r}{hint}; there are {', '.join(PEERS)}")
    folder = peers_folder() / name
    if _stamp_file(folder).exists():
        return _interpreter_path(folder)
    if all(find_spec(module) for module in PEERS[name].modules):
        return Path(sys.executable)
    return None


def peers_folder() -> Path:
    """Return the folder of the peers' virtual environments."""
    return Path(os.environ.get("LUDOTECA_PEERS", ".peers")).absolute()


def _interpreter_path(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _stamp_file(folder: Path) -> Path:
    """Return the file that marks a complete installation; it is written last."""
    return folder / "installed"


def main() -> int:
    """Run the command line; return its exit status."""
    command = Command("ludoteca.evaluate.bench.install_peers:install_peers", "")
    return run_command(command, sys.argv[1:], "python -m ludoteca.evaluate.bench.install_peers")


if __name__ == "__main__":
    sys.exit(main())

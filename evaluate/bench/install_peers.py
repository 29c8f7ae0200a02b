"""Installation of the peers in virtual environments: `ludoteca.evaluate.bench.install_peers`.

Their dependencies contradict each other, so each peer that the present interpreter lacks has a
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
        modules: modules that must be importable in this Python.
        commands: arguments of `pip install`, one call each.
    """

    modules: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]


PEERS: Mapping[str, Peer] = {
    "openspiel": Peer(("pyspiel",), (("open_spiel==2.0.2",),)),
    "pettingzoo": Peer(("pettingzoo", "pygame"), (("pettingzoo==1.27.0", "pygame>=2.6"),)),
    "pgx": Peer(("pgx",), (("pgx==2.6.0", "jax==0.10.2", "jaxlib==0.10.2"),)),
    # Dependencies of Hungry Geese; all dependencies of kaggle-environments take 1.6 GB.
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

    Each peer that this Python lacks gets a virtual environment in .peers, or in the folder that the
    environment variable LUDOTECA_PEERS names. Existing environments are not changed.

    Args:
        peers: openspiel, pettingzoo, pgx or kaggle; all by default.

    Raises:
        ValueError: if there is no such peer; no peer is installed.
        OSError: if one cannot be installed.
    """
    for name in peers:
        interpreter(name)
    for name in dict.fromkeys(peers or PEERS):
        try:
            print(f"{name}: {install(name)}", flush=True)
        except subprocess.CalledProcessError as error:
            command = " ".join(map(str, error.cmd))
            raise OSError(
                f"{name} cannot be installed: {command} ended with status {error.returncode}"
            ) from None


def install(name: str) -> Path:
    """Make the peer's virtual environment unless it is there; return its interpreter.

    Raises:
        ValueError: if there is no such peer.
        subprocess.CalledProcessError: if it cannot be installed.
    """
    installed = interpreter(name)
    if installed is not None:
        return installed
    folder = peers_folder() / name
    python = _python_of(folder)
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    for arguments in PEERS[name].commands:
        subprocess.run([python, "-m", "pip", "install", "--quiet", *arguments], check=True)
    _installed_mark(folder).touch()
    return python


def interpreter(name: str) -> Path | None:
    """Return the Python that has the peer, of this or its own environment, or None.

    Raises:
        ValueError: if there is no such peer.
    """
    if name not in PEERS:
        hint = did_you_mean(name, PEERS)
        raise ValueError(f"unknown peer {name!r}{hint}; there are {', '.join(PEERS)}")
    folder = peers_folder() / name
    if _installed_mark(folder).exists():
        return _python_of(folder)
    if all(find_spec(module) for module in PEERS[name].modules):
        return Path(sys.executable)
    return None


def peers_folder() -> Path:
    """Return the folder of the peers' virtual environments."""
    return Path(os.environ.get("LUDOTECA_PEERS", ".peers")).absolute()


def _python_of(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _installed_mark(folder: Path) -> Path:
    # Written last: an interrupted installation does not count.
    return folder / "installed"


def main() -> int:
    """Run the command line; return its exit status."""
    command = Command("ludoteca.evaluate.bench.install_peers:install_peers", "")
    return run_command(command, sys.argv[1:], "python -m ludoteca.evaluate.bench.install_peers")


if __name__ == "__main__":
    sys.exit(main())

"""Fingerprint of an installation: the versions and sources that results depend on."""

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

SUBPACKAGES = ("envs", "agents", "train", "evaluate")


@cache
def fingerprint() -> dict[str, str]:
    """Return versions of Python and packages, and a digest of this package's sources, by name."""
    python = ".".join(platform.python_version_tuple()[:2])
    versions = {name: version(name) for name in ("ludoteca", "numpy", "numba")}
    return {"python": python, **versions, "sources of ludoteca": source_digest()}


def differences(here: dict[str, str], there: dict[str, str]) -> str:
    """Return the differences of two fingerprints as text, or "" if they are equal.

    Args:
        here: fingerprint of this process's installation.
        there: fingerprint of the installation on another node of a cluster.
    """
    return ", ".join(
        f"{name} is {there.get(name, 'missing')} there and {value} here"
        for name, value in here.items()
        if there.get(name) != value
    )


def source_digest() -> str:
    """Return a digest of all sources of this package, wherever its subpackages are installed."""
    digest = hashlib.sha256()
    folder = Path(__file__).parent
    files = {f"ludoteca/{path.name}": path for path in folder.glob("*.py")}
    for subpackage in SUBPACKAGES:
        spec = find_spec(f"ludoteca.{subpackage}")
        for location in (spec.submodule_search_locations if spec else None) or ():
            folder = Path(location)
            for path in folder.rglob("*.py"):
                files[f"ludoteca/{subpackage}/{path.relative_to(folder).as_posix()}"] = path
    for name in sorted(files):
        digest.update(f"{name}\n".encode() + hashlib.sha256(files[name].read_bytes()).digest())
    return digest.hexdigest()[:16]

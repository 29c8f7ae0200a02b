"""Fingerprint of an installation: versions and sources on which results depend."""

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

PARTS = ("envs", "agents", "train", "evaluate")


@cache
def fingerprint() -> dict[str, str]:
    """Return the versions of Python and of the packages by name, and a digest of our sources."""
    python = ".".join(platform.python_version_tuple()[:2])
    versions = {name: version(name) for name in ("ludoteca", "numpy", "numba")}
    return {"python": python, **versions, "sources of ludoteca": source_digest()}


def differences(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """Return the differences of two installations as text, or "" if they are the same."""
    return ", ".join(
        f"{name} is {theirs.get(name, 'missing')} there and {value} here"
        for name, value in ours.items()
        if theirs.get(name) != value
    )


def source_digest() -> str:
    """Return a digest of all sources of this package, wherever its parts are installed."""
    digest = hashlib.sha256()
    top = Path(__file__).parent
    files = {f"ludoteca/{path.name}": path for path in top.glob("*.py")}
    for part in PARTS:
        spec = find_spec(f"ludoteca.{part}")
        for location in (spec.submodule_search_locations if spec else None) or ():
            folder = Path(location)
            for path in folder.rglob("*.py"):
                files[f"ludoteca/{part}/{path.relative_to(folder).as_posix()}"] = path
    for name in sorted(files):
        digest.update(f"{name}\n".encode() + hashlib.sha256(files[name].read_bytes()).digest())
    return digest.hexdigest()[:16]

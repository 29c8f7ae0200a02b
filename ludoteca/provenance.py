"""Provenance of a run as JSON values: command, date, commit, machine and package versions."""

import os
import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]  # root of a checkout, or of the installed packages
PACKAGES = ("ludoteca", "numpy", "numba", "gymnasium", "pettingzoo")


def run_provenance(*packages: str, **settings: Any) -> dict[str, Any]:
    """Return the provenance of this run: two entries that every file of results has.

    Args:
        packages: distributions that the run uses beside `PACKAGES`.
        settings: further entries of `"about"`; they replace those of `run_info` of the same name.

    Returns:
        `"about"`, see `run_info`, and `"versions"`, see `package_versions`.
    """
    return {"about": run_info(**settings), "versions": package_versions(*packages)}


def run_info(**settings: Any) -> dict[str, Any]:
    """Return the command, the date (UTC), the source commit, the machine, and `settings`."""
    return {
        "command": command_line(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": source_commit(),
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "platform": platform.platform(),
        "load_average_at_start": load_average(),
        **settings,
    }


def package_versions(*packages: str) -> dict[str, str]:
    """Return the versions of Python, of `PACKAGES` and of further distributions, by name."""
    names = (*PACKAGES, *packages)
    return {"python": platform.python_version()} | {name: version(name) for name in names}


def command_line() -> str:
    """Return the command that started this program."""
    spec = sys.modules["__main__"].__spec__
    module = ["python", "-m", spec.name.removesuffix(".__main__")] if spec else []
    return shlex.join([*(module or [Path(sys.argv[0]).name]), *sys.argv[1:]])


def source_commit(root: Path = ROOT) -> str:
    """Return the git commit of the sources, with `-dirty` if they are changed, or `"unknown"`.

    The commit is unknown if this package is not run from a git checkout, or git is not installed.

    Args:
        root: folder that holds the sources; `.git` must be in it, not in a folder above.
    """
    if not (root / ".git").exists():
        return "unknown"
    command = ["git", "--no-optional-locks", "-C", str(root), "describe", "--always", "--dirty"]
    command += ["--abbrev=40", "--exclude", "*"]  # the commit, not the name of a tag
    try:
        described = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return described.stdout.strip()


def cpu_name() -> str:
    """Return the name of the processor, or its architecture if the name is unknown."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def load_average() -> list[float] | None:
    """Return the system's load averages over 1, 5 and 15 minutes, or None if it has none."""
    return list(os.getloadavg()) if hasattr(os, "getloadavg") else None

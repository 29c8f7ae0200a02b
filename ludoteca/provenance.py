"""Provenance of a run as JSON values: command, date, machine and versions of packages."""

import os
import platform
import shlex
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGES = ("ludoteca", "numpy", "numba", "gymnasium", "pettingzoo")


def run_provenance(*packages: str, **settings: Any) -> dict[str, Any]:
    """Return the provenance of this run, the same two entries in every file of results.

    Args:
        packages: distributions that the run uses beside `PACKAGES`.
        settings: further entries of `"about"`, or others in place of those of `run_info`.

    Returns:
        `"about"`, see `run_info`, and `"versions"`, see `package_versions`.
    """
    return {"about": run_info(**settings), "versions": package_versions(*packages)}


def run_info(**settings: Any) -> dict[str, Any]:
    """Return the command, the date (UTC), the machine, and `settings`."""
    return {
        "command": command_line(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
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


def cpu_name() -> str:
    """Return the name of the processor, or at least its architecture."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def load_average() -> list[float] | None:
    """Return the system's load averages over 1, 5 and 15 minutes, or None if it has none."""
    return list(os.getloadavg()) if hasattr(os, "getloadavg") else None

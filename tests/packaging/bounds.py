"""Lower bounds of `pyproject.toml` as constraints for pip.

`python tests/packaging/bounds.py torch` prints `NAME==BOUND` for everything that the package and
its extras for users need, except that torch keeps the version of `constraints.txt`: of older ones,
PyPI has only builds for CUDA.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOR_USERS = ("train", "render", "evaluate", "arena", "notebook", "tune")
REQUIREMENT = re.compile(r"([\w.-]+)>=([\d.]+)")


def project() -> dict[str, object]:
    """Return the table `[project]` of `pyproject.toml`."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def requirements(extras: Iterable[str] = FOR_USERS) -> Iterator[str]:
    """Yield the requirements of the package and of some extras, without `ludoteca[...]` itself."""
    table = project()
    for requirement in table["dependencies"]:
        yield requirement
    for extra in extras:
        for requirement in table["optional-dependencies"][extra]:
            if not requirement.startswith("ludoteca["):
                yield requirement


def normal(name: str) -> str:
    """Return a distribution's name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def lower_bounds(extras: Iterable[str] = FOR_USERS) -> dict[str, str]:
    """Return the lower bound of each distribution.

    Raises:
        ValueError: if a requirement is not of the form `name>=version`, or two of them differ.
    """
    bounds: dict[str, str] = {}
    for requirement in requirements(extras):
        match = REQUIREMENT.fullmatch(requirement)
        if match is None:
            raise ValueError(f"expected name>=version, got {requirement!r}")
        name, bound = normal(match[1]), match[2]
        if bounds.setdefault(name, bound) != bound:
            raise ValueError(f"{name} has the lower bounds {bounds[name]} and {bound}")
    return bounds


def pins() -> dict[str, str]:
    """Return the pinned version of each distribution in `constraints.txt`."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {normal(name): version for name, version in pairs}


if __name__ == "__main__":
    for distribution, version in lower_bounds().items():
        pinned = distribution in sys.argv[1:]
        print(f"{distribution}=={pins()[distribution] if pinned else version}")

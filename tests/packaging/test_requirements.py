"""Tests of requirements: declared if and only if imported, and pinned."""

import ast
import importlib.metadata
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from bounds import ROOT, lower_bounds, normal, pins, project, requirements

FOLDERS = ("ludoteca", "envs", "agents", "train", "evaluate")
# Packages that are imported by another name than they are installed by.
INSTALLED_AS = {"PIL": "pillow", "pyspiel": "open-spiel"}
# Peers of the benchmarks: installed by `make peers`, run by their own interpreters.
PEERS = {"jax", "pgx", "kaggle-environments"}
# Libraries with an adapter: a user has them already, and `make recipes` installs them.
RECIPES = ROOT / "docs" / "recipes" / "requirements"
# Extras that constraints.txt pins; those of libraries contradict each other, and have pins of their
# own in the recipes' requirements.
PINNED = ("train", "render", "evaluate", "arena", "notebook", "tune", "keras", "dev", "oracles")
# Modules of optional packages that are imported on demand, as all adapters are.
ON_DEMAND = {"ray_executor.py"}
# Imported by other packages: SB3-Contrib when a file of MaskablePPO is read, TensorBoard by
# PyTorch, websockets by uvicorn.
INDIRECT = {"sb3-contrib", "tensorboard", "websockets"}
# Installed by another package, which allows only one version: Numba's compiler.
COMES_WITH = {"llvmlite": "numba"}


def declared(*extras: str) -> set[str]:
    """Return the distributions that the package and some extras require."""
    return {normal(re.split(r"[\[<>=]", requirement)[0]) for requirement in requirements(extras)}


def everything() -> set[str]:
    """Return the distributions that `constraints.txt` pins."""
    return declared(*PINNED)


def imports(node: ast.AST, top: bool = True) -> Iterator[tuple[str, bool]]:
    """Yield the packages that a module imports, and whether at its own import (at top level)."""
    for child in ast.iter_child_nodes(node):
        inner = top and not isinstance(child, ast.FunctionDef)
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            inner = False
        if isinstance(child, ast.Import):
            yield from ((alias.name.partition(".")[0], inner) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield (child.module or "").partition(".")[0], inner
        else:
            yield from imports(child, inner)


def libraries() -> set[str]:
    """Return the distributions that the recipes' requirement files name."""
    lines = [line for path in RECIPES.glob("*.txt") for line in path.read_text().splitlines()]
    names = [re.match(r"[\w.-]+", line) for line in lines]
    return {normal(name[0]) for name in names if name is not None}


def third_party(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the distributions that a module imports, and whether at its own import."""
    for package, top in imports(ast.parse(path.read_text(encoding="utf-8"))):
        if package != "ludoteca" and package not in sys.stdlib_module_names:
            package = COMES_WITH.get(package, package)
            yield normal(INSTALLED_AS.get(package, package)), top


@cache
def imported() -> dict[str, set[Path]]:
    """Return the files that import each distribution."""
    files: dict[str, set[Path]] = {}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            for distribution, _ in third_party(path):
                files.setdefault(distribution, set()).add(path.relative_to(ROOT))
    return files


def test_constraints_pin_exactly_the_declared_packages() -> None:
    assert set(pins()) == everything()


@pytest.mark.parametrize("name", sorted(lower_bounds()))
def test_pins_are_in_bounds(name: str) -> None:
    def parts(version: str) -> tuple[int, ...]:
        return tuple(int(part) for part in re.findall(r"\d+", version)[:3])

    assert parts(pins()[name]) >= parts(lower_bounds()[name])


def test_imported_packages_are_declared() -> None:
    users = {name: files for name, files in imported().items() if name not in PEERS}
    undeclared = (
        users.keys()
        - declared("train", "render", "evaluate", "arena", "notebook", "tune", "keras", "oracles")
        - libraries()
    )
    assert {name: users[name] for name in undeclared} == {}


def test_declared_packages_are_imported() -> None:
    assert (
        declared("train", "render", "evaluate", "arena", "notebook", "tune", "keras", "oracles")
        - imported().keys()
        == INDIRECT
    )


def test_environments_import_optional_packages_on_demand_only() -> None:
    # `import ludoteca` and the command line work with the core alone.
    core = declared()
    for path in [*(ROOT / "ludoteca").glob("*.py"), *(ROOT / "envs").rglob("*.py")]:
        if path.parent.name == "adapters" or path.name in ON_DEMAND:
            continue
        optional = {name for name, top in third_party(path) if top} - core
        assert optional == set(), path


def test_extra_train_includes_evaluate() -> None:
    # Reports of trainings have statistics and figures, as those of evaluations have.
    assert declared("evaluate") <= declared("train")


def test_missing_and_contradictory_bounds_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bounds.requirements", lambda extras: ["numpy>=2", "torch==2.6"])
    with pytest.raises(ValueError, match=r"expected name>=version, got 'torch==2.6'"):
        lower_bounds()
    monkeypatch.setattr("bounds.requirements", lambda extras: ["numpy>=2", "NumPy>=2.1"])
    with pytest.raises(ValueError, match=r"numpy has the lower bounds 2 and 2\.1"):
        lower_bounds()


def test_the_classifiers_are_pythons_that_are_allowed() -> None:
    least = tuple(map(int, str(project()["requires-python"]).removeprefix(">=").split(".")))
    versions = [
        tuple(map(int, match[1].split(".")))
        for line in project()["classifiers"]
        if (match := re.fullmatch(r"Programming Language :: Python :: (\d+\.\d+)", line))
    ]
    assert versions[0] == least
    assert versions == sorted(versions)
    assert importlib.metadata.version("ludoteca") == project()["version"]

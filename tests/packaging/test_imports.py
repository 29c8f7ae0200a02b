"""Tests of the direction of imports, by import-linter with the contracts of pyproject.toml."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("importlinter", reason="import-linter is not installed")

ROOT = Path(__file__).resolve().parents[2]
LINT = (
    "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Return a copy of the package as it is installed, where folders are not mapped to packages."""
    root = tmp_path_factory.mktemp("imports")
    sources = shutil.ignore_patterns("__pycache__", "*.safetensors", "*.json")
    for name in ("ludoteca", "envs", "agents", "train", "evaluate"):
        target = root / "ludoteca" / ("" if name == "ludoteca" else name)
        shutil.copytree(ROOT / name, target, ignore=sources, dirs_exist_ok=True)
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


def lint(package):
    """Return the finished process of import-linter."""
    return subprocess.run(
        [sys.executable, "-c", LINT], cwd=package, capture_output=True, text=True, env={}
    )


def test_imports_point_one_way(package):
    result = lint(package)
    assert result.returncode == 0, result.stdout + result.stderr
    assert " 0 broken" in result.stdout


@pytest.mark.parametrize(
    ("module", "imported", "contract"),
    [
        ("envs/spec.py", "ludoteca.agents.registry", "envs <- agents <- evaluate <- train"),
        ("evaluate/match.py", "ludoteca.train.loop", "envs <- agents <- evaluate <- train"),
        ("envs/engine/playouts.py", "ludoteca.envs.api.vector", "envs: games <- engine <- API"),
        ("ludoteca/files.py", "ludoteca.envs.jit", "envs <- agents <- evaluate <- train"),
    ],
)
def test_an_import_of_a_higher_layer_is_found(package, module, imported, contract):
    name = module.removeprefix("ludoteca/")
    path = package / "ludoteca" / name
    source = path.read_text(encoding="utf-8")
    try:
        path.write_text(f"{source}\nimport {imported}\n", encoding="utf-8")
        result = lint(package)
    finally:
        path.write_text(source, encoding="utf-8")
    assert result.returncode == 1
    assert f"{contract}" in result.stdout
    assert imported in result.stdout

"""Consistency of the package with its metadata."""

import importlib
import importlib.metadata
import tomllib
from pathlib import Path

import pytest

import ludoteca

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = PROJECT["tool"]["setuptools"]["packages"]
FOLDERS = PROJECT["tool"]["setuptools"]["package-dir"]


def folder_of(package: str) -> Path:
    """Return the folder of a package: a mapped folder, or one below it."""
    if package in FOLDERS:
        return ROOT / str(FOLDERS[package])
    parent, _, name = package.rpartition(".")
    return folder_of(parent) / name


def test_packages_are_the_folders_with_an_init() -> None:
    with_init = {
        folder.parent.relative_to(ROOT)
        for top in FOLDERS.values()
        for folder in (ROOT / top).rglob("__init__.py")
    }
    assert {folder_of(package).relative_to(ROOT) for package in PACKAGES} == with_init
    assert len(PACKAGES) == len(set(PACKAGES))
    # A folder of modules without an __init__ would be left out of the wheel.
    for top in FOLDERS.values():
        for module in (ROOT / top).rglob("*.py"):
            assert module.parent.relative_to(ROOT) in with_init, (
                f"{module.parent} has no __init__.py"
            )


@pytest.mark.parametrize("package", FOLDERS)
def test_packages_are_marked_as_typed(package: str) -> None:
    assert (folder_of(package) / "py.typed").is_file()


@pytest.mark.parametrize("package", PACKAGES)
def test_exported_names_are_sorted_and_exist(package: str) -> None:
    module = importlib.import_module(package)
    exported = getattr(module, "__all__", [])
    assert exported == sorted(exported)
    assert len(exported) == len(set(exported))
    for name in exported:
        assert hasattr(module, name)


@pytest.mark.parametrize("suffix", ["j2", "toml"])
def test_templates_and_data_files_are_package_data(suffix: str) -> None:
    data = PROJECT["tool"]["setuptools"]["package-data"]
    files = list((ROOT / "evaluate" / "studies").rglob(f"*.{suffix}"))
    assert files
    for file in files:
        package = ".".join(("ludoteca", *file.parent.relative_to(ROOT).parts))
        assert any(file.match(pattern) for pattern in data[package]), file


def test_version_equals_the_metadata() -> None:
    assert ludoteca.__version__ == PROJECT["project"]["version"]
    assert ludoteca.__version__ == importlib.metadata.version("ludoteca")


@pytest.mark.parametrize("command", PROJECT["project"]["scripts"].items(), ids=lambda item: item[0])
def test_commands_exist(command: tuple[str, str]) -> None:
    module, _, function = command[1].partition(":")
    assert callable(getattr(importlib.import_module(module), function))

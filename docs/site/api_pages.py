"""Pages of the API reference: one for each package, with its public modules."""

import ast
import shutil
from pathlib import Path

PACKAGES = ("envs", "agents", "train", "evaluate")
# Packages without pages: code that other programs run. Beginnings of their names.
EXCLUDED = ("ludoteca.agents.external.kaggle.worker", "ludoteca.evaluate.bench.peers")
INDEX = """# API reference

Signatures and docstrings of the public modules. Imports point one way: `envs` <- `agents` <-
`evaluate` <- `train`. [Architecture](../ARCHITECTURE.md) describes how the parts belong together.

"""


def copy_packages(root: Path, folder: Path) -> None:
    """Copy the modules to a folder in which the package has its installed form.

    Args:
        root: root of the repository.
        folder: folder for the package; its content is replaced.
    """
    shutil.rmtree(folder, ignore_errors=True)
    package = folder / "ludoteca"
    paths = [(path, package / path.name) for path in (root / "ludoteca").glob("*.py")]
    for name in PACKAGES:
        for path in (root / name).rglob("*.py"):
            paths.append((path, package / path.relative_to(root)))
    for source, copy in paths:
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)


def api_pages(folder: Path) -> dict[str, str]:
    """Return the pages of the API reference, by path relative to docs/.

    Args:
        folder: folder with the package `ludoteca`.
    """
    pages: dict[str, str] = {}
    index = INDEX
    for package in sorted(_packages(folder)):
        modules = [name for name in _modules(folder, package) if _has_content(folder, name)]
        if not modules:
            continue
        docstring = _docstring(_source(folder, package))
        heading = docstring.partition("\n\n")[0].replace("\n", " ")
        lines = [f"# {package}", "", docstring, ""]
        for module in modules:
            lines += [f"## {module}", "", f"::: {module}", ""]
            lines += ["    options:", "      show_root_heading: false", ""]
        pages[f"api/{package}.md"] = "\n".join(lines)
        index += f"- [`{package}`]({package}.md): {heading}\n"
    pages["api/index.md"] = index
    return pages


def _packages(folder: Path) -> list[str]:
    """Return the names of the packages that have a page."""
    names = [_name(folder, path.parent) for path in _sources(folder) if path.name == "__init__.py"]
    return [name for name in names if not name.startswith(EXCLUDED)]


def _modules(folder: Path, package: str) -> list[str]:
    """Return the names of a package's public modules, without those of its subpackages."""
    directory = folder.joinpath(*package.split("."))
    names = [
        _name(folder, path.with_suffix(""))
        for path in sorted(directory.glob("*.py"))
        if not path.name.startswith("_")
    ]
    return [name for name in names if not name.startswith(EXCLUDED)]


def _sources(folder: Path) -> list[Path]:
    """Return the paths of all modules of the copy in a folder."""
    package = folder / "ludoteca"
    paths = list(package.glob("*.py"))
    for name in PACKAGES:
        paths += (package / name).rglob("*.py")
    return paths


def _name(folder: Path, path: Path) -> str:
    """Return the dotted name of a module or package, given its path without a suffix."""
    return ".".join(path.relative_to(folder).parts)


def _source(folder: Path, name: str) -> Path:
    """Return the file of a module or package with a dotted name."""
    path = folder.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def _has_content(folder: Path, module: str) -> bool:
    """Return whether a module defines a public function or class with a docstring."""
    tree = ast.parse(_source(folder, module).read_text(encoding="utf-8"))
    return any(
        isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and ast.get_docstring(node)
        for node in tree.body
    )

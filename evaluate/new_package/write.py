"""Files of a new package, written from templates."""

import keyword
import re
from importlib import resources
from pathlib import Path
from string import Template

import ludoteca
from ludoteca.envs.register import id_of
from ludoteca.files import write_atomically

# Paths of the files by template; `$module` in a path stands for the name of the Python module.
FILES = {
    "pyproject.toml.tmpl": "pyproject.toml",
    "README.md.tmpl": "README.md",
    "init.py.tmpl": "src/$module/__init__.py",
    "games.py.tmpl": "src/$module/games.py",
    "agents.py.tmpl": "src/$module/agents.py",
    "test_package.py.tmpl": "tests/test_$module.py",
}


def write_package(name: str, folder: str | Path) -> list[Path]:
    """Write a small package with a game, an agent, entry points and tests.

    Args:
        name: name of the package, such as `"my-games"`.
        folder: folder of the package; it must be empty or not exist.

    Returns:
        The written files.

    Raises:
        ValueError: if the name is not allowed for a package, or the folder is not empty.
        OSError: if a file cannot be written.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*", name):
        raise ValueError(
            "the name of a package must consist of lower-case letters, digits and single hyphens "
            f"or underscores, such as my-games, got {name!r}"
        )
    module = name.replace("-", "_")
    if keyword.iskeyword(module) or module == "ludoteca":
        raise ValueError(
            f"the name of a package must not be a Python keyword or ludoteca, got {name!r}"
        )
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is not an empty folder; choose another with --folder")
    substitutions = {
        "package": name,
        "module": module,
        "game": f"{module}_heap",
        "agent": f"{module}_perfect",
        "id": id_of(f"{module}_heap"),
        "version": ludoteca.__version__,
    }
    templates = resources.files("ludoteca.evaluate.new_package") / "templates"
    written = []
    for template, path in FILES.items():
        text = (templates / template).read_text(encoding="utf-8")
        file = folder / Template(path).substitute(substitutions)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, Template(text).substitute(substitutions))
        written.append(file)
    return written

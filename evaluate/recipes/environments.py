"""Recipes of a checkout, and the virtual environments that they run in.

A recipe is `docs/recipes/NAME.py`. Its library is the longest beginning of NAME that has a file of
requirements, `docs/recipes/requirements/LIBRARY.txt`: `rllib_geese.py` runs in the environment of
`rllib.txt`. The requirements of libraries contradict each other, so each has its own environment,
`.venv-recipes-LIBRARY`, in which the checkout is installed, too.
"""

import hashlib
import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ludoteca.envs.names import did_you_mean

RECIPES = Path("docs/recipes")
REQUIREMENTS = RECIPES / "requirements"
FOR_TESTS = "pytest>=8"
INSTALLED = "installed"  # file in an environment, written last: the key of its requirements


class Recipe(NamedTuple):
    """A recipe of a checkout.

    Attributes:
        name: its name, such as `"rllib_geese"`.
        library: the name of its requirements, such as `"rllib"`.
        root: the checkout's folder, absolute.
    """

    name: str
    library: str
    root: Path

    @property
    def file(self) -> Path:
        """The program; a library that has none has an environment for its tests."""
        return self.root / RECIPES / f"{self.name}.py"

    @property
    def requirements(self) -> Path:
        """The file of requirements."""
        return self.root / REQUIREMENTS / f"{self.library}.txt"

    @property
    def environment(self) -> Path:
        """The folder of its virtual environment."""
        return self.root / f".venv-recipes-{self.library}"


def find_recipes(root: Path, only: Sequence[str] = ()) -> list[Recipe]:
    """Return the recipes of a checkout, sorted by library and name.

    A library without recipes has one entry, under its own name.

    Args:
        root: the checkout's folder.
        only: names of recipes, or of libraries for all of theirs; by default everything.

    Raises:
        ValueError: if a recipe has no requirements, or there is no recipe of a name.
    """
    root = root.absolute()
    libraries = {path.stem for path in (root / REQUIREMENTS).glob("*.txt")}
    recipes = []
    for path in sorted((root / RECIPES).glob("*.py")):
        fitting = [name for name in libraries if f"{path.stem}_".startswith(f"{name}_")]
        if not fitting:
            raise ValueError(
                f"the recipe {path.stem} has no requirements: expected a file "
                f"{REQUIREMENTS / path.stem}.txt, there are {', '.join(sorted(libraries))}"
            )
        recipes.append(Recipe(path.stem, max(fitting, key=len), root))
    with_recipes = {recipe.library for recipe in recipes}
    recipes += [Recipe(library, library, root) for library in libraries - with_recipes]
    names = {recipe.name for recipe in recipes} | {recipe.library for recipe in recipes}
    for name in only:
        if name not in names:
            hint = did_you_mean(name, names)
            raise ValueError(f"unknown recipe {name!r}{hint}; there are {', '.join(sorted(names))}")
    selected = [
        recipe for recipe in recipes if not only or recipe.name in only or recipe.library in only
    ]
    return sorted(selected, key=lambda recipe: (recipe.library, recipe.name))


def make_environment(recipe: Recipe) -> Path:
    """Make the recipe's virtual environment unless an equal one is there; return its interpreter.

    It is replaced when its requirements, those of this package, or Python's version change.

    Raises:
        OSError: if something cannot be installed.
    """
    folder, mark = recipe.environment, recipe.environment / INSTALLED
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    key = environment_key(recipe)
    if mark.exists() and mark.read_text() == key:
        return python
    venv: list[Any] = [sys.executable, "-m", "venv", "--clear", folder]
    pip: list[Any] = [python, "-m", "pip", "install", "--quiet", "--no-compile"]
    # One call: pip then finds versions that fit the library and this package.
    packages = ["-r", recipe.requirements, "-e", recipe.root, FOR_TESTS]
    for command in (venv, pip + packages):
        try:
            subprocess.run(command, check=True)
        except subprocess.CalledProcessError as error:
            raise OSError(
                f"the environment of {recipe.library} cannot be made: "
                f"{' '.join(map(str, command))} ended with status {error.returncode}"
            ) from None
    mark.write_text(key)
    return python


def environment_key(recipe: Recipe) -> str:
    """Return a digest of everything that the environment depends on."""
    project = tomllib.loads((recipe.root / "pyproject.toml").read_text(encoding="utf-8"))
    needed = project.get("project", {}).get("dependencies", [])
    parts = (sys.version, recipe.requirements.read_text(encoding="utf-8"), *needed, FOR_TESTS)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()

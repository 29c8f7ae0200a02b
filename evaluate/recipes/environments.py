"""Recipes of a checkout, and the virtual environments that they run in.

A recipe is `docs/recipes/NAME.py`, a short program that trains agents with an RL library on an
environment of this package. Its library is the longest prefix of NAME that has a file of
requirements, `docs/recipes/requirements/LIBRARY.txt`: `rllib_geese.py` runs in the environment of
`rllib.txt`. The libraries' requirements conflict, so each has its own environment,
`.venv-recipes-LIBRARY`, in which this package is installed from the checkout.
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
TEST_REQUIREMENT = "pytest>=8"
STAMP_FILE = "installed"  # file in an environment, written last, with its `environment_key`


class Recipe(NamedTuple):
    """A recipe of a checkout.

    Attributes:
        name: name of the recipe, such as `"rllib_geese"`.
        library: name of its library, such as `"rllib"`.
        root: absolute path of the checkout.
    """

    name: str
    library: str
    root: Path

    @property
    def file(self) -> Path:
        """The path of the program; it does not exist if the library has no recipes."""
        return self.root / RECIPES / f"{self.name}.py"

    @property
    def requirements(self) -> Path:
        """The path of the library's requirements."""
        return self.root / REQUIREMENTS / f"{self.library}.txt"

    @property
    def environment(self) -> Path:
        """The folder of the library's virtual environment."""
        return self.root / f".venv-recipes-{self.library}"


def find_recipes(root: Path, only: Sequence[str] = ()) -> list[Recipe]:
    """Return the recipes of a checkout, sorted by library and name.

    A library without recipes has one entry with the library's name, so that its tests run.

    Args:
        root: path of the checkout.
        only: names of recipes, or of libraries for all their recipes; all by default.

    Raises:
        ValueError: if a recipe has no requirements, or a name is unknown.
    """
    root = root.absolute()
    libraries = {path.stem for path in (root / REQUIREMENTS).glob("*.txt")}
    recipes = []
    for path in sorted((root / RECIPES).glob("*.py")):
        matching = [name for name in libraries if f"{path.stem}_".startswith(f"{name}_")]
        if not matching:
            raise ValueError(
                f"the recipe {path.stem} has no requirements: expected a file "
                f"{REQUIREMENTS / path.stem}.txt, there are {', '.join(sorted(libraries))}"
            )
        recipes.append(Recipe(path.stem, max(matching, key=len), root))
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
    """Make the recipe's virtual environment unless it is up to date; return its interpreter.

    It is remade when its requirements, those of this package, or Python's version change.

    Raises:
        OSError: if a package cannot be installed.
    """
    folder, stamp = recipe.environment, recipe.environment / STAMP_FILE
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    key = environment_key(recipe)
    if stamp.exists() and stamp.read_text() == key:
        return python
    venv: list[Any] = [sys.executable, "-m", "venv", "--clear", folder]
    pip: list[Any] = [python, "-m", "pip", "install", "--quiet", "--no-compile"]
    # One call, so that pip finds versions that satisfy the library and this package.
    packages = ["-r", recipe.requirements, "-e", recipe.root, TEST_REQUIREMENT]
    for command in (venv, pip + packages):
        try:
            subprocess.run(command, check=True)
        except subprocess.CalledProcessError as error:
            raise OSError(
                f"the environment of {recipe.library} could not be made: "
                f"{' '.join(map(str, command))} ended with status {error.returncode}"
            ) from None
    stamp.write_text(key)
    return python


def environment_key(recipe: Recipe) -> str:
    """Return a digest of all requirements of the recipe's environment."""
    project = tomllib.loads((recipe.root / "pyproject.toml").read_text(encoding="utf-8"))
    dependencies = project.get("project", {}).get("dependencies", [])
    requirements = recipe.requirements.read_text(encoding="utf-8")
    lines = (sys.version, requirements, *dependencies, TEST_REQUIREMENT)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()

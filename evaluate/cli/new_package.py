"""The command `ludoteca new-package`."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg


def new_package(
    name: Annotated[Positional[str], arg(metavar="NAME", help_behavior_hint="")],
    folder: Path | None = None,
) -> None:
    """Create a small package of your own with a game, an agent, and passing tests.

    Args:
        name: name of the package, such as my-games.
        folder: folder to create; by default NAME in the working directory.
    """
    from ludoteca.evaluate.new_package.write import write_package

    package_folder = Path(name) if folder is None else folder
    for file in write_package(name, package_folder):
        print(file)
    print(f'try it: cd {package_folder} && pip install -e ".[test]" && pytest')

"""The command `ludoteca new-game`."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg


def new_game(
    name: Annotated[Positional[str], arg(metavar="NAME", help_behavior_hint="")],
    folder: Path = Path(),
) -> None:
    """Write the files of a new game into a checkout of this package, ready to be filled in.

    The files are: the rules (of a small game that passes all tests), the game's line in the
    registry, perft counts, and a page of the documentation with an image. For a game in a package
    of your own, see `ludoteca new-package`.

    Args:
        name: name of the game, such as dots_and_boxes.
        folder: root of the checkout.
    """
    from ludoteca.evaluate.new_game.write import write_game

    for file in write_game(name, folder):
        print(file.relative_to(folder.resolve()))
    print(f"next: put your rules into envs/games/{name}.py; see docs/adding_a_game.md")

"""Files of a new game, written from templates into a checkout of this package."""

import keyword
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from string import Template

import ludoteca.envs
from ludoteca.envs.names import plain_name
from ludoteca.envs.register import id_of, names_taken
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.render.__main__ import middle_position
from ludoteca.envs.render.raster import png
from ludoteca.envs.render.scene import scene
from ludoteca.evaluate.new_game.pages import write_index, write_tables
from ludoteca.files import write_atomically

REGISTRY = "envs/registry.py"
FILES = {  # path of each new file in the checkout, by template
    "game.py.tmpl": "envs/games/$name.py",
    "perft.txt.tmpl": "tests/games/perft/$name.txt",
    "page.md.tmpl": "docs/games/$name.md",
}


def write_game(name: str, root: Path) -> list[Path]:
    """Write the rules, the registry entry, the perft file, and the page of a new game.

    The rules are those of a small game that passes all tests; the author replaces them. The perft
    file has the number of sequences of moves by length, with which a test compares the rules.

    Args:
        name: name of the game, in lower case, such as `"dots_and_boxes"`.
        root: root of the checkout from which `ludoteca` is imported.

    Returns:
        The new and changed files.

    Raises:
        ValueError: if the name is not allowed or already in use, or the folder is not a checkout
            from which `ludoteca` is imported.
        FileExistsError: if one of the new files exists.
    """
    root = root.resolve()
    _check_name(name)
    _check_root(root)
    names = {"name": name, "title": name.replace("_", " ").title()}
    templates = resources.files("ludoteca.evaluate.new_game") / "templates"
    paths = {template: root / Template(path).substitute(names) for template, path in FILES.items()}
    image = root / "docs" / "images" / f"{name}.png"
    for path in (*paths.values(), image):
        if path.exists():
            raise FileExistsError(f"{path.relative_to(root)} exists already; nothing was written")
    for template, path in paths.items():
        text = (templates / template).read_text(encoding="utf-8")
        write_atomically(path, Template(text).substitute(names))
    target = f"ludoteca.envs.games.{name}:{name}"
    _edit(root / REGISTRY, lambda text: _register(text, f'    "{id_of(name)}": "{target}",\n'))
    GAMES[id_of(name)] = target  # this process has imported the registry before the edit
    game = make_game(name)
    _edit(paths["page.md.tmpl"], lambda text: write_tables(text, name))
    index = root / "docs" / "games" / "README.md"
    _edit(index, write_index)
    # Any seed gives an image; a constant one gives the same image in every run.
    write_atomically(image, png(scene(game, *middle_position(game, seed=5))))
    return [paths["game.py.tmpl"], root / REGISTRY, *list(paths.values())[1:], index, image]


def _check_name(name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or keyword.iskeyword(name):
        raise ValueError(
            "the name of a game must consist of lower-case letters, digits and single underscores, "
            f"such as dots_and_boxes, and be no Python keyword, got {name!r}"
        )
    names = names_taken()
    if plain_name(name) in names:
        raise ValueError(f"{name!r} is already a name of {names[plain_name(name)]}")


def _check_root(root: Path) -> None:
    imported = Path(ludoteca.envs.__file__).resolve().parent
    if imported != (root / "envs").resolve():
        raise ValueError(
            f"{root} is not the checkout that ludoteca is imported from: that one contains "
            f"{imported}; a game in a package of your own needs no checkout, see "
            "`ludoteca new-package`"
        )


def _register(text: str, line: str) -> str:
    """Return the source of the registry with `line` added to the end of `GAMES`."""
    pattern = re.compile(r"^GAMES = {\n(?:    .*\n)*(?=}\n)", re.MULTILINE)
    match = pattern.search(text)
    if match is None:
        raise ValueError(f"{REGISTRY} has no dictionary GAMES")
    return text[: match.end()] + line + text[match.end() :]


def _edit(path: Path, change: Callable[[str], str]) -> None:
    """Replace the text of a file by what `change` returns for it."""
    write_atomically(path, change(path.read_text(encoding="utf-8")))

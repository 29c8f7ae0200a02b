"""Files of games: which forms there are, and turning one into another."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from ludoteca.train.data.othello_table import read_table, write_table
from ludoteca.train.data.sequential import SequentialGames

Form = tuple[Callable[[str | Path], SequentialGames], Callable[[str | Path, SequentialGames], None]]
# How files are read and written, by their endings.
FORMS: dict[str, Form] = {
    ".npz": (SequentialGames.load, lambda path, games: games.save(path)),
    ".csv": (read_table, write_table),
}


@dataclass(frozen=True)
class TableConversion:
    """What is turned into what."""

    source: Annotated[Path, tyro.conf.Positional]
    """The file to read: `.npz`, the compact form, or `.csv`, the document's table (Othello)."""
    out: Annotated[Path, tyro.conf.Positional]
    """The file to write, in the form that its ending names."""


def convert(conversion: TableConversion) -> Path:
    """Turn a file of games into another form; returns the file that was written.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is damaged, or the games cannot be written in the other form.
    """
    find_form(conversion.out)
    return save_games(conversion.out, load_games(conversion.source))


def load_games(path: str | Path) -> SequentialGames:
    """Read the games in a file, whatever form it has.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is damaged.
    """
    return find_form(path)[0](path)


def save_games(path: str | Path, games: SequentialGames) -> Path:
    """Write games in the form that the ending names: whole or not at all."""
    find_form(path)[1](path, games)
    return Path(path)


def find_form(path: str | Path) -> Form:
    """Return how files with this ending are read and written.

    Raises:
        ValueError: if there is no such form.
    """
    ending = Path(path).suffix
    if ending not in FORMS:
        raise ValueError(f"files of games end with {' or '.join(FORMS)}, got {str(path)!r}")
    return FORMS[ending]

"""Files of games: arrays and what they are of, in one `.npz`."""

import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.targets import names_from
from ludoteca.files import (
    BROKEN_ARCHIVE,
    check_archive,
    opening,
    parse_json,
    reading_archive,
    writing,
)

HEADER = "ludoteca"  # name of the array that holds the header, as JSON
DAMAGE = BROKEN_ARCHIVE
LARGEST = 16 << 30  # bytes of all arrays together


def save_arrays(
    path: str | Path,
    kind: str,
    game: Game,
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write a file, whole or not at all; the same content gives the same bytes.

    Args:
        path: the file.
        kind: what kind of file it is.
        game: what was played.
        header: what else there is to tell, as JSON can hold it.
        arrays: none of objects.
    """
    text = json.dumps({"format": kind, "game": game.spec, **header})
    with writing(path) as file:
        np.savez_compressed(
            file,
            allow_pickle=False,
            **{HEADER: np.frombuffer(text.encode(), np.uint8)},
            **arrays,
        )


def load_arrays(
    path: str | Path, kind: str, types: Mapping[str, DTypeLike]
) -> tuple[Game, dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the game, the header and the arrays of a file, turned into `types`.

    Call it inside `reading`.
    """
    with opening(path) as file:
        begins = file.read(4)
        if not begins.startswith(b"PK"):
            raise ValueError(f"expected an .npz archive, got a file that begins with {begins!r}")
        file.seek(0)
        with zipfile.ZipFile(file) as archive:
            check_archive(archive, path, LARGEST)
        file.seek(0)
        with np.load(file, allow_pickle=False) as content:
            header = parse_json(_member(content, HEADER).tobytes())
            if header["format"] != kind:
                raise ValueError(f"expected the format {kind!r}, got {header['format']!r}")
            arrays = {name: _member(content, name).astype(type_) for name, type_ in types.items()}
    with names_from(path):
        return make_game(header["game"]), header, arrays


def _member(content: Any, name: str) -> NDArray[Any]:
    """Return an array of an archive; NumPy returns bytes where a member does not begin as one."""
    array = content[name]
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{name} is not an array")
    return array


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Let whatever is wrong with a file be told with its name.

    Raises:
        ValueError: if the file is damaged, or of another kind.
    """
    with reading_archive(f"{path} holds no games, or is damaged"):
        yield

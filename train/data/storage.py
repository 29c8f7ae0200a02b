"""Files of recorded games: compressed arrays (`.npz`), and tables of Othello (`.csv`)."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.registry import make_game
from ludoteca.envs.targets import untrusted_names
from ludoteca.files import (
    archive_errors_as_value_errors,
    atomic_writer,
    check_archive,
    open_regular_file,
    parse_json,
)
from ludoteca.train.data.dataset import ARRAYS, GameDataset, array_types
from ludoteca.train.data.othello_table import read_table, write_table

FORMAT = "ludoteca-games"  # name of the format in the header
HEADER = "ludoteca"  # name of the array that holds the header, as JSON
MAX_BYTES = 16 << 30  # maximum size of all arrays of a file


def load_dataset(path: str | Path) -> GameDataset:
    """Read a file of games. Games are not replayed, except those of tables.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is damaged or of another format.
    """
    return find_format(path)[0](path)


def save_dataset(path: str | Path, dataset: GameDataset) -> Path:
    """Write a file of games atomically; the same games give the same bytes.

    Raises:
        ValueError: if the format cannot hold the games.
    """
    find_format(path)[1](path, dataset)
    return Path(path)


def find_format(path: str | Path) -> tuple[Callable[..., GameDataset], Callable[..., None]]:
    """Return the functions that read and write files with this suffix.

    Raises:
        ValueError: if there is no such format.
    """
    suffix = Path(path).suffix
    if suffix not in FORMATS:
        raise ValueError(f"files of games end with {' or '.join(FORMATS)}, got {str(path)!r}")
    return FORMATS[suffix]


def _read_npz(path: str | Path) -> GameDataset:
    """Read an `.npz` file, see `load_dataset`."""
    with archive_errors_as_value_errors(f"{path} holds no games, or is damaged"):
        with open_regular_file(path) as file:
            magic = file.read(4)
            if not magic.startswith(b"PK"):
                raise ValueError(f"expected an .npz archive, got a file that begins with {magic!r}")
            file.seek(0)
            with zipfile.ZipFile(file) as archive:
                check_archive(archive, path, MAX_BYTES)
            file.seek(0)
            with np.load(file, allow_pickle=False) as content:
                header = parse_json(_member(content, HEADER).tobytes())
                if header["format"] != FORMAT:
                    raise ValueError(f"expected the format {FORMAT!r}, got {header['format']!r}")
                stored = {name: _member(content, name) for name in ARRAYS}
        with untrusted_names(path):
            game = make_game(header["game"])
        types = array_types(game)
        arrays: Any = {name: stored[name].astype(types[name]) for name in ARRAYS}
        names = tuple(map(str, header["agent_names"]))
        return GameDataset(game, agent_names=names, metadata=header["metadata"], **arrays)


def _write_npz(path: str | Path, dataset: GameDataset) -> None:
    """Write an `.npz` file, see `save_dataset`."""
    arrays = {name: getattr(dataset, name) for name in ARRAYS}
    if dataset.game.num_actions <= 128:  # int8 holds all actions
        arrays["actions"] = arrays["actions"].astype(np.int8)
    header = {
        "format": FORMAT,
        "game": dataset.game.spec,
        "agent_names": dataset.agent_names,
        "metadata": dataset.metadata,
    }
    arrays[HEADER] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with atomic_writer(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _member(content: Any, name: str) -> NDArray[Any]:
    """Return an array of an archive; NumPy returns bytes if a member is not an array."""
    array = content[name]
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{name} is not an array")
    return array


# Functions that read and write files, by suffix.
FORMATS: dict[str, tuple[Callable[..., GameDataset], Callable[..., None]]] = {
    ".npz": (_read_npz, _write_npz),
    ".csv": (read_table, write_table),
}

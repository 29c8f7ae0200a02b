"""Reading many files of games at once, each game once."""

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.executor import make_executor
from ludoteca.progress import progress_bar
from ludoteca.train.data.chance import CHANCE
from ludoteca.train.data.dataset import GameDataset, join
from ludoteca.train.data.kaggle import read_record
from ludoteca.train.data.kaggle_verify import verify
from ludoteca.train.data.sources import Place, close_archives

TOGETHER = 100  # files that are read at once
ENOUGH = 2000  # files for each process: fewer are read before another process has started
Skipped = list[tuple[str, str]]  # what cannot be used, each with the reason
Block = tuple[GameDataset | None, list[str], Skipped]  # games, where they are from


def read_games(
    game: Game, places: Sequence[Place], processes: int, progress: bool
) -> tuple[GameDataset | None, list[str], Skipped]:
    """Return the games in all files, where each is from, and what cannot be used.

    Args:
        game: what was played.
        places: the files.
        processes: how many read; 0: as many as are worth it.
        progress: show a progress bar on standard error.
    """
    count = processes or max(1, min(os.cpu_count() or 1, len(places) // ENOUGH))
    blocks = [places[k : k + TOGETHER] for k in range(0, len(places), TOGETHER)]
    tasks = (partial(_read_block, game, block) for block in blocks)
    found: list[Block] = []
    with (
        progress_bar(len(places), progress, "files") as show,
        make_executor(num_workers=count) as workers,
    ):
        for block, places_read in zip(workers.run(tasks), blocks, strict=True):
            found.append(block)
            show(len(places_read))
    close_archives()
    parts = [games for games, _, _ in found if games is not None]
    names = [name for _, names, _ in found for name in names]
    skipped = [one for _, _, skipped in found for one in skipped]
    return join(parts) if parts else None, names, skipped


def without_copies(games: GameDataset, names: Sequence[str]) -> tuple[GameDataset, Skipped]:
    """Return every game once, however many files it is in, and which were left out.

    Args:
        games: the games.
        names: where each is from.
    """
    seen: dict[Any, str] = {}
    skipped: Skipped = []
    kept = np.ones(len(games), np.bool_)
    starts = games.starts
    begins = np.concatenate([[0], np.cumsum(games.counts, dtype=np.int64)])
    for k, name in enumerate(names):
        moves = games.actions[starts[k] : starts[k + 1]].tobytes()
        same = (int(games.seeds[k]), games.cells[begins[k] : begins[k + 1]].tobytes(), moves)
        first = seen.setdefault(same, name)
        if first is not name:
            kept[k] = False
            skipped.append((name, f"the same game as {first}"))
    return games.take(kept), skipped


def _read_block(game: Game, places: Sequence[Place]) -> Block:
    """Read some files."""
    parts: list[GameDataset] = []
    names: list[str] = []
    skipped: Skipped = []
    for place in places:
        try:
            games = _read(game, place)
        except ValueError as error:
            skipped.append((str(place), str(error)))
        else:
            parts.append(games)
            alone = place.path.suffix != ".npz"
            names += [str(place) if alone else f"{place}: game {k}" for k in range(len(games))]
    return join(parts) if parts else None, names, skipped


def _read(game: Game, place: Place) -> GameDataset:
    """Return the game of an episode file, or all games of a file of games."""
    if place.path.suffix == ".npz":
        games = GameDataset.load(place.path)
        if games.game is not game:
            raise ValueError(f"games of {games.game.spec}, expected some of {game.spec}")
        games.check()
        return games
    if game.name not in CHANCE:
        raise ValueError(f"an episode file; of {game.name} there are only files of games, .npz")
    return verify(game, read_record(place.read(), game), place.stem)

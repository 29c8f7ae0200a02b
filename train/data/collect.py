"""Parallel reading of many files of recorded games, without duplicate games.

An episode file is a game of Hungry Geese in Kaggle's JSON format. A table is a `.csv` file of games
of Othello.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.executor import make_executor
from ludoteca.progress import progress_bar
from ludoteca.train.data.chance import CHANCE_KERNELS
from ludoteca.train.data.dataset import GameDataset, concatenate
from ludoteca.train.data.kaggle import read_record
from ludoteca.train.data.kaggle_verify import verify_episode
from ludoteca.train.data.positions import verify_games
from ludoteca.train.data.sources import SourceFile, close_archives
from ludoteca.train.data.storage import load_dataset

FILES_PER_TASK = 100  # files that a worker reads in one task
FILES_PER_WORKER = 2000  # minimum: with fewer, starting a process is not worthwhile
EPISODES = "hungry_geese"  # game of episode files if none is given
Skipped = list[tuple[str, str]]  # unusable files and games, each with the reason


@dataclass
class Collected:
    """Usable games, and skipped files and games.

    Attributes:
        dataset: the games; None if there are none.
        sources: each game's file as text, with the number of the game if the file has several.
        skipped: unusable files and games.
    """

    dataset: GameDataset | None = None
    sources: list[str] = field(default_factory=list)
    skipped: Skipped = field(default_factory=list)


def read_games(
    game: Game | None, files: Sequence[SourceFile], num_workers: int, progress: bool
) -> Collected:
    """Return the games in all files, without duplicates.

    Args:
        game: the game; files of other games are skipped. None: the game of the first usable file.
        files: the files.
        num_workers: number of processes; 0: chosen from the number of files and cores.
        progress: show a progress bar on standard error.
    """
    count = num_workers or max(1, min(os.cpu_count() or 1, len(files) // FILES_PER_WORKER))
    blocks = [files[k : k + FILES_PER_TASK] for k in range(0, len(files), FILES_PER_TASK)]
    tasks = (partial(_read_block, game, block) for block in blocks)
    parts: list[GameDataset] = []
    collected = Collected()
    with (
        progress_bar(len(files), progress, "files") as advance,
        make_executor(num_workers=count) as executor,
    ):
        for results, block in zip(executor.run(tasks), blocks, strict=True):
            advance(len(block))
            for file, result in zip(block, results, strict=True):
                expected = game or (parts[0].game if parts else None)
                if isinstance(result, str):
                    collected.skipped.append((str(file), result))
                elif expected not in (None, result.game):
                    reason = f"games of {result.game.spec}, expected games of {expected.spec}"
                    collected.skipped.append((str(file), reason))
                else:
                    parts.append(result)
                    collected.sources += _sources(file, len(result))
    close_archives()
    if parts:
        _skip_duplicates(concatenate(parts), collected)
    return collected


def _skip_duplicates(dataset: GameDataset, collected: Collected) -> None:
    """Set `collected.dataset` to the games of a data set, without duplicates.

    Games with neither a seed nor recorded chance outcomes, as in tables and in games without
    chance, are all kept: equal moves do not prove that it is the same game.
    """
    starts = dataset.offsets
    chance_starts = np.concatenate([[0], np.cumsum(dataset.chance_lengths, dtype=np.int64)])
    first_sources: dict[tuple[int, bytes, bytes], str] = {}
    unique = np.ones(len(dataset), np.bool_)
    for k, source in enumerate(collected.sources):
        seed, chance = int(dataset.seeds[k]), slice(*chance_starts[k : k + 2])
        if seed == 0 and chance.start == chance.stop:
            continue
        actions = dataset.actions[slice(*starts[k : k + 2])].tobytes()
        content = (seed, dataset.chance_outcomes[chance].tobytes(), actions)
        first = first_sources.setdefault(content, source)
        if first is not source:  # by identity: `setdefault` returned the source of an earlier game
            unique[k] = False
            collected.skipped.append((source, f"the same game as {first}"))
    collected.dataset = dataset[unique]


def _sources(file: SourceFile, count: int) -> list[str]:
    """Return the names of the `count` games of a file, for reports."""
    if file.path.suffix in (".json", ".zip"):
        return [str(file)]
    return [f"{file}: game {k}" for k in range(count)]


def _read_block(game: Game | None, files: Sequence[SourceFile]) -> list[GameDataset | str]:
    """Read files in a worker; return the games of each, or the reason why it is unusable."""
    results: list[GameDataset | str] = []
    for file in files:
        try:
            results.append(_read(game, file))
        except ValueError as error:
            results.append(str(error))
    return results


def _read(game: Game | None, file: SourceFile) -> GameDataset:
    """Return the game of an episode file, or all games of a file of games."""
    if file.path.suffix in (".npz", ".csv"):
        dataset = load_dataset(file.path)
        if file.path.suffix == ".npz":  # tables are verified as they are read
            verify_games(dataset)
        return dataset
    game = game or make_game(EPISODES)
    if game.name not in CHANCE_KERNELS:  # an episode records chance outcomes
        raise ValueError(f"an episode file, expected a file of games of {game.name}")
    return verify_episode(game, read_record(file.read(), game), file.stem)

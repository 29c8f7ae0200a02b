"""Conversion of episode files, tables and data sets into one file of recorded games."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from ludoteca.envs.params import check_integer
from ludoteca.envs.registry import make_game
from ludoteca.files import write_atomically
from ludoteca.train.data.collect import Skipped, read_games
from ludoteca.train.data.dataset import GameDataset
from ludoteca.train.data.positions import iterate_positions
from ludoteca.train.data.ratings import (
    Ratings,
    When,
    ratings_by_player,
    read_rating_table,
    read_sidecar,
)
from ludoteca.train.data.sources import SIDECAR, SourceFile, find_files
from ludoteca.train.data.storage import find_format, save_dataset


@dataclass(frozen=True)
class ConversionConfig:
    """Settings of a conversion."""

    sources: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Episode files (`.json`), archives (`.zip`) and folders of them, and files of games (`.npz`,
    or `.csv` for a table of Othello positions), which are concatenated."""
    out: Path = Path("runs/converted.npz")
    """The file to write: `.npz`, or `.csv` for the table (Othello). The report is beside it, with
    the suffix `.json`."""
    game: str | None = None
    """Spec string of the game; files of other games are skipped. By default, the game of the first
    file; `hungry_geese` for episodes."""
    agents: tuple[str, ...] = ()
    """Names of the agents whose actions are training samples; by default all, or the agents
    selected in files of games."""
    rating_range: tuple[float, float] | None = None
    """Lowest and highest rating of these agents."""
    rating: When = "updated"
    """Rating after the episode (`updated`) or before it (`initial`), from a file
    `<EpisodeId>_info.json` beside the episode, or from a table."""
    ratings_csv: Path | None = None
    """Table of ratings: `EpisodeAgents.csv` of the data set Meta Kaggle."""
    num_workers: int = 0
    """Number of processes; 0: chosen from the numbers of files and cores. No effect on results."""

    def __post_init__(self) -> None:
        if not self.sources:
            raise ValueError("sources must name at least one file or folder, got none")
        find_format(self.out)
        low, high = self.rating_range or (0, 0)
        if not low <= high:
            raise ValueError(f"rating_range must be (lowest, highest), got {self.rating_range}")
        check_integer("num_workers", self.num_workers, 0, 1024)


@dataclass(frozen=True)
class ConversionReport:
    """Summary of a conversion.

    Attributes:
        found: number of games in all files; an unreadable file of games or ratings counts as one.
        used: number of games that were written.
        unselected: number of valid games without a selected player.
        skipped: unusable files and games, each with the reason.
        agents: for each agent, by name, the numbers of its `seats` (games in which it is a selected
            player, counted once per player) and of its `actions` there.
    """

    found: int
    used: int
    unselected: int
    skipped: tuple[tuple[str, str], ...]
    agents: dict[str, dict[str, int]]


def convert(
    config: ConversionConfig, progress: bool = False
) -> tuple[GameDataset, ConversionReport]:
    """Read files of games; write and return the valid games with selected players, and the report.

    Args:
        config: the settings.
        progress: show a progress bar on standard error.

    Raises:
        FileNotFoundError: if a source or the table of ratings does not exist.
        ValueError: if no game is valid, or no player selected. If files were skipped, the report is
            written nevertheless.
    """
    game = None if config.game is None else make_game(config.game)
    if config.ratings_csv is not None and not config.ratings_csv.is_file():
        raise FileNotFoundError(f"there is no table of ratings {str(config.ratings_csv)!r}")
    all_files, skipped = find_files(config.sources)
    sidecars = [file for file in all_files if file.name.endswith(SIDECAR)]
    files = [file for file in all_files if not file.name.endswith(SIDECAR)]
    collected = read_games(game, files, config.num_workers, progress)
    skipped += collected.skipped
    num_games = len(skipped) + (0 if collected.dataset is None else len(collected.dataset))
    try:
        if collected.dataset is None:
            first = f": {skipped[0][0]}: {skipped[0][1]}" if skipped else ""
            raise ValueError(f"none of {len(files)} files can be used{first}")
        dataset, unrated = _add_ratings(collected.dataset, sidecars, config)
        skipped += unrated
        num_games += len(unrated)
        if config.agents or config.rating_range is not None:
            dataset = dataset.select_agents(config.agents, config.rating_range)
    except ValueError:
        _write_report(config, ConversionReport(num_games, 0, 0, tuple(skipped), {}))
        raise
    has_selected = np.asarray(dataset.selected.any(axis=1))
    dataset = replace(dataset[has_selected], metadata=_metadata(config))
    save_dataset(config.out, dataset)
    unselected = int((~has_selected).sum())
    counts = count_samples(dataset)
    report = ConversionReport(num_games, len(dataset), unselected, tuple(skipped), counts)
    _write_report(config, report)
    return dataset, report


def count_samples(dataset: GameDataset) -> dict[str, dict[str, int]]:
    """Return the numbers of selected seats and actions by agent, see `ConversionReport.agents`.

    Raises:
        ValueError: if a game is invalid.
    """
    names = dataset.agent_names
    actions = np.zeros(len(names), np.int64)
    for positions in iterate_positions(dataset):
        samples = positions.samples()
        actions += np.bincount(samples.agents[samples.selected], minlength=len(names))
    seats = np.bincount(dataset.agents[dataset.selected], minlength=len(names))
    order = [k for k in np.argsort(-actions, kind="stable") if seats[k] > 0]
    return {names[k]: {"seats": int(seats[k]), "actions": int(actions[k])} for k in order}


def _add_ratings(
    dataset: GameDataset, sidecars: Sequence[SourceFile], config: ConversionConfig
) -> tuple[GameDataset, Skipped]:
    """Return the games with the ratings of sidecar files and of the table.

    Sidecar files are `<EpisodeId>_info.json`, see `ratings`. Unusable ones are returned, too, each
    with the reason.
    """
    by_episode: Ratings = {}
    skipped: Skipped = []
    if config.ratings_csv is not None:
        episodes = {int(id_) for id_ in dataset.ids if id_.isdecimal()}
        by_episode = read_rating_table(config.ratings_csv, episodes, config.rating)
    for file in sidecars:
        try:
            episode, by_player = read_sidecar(file.read(), file.stem, config.rating)
        except ValueError as error:
            skipped.append((str(file), str(error)))
        else:
            by_episode.setdefault(episode, {}).update(by_player)
    ratings = dataset.ratings.copy()
    for k, id_ in enumerate(dataset.ids):
        if id_.isdecimal() and int(id_) in by_episode:
            ratings[k] = ratings_by_player(by_episode[int(id_)], dataset.game.num_players)
    return replace(dataset, ratings=ratings), skipped


def _metadata(config: ConversionConfig) -> dict[str, Any]:
    """Return the settings that determine the result, JSON-serializable."""
    metadata = asdict(config)
    del metadata["out"], metadata["num_workers"]
    metadata["sources"] = [path.name for path in config.sources]
    metadata["ratings_csv"] = config.ratings_csv and config.ratings_csv.name
    return metadata


def _write_report(config: ConversionConfig, report: ConversionReport) -> None:
    """Write the report beside the file of games."""
    settings = {"sources": [str(path) for path in config.sources], "out": str(config.out)}
    content = {"settings": _metadata(config) | settings} | asdict(report)
    write_atomically(config.out.with_suffix(".json"), json.dumps(content, indent=2) + "\n")

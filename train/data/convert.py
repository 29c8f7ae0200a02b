"""From episode files to one file of games; whatever cannot be used is told, and left out."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from ludoteca.envs.params import integer
from ludoteca.envs.registry import make_game
from ludoteca.files import write_whole
from ludoteca.train.data.dataset import GameDataset, check_game
from ludoteca.train.data.ratings import Ratings, When, by_seat, read_sidecar, read_table
from ludoteca.train.data.read import Skipped, read_games, without_copies
from ludoteca.train.data.sources import SIDECAR, Place, find_files


@dataclass(frozen=True)
class ConversionConfig:
    """What is turned into what, and whose moves are to be learned from."""

    sources: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Episode files (`.json`), archives (`.zip`) and folders of them, and files of games (`.npz`),
    which are put together."""
    out: Path = Path("runs/episodes/kaggle.npz")
    """The file to write, `.npz`; the report is beside it, with the ending `.json`."""
    game: str = "hungry_geese"
    """The game as a spec string. Episodes with another configuration are left out."""
    agents: tuple[str, ...] = ()
    """Only moves of these agents are to be learned from, by name; by default those of all, and in
    files of games those that were before."""
    ratings: tuple[float, float] | None = None
    """Only moves of agents with a rating from the first to the second number are."""
    rating: When = "updated"
    """The rating after the episode, or before it. It is in a file `<EpisodeId>_info.json` beside
    the episode, or in a table."""
    ratings_csv: Path | None = None
    """A table of ratings: `EpisodeAgents.csv` of the data set Meta Kaggle."""
    processes: int = 0
    """Processes that read; 0: as many as are worth it. Without effect on what is written."""

    def __post_init__(self) -> None:
        if not self.sources:
            raise ValueError("sources must name at least one file or folder, got none")
        if self.out.suffix != ".npz":
            raise ValueError(f"out must end with .npz, got {str(self.out)!r}")
        if self.ratings is not None and not self.ratings[0] <= self.ratings[1]:
            raise ValueError(f"ratings must be from a lower to a higher one, got {self.ratings}")
        integer("processes", self.processes, 0, 1024)


@dataclass(frozen=True)
class ConversionReport:
    """What came of a conversion.

    Attributes:
        found: games in all files; a file that cannot be read counts as one, also one of ratings.
        used: games that were written.
        unwanted: games that are good, but have no seat to learn from.
        skipped: files, or games of `.npz` files, that cannot be used, each with the reason.
        agents: by name of the agent, in how many seats it is learned from, with how many moves.
    """

    found: int
    used: int
    unwanted: int
    skipped: tuple[tuple[str, str], ...]
    agents: dict[str, dict[str, int]]


def convert(
    conversion: ConversionConfig, progress: bool = False
) -> tuple[GameDataset, ConversionReport]:
    """Read episodes, and write those that can be used and have seats to learn from.

    Args:
        conversion: the settings.
        progress: show a progress bar on standard error.

    Raises:
        FileNotFoundError: if a source or the table does not exist.
        ValueError: if no game can be used, or no seat is one to learn from. If files were left out,
            the report is written nevertheless.
    """
    game = make_game(conversion.game)
    check_game(game)
    table = conversion.ratings_csv
    if table is not None and not table.is_file():
        raise FileNotFoundError(f"there is no {str(table)!r}")
    places, skipped = find_files(conversion.sources)
    sidecars = [place for place in places if place.name.endswith(SIDECAR)]
    files = [place for place in places if not place.name.endswith(SIDECAR)]
    games, names, wrong = read_games(game, files, conversion.processes, progress)
    skipped += wrong
    found = len(names) + len(skipped)
    try:
        if games is None:
            first = f": {skipped[0][0]}: {skipped[0][1]}" if skipped else ""
            raise ValueError(f"none of {len(files)} files can be used{first}")
        games, copies = without_copies(games, names)
        games, unrated = _rate(games, sidecars, conversion)
        skipped += copies + unrated
        found += len(unrated)
        if conversion.agents or conversion.ratings is not None:
            games = games.want(conversion.agents, conversion.ratings)
    except ValueError:
        _write_report(conversion, ConversionReport(found, 0, 0, tuple(skipped), {}))
        raise
    kept: Any = games.wanted.any(1)
    games = replace(games.take(kept), about=_about(conversion))
    games.save(conversion.out)
    report = ConversionReport(
        found, len(games), int((~kept).sum()), tuple(skipped), count_moves(games)
    )
    _write_report(conversion, report)
    return games, report


def count_moves(games: GameDataset) -> dict[str, dict[str, int]]:
    """Return in how many seats each agent is learned from, and with how many moves.

    Raises:
        ValueError: if a game cannot have gone so.
    """
    moves = np.zeros(len(games.names), np.int64)
    for samples in games.chunks():
        learned = samples.select(samples.wanted)
        moves += np.bincount(games.agents[learned.games, learned.seats], minlength=len(games.names))
    seats = np.bincount(games.agents[games.wanted], minlength=len(games.names))
    order = [k for k in np.argsort(-moves, kind="stable") if seats[k] > 0]
    return {games.names[k]: {"seats": int(seats[k]), "moves": int(moves[k])} for k in order}


def _rate(
    games: GameDataset, sidecars: Sequence[Place], conversion: ConversionConfig
) -> tuple[GameDataset, Skipped]:
    """Return the games with the ratings that files beside them and the table tell."""
    ratings: Ratings = {}
    skipped: Skipped = []
    if conversion.ratings_csv is not None:
        wanted = {int(id_) for id_ in games.ids if id_.isdecimal()}
        ratings = read_table(conversion.ratings_csv, wanted, conversion.rating)
    for place in sidecars:
        try:
            episode, seats = read_sidecar(place.read(), place.stem, conversion.rating)
        except ValueError as error:
            skipped.append((str(place), str(error)))
        else:
            ratings.setdefault(episode, {}).update(seats)
    known = games.ratings.copy()
    for k, id_ in enumerate(games.ids):
        if id_.isdecimal() and int(id_) in ratings:
            known[k] = by_seat(ratings[int(id_)], games.game.num_players)
    return replace(games, ratings=known), skipped


def _about(conversion: ConversionConfig) -> dict[str, Any]:
    """Return the settings that determine what is written, as JSON can hold them."""
    about = asdict(conversion)
    del about["out"], about["processes"]
    about["sources"] = [path.name for path in conversion.sources]
    about["ratings_csv"] = conversion.ratings_csv and conversion.ratings_csv.name
    return about


def _write_report(conversion: ConversionConfig, report: ConversionReport) -> None:
    settings = {"sources": [str(path) for path in conversion.sources], "out": str(conversion.out)}
    content = {"settings": _about(conversion) | settings} | asdict(report)
    write_whole(conversion.out.with_suffix(".json"), json.dumps(content, indent=2) + "\n")

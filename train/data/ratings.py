"""Ratings of agents in Kaggle's episodes: sidecar files, and the table of Meta Kaggle."""

import csv
import io
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Literal, TextIO

from ludoteca.files import open_regular_file, parse_json

When = Literal["updated", "initial"]  # ratings after or before an episode
Ratings = dict[int, dict[int, float]]  # ratings by EpisodeId and player
# Names of both kinds of ratings, in sidecar files and in the table.
FIELDS: dict[When, tuple[str, str]] = {
    "updated": ("updatedScore", "UpdatedScore"),
    "initial": ("initialScore", "InitialScore"),
}
MAX_LINE = 1 << 20  # characters of a line; those of the table are shorter
csv.field_size_limit(MAX_LINE)


def read_sidecar(data: bytes, stem: str, when: When) -> tuple[int, dict[int, float]]:
    """Parse `<EpisodeId>_info.json`, Kaggle's metadata of an episode.

    Args:
        data: content of the file.
        stem: name of the file, without its suffix.
        when: `updated` for the ratings after the episode, `initial` for those before.

    Returns:
        The id of the episode, and the ratings by player; unrated players are omitted.

    Raises:
        ValueError: if the file is malformed.
    """
    try:
        info = parse_json(data)
        episode = int(info.get("id") or stem.removesuffix("_info"))
        ratings = {}
        for agent in info["agents"]:
            score = agent.get(FIELDS[when][0])
            if score is not None:
                ratings[int(agent.get("index") or 0)] = float(score)  # the index 0 may be omitted
        return episode, ratings
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"expected the metadata of an episode, with id and agents: "
            f"{type(error).__name__}: {error}"
        ) from None


def read_rating_table(path: str | Path, episodes: Container[int], when: When) -> Ratings:
    """Read the ratings of some episodes from `EpisodeAgents.csv` of the data set Meta Kaggle.

    Args:
        path: the file.
        episodes: ids of the episodes.
        when: as for `read_sidecar`.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if a column is missing or not numeric.
    """
    ratings: Ratings = {}
    names = ("EpisodeId", "Index", FIELDS[when][1])
    with (
        open_regular_file(path) as file,
        io.TextIOWrapper(file, encoding="utf-8", newline="") as text,
    ):
        lines = csv.reader(_lines(text))
        try:
            header = next(lines, [])
        except (csv.Error, ValueError) as error:
            raise ValueError(f"{path}: not a table: {error}") from None
        missing = [name for name in names if name not in header]
        if missing:
            raise ValueError(f"{path}: expected the columns {', '.join(names)}, got {header}")
        id_, index, score = map(header.index, names)
        while True:
            try:
                line = next(lines, None)
                if line is None:
                    return ratings
                if int(line[id_]) in episodes and line[score]:
                    ratings.setdefault(int(line[id_]), {})[int(line[index])] = float(line[score])
            except (ValueError, IndexError, csv.Error) as error:
                raise ValueError(
                    f"{path}, line {lines.line_num}: expected numbers in {', '.join(names)}, "
                    f"got {line!s:.200}: {error}"
                ) from None


def _lines(text: TextIO) -> Iterator[str]:
    """Yield the lines of a table, each at most `MAX_LINE` characters long."""
    while line := text.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            raise ValueError(f"a line is longer than {MAX_LINE:,} characters")
        yield line


def ratings_by_player(ratings: dict[int, float], players: int) -> list[float]:
    """Return the rating of each player, NaN where it is unknown."""
    return [ratings.get(p, float("nan")) for p in range(players)]

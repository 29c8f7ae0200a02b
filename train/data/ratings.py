"""Ratings of the agents in episodes: from files beside them, or from the table of Meta Kaggle."""

import csv
import io
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, Literal, TextIO

from ludoteca.files import opening, parse_json

When = Literal["updated", "initial"]
Ratings = dict[int, dict[int, float]]  # by EpisodeId, by seat
# What the two kinds of ratings are called in JSON and in tables.
FIELDS: dict[When, tuple[str, str]] = {
    "updated": ("updatedScore", "UpdatedScore"),
    "initial": ("initialScore", "InitialScore"),
}
# Larger cells than any in the table.
LONGEST_LINE = 1 << 20
csv.field_size_limit(LONGEST_LINE)


def read_sidecar(data: bytes, stem: str, when: When) -> tuple[int, dict[int, float]]:
    """Read `<EpisodeId>_info.json`, which holds what Kaggle tells of an episode.

    Args:
        data: what the file holds.
        stem: its name, without the ending.
        when: whether the rating after the episode is meant, or before.

    Returns:
        The id of the episode, and the ratings by seat, as far as the file tells.

    Raises:
        ValueError: if it is no such file.
    """
    try:
        info = parse_json(data)
        episode = int(info.get("id") or stem.removesuffix("_info"))
        ratings = {}
        for agent in info["agents"]:
            score = agent.get(FIELDS[when][0])
            if score is not None:
                ratings[int(agent.get("index") or 0)] = float(score)  # 0 may be left out
        return episode, ratings
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"expected what Kaggle tells of an episode, with id and agents: "
            f"{type(error).__name__}: {error}"
        ) from None


def read_table(path: str | Path, episodes: Container[int], when: When) -> Ratings:
    """Read the ratings of some episodes from `EpisodeAgents.csv` of the data set Meta Kaggle.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if columns are missing, or a line holds no numbers there.
    """
    found: Ratings = {}
    names = ("EpisodeId", "Index", FIELDS[when][1])
    with opening(path) as file, io.TextIOWrapper(file, encoding="utf-8", newline="") as text:
        lines = csv.reader(_lines(text))
        try:
            header = next(lines, [])
        except (csv.Error, ValueError) as error:
            raise ValueError(f"{path}: it is not a table: {error}") from None
        missing = [name for name in names if name not in header]
        if missing:
            raise ValueError(f"{path}: expected the columns {', '.join(names)}, got {header}")
        id_, index, score = map(header.index, names)
        while True:
            try:
                line = next(lines, None)
                if line is None:
                    return found
                if int(line[id_]) in episodes and line[score]:
                    found.setdefault(int(line[id_]), {})[int(line[index])] = float(line[score])
            except (ValueError, IndexError, csv.Error) as error:
                raise ValueError(
                    f"{path}, line {lines.line_num}: expected numbers in {', '.join(names)}, "
                    f"got {line!s:.200}: {error}"
                ) from None


def _lines(text: TextIO) -> Iterator[str]:
    """Yield the lines of a table, none of them longer than any can be."""
    while line := text.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise ValueError(f"a line is longer than {LONGEST_LINE:,} characters")
        yield line


def by_seat(ratings: dict[int, float], players: int) -> list[Any]:
    """Return the rating of each seat, NaN where it is unknown."""
    return [ratings.get(p, float("nan")) for p in range(players)]

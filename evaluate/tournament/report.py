"""What a tournament leaves behind: a report, its pictures, and all numbers as CSV and JSON."""

import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.markdown import number, table
from ludoteca.evaluate.match_table import rules_name
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.statistics.ratings import Ratings
from ludoteca.evaluate.tournament import plots, sections
from ludoteca.evaluate.tournament.analysis import Analysis, analyze
from ludoteca.evaluate.tournament.export import pair_json, to_csv, to_json
from ludoteca.evaluate.tournament.results import Results
from ludoteca.files import write_whole
from ludoteca.provenance import package_versions, run_info

REPORT = "report.md"


def write_report(results: Results, folder: str | Path, **about: Any) -> None:
    """Write `report.md`, `results.csv`, `results.json` and pictures into a folder.

    Args:
        results: of the tournament.
        folder: made if it does not exist.
        about: what else to tell about the run, such as how many processes played.

    Raises:
        OSError: if something cannot be written.
        ImportError: if SciPy or Matplotlib is missing.
    """
    folder = Path(folder)
    analysis = analyze(results.points())
    run = {**run_info(), **about}
    versions = package_versions() | {name: version(name) for name in ("scipy", "matplotlib")}
    for name, picture in draw(results, analysis).items():
        write_whole(folder / name, picture)
    pairs = [pair_json(results, pair) for pair in results.pair_results]
    write_whole(folder / "results.csv", to_csv(pairs))
    content = to_json(results, analysis) | {"pairs": pairs, "about": run, "versions": versions}
    write_whole(folder / "results.json", json.dumps(content) + "\n")
    write_whole(folder / REPORT, to_markdown(results, analysis, run, versions))


def titles(results: Results) -> tuple[str, ...]:
    """Return what people call the games."""
    return tuple(rules_name(game) for game in _games(results))


def points_name(results: Results) -> str:
    """Return what the points are."""
    return "wins" if results.tournament.draws == "loss" else "points"


def shares(results: Results) -> NDArray[np.float64]:
    """Return the share of the points of agent a against b, in all games: `[a, b]`."""
    worth = 0.0 if results.tournament.draws == "loss" else 0.5
    played = len(results.tournament.games) * results.tournament.games_per_pair
    points: NDArray[np.float64] = (results.wins() + worth * results.draws()).sum(0) / played
    return points


def draw(results: Results, analysis: Analysis) -> dict[str, bytes]:
    """Return the pictures that make sense, as PNG files by name."""
    names, what = tuple(map(plots.label, results.tournament.names)), points_name(results)
    pictures = {
        "heat_map.png": plots.heat_map(shares(results), names, f"Share of {what}"),
        "ratings.png": plots.rating_plot(results.ratings, names),
    }
    if len(results.tournament.games) > 1:
        most = results.games_per_agent
        pictures["points.png"] = plots.box_plot(analysis.points, names, titles(results), most, what)
    if analysis.nemenyi is not None:
        pictures["ranks.png"] = plots.rank_plot(
            analysis.mean_ranks, names, analysis.nemenyi.critical_difference
        )
    return pictures


def to_markdown(
    results: Results, analysis: Analysis, run: dict[str, Any], versions: dict[str, str]
) -> str:
    """Return the report."""
    t, what = results.tournament, points_name(results)
    names, games = t.names, titles(results)
    ratings = results.ratings
    pictures = draw_links(analysis)
    agents = [[name, f"`{spec}`"] for name, spec in zip(names, t.agents, strict=True)]
    blocks = (
        f"# Tournament of {len(names)} agents in {_count(len(games), 'game')}",
        _summary(results, analysis, ratings),
        f"## {what.capitalize()}",
        f"Of the {results.games_per_agent:,} games of each kind that each agent played; the most "
        "are bold.",
        sections.points_table(analysis, names, games),
        pictures["points"],
        "## Who beats whom",
        f"Share of the {what}, over all games; every pair in every game, with Wilson intervals and "
        "by who moved first, is in [results.csv](results.csv).",
        "![Heat map](heat_map.png)",
        "## Ratings",
        "By the model of Bradley and Terry, a draw being half a win. The mean of all agents is 0, "
        "and the intervals are about differences to it.",
        sections.rating_table(ratings, results.ratings_by_game, games, names),
        "![Ratings](ratings.png)",
        "## Ranks",
        f"Place by {what} in each game, 1 the best; who tie share the mean of their places.",
        sections.rank_table(analysis, names, games),
        pictures["ranks"],
        "## Is it chance?",
        sections.friedman_text(analysis),
        sections.nemenyi_text(analysis, names),
        sections.wilcoxon_text(analysis, names),
        "## Games",
        _games_table(results, games),
        "## Games that agents left" if results.forfeits else "",
        sections.forfeits_table([one for _, one in results.forfeits], names),
        "## Agents",
        table(("name", "agent"), agents, texts=2),
        "## How it was made",
        *how_it_was_made(run, versions),
        f"{duration(results.seconds)} of playing, all processes together. The same seed, here "
        f"{t.seed}, gives the same games, whatever the number of processes, unless agents think by "
        "the clock. All numbers are in [results.json](results.json), too.",
    )
    return "\n\n".join(filter(None, blocks)) + "\n"


def how_it_was_made(run: dict[str, Any], versions: dict[str, str]) -> tuple[str, ...]:
    """Return the paragraphs that tell command, date, machine and versions."""
    machine = ", ".join(
        f"{run[key]} {what}"
        for key, what in (("processes", "processes"), ("cores", "cores"), ("cpu", ""))
        if key in run
    ).strip()
    packages = ", ".join(f"{name} {number}" for name, number in versions.items())
    return f"    {run['command']}", f"{run['date']}; {machine}; {packages}."


def _summary(results: Results, analysis: Analysis, ratings: Ratings) -> str:
    t, what = results.tournament, points_name(results)
    best = int(np.argmax(analysis.total))
    possible = results.games_per_agent * len(t.games)
    interval = f"{ratings.low[best]:+.0f} to {ratings.high[best]:+.0f}"
    counted = (
        "Points are wins: a draw counts as a loss for both."
        if t.draws == "loss"
        else "A win is worth a point, a draw half a point."
    )
    seats = (
        " In games of more than two players, each agent of a pair holds every other seat, and the "
        "one whose best seat does best wins."
        if any(game.num_players > 2 for game in _games(results))
        else ""
    )
    return (
        f"**{t.names[best]}** has the most {what}: {number(analysis.total[best])} of {possible:,}. "
        f"Its Elo rating is {ratings.elo[best]:+.0f} ({interval}).\n\n"
        f"Every two agents played {t.games_per_pair:,} games of each kind ({t.repeats} x "
        f"{t.games_per_match}), taking turns in moving first: {t.total_games:,} games in all. "
        f"{counted}{seats}"
    )


def draw_links(analysis: Analysis) -> dict[str, str]:
    """Return the links to pictures that are not always drawn, or why they are not."""
    points, ranks = "![Points over the games](points.png)", "![Mean ranks](ranks.png)"
    if len(analysis.points) == 1:
        points = "With one game there is no spread over games to draw."
    if analysis.nemenyi is None:
        ranks = ""
    return {"points": points, "ranks": ranks}


def _games_table(results: Results, names: Sequence[str]) -> str:
    """Return what the games are, and what the first seat is worth."""
    rows = []
    for g, (game, name) in enumerate(zip(_games(results), names, strict=True)):
        pairs = [pair for pair in results.pair_results if pair.game == g]
        played = sum(pair.games for pair in pairs)
        first = sum(pair.wins_first + pair.losses_second for pair in pairs)
        drawn = sum(pair.draws for pair in pairs)
        plies = sum(pair.mean_plies * pair.games for pair in pairs) / played
        low, high = wilson(first, played)
        rows.append(
            [
                name,
                f"`{game.spec}`",
                f"{100 * first / played:.1f} ({100 * low:.1f} to {100 * high:.1f})",
                f"{100 * drawn / played:.1f}",
                f"{plies:.1f}",
            ]
        )
    headings = ("game", "rules", "seat 0 wins, %", "draws, %", "mean plies")
    return table(headings, rows, texts=2)


def _games(results: Results) -> list[Game]:
    return [make_game(game) for game in results.tournament.games]


def _count(n: int, thing: str) -> str:
    return f"{n} {thing}{'s' * (n != 1)}"


def duration(seconds: float) -> str:
    """Return a time as text, e.g. `"2 h 05 min"`."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02} min"

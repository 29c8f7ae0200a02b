"""Report of a tournament: Markdown, figures, and results as CSV and JSON."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.duration import format_duration
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.markdown import number, table, wilson_share
from ludoteca.evaluate.match_table import title_with_params
from ludoteca.evaluate.statistics.alpha_rank import alpha_rank
from ludoteca.evaluate.statistics.nash_averaging import nash_average
from ludoteca.evaluate.statistics.ratings import Ratings
from ludoteca.evaluate.tournament import plots, sections
from ludoteca.evaluate.tournament.analysis import Analysis, analyze
from ludoteca.evaluate.tournament.export import pair_json, to_csv, to_json
from ludoteca.evaluate.tournament.results import Results
from ludoteca.evaluate.tournament.saved_results import RESULTS_FILE, read_results
from ludoteca.files import read_json, write_atomically
from ludoteca.provenance import run_provenance

REPORT = "report.md"


def write_report(results: Results, folder: str | Path, **about: Any) -> None:
    """Write `report.md`, `results.csv`, `results.json` and figures into a folder.

    Args:
        results: results of the tournament.
        folder: the folder; it is made if it does not exist.
        **about: other entries of the provenance, such as the number of processes.

    Raises:
        OSError: if a file cannot be written.
        ImportError: if SciPy or Matplotlib is missing.
    """
    _write(results, Path(folder), run_provenance("scipy", "matplotlib", **about))


def rewrite_report(
    folder: Path, change: Callable[[Results], Results] | None = None, **about: Any
) -> Results:
    """Write a report again from its `results.json`, with the same provenance.

    Args:
        folder: folder of the report.
        change: function that returns the results to write, given those of the report.
        **about: entries to add to the provenance, such as `games_played_again`, see
            `provenance_paragraphs`.

    Returns:
        The results.

    Raises:
        FileNotFoundError: if there is no `results.json`.
        ValueError: if the file is damaged.
    """
    results, content = read_results(folder), read_json(folder / RESULTS_FILE)
    if change is not None:
        results = change(results)
    provenance = {"about": content["about"] | about, "versions": content["versions"]}
    _write(results, folder, provenance)
    return results


def _write(results: Results, folder: Path, provenance: dict[str, Any]) -> None:
    """Write the files of a report; `provenance` is as `run_provenance` returns it."""
    analysis = analyze(results.points())
    for name, figure in draw_figures(results, analysis).items():
        write_atomically(folder / name, figure)
    pairs = [pair_json(results, pair) for pair in results.pair_results]
    write_atomically(folder / "results.csv", to_csv(pairs))
    content = to_json(results, analysis) | {"pairs": pairs} | provenance
    write_atomically(folder / RESULTS_FILE, json.dumps(content) + "\n")
    write_atomically(folder / REPORT, to_markdown(results, analysis, **provenance))


def game_titles(results: Results) -> tuple[str, ...]:
    """Return the titles of the games, with parameters that differ from the defaults."""
    return tuple(title_with_params(game) for game in _games(results))


def points_name(results: Results) -> str:
    """Return the name of the points: wins, if draws count as losses."""
    return "wins" if results.tournament.draws == "loss" else "points"


def point_fractions(results: Results) -> NDArray[np.float64]:
    """Return the fraction of all points in their games that a won against b, `[agents, agents]`."""
    draw_points = 0.0 if results.tournament.draws == "loss" else 0.5
    played = len(results.tournament.games) * results.tournament.games_per_pair
    points: NDArray[np.float64] = (results.wins() + draw_points * results.draws()).sum(0) / played
    return points


def draw_figures(results: Results, analysis: Analysis) -> dict[str, bytes]:
    """Return the figures as PNG files by name: those that the tournament has data for.

    The figure of points needs several games, that of ranks also three agents.
    """
    names, score_name = tuple(map(plots.shorten, results.tournament.names)), points_name(results)
    figures = {
        "heat_map.png": plots.heat_map(point_fractions(results), names, f"Share of {score_name}"),
        "ratings.png": plots.rating_plot(results.ratings, names),
    }
    if len(results.tournament.games) > 1:
        max_points = results.games_per_agent
        figures["points.png"] = plots.box_plot(
            analysis.points, names, game_titles(results), max_points, score_name
        )
    if analysis.nemenyi is not None:
        figures["ranks.png"] = plots.rank_plot(
            analysis.mean_ranks, names, analysis.nemenyi.critical_difference
        )
    return figures


def to_markdown(
    results: Results, analysis: Analysis, about: dict[str, Any], versions: dict[str, str]
) -> str:
    """Return the report in Markdown.

    Args:
        results: results of the tournament.
        analysis: statistics of the points.
        about: command, date and machine of the run, see `run_provenance`.
        versions: versions of the packages.
    """
    t, score_name = results.tournament, points_name(results)
    names, games = t.names, game_titles(results)
    ratings = results.ratings
    links = figure_links(analysis)
    agents = [[name, f"`{spec}`"] for name, spec in zip(names, t.agents, strict=True)]
    blocks = (
        f"# Tournament of {len(names)} agents in {_number_of(len(games), 'game')}",
        _summary(results, analysis, ratings),
        f"## {score_name.capitalize()}",
        f"Each agent played each game {results.games_per_agent:,} times; the most {score_name} in "
        "each game are bold.",
        sections.points_table(analysis, names, games),
        links["points"],
        "## Pairwise results",
        f"Percentage of the {score_name} over all games. [results.csv](results.csv) has every pair "
        "in every game, with Wilson intervals and by the seat of the agents.",
        "![Heat map](heat_map.png)",
        "## Ratings",
        "Elo ratings by the Bradley-Terry model; a draw counts half a win. The mean of all agents "
        "is 0; the intervals refer to differences from it.",
        sections.rating_table(ratings, results.ratings_by_game, games, names),
        "![Ratings](ratings.png)",
        "## Nash averaging and alpha-rank",
        "Rankings that are robust to cyclic results and redundant agents. The Nash rating is the "
        "expected advantage (wins minus losses, per game) over an agent drawn with the Nash "
        "probabilities, the maximum-entropy equilibrium; alpha-rank mass is the fraction of time "
        "in an evolutionary process with strong selection. Both take the observed results as "
        "exact.",
        sections.nash_table(
            nash_average(results.advantages()), alpha_rank(results.advantages()), names
        ),
        "## Ranks",
        f"Rank by {score_name} in each game, 1 the best; ties share the mean of their ranks.",
        sections.rank_table(analysis, names, games),
        links["ranks"],
        "## Significance",
        sections.friedman_text(analysis),
        sections.nemenyi_text(analysis, names),
        sections.wilcoxon_text(analysis, names),
        "## Games",
        _games_table(results, games),
        *_clock_section(results),
        "## Forfeits" if results.forfeits else "",
        sections.forfeits_table([forfeit for _, forfeit in results.forfeits], names),
        "## Agents",
        table(("name", "agent"), agents, text_columns=2),
        "## Provenance",
        *provenance_paragraphs(about, versions),
        f"Playing took {format_duration(results.seconds)}, summed over all processes. The same "
        f"seed, here {t.seed}, gives the same games with any number of processes, unless "
        "agents search for a given time. [results.json](results.json) has all numbers, too.",
    )
    return "\n\n".join(filter(None, blocks)) + "\n"


def provenance_paragraphs(about: dict[str, Any], versions: dict[str, str]) -> tuple[str, ...]:
    """Return two paragraphs: the command, and a line with date, machine and versions.

    The second names games and tournaments that were played again later,
    `about["games_played_again"]`: a list of tables with `"games"`, `"command"`, `"date"`, `"cpu"`
    and, if only some tournaments were played again, `"stages"`.
    """
    machine = ", ".join(
        f"{about[key]} {unit}"
        for key, unit in (("processes", "processes"), ("cores", "cores"), ("cpu", ""))
        if key in about
    ).strip()
    packages = ", ".join(f"{name} {number}" for name, number in versions.items())
    again = ""
    for run in about.get("games_played_again", ()):
        repeated = [", ".join(names) for names in (run["games"], run.get("stages")) if names]
        again += (
            f" {' in '.join(repeated)} played again by `{run['command']}`, {run['date']}; "
            f"{run['cpu']}."
        )
    return f"    {about['command']}", f"{about['date']}; {machine}; {packages}.{again}"


def _summary(results: Results, analysis: Analysis, ratings: Ratings) -> str:
    """Return the paragraphs on the best agent and on how the games were played."""
    t, score_name = results.tournament, points_name(results)
    best = int(np.argmax(analysis.total))
    possible = results.games_per_agent * len(t.games)
    interval = f"{ratings.low[best]:+.0f} to {ratings.high[best]:+.0f}"
    scoring = (
        "Points are wins: a draw counts as a loss for both."
        if t.draws == "loss"
        else "A win counts a point, a draw half a point."
    )
    seats = (
        " In games for more than two players, each agent of a pair holds every other seat, and the "
        "agent with the best seat wins."
        if any(game.num_players > 2 for game in _games(results))
        else ""
    )
    return (
        f"**{t.names[best]}** has the most {score_name}: {number(analysis.total[best])} of "
        f"{possible:,}. Its Elo rating is {ratings.elo[best]:+.0f} ({interval}).\n\n"
        f"Every two agents played each game {t.games_per_pair:,} times ({t.repeats} x "
        f"{t.games_per_match}), alternating in moving first: {t.total_games:,} games in total. "
        f"{scoring}{seats}"
    )


def _clock_section(results: Results) -> tuple[str, ...]:
    """Return the section on the clock and the times of the agents' moves, if there is a clock."""
    t = results.tournament
    if t.time_control is None:
        return ()
    return (
        "## Clock",
        f"Start clock and play clock: {t.time_control}.",
        sections.times_table(results.times, t.names),
    )


def figure_links(analysis: Analysis) -> dict[str, str]:
    """Return the links to the figures of points and ranks, or text if a figure is missing."""
    points, ranks = "![Points over the games](points.png)", "![Mean ranks](ranks.png)"
    if len(analysis.points) == 1:
        points = "With one game there is no spread over games to draw."
    if analysis.nemenyi is None:
        ranks = ""
    return {"points": points, "ranks": ranks}


def _games_table(results: Results, names: Sequence[str]) -> str:
    """Return the table of the games, with the wins of the first seat."""
    rows = []
    for g, (game, name) in enumerate(zip(_games(results), names, strict=True)):
        pairs = [pair for pair in results.pair_results if pair.game == g]
        played = sum(pair.games for pair in pairs)
        seat_0_wins = sum(pair.wins_first + pair.losses_second for pair in pairs)
        draws = sum(pair.draws for pair in pairs)
        plies = sum(pair.mean_plies * pair.games for pair in pairs) / played
        rows.append(
            [
                name,
                f"`{game.spec}`",
                wilson_share(seat_0_wins, played),
                f"{100 * draws / played:.1f}",
                f"{plies:.1f}",
            ]
        )
    headings = ("game", "rules", "seat 0 wins, %", "draws, %", "mean plies")
    return table(headings, rows, text_columns=2)


def _games(results: Results) -> list[Game]:
    return [make_game(game) for game in results.tournament.games]


def _number_of(n: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1."""
    return f"{n} {noun}{'s' * (n != 1)}"

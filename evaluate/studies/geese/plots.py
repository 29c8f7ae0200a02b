"""Figures of the report on Hungry Geese; "the thesis" is Martín Miralles (UIB, 2021)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ludoteca.agents.games.hungry_geese.patterns import LEAD, Example
from ludoteca.envs.registry import make_game
from ludoteca.envs.render import render
from ludoteca.evaluate.figures import SMALL, Panel, Series, panels_png, percentages
from ludoteca.evaluate.statistics.outcomes import read_outcomes
from ludoteca.evaluate.statistics.repetitions import range_95, repeat_competition
from ludoteca.evaluate.studies.geese.agents import DECLARED, THESIS, Labels, agent_title, ratings
from ludoteca.evaluate.studies.seeds import of_first_seed
from ludoteca.evaluate.studies.study import Records
from ludoteca.evaluate.tournament.plots import rating_distribution

# Styles of figure 10: repeated competitions, our results, and the thesis' results.
STYLES: tuple[dict[str, Any], ...] = (
    {"color": "#9bc4e8", "linewidth": 9, "solid_capstyle": "butt"},
    {"color": "#0b3d73", "marker": "o", "capsize": 4},
    {"color": "#d6452b", "marker": "D", "linestyle": ""},
)


def draw(records: Records, folder: Path, labels: Labels) -> dict[str, bytes]:
    """Return the figures whose tasks have records, as PNG files by name."""
    figures, records = {}, of_first_seed(records)
    if any("outcomes" in record for record in records.values()):
        figures["ratings.png"] = draw_ratings(records, labels)
    if "real" in records:
        figures["figure_10.png"] = repeated_competition(records["real"], labels)
    if records.get("examples", {}).get("examples"):
        figures["positions.png"] = example_positions(records["examples"])
    return figures


def draw_ratings(records: Records, labels: Labels) -> bytes:
    """Return the distribution of the agents' ratings, and each rating, as a PNG file."""
    names, elo, _ = zip(*ratings(records, labels), strict=True)
    colors = {row["name"]: row["color"] for row in DECLARED["types"]}
    return rating_distribution(names, elo, list(map(agent_type, names)), colors)


def agent_type(title: str) -> str:
    """Return the type of an agent by its title, of which it has the longest start."""
    types = [row for row in DECLARED["types"] if title.startswith(row["start"])]
    return str(max(types, key=lambda row: len(row["start"]))["name"])


def repeated_competition(match: Mapping[str, Any], labels: Labels) -> bytes:
    """Return wins and deaths in the thesis' figure 10 and ours, as a PNG file."""
    games, theirs = THESIS["games"], np.array(THESIS["results"]["real"])
    repetitions = repeat_competition(read_outcomes(match["outcomes"]), games)
    lives = [agent["lives"] for agent in match["agents"]]
    titles = [agent_title(agent["agent"], labels) for agent in match["agents"]]
    names = [title.partition(":")[0].removeprefix("network of ") for title in titles]
    panels = list[Panel]()
    for column, measure in enumerate(("wins", "deaths")):
        ours, bounds = percentages([one[measure] for one in lives], [one["geese"] for one in lives])
        series = []
        for k, one in enumerate(lives):
            texts = (
                "95 % of competitions of 100 games", f"ours, {one['geese']:,} games",
                f"thesis, {games} games",
            )  # fmt: skip
            bar, mine, other = (
                {**style, "label": text if k == 0 else None}
                for style, text in zip(STYLES, texts, strict=True)
            )
            series += [
                Series((k, k), range_95(getattr(repetitions, measure)[:, k]), options=bar),
                Series([k], ours[[k]], "", bounds[:, [k]], mine),
                Series(k, theirs[k, column], options=other),
            ]
        ticks = {float(k): name for k, name in enumerate(names)}
        legend = None if panels else SMALL
        panels.append(Panel(series, {"ylabel": f"{measure}, % of games"}, legend, xticks=ticks))
    return panels_png(panels, (9, 4.2), columns=2, dpi=110, colors=64)


def example_positions(record: Mapping[str, Any]) -> bytes:
    """Return the example positions as a PNG file."""
    game, panels = make_game(record["examples"][0]["game"]), []

    def show(title: str, s: Any) -> None:
        """Add a panel with a position."""
        image = render(game, s, "rgb_array", captions=())
        panels.append(Panel([], {"title": title}, image=image, title_size="small"))

    for example in map(Example.from_json, record["examples"]):
        positions = example.positions()
        title = f"{DECLARED['captions'][example.pattern]}: goose {'ABCD'[example.seat]}"
        if example.pattern in ("dead end", "enclosed"):
            show(f"{title},\n{LEAD} steps before its last", positions[-1 - LEAD])
            title = f"{title},\nbefore its last step"
        show(title, positions[-1])
    size = (10, 3.2 * ((len(panels) + 1) // 2))
    return panels_png(panels, size, columns=2, dpi=110, colors=64)

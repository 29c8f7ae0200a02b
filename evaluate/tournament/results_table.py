"""The outcome of a tournament for the terminal."""

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table

from ludoteca.evaluate.markdown import number, p_text
from ludoteca.evaluate.tournament.analysis import analyze
from ludoteca.evaluate.tournament.results import Results


def results_table(results: Results) -> Table:
    """Return the agents, the best first, with points, mean rank and rating."""
    t, analysis, ratings = results.tournament, analyze(results.points()), results.ratings
    played = results.games_per_agent * len(t.games)
    what = "wins" if t.draws == "loss" else "points"
    test = analysis.friedman
    caption = "" if test is None else f"Friedman: {p_text(test.p)} that all are equally good"
    shown = Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        title=f"{t.total_games:,} games, seed {t.seed}",
        title_justify="left",
        caption=caption,
        caption_justify="left",
    )
    shown.add_column("agent", overflow="fold")
    for heading in (what, "%", "mean rank", "Elo", "95 % interval"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for a in np.argsort(-analysis.total, kind="stable"):
        shown.add_row(
            t.names[a],
            number(analysis.total[a]),
            f"{100 * analysis.total[a] / played:.1f}",
            f"{analysis.mean_ranks[a]:.2f}",
            f"{ratings.elo[a]:+.0f}",
            f"{ratings.low[a]:+.0f} to {ratings.high[a]:+.0f}",
        )
    return shown

"""Table of a tournament's results for the terminal."""

import numpy as np

from ludoteca.evaluate.markdown import number, p_text
from ludoteca.evaluate.tournament.analysis import analyze
from ludoteca.evaluate.tournament.results import Results
from ludoteca.terminal_table import TerminalTable


def results_table(results: Results) -> TerminalTable:
    """Return the table of the agents, the best first: points, mean rank and Elo rating."""
    t, analysis, ratings = results.tournament, analyze(results.points()), results.ratings
    num_games = results.games_per_agent * len(t.games)
    score_name = "wins" if t.draws == "loss" else "points"
    test = analysis.friedman
    caption = "" if test is None else f"Friedman: {p_text(test.p)} that all are equally good"
    table = TerminalTable(
        ("agent", score_name, "%", "mean rank", "Elo", "95 % interval"),
        title=f"{t.total_games:,} games, seed {t.seed}",
        caption=caption,
    )
    for a in np.argsort(-analysis.total, kind="stable"):
        table.add(
            t.names[a],
            number(analysis.total[a]),
            f"{100 * analysis.total[a] / num_games:.1f}",
            f"{analysis.mean_ranks[a]:.2f}",
            f"{ratings.elo[a]:+.0f}",
            f"{ratings.low[a]:+.0f} to {ratings.high[a]:+.0f}",
        )
    return table

"""Encounters (matches of 100 games) of Valencia's thesis: our wins beside the thesis' wins."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from ludoteca.evaluate.studies.ggp import uaemex2021 as thesis
from ludoteca.evaluate.studies.report import render
from ludoteca.evaluate.tournament.plots import compared_boxes
from ludoteca.evaluate.tournament.results import Results


def encounter_files(results: Mapping[int, Results]) -> dict[str, str | bytes]:
    """Return the page on encounters and its figures by file name.

    Args:
        results: results of the tournaments, by the number of simulations per move.
    """
    draw = partial(compared_boxes, names=thesis.POLICY_NAMES, sources=("here", "thesis"))
    first, second = np.transpose(thesis.DIRECTED_PAIRS)
    files, tables, deviations, boxes = dict[str, str | bytes](), [], {}, {}
    for s, result in results.items():
        # Percentages of wins, and points of 100 games against each opponent.
        scale = thesis.GAMES_PER_ENCOUNTER / result.tournament.games_per_match
        wins, points = scale * result.wins_by_repeat(), scale * result.by_repeat.points
        among_first = points[:, :3] - wins[:, :3, 3:].sum(2)
        theirs = (thesis.FIRST_ENCOUNTERS[s], thesis.ENCOUNTERS[s])
        for ours, encounters in zip((among_first, points), theirs, strict=True):
            tables.append((s, ours.swapaxes(1, 2), encounters))
            count = encounters.shape[2]
            title = f"{count} policies, {300 * (count - 1):,} games each, {s:,} simulations a move"
            boxes[title] = ours.sum(2), encounters.sum(1)
        by_game = zip(points.swapaxes(1, 2), thesis.ENCOUNTERS[s], strict=True)
        panels = dict(zip(thesis.GAME_NAMES, by_game, strict=True))
        files[f"encounters_{s}.png"] = draw(panels, label="wins in an encounter")
        deviations[s] = wins[:, first, second].std(-1, ddof=1), thesis.PAIR_DEVIATIONS[s]
    files["boxes.png"] = draw(boxes, label="wins", same_scale="col")
    names = {**vars(thesis), "np": np, "tables": tables, "deviations": deviations}
    return files | {"encounters.md": render("ggp/encounters.md.j2", names)}

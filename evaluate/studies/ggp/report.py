"""Report of the study beside the thesis' tables."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.duration import format_duration
from ludoteca.evaluate.markdown import bold, p_value
from ludoteca.evaluate.studies.ggp.conclusions import Conclusion, conclusions
from ludoteca.evaluate.studies.ggp.uaemex2021 import (
    FRIEDMAN,
    GAME_NAMES,
    GAMES_PER_PAIR,
    POLICIES,
    POLICY_NAMES,
    WILCOXON,
    WINS,
)
from ludoteca.evaluate.studies.report import render
from ludoteca.evaluate.studies.verdicts import FAILS, HOLDS, OPEN, UNCORRECTED, VERDICTS
from ludoteca.evaluate.tournament.analysis import Analysis, analyze
from ludoteca.evaluate.tournament.report import provenance_paragraphs
from ludoteca.evaluate.tournament.results import Results
from ludoteca.files import write_whole
from ludoteca.provenance import package_versions, run_info

NORMAL_95 = 1.96
SUMMARY = {
    HOLDS: "hold here",
    UNCORRECTED: "hold only without Holm's correction",
    FAILS: "do not hold",
    OPEN: "are inconclusive",
}
THESIS_GAMES = GAMES_PER_PAIR * (len(POLICIES) - 1)  # that each policy played of each game


def write(
    found: Mapping[int, Results], out: Path, made: Mapping[str, Any] | None = None, **about: Any
) -> None:
    """Write `report.md` and `comparison.json`.

    Args:
        found: the tournaments, by simulations a move.
        out: the folder; the tournaments' own reports are in folders there.
        made: `"about"` and `"versions"` of the run that played them; by default this one.
        about: further facts on the run.
    """
    made = made or {"about": {**run_info(), **about}, "versions": package_versions()}
    run, versions = made["about"], made["versions"]
    shares = {s: results.points() / results.games_per_agent for s, results in found.items()}
    # Rounded, or equal numbers of wins differ in their last digits, which tests by ranks take for
    # differences.
    ours = conclusions(
        {s: np.round(THESIS_GAMES * share, 6) for s, share in shares.items()},
        next(iter(found.values())).games_per_agent,
    )
    content = {
        "about": run,
        "versions": versions,
        "games_per_pair": {s: r.tournament.games_per_pair for s, r in found.items()},
        "policies": POLICIES,
        "games": list(next(iter(found.values())).tournament.games),
        "wins": {s: results.points().tolist() for s, results in found.items()},
        "thesis_wins": {s: wins.tolist() for s, wins in WINS.items()},
        "beyond_chance": {
            s: beyond_chance(share, WINS[s] / THESIS_GAMES, found[s].games_per_agent).tolist()
            for s, share in shares.items()
        },
        "conclusions": [asdict(one) for one in ours],
    }
    write_whole(out / "comparison.json", json.dumps(content, indent=1, default=_plain) + "\n")
    names = _template_names(found, shares, ours)
    names["provenance"] = "\n\n".join(provenance_paragraphs(run, versions))
    write_whole(out / "report.md", render("ggp/report.md.j2", names))


def _template_names(
    found: Mapping[int, Results],
    shares: Mapping[int, NDArray[np.float64]],
    ours: list[Conclusion],
) -> dict[str, Any]:
    """Return what the template of the report uses."""
    counts = Counter(one.verdict for one in ours)
    return {
        "per_pair": next(iter(found.values())).tournament.games_per_pair,
        "GAMES_PER_PAIR": GAMES_PER_PAIR,
        "POLICY_NAMES": POLICY_NAMES,
        "THESIS_GAMES": THESIS_GAMES,
        "played": sum(results.tournament.total_games for results in found.values()),
        "conclusions": ours,
        "summary": "; ".join(f"{counts[one]} {SUMMARY[one]}" for one in VERDICTS if counts[one]),
        "stages": {s: _stage(s, results, shares[s]) for s, results in found.items()},
        "conclusion_rows": [
            [one.simulations, one.claim, bold(one.verdict, one.verdict != HOLDS), one.evidence]
            for one in ours
        ],
    }


def beyond_chance(
    ours: NDArray[np.float64], thesis: NDArray[np.float64], games: int
) -> NDArray[np.bool_]:
    """Return which shares of wins differ by more than chance does in 95 % of cases.

    Args:
        ours: shares of wins.
        thesis: the same in the thesis, each of `THESIS_GAMES` games.
        games: of how many games each of our shares is.
    """
    pooled = (ours * games + thesis * THESIS_GAMES) / (games + THESIS_GAMES)
    sd = np.sqrt(pooled * (1 - pooled) * (1 / games + 1 / THESIS_GAMES))
    beyond: NDArray[np.bool_] = np.abs(ours - thesis) > NORMAL_95 * sd
    return beyond


def _stage(simulations: int, results: Results, shares: NDArray[np.float64]) -> dict[str, Any]:
    """Return the tables and figures of the tournament with so many simulations."""
    thesis, games = WINS[simulations], results.games_per_agent
    beyond = beyond_chance(shares, thesis / THESIS_GAMES, games)
    wins = THESIS_GAMES * shares
    rows = [
        [GAME_NAMES[g], *(_cell(*cell) for cell in zip(wins[g], thesis[g], beyond[g], strict=True))]
        for g in range(len(GAME_NAMES))
    ]
    rows.append(
        ["*total*", *(_cell(x, y, False) for x, y in zip(wins.sum(0), thesis.sum(0), strict=True))]
    )
    return {
        "scaled": "" if games == THESIS_GAMES else f", scaled from {games:,}",
        "beyond": int(beyond.sum()),
        "cells": beyond.size,
        "correlation": np.corrcoef(wins.ravel(), thesis.ravel())[0, 1],
        "wins": rows,
        "statistics": _statistics(simulations, analyze(np.round(wins, 6)), analyze(thesis)),
        "duration": format_duration(results.seconds),
    }


def _cell(ours: float, thesis: float, beyond: bool) -> str:
    difference = round(ours) - round(thesis)
    return f"{ours:,.0f} ({thesis:,.0f}, {bold(f'{difference:+,}', beyond)})"


def _statistics(simulations: int, ours: Analysis, thesis: Analysis) -> list[list[str]]:
    """Return the statistics of both."""
    assert ours.friedman is not None
    assert thesis.friedman is not None
    rows = [
        [
            "Friedman, chi-squared (p)",
            f"{ours.friedman.statistic:.3f} ({p_value(ours.friedman.p)})",
            f"{FRIEDMAN[simulations]:g} ({p_value(thesis.friedman.p)})",
        ]
    ]
    for label, values in (("mean rank", "mean_ranks"), ("median wins", "median")):
        for k, name in enumerate(POLICY_NAMES):
            mine, theirs = getattr(ours, values)[k], getattr(thesis, values)[k]
            rows.append([f"{label}, {name}", f"{mine:.2f}", f"{theirs:.2f}"])
    for (a, b), p in WILCOXON[simulations].items():
        pair = (POLICIES.index(b), POLICIES.index(a))
        name = f"Wilcoxon p, {POLICY_NAMES[pair[1]]} against {POLICY_NAMES[pair[0]]}"
        rows.append([name, _wilcoxon(ours, pair), p_value(p)])
    rows.append(["Wilcoxon p, alpha1 against alpha2", _wilcoxon(ours, (3, 4)), "at least 0.2"])
    return rows


def _wilcoxon(analysis: Analysis, pair: tuple[int, int]) -> str:
    """Return p, with a remark if it is the older policy, the first of the pair, that is better."""
    test = next(one.test for one in analysis.differences if one.pair == pair)
    older = POLICIES[pair[0]] not in ("ucb_alpha1", "ucb_alpha2")
    remark = f", {POLICY_NAMES[pair[0]]} is better" if older and test.plus > test.minus else ""
    return p_value(test.p) + remark


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)

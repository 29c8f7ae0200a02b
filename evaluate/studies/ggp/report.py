"""The report of the study beside the thesis' tables."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.markdown import bold, p_value, table
from ludoteca.evaluate.studies.ggp.conclusions import Conclusion, conclusions
from ludoteca.evaluate.studies.ggp.valencia2021 import (
    FRIEDMAN,
    GAME_NAMES,
    GAMES_PER_PAIR,
    POLICIES,
    POLICY_NAMES,
    WILCOXON,
    WINS,
)
from ludoteca.evaluate.studies.verdicts import FAILS, HOLDS, OPEN, UNCORRECTED, VERDICTS
from ludoteca.evaluate.tournament.analysis import Analysis, analyze
from ludoteca.evaluate.tournament.report import duration, provenance_paragraphs
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
READ_VERDICTS = (
    "A conclusion holds, or does not, if the whole 95 % interval of what decides it says so, or a "
    "test at 0.05; intervals of sums of wins are normal ones, and rather too wide than too narrow. "
    "The thesis does not correct its tests for their number. Between five policies there are ten, "
    "and with eight games Wilcoxon's smallest p, 0.0078, becomes 0.078 by Holm's correction: after "
    "it, none of these tests is significant, here or in the thesis."
)
THESIS_GAMES = GAMES_PER_PAIR * (len(POLICIES) - 1)  # that each policy played of each game


def write(
    found: Mapping[int, Results], out: Path, made: Mapping[str, Any] | None = None, **about: Any
) -> None:
    """Write `report.md` and `comparison.json`.

    Args:
        found: the tournaments, by simulations a move.
        out: the folder; the tournaments' own reports are in folders there.
        made: `"about"` and `"versions"` of the run that played them; by default this one.
        about: what else to tell about the run.
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
    write_whole(out / "report.md", to_markdown(found, shares, ours, run, versions))


def to_markdown(
    found: Mapping[int, Results],
    shares: Mapping[int, NDArray[np.float64]],
    ours: list[Conclusion],
    run: dict[str, Any],
    versions: dict[str, str],
) -> str:
    """Return the report."""
    per_pair = next(iter(found.values())).tournament.games_per_pair
    played = sum(results.tournament.total_games for results in found.values())
    counts = Counter(one.verdict for one in ours)
    summary = "; ".join(f"{counts[one]} {SUMMARY[one]}" for one in VERDICTS if counts[one])
    blocks = [
        "# Selection policies in General Game Playing: the thesis' study, played again",
        f"Five policies in eight games, {per_pair} games a pair and game, {played:,} games in all: "
        "Monte Carlo tree search, uniformly random playouts, a draw a loss for both, the move with "
        "the highest mean played. The thesis (UAEMex, 2021) played 48,000 games with GGP-Base in "
        "Java.",
        f"**Of the {len(ours)} conclusions that were checked, {summary}**; they are listed at the "
        "end.",
    ]
    if per_pair != GAMES_PER_PAIR:
        blocks.append(
            f"**This is a small run**: {per_pair} games a pair instead of {GAMES_PER_PAIR}. Wins "
            f"are scaled to the thesis' {THESIS_GAMES:,} games, and chance is large."
        )
    for simulations, results in found.items():
        blocks += _at(simulations, results, shares[simulations])
    blocks += [
        "## The thesis' conclusions",
        READ_VERDICTS,
        table(
            ("simulations", "the thesis says", "here", "numbers here"),
            [
                [one.simulations, one.claim, bold(one.verdict, one.verdict != HOLDS), one.evidence]
                for one in ours
            ],
            texts=4,
        ),
        "## How it was made",
        *provenance_paragraphs(run, versions),
        "Playing took "
        + ", ".join(
            f"{duration(results.seconds)} at {simulations} simulations"
            for simulations, results in found.items()
        )
        + ", all processes together. All numbers are in [comparison.json](comparison.json).",
    ]
    return "\n\n".join(blocks) + "\n"


def beyond_chance(
    ours: NDArray[np.float64], thesis: NDArray[np.float64], games: int
) -> NDArray[np.bool_]:
    """Tell which shares of wins differ by more than chance does in 95 % of cases.

    Args:
        ours: shares of wins.
        thesis: the same in the thesis, each of `THESIS_GAMES` games.
        games: of how many games each of our shares is.
    """
    pooled = (ours * games + thesis * THESIS_GAMES) / (games + THESIS_GAMES)
    sd = np.sqrt(pooled * (1 - pooled) * (1 / games + 1 / THESIS_GAMES))
    beyond: NDArray[np.bool_] = np.abs(ours - thesis) > NORMAL_95 * sd
    return beyond


def _at(simulations: int, results: Results, shares: NDArray[np.float64]) -> list[str]:
    """Return the section about the tournament with so many simulations."""
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
    correlation = np.corrcoef(wins.ravel(), thesis.ravel())[0, 1]
    scaled = "" if games == THESIS_GAMES else f", scaled from {games:,}"
    return [
        f"## {simulations:,} simulations a move",
        f"Wins of {THESIS_GAMES:,} games{scaled}, and in brackets the thesis' and the difference; "
        f"bold differences are larger than chance explains (95 %): {int(beyond.sum())} of "
        f"{beyond.size}, where chance alone makes {0.05 * beyond.size:.0f}. Over all cells, the "
        f"correlation with the thesis is {correlation:.2f}.",
        table(("game", *POLICY_NAMES), rows),
        _statistics(simulations, analyze(np.round(wins, 6)), analyze(thesis)),
        f"Box plots, ratings, ranks and every pair: [report]({simulations}/report.md).",
        f"![Wins over the games, {simulations} simulations]({simulations}/points.png)",
    ]


def _cell(ours: float, thesis: float, beyond: bool) -> str:
    difference = round(ours) - round(thesis)
    return f"{ours:,.0f} ({thesis:,.0f}, {bold(f'{difference:+,}', beyond)})"


def _statistics(simulations: int, ours: Analysis, thesis: Analysis) -> str:
    """Return the statistics of both in one table."""
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
    return table(("statistic", "here", "thesis"), rows)


def _wilcoxon(analysis: Analysis, pair: tuple[int, int]) -> str:
    """Return p, with a remark if it is the older policy, the first of the pair, that is better."""
    test = next(one.test for one in analysis.differences if one.pair == pair)
    older = POLICIES[pair[0]] not in ("ucb_alpha1", "ucb_alpha2")
    remark = f", {POLICY_NAMES[pair[0]]} is better" if older and test.plus > test.minus else ""
    return p_value(test.p) + remark


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)

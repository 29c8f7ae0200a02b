"""Report of the study in General Game Playing: ours beside the thesis' tables."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.studies.ggp import uaemex2021 as thesis
from ludoteca.evaluate.studies.ggp.conclusions import conclusions
from ludoteca.evaluate.studies.report import render
from ludoteca.evaluate.studies.verdicts import FAILS, HOLDS, OPEN, UNCORRECTED, VERDICTS
from ludoteca.evaluate.tournament.analysis import Analysis, analyze
from ludoteca.evaluate.tournament.report import duration, provenance_paragraphs
from ludoteca.evaluate.tournament.results import Results
from ludoteca.files import read_json, write_whole
from ludoteca.provenance import run_provenance

SUMMARY = {
    HOLDS: "hold here",
    UNCORRECTED: "hold only without Holm's correction",
    FAILS: "do not hold",
    OPEN: "are inconclusive",
}
Stages = Mapping[str, Results]


def write(stages: Stages, out: Path, about: Mapping[str, Any], rewrite: bool = False) -> None:
    """Write `report.md` and `comparison.json`.

    Args:
        stages: results of the tournaments, by simulations a move.
        out: the folder; the tournaments' own reports are in folders there.
        about: further facts on the run.
        rewrite: whether the provenance is that of the present `comparison.json`.
    """
    results = {int(simulations): one for simulations, one in stages.items()}
    first = next(iter(results.values()))
    shares = {s: one.points() / one.games_per_agent for s, one in results.items()}
    # Rounded, or equal numbers of wins differ in their last digits, which tests by ranks take for
    # differences.
    wins = {s: np.round(thesis.PLAYED * share, 6) for s, share in shares.items()}
    beyond = {
        s: beyond_chance(share, thesis.WINS[s] / thesis.PLAYED, results[s].games_per_agent)
        for s, share in shares.items()
    }
    checked = conclusions(wins, first.games_per_agent)
    content = {
        "games_per_pair": {s: one.tournament.games_per_pair for s, one in results.items()},
        "policies": thesis.POLICIES,
        "games": list(first.tournament.games),
        "wins": {s: one.points().tolist() for s, one in results.items()},
        "thesis_wins": {s: table.tolist() for s, table in thesis.WINS.items()},
        "beyond_chance": {s: cells.tolist() for s, cells in beyond.items()},
        "conclusions": [asdict(one) for one in checked],
    }
    counts = Counter(one.verdict for one in checked)
    names = {
        **vars(thesis),
        "results": results,
        "per_pair": first.tournament.games_per_pair,
        "conclusions": checked,
        "summary": "; ".join(f"{counts[one]} {SUMMARY[one]}" for one in VERDICTS if counts[one]),
        "ours": {s: analyze(table) for s, table in wins.items()},
        "theirs": {s: analyze(table) for s, table in thesis.WINS.items()},
        "beyond": beyond,
        "correlations": {
            s: np.corrcoef(table.ravel(), thesis.WINS[s].ravel())[0, 1] for s, table in wins.items()
        },
        "tests": tests,
    }
    write_files(out, "report.md.j2", "comparison.json", content, names, about, rewrite)


def write_files(
    out: Path,
    template: str,
    file: str,
    content: Mapping[str, Any],
    names: Mapping[str, Any],
    about: Mapping[str, Any],
    rewrite: bool,
) -> None:
    """Write `report.md`, and a JSON file that begins with the provenance.

    Args:
        out: the folder.
        template: of the report.
        file: name of the JSON file.
        content: of that file.
        names: that the template uses.
        about: further facts on the run.
        rewrite: whether the provenance is that of the present file.
    """
    made = read_json(out / file) if rewrite else run_provenance(**about)
    made = {key: made[key] for key in ("about", "versions")}
    write_whole(out / file, json.dumps({**made, **content}, indent=1, default=_plain) + "\n")
    provenance = "\n\n".join(provenance_paragraphs(**made))
    names = {**names, "provenance": provenance, "duration": duration}
    write_whole(out / "report.md", render(f"ggp/{template}", names))


def beyond_chance(
    ours: NDArray[np.float64], theirs: NDArray[np.float64], games: int
) -> NDArray[np.bool_]:
    """Return which shares of wins differ by more than chance does in 95 % of cases.

    Args:
        ours: shares of wins.
        theirs: the same in the thesis, each of `PLAYED` games.
        games: of how many games each of our shares is.
    """
    pooled = (ours * games + theirs * thesis.PLAYED) / (games + thesis.PLAYED)
    sd = np.sqrt(pooled * (1 - pooled) * (1 / games + 1 / thesis.PLAYED))
    beyond: NDArray[np.bool_] = np.abs(ours - theirs) > 1.96 * sd
    return beyond


def tests(analysis: Analysis) -> dict[tuple[int, int], Any]:
    """Return Wilcoxon's tests by pair."""
    return {one.pair: one.test for one in analysis.differences}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)

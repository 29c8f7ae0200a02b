"""Questions that the thesis leaves for future work: constants, policies, and enhancements.

1. Does UCB-alpha keep its edge over a well-tuned constant? (`constants`)
2. Which selection policy is best? (`policies`)
3. Which combination of policy and enhancements is best, and with which of them is plain UCB as good
   as UCB-alpha? At equal simulations (`combinations`), and at equal time, since an enhancement
   costs time (`equal_time`; these games depend on the machine and are never the same twice).
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ludoteca.agents.search.policies import POLICIES
from ludoteca.evaluate.markdown import bold, p_text, table
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.statistics.wilcoxon import signed_rank
from ludoteca.evaluate.studies.ggp.uaemex2021 import GAME_NAMES, GAMES
from ludoteca.evaluate.studies.report import render
from ludoteca.evaluate.tournament.plan import Tournament
from ludoteca.evaluate.tournament.report import duration, provenance_paragraphs
from ludoteca.evaluate.tournament.results import Results
from ludoteca.files import write_whole
from ludoteca.provenance import package_versions, run_info

SIMULATIONS, SECONDS = 1000, 0.002  # a move
FAST_SIMULATIONS, FAST_SECONDS = 200, 0.0004
GAMES_PER_PAIR = {"constants": 60, "policies": 20, "combinations": 10, "equal_time": 10}
FAST_GAMES_PER_PAIR = 2

CONSTANTS = (2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
ENHANCEMENTS = {
    "plain": "",
    "solver": "solver=True",
    "decisive": "decisive=both",
    "RAVE": "amaf=rave",
    "GRAVE": "amaf=grave",
    "MAST": "mast=greedy",
    "FPU": "fpu=1",
    "transpositions": "transpositions=True",
    "reuse": "reuse=True",
    "solver+decisive": "solver=True,decisive=both",
    "solver+GRAVE": "solver=True,amaf=grave",
    "all": "solver=True,decisive=both,amaf=grave,mast=greedy,reuse=True",
}
ENHANCED = {"UCB": "policy=ucb1,policy.alpha=2", "alpha2": "policy=ucb_alpha2"}


def stages(fast: bool, seed: int) -> dict[str, Tournament]:
    """Return the tournaments that answer the questions, by name."""
    simulations = f"simulations={FAST_SIMULATIONS if fast else SIMULATIONS}"
    seconds = f"seconds={FAST_SECONDS if fast else SECONDS}"
    alphas = {"alpha1": "policy=ucb_alpha1", "alpha2": "policy=ucb_alpha2"}
    combined = {
        f"{policy} {name}": ",".join(filter(None, (spec, options)))
        for policy, spec in ENHANCED.items()
        for name, options in ENHANCEMENTS.items()
    }
    entrants = {
        "constants": {f"UCB {c:g}": f"policy=ucb1,policy.alpha={c:g}" for c in CONSTANTS} | alphas,
        "policies": {name: f"policy={name}" for name in POLICIES if name != "kl_ucb"},
        "combinations": combined,
        "equal_time": combined,
    }
    return {
        stage: Tournament(
            games=GAMES,
            agents=tuple(
                f"mcts:{one},{seconds if stage == 'equal_time' else simulations},"
                "draw=loss,action_selection=mean"
                for one in agents.values()
            ),
            names=tuple(agents),
            games_per_pair=FAST_GAMES_PER_PAIR if fast else GAMES_PER_PAIR[stage],
            repeats=1,
            seed=seed,
            draws="loss",
        )
        for stage, agents in entrants.items()
    }


def write(
    found: Mapping[str, Results], out: Path, made: Mapping[str, Any] | None = None, **about: Any
) -> None:
    """Write `report.md` and `answers.json`.

    Args:
        found: the tournaments, by name.
        out: the folder; the tournaments' own reports are in folders there.
        made: `"about"` and `"versions"` of the run that played them; by default this one.
        about: further facts on the run.
    """
    made = made or {"about": {**run_info(), **about}, "versions": package_versions()}
    run, versions = made["about"], made["versions"]
    ratings = {
        stage: {
            name: [round(float(x), 1) for x in (one.elo[a], one.low[a], one.high[a])]
            for a, name in enumerate(results.tournament.names)
        }
        for stage, results in found.items()
        for one in (results.ratings,)
    }
    content = {"about": run, "versions": versions, "elo_low_high": ratings}
    write_whole(out / "answers.json", json.dumps(content, indent=1) + "\n")
    names = {
        "found": found,
        "played": sum(results.tournament.total_games for results in found.values()),
        "edge": edge(found["constants"]),
        "podium": podium,
        "ratings_table": ratings_table,
        "equivalents": equivalents,
        "budget": budget,
        "duration": duration,
        "provenance": "\n\n".join(provenance_paragraphs(run, versions)),
    }
    write_whole(out / "report.md", render("ggp/extended.md.j2", names))


def edge(results: Results) -> dict[str, Any]:
    """Compare both UCB-alpha with the constant that is best over all games."""
    names, elo = results.tournament.names, results.ratings.elo
    constants = [a for a, name in enumerate(names) if name.startswith("UCB ")]
    best = max(constants, key=lambda a: elo[a])
    points, rivals = results.points(), []
    for name in ("alpha1", "alpha2"):
        a = names.index(name)
        wins, losses = _decided(results, a, best)
        low, high = wilson(wins, wins + losses)
        verdict = "is weaker than" if high < 0.5 else "does not differ significantly from"
        rivals.append(
            {
                "name": name,
                "verdict": "keeps an edge over" if low > 0.5 else verdict,
                "elo": f"{elo[a]:+.0f}",
                "share": _percent(wins, losses),
                "p": p_text(signed_rank(points[:, a], points[:, best]).p),
            }
        )
    return {"name": names[best], "elo": f"{elo[best]:+.0f}", "rivals": rivals}


def podium(results: Results) -> str:
    """Return the best, or all whose intervals overlap the best one's, and three at least."""
    ratings, names = results.ratings, results.tournament.names
    ordered = np.argsort(-ratings.elo, kind="stable").tolist()
    tied = [a for a in ordered if ratings.high[a] >= ratings.low[ordered[0]]]
    listed = "; ".join(
        f"{bold(names[a], a in tied)} {ratings.elo[a]:+.0f} "
        f"({ratings.low[a]:+.0f} to {ratings.high[a]:+.0f})"
        for a in ordered[: max(3, len(tied))]
    )
    together = (
        f" The intervals of the first {len(tied)} overlap: it is inconclusive which is best."
        if len(tied) > 1
        else ""
    )
    return f"{listed}.{together}"


def ratings_table(results: Results) -> str:
    """Return the ratings over all games and in each, the best first."""
    overall, each = results.ratings, results.ratings_by_game
    rows = []
    for a in np.argsort(-overall.elo, kind="stable"):
        # Equal numbers of wins make ratings that are equal but for rounding.
        cells = [bold(f"{one.elo[a]:+.0f}", one.elo.max() - one.elo[a] < 0.01) for one in each]
        interval = f"{overall.low[a]:+.0f} to {overall.high[a]:+.0f}"
        rows.append([results.tournament.names[a], f"{overall.elo[a]:+.0f}", interval, *cells])
    return table(("agent", "Elo", "95 % interval", *GAME_NAMES), rows)


def equivalents(equal: Results, timed: Results) -> list[tuple[str, ...]]:
    """Return the results of UCB with each enhancement against plain UCB-alpha2."""
    names = equal.tournament.names
    plain, rows = names.index("alpha2 plain"), []
    for name in ENHANCEMENTS:
        a = names.index(f"UCB {name}")
        decided = [_decided(results, a, plain) for results in (equal, timed)]
        cells = (
            bold(_percent(wins, losses), wilson(wins, wins + losses)[1] >= 0.5)
            for wins, losses in decided
        )
        rows.append((f"UCB {name}", *cells))
    return rows


def _decided(results: Results, a: int, b: int) -> tuple[int, int]:
    """Return how often a beat b and b beat a, over all games."""
    wins = results.wins().sum(0)
    return int(wins[a, b]), int(wins[b, a])


def _percent(wins: int, losses: int) -> str:
    low, high = wilson(wins, wins + losses)
    return f"{100 * (wins / max(wins + losses, 1)):.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def budget(results: Results) -> str:
    """Return what each move of these agents costs, e.g. `"simulations=1000"`."""
    items = results.tournament.agents[0].split(",")
    return next(one for one in items if one.startswith(("simulations=", "seconds=")))

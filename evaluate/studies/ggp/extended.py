"""The thesis' questions for future work: constants, the other policies, and enhancements.

1. Does UCB-alpha keep its edge over a well-tuned constant? (`constants`)
2. Which selection policy is best? (`policies`)
3. Which combination of policy and enhancements is best, and with which of them is plain UCB as good
   as UCB-alpha? At equal simulations (`combinations`), and at equal time, since an enhancement
   costs time (`equal_time`; these games depend on the machine and are never the same twice).
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ludoteca.agents.mcts.policies import POLICIES
from ludoteca.evaluate.markdown import bold, p_text, table
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.statistics.wilcoxon import signed_rank
from ludoteca.evaluate.studies.ggp.valencia2021 import GAME_NAMES, GAMES
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
ENHANCED = {"UCB": "policy=ucb1,alpha=2", "alpha2": "policy=ucb_alpha2"}


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
        "constants": {f"UCB {c:g}": f"policy=ucb1,alpha={c:g}" for c in CONSTANTS} | alphas,
        "policies": {name: f"policy={name}" for name in POLICIES},
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
        about: what else to tell about the run.
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
    write_whole(out / "report.md", to_markdown(found, run, versions))


def to_markdown(found: Mapping[str, Results], run: dict[str, Any], versions: dict[str, str]) -> str:
    """Return the report."""
    played = sum(results.tournament.total_games for results in found.values())
    equal, timed = found["combinations"], found["equal_time"]
    blocks = [
        "# Selection policies and enhancements in General Game Playing",
        f"What the thesis (UAEMex, 2021) leaves as future work, in its eight games and by its "
        f"rules: a draw is a loss for both. {played:,} games. Elo ratings have the mean 0 of their "
        "own table; intervals are 95 %.",
        "## Does UCB-alpha keep its edge over a well-tuned constant?",
        _edge(found["constants"]),
        "Elo in each game; the best of each game is bold, and everything in its own report: "
        "[constants](constants/report.md).",
        _by_game(found["constants"]),
        "## Which policy is best?",
        f"{_podium(found['policies'])} Parameters are the defaults of the agent `mcts`; more in "
        "[policies](policies/report.md).",
        _by_game(found["policies"]),
        "## Which combination is best?",
        f"With {_budget(equal)} a move: {_podium(equal)} More in "
        "[combinations](combinations/report.md).",
        _by_game(equal),
        f"With {_budget(timed)} a move: {_podium(timed)} More in "
        "[equal_time](equal_time/report.md).",
        _by_game(timed),
        "## With which enhancements is UCB as good as plain UCB-alpha2?",
        "UCB has alpha = 2. Wins against plain alpha2 of the games that were decided, over all "
        "games, with Wilson intervals; bold where the interval reaches 50 %, so that UCB cannot be "
        "told to be weaker. Of some 70 games each, these intervals are wide.",
        _equivalents(equal, timed),
        "## How it was made",
        *provenance_paragraphs(run, versions),
        "Playing took "
        + ", ".join(f"{duration(results.seconds)} ({stage})" for stage, results in found.items())
        + ", all processes together.",
    ]
    return "\n\n".join(blocks) + "\n"


def _edge(results: Results) -> str:
    """Compare both UCB-alpha with the constant that is best over all games."""
    names, elo = results.tournament.names, results.ratings.elo
    constants = [a for a, name in enumerate(names) if name.startswith("UCB ")]
    best = max(constants, key=lambda a: elo[a])
    points = results.points()
    lines = [f"The best constant over all games is {names[best]}, with Elo {elo[best]:+.0f}."]
    for name in ("alpha1", "alpha2"):
        a = names.index(name)
        test = signed_rank(points[:, a], points[:, best])
        wins, losses = _decided(results, a, best)
        low, high = wilson(wins, wins + losses)
        verdict = (
            "keeps an edge over"
            if low > 0.5
            else "is weaker than"
            if high < 0.5
            else "does not differ significantly from"
        )
        lines.append(
            f"**{name} {verdict} it**: Elo {elo[a]:+.0f}; of their decided games it wins "
            f"{_percent(wins, losses)}; over the games Wilcoxon's {p_text(test.p)}."
        )
    return "\n".join(f"- {line}" for line in lines)


def _podium(results: Results) -> str:
    """Name the best, or all whose intervals overlap the best one's, and three at least."""
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


def _by_game(results: Results) -> str:
    """Return the ratings over all games and in each, the best first."""
    overall, each = results.ratings, results.ratings_by_game
    rows = []
    for a in np.argsort(-overall.elo, kind="stable"):
        # Equal numbers of wins make ratings that are equal but for rounding.
        cells = [bold(f"{one.elo[a]:+.0f}", one.elo.max() - one.elo[a] < 0.01) for one in each]
        interval = f"{overall.low[a]:+.0f} to {overall.high[a]:+.0f}"
        rows.append([results.tournament.names[a], f"{overall.elo[a]:+.0f}", interval, *cells])
    return table(("agent", "Elo", "95 % interval", *GAME_NAMES), rows)


def _equivalents(equal: Results, timed: Results) -> str:
    """Compare UCB with each enhancement against plain UCB-alpha2."""
    names = equal.tournament.names
    plain = names.index("alpha2 plain")
    rows: list[Iterable[str]] = []
    for name in ENHANCEMENTS:
        a = names.index(f"UCB {name}")
        cells = []
        for results in (equal, timed):
            wins, losses = _decided(results, a, plain)
            reaches = wilson(wins, wins + losses)[1] >= 0.5
            cells.append(bold(_percent(wins, losses), reaches))
        rows.append([f"UCB {name}", *cells])
    return table(("agent", _budget(equal), _budget(timed)), [list(row) for row in rows])


def _decided(results: Results, a: int, b: int) -> tuple[int, int]:
    """Return how often a beat b and b beat a, over all games."""
    wins = results.wins().sum(0)
    return int(wins[a, b]), int(wins[b, a])


def _percent(wins: int, losses: int) -> str:
    low, high = wilson(wins, wins + losses)
    share = wins / max(wins + losses, 1)
    return f"{100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def _budget(results: Results) -> str:
    """Return what each move of these agents costs, e.g. `"simulations=1000"`."""
    items = results.tournament.agents[0].split(",")
    return next(one for one in items if one.startswith(("simulations=", "seconds=")))

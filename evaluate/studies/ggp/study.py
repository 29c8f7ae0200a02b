"""Study of the selection policies of the thesis on General Game Playing (UAEMex, 2021).

Five policies play a round robin in eight games, 300 games per pair and game, with 100 and with 1000
simulations per move: 48,000 games. A draw is a loss for both players, in the searches and in the
tables, and agents play the move with the highest mean value.

The extended study answers questions that the thesis leaves for future work, in four stages:

1. Is UCB-alpha better than UCB1 with a well-tuned constant? (`constants`)
2. Which selection policy is best? (`policies`)
3. Which combination of policy and enhancements is best, and with which of them is UCB1 as good as
   UCB-alpha? At equal simulations (`combinations`), and at equal time, since an enhancement costs
   time (`equal_time`; these games depend on the machine and are not reproducible).
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from ludoteca.duration import format_duration
from ludoteca.evaluate.studies.ggp import uaemex2021
from ludoteca.evaluate.studies.ggp.extended import answers
from ludoteca.evaluate.studies.ggp.report import comparison
from ludoteca.evaluate.studies.policies import PUBLISHED_POLICIES
from ludoteca.evaluate.studies.report import render
from ludoteca.evaluate.studies.runner import RUNS
from ludoteca.evaluate.tournament.plan import Tournament
from ludoteca.evaluate.tournament.report import provenance_paragraphs, write_report
from ludoteca.evaluate.tournament.results import Results
from ludoteca.evaluate.tournament.run import run_tournament
from ludoteca.evaluate.tournament.saved_results import read_results
from ludoteca.files import read_json, write_atomically
from ludoteca.local_executor import cores
from ludoteca.provenance import run_provenance

FAST_GAMES_PER_PAIR = 24
# Settings of the extended study.
GAMES_PER_PAIR = {"constants": 60, "policies": 20, "combinations": 10, "equal_time": 10}
EXTENDED_FAST_GAMES_PER_PAIR = 2
BUDGETS = ("simulations=1000", "seconds=0.002")  # search budgets per move
CONSTANTS = (2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)  # exploration constants of UCB1
# Options of the searches with each enhancement, by its name in the report.
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
# Policies that are combined with the enhancements.
ENHANCED = {"UCB": "policy=ucb1,policy.alpha=2", "alpha2": "policy=ucb_alpha2"}
# File of the results, template of the report, and function that returns the results and the values
# of the template; the key is whether the study is the extended one.
REPORTS = {
    False: ("comparison.json", "ggp/report.md.j2", comparison),
    True: ("answers.json", "ggp/extended.md.j2", answers),
}


def reproduce(
    out: Path | None = None,
    runs: Path = RUNS,
    fast: bool = False,
    extended: bool = False,
    seed: int = 0,
    processes: int | None = None,
    executor: str = "local",
    rewrite: bool = False,
) -> None:
    """Play the tournaments of the thesis on General Game Playing, and compare with its tables.

    An interrupted or killed run resumes when the same command is given again.

    Args:
        out: folder for the report; by default docs/results/ggp or, if extended, ggp_extended, and
            for fast runs a folder in `runs`.
        runs: folder for the logs of all games, with a folder for each experiment.
        fast: play 24 games per pair and game instead of 300, which takes some minutes.
        extended: run the extended study instead, which compares further constants, policies and
            enhancements.
        seed: seed of the games; the same seed gives the same games.
        processes: number of processes; by default one per core.
        executor: executor of the games: local, or a Ray cluster: ray (on this machine), ray:auto,
            ray:HOST:PORT; see docs/distributed.md.
        rewrite: play nothing: write the report again from the tournaments' reports in `out`.
    """
    name = "ggp_extended" if extended else "ggp"
    records = runs / (f"{name}_fast" if fast else name)
    out = (records / "report" if fast else Path("docs/results") / name) if out is None else out
    results, show_progress = dict[str, Results](), sys.stderr.isatty()
    for stage, tournament in (extended_study if extended else study)(fast, seed).items():
        if rewrite:
            results[stage] = read_results(out / stage)
            continue
        print(f"{stage}: {tournament.total_games:,} games", file=sys.stderr)
        results[stage] = run_tournament(
            tournament,
            records / stage,
            processes=processes,
            progress=show_progress,
            executor=executor,
        )
        write_report(results[stage], out / stage, processes=processes or cores())
    file, template, compare = REPORTS[extended]
    run = read_json(out / file) if rewrite else run_provenance(processes=processes or cores())
    provenance = {key: run[key] for key in ("about", "versions")}
    content, names = compare(results)
    text = json.dumps(provenance | content, indent=1, default=lambda number: number.item())
    names |= {"provenance": provenance_paragraphs(**provenance), "duration": format_duration}
    write_atomically(out / file, text + "\n")
    write_atomically(out / "report.md", render(template, names))
    print(f"report: {out / 'report.md'}")


def study(fast: bool, seed: int) -> dict[str, Tournament]:
    """Return the thesis' tournaments, by the number of simulations per move."""
    agents = dict(zip(uaemex2021.POLICY_NAMES, uaemex2021.SPECS.values(), strict=True))
    games = FAST_GAMES_PER_PAIR if fast else uaemex2021.GAMES_PER_PAIR
    return {
        str(simulations): tournament(
            agents, f"simulations={simulations}", games, uaemex2021.REPEATS, seed
        )
        for simulations in uaemex2021.WINS
    }


def extended_study(fast: bool, seed: int) -> dict[str, Tournament]:
    """Return the tournaments of the extended study, by stage."""
    simulations, seconds = ("simulations=200", "seconds=0.0004") if fast else BUDGETS
    combined = {
        f"{policy} {name}": ",".join(filter(None, (spec, options)))
        for policy, spec in ENHANCED.items()
        for name, options in ENHANCEMENTS.items()
    }
    agents = {
        "constants": {f"UCB {c:g}": f"policy=ucb1,policy.alpha={c:g}" for c in CONSTANTS}
        | {"alpha1": "policy=ucb_alpha1", "alpha2": "policy=ucb_alpha2"},
        "policies": {name: f"policy={name}" for name in PUBLISHED_POLICIES},
        "combinations": combined,
        "equal_time": combined,
    }
    return {
        stage: tournament(
            agents[stage], seconds if stage == "equal_time" else simulations,
            EXTENDED_FAST_GAMES_PER_PAIR if fast else games, 1, seed,
        )
        for stage, games in GAMES_PER_PAIR.items()
    }  # fmt: skip


def tournament(
    agents: Mapping[str, str], budget: str, games: int, repeats: int, seed: int
) -> Tournament:
    """Return a tournament of tree searches in the thesis' games.

    Args:
        agents: options of each agent, by name.
        budget: search budget per move, as an option, such as `"simulations=100"`.
        games: number of games per pair and game.
        repeats: number of matches into which these games are divided.
        seed: seed of all games.
    """
    thesis_options = "draw=loss,action_selection=mean"  # as in the thesis' searches
    specs = tuple(f"mcts:{options},{budget},{thesis_options}" for options in agents.values())
    return Tournament(uaemex2021.GAMES, specs, games, repeats, seed, "loss", tuple(agents))

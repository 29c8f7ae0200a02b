"""Study of the selection policies of the thesis in General Game Playing (UAEMex, 2021).

Five policies play a round robin in eight games, 300 games a pair and game, with 100 and with 1000
simulations a move: 48,000 games. A draw is a loss for both, in the searches and in the tables, and
the move with the highest mean is played.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

from ludoteca.evaluate.studies.ggp import extended as ggp_extended
from ludoteca.evaluate.studies.ggp import report as ggp_report
from ludoteca.evaluate.studies.ggp import uaemex2021
from ludoteca.evaluate.tournament.plan import Tournament
from ludoteca.evaluate.tournament.report import write_report
from ludoteca.evaluate.tournament.results import Results
from ludoteca.evaluate.tournament.run import run_tournament
from ludoteca.evaluate.tournament.saved_results import read_results
from ludoteca.local_executor import cores

FAST_GAMES_PER_PAIR = 24
POLICIES = {  # as spec strings
    "ucb1": "policy=ucb1,policy.alpha=2",
    "etc": "policy=etc,policy.m=2",
    "ucb_tuned": "policy=ucb_tuned",
    "ucb_alpha1": "policy=ucb_alpha1",
    "ucb_alpha2": "policy=ucb_alpha2",
}


def reproduce(
    out: Path | None = None,
    runs: Path = Path("runs/reproduce"),
    fast: bool = False,
    extended: bool = False,
    seed: int = 0,
    processes: int | None = None,
    executor: str = "local",
    rewrite: bool = False,
) -> None:
    """Play the study of the thesis in General Game Playing, and compare with its tables.

    Interrupted or killed, it resumes when the same command is given again.

    Args:
        out: folder for the report; by default docs/results/ggp or, if extended, ggp_extended, and
            for fast runs a folder in `runs`.
        runs: folder for the records of all games, with a folder for each experiment.
        fast: play 24 games a pair instead of 300, which takes some minutes.
        extended: instead of the study, compare all other policies and enhancements, to answer the
            thesis' questions for future work.
        seed: the same seed gives the same games.
        processes: how many play in parallel; one for each core by default.
        executor: where they run: local, or a Ray cluster: ray (of this machine), ray:auto,
            ray:HOST:PORT; see docs/distributed.md.
        rewrite: write the comparison again from the tournaments' reports in `out`, and play
            nothing.
    """
    name = "ggp_extended" if extended else "ggp"
    used = processes or cores()
    records = runs / (f"{name}_fast" if fast else name)
    out = (records / "report" if fast else Path("docs/results") / name) if out is None else out
    stages = ggp_extended.stages(fast, seed) if extended else study(fast, seed)
    if rewrite:
        _rewrite(out, tuple(stages), extended)
        print(f"report: {out / 'report.md'}")
        return
    found: dict[str, Results] = {}
    for stage, tournament in stages.items():
        print(f"{stage}: {tournament.total_games:,} games", file=sys.stderr)
        found[stage] = run_tournament(
            tournament,
            records / stage,
            processes=processes,
            progress=sys.stderr.isatty(),
            executor=executor,
        )
        write_report(found[stage], out / stage, processes=used)
    if extended:
        ggp_extended.write(found, out, processes=used)
    else:
        by_simulations = {int(stage): results for stage, results in found.items()}
        ggp_report.write(by_simulations, out, processes=used)
    print(f"report: {out / 'report.md'}")


def _rewrite(out: Path, stages: tuple[str, ...], extended: bool) -> None:
    """Write the comparison again from the reports of its tournaments."""
    found = {stage: read_results(out / stage) for stage in stages}
    content = json.loads((out / ("answers.json" if extended else "comparison.json")).read_text())
    made = {key: content[key] for key in ("about", "versions")}
    if extended:
        ggp_extended.write(found, out, made)
    else:
        ggp_report.write({int(stage): one for stage, one in found.items()}, out, made)


def study(fast: bool, seed: int) -> dict[str, Tournament]:
    """Return the thesis' tournaments, by simulations a move."""
    whole = {
        str(simulations): Tournament(
            games=uaemex2021.GAMES,
            agents=tuple(
                f"mcts:{policy},simulations={simulations},draw=loss,action_selection=mean"
                for policy in POLICIES.values()
            ),
            names=uaemex2021.POLICY_NAMES,
            games_per_pair=uaemex2021.GAMES_PER_PAIR,
            repeats=uaemex2021.REPEATS,
            seed=seed,
            draws="loss",
        )
        for simulations in uaemex2021.WINS
    }
    if not fast:
        return whole
    return {
        name: replace(tournament, games_per_pair=FAST_GAMES_PER_PAIR)
        for name, tournament in whole.items()
    }

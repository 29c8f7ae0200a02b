"""The command `python -m ludoteca.evaluate.reproduce bandits`."""

import sys
from dataclasses import replace
from pathlib import Path

from ludoteca.envs.params import integer
from ludoteca.evaluate.bandits.cells import FULL, CellMissingError, Study
from ludoteca.evaluate.bandits.report import write_report
from ludoteca.evaluate.bandits.study import Shard, run_study


def reproduce(
    out: Path | None = None,
    runs: Path = Path("runs/reproduce"),
    full: bool = False,
    problems: int | None = None,
    shard: str = "0/1",
    merge: bool = False,
    seed: int = 1,
    threads: int = 2,
) -> None:
    """Find the best constant of UCB1 for each number of arms, as the thesis did.

    Interrupted or killed, it resumes where it was when the same command is given again.

    To distribute the full size, start it with --full --shard 0/8 to --full --shard 7/8, with one
    shared folder or each with its own. A shard stops where it needs what others find: join the
    folders, start all again, and join them again. At last --full --merge writes the report.

    Args:
        out: folder for the report; by default docs/results/bandits or, in full, bandits_full, and
            with fewer problems a folder in `runs`.
        runs: folder for what was found so far, with a folder for each experiment.
        full: the thesis' own size, about 10^13 pulls, instead of the scaled experiment.
        problems: for each number of arms, in hundreds, instead of 1000; 100 take a minute or two.
        shard: i/n: compute only the i-th of n parts, from 0.
        merge: compute nothing: join what the shards left.
        seed: decides all chance.
        threads: that share the problems.
    """
    study, name = (FULL, "bandits_full") if full else (Study(), "bandits")
    report = Path("docs/results") / name
    study = replace(study, seed=seed)
    if problems is not None:
        name = f"{name}_{problems}"
        report = runs / name / "report"
        fewer = min(problems, study.annealing_problems)
        study = replace(study, problems=problems, annealing_problems=fewer)
    integer("threads", threads, 1, 1024)
    try:
        findings = run_study(
            study, runs / name, Shard.parse(shard), threads, merge, quiet=not sys.stderr.isatty()
        )
    except CellMissingError as error:
        sys.exit(f"{error}; join the shards' folders {runs / name}")
    print(f"report: {write_report(findings, report if out is None else out)}")

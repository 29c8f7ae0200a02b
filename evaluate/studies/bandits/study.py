"""Command `python -m ludoteca.evaluate.studies bandits`."""

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from ludoteca.envs.params import integer, real
from ludoteca.evaluate.studies.bandits.cells import FULL, BanditStudy
from ludoteca.evaluate.studies.bandits.computation import (
    NOTHING,
    CellMissingError,
    Shard,
    run_study,
)
from ludoteca.evaluate.studies.bandits.plan import make_plan
from ludoteca.evaluate.studies.bandits.report import write_report
from ludoteca.executor import LOCAL, make_executor


def reproduce(
    out: Path | None = None,
    runs: Path = Path("runs/reproduce"),
    full: bool = False,
    problems: int | None = None,
    shard: str = "0/1",
    merge: bool = False,
    seed: int = 1,
    threads: int = 2,
    executor: str = LOCAL,
    processes: int | None = None,
    plan: bool = False,
    price: float = 0.04,
) -> None:
    """Find the best constant of UCB1 for each number of arms, as in the thesis.

    Interrupted or killed, it resumes where it was when the same command is given again.

    To distribute the full size, start it with --full --shard 0/8 to --full --shard 7/8, with one
    shared folder or each with its own. A shard stops where it needs results of others: join the
    folders, start all again, and join them again. At last --full --merge writes the report.

    Args:
        out: folder for the report; by default docs/results/bandits or, in full, bandits_full, and
            with fewer problems a folder in `runs`.
        runs: folder of the cells computed so far, with a folder for each experiment.
        full: the thesis' own size, about 10^13 pulls, instead of the scaled experiment.
        problems: number of problems for each number of arms, a multiple of 100; 100 take a minute
            or two.
        shard: i/n: compute only the i-th of n parts, from 0.
        merge: compute nothing: join the results of the shards.
        seed: seed of all random numbers.
        threads: threads that share the problems, without executor and processes.
        executor: executor of the cells: local, or a Ray cluster: ray (of this machine),
            ray:auto, ray:HOST:PORT; see docs/distributed.md.
        processes: number of processes that compute cells, each with one thread.
        plan: measure some cells, and print how long all will take with 1 to 1,000 processes,
            instead of computing them.
        price: price of a core hour in dollars, for the plan.
    """
    study, name = (FULL, "bandits_full") if full else (BanditStudy(), "bandits")
    report = Path("docs/results") / name
    study = replace(study, seed=seed)
    if problems is not None:
        name = f"{name}_{problems}"
        report = runs / name / "report"
        fewer = min(problems, study.annealing_problems)
        study = replace(study, problems=problems, annealing_problems=fewer)
    integer("threads", threads, 1, 1024)
    part = NOTHING if merge else Shard.parse(shard)
    if plan:
        real("price", price, 0, 1e6)
        print(make_plan(study).text(price), end="")
        return
    parallel = processes is not None or executor != LOCAL
    made = make_executor(executor, processes) if parallel else nullcontext()
    threads, quiet = 1 if parallel else threads, not sys.stderr.isatty()
    try:
        with made as workers:
            findings = run_study(study, runs / name, part, threads, workers, quiet)
    except CellMissingError as error:
        sys.exit(f"{error}; join the shards' folders {runs / name}")
    print(f"report: {write_report(findings, report if out is None else out)}")

"""Command of the study of bandits: `python -m ludoteca.evaluate.studies bandits`."""

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
from ludoteca.evaluate.studies.bandits.cooling import DEFAULT_COOLING
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
    cooling: str = DEFAULT_COOLING,
) -> None:
    """Find the best constant of UCB1 for each number of arms, as in the thesis.

    An interrupted or killed run resumes when the same command is given again.

    To distribute the full experiment over machines, start it with --full --shard 0/8 to --full
    --shard 7/8, with one shared folder or one folder each. A shard stops where it needs results of
    other shards: copy all folders into one another, and start all shards again, until none stops.
    At last --full --merge writes the report.

    Args:
        out: folder for the report; by default docs/results/bandits or, in full, bandits_full, and
            with fewer problems a folder in `runs`.
        runs: folder for the computed results, with a folder for each experiment.
        full: run the thesis' experiment in full size, about 10^13 pulls, instead of the reduced
            one.
        problems: number of problems for each number of arms, a multiple of 100; 100 problems take a
            minute or two.
        shard: i/n: compute only the i-th of n shards, from 0.
        merge: compute nothing: write the report from the results of the shards.
        seed: seed of all random numbers.
        threads: threads that share the problems, if neither --executor nor --processes is used.
        executor: executor of the computation: local, or a Ray cluster: ray (on this machine),
            ray:auto, ray:HOST:PORT; see docs/distributed.md.
        processes: number of processes, each with one thread.
        plan: only measure a sample, and print how long everything takes with 1 to 1,000 processes.
        price: price of a core hour in dollars, for the plan.
        cooling: cooling schedule of simulated annealing: geometric (the thesis), logarithmic,
            linear or arithmetic_geometric. Others than the default have a folder of their own.
    """
    study, name = (FULL, "bandits_full") if full else (BanditStudy(), "bandits")
    default_out = Path("docs/results") / name
    study = replace(study, seed=seed, cooling=cooling)
    if cooling != DEFAULT_COOLING:
        name = f"{name}_{cooling}"
        default_out = runs / name / "report"
    if problems is not None:
        name = f"{name}_{problems}"
        default_out = runs / name / "report"
        annealing_problems = min(problems, study.annealing_problems)
        study = replace(study, problems=problems, annealing_problems=annealing_problems)
    integer("threads", threads, 1, 1024)
    computed_shard = NOTHING if merge else Shard.parse(shard)
    if plan:
        real("price", price, 0, 1e6)
        print(make_plan(study).text(price), end="")
        return
    parallel = processes is not None or executor != LOCAL
    executor_context = make_executor(executor, processes) if parallel else nullcontext()
    threads, quiet = 1 if parallel else threads, not sys.stderr.isatty()
    try:
        with executor_context as workers:
            findings = run_study(study, runs / name, computed_shard, threads, workers, quiet)
    except CellMissingError as error:
        sys.exit(f"{error}; copy the folders {runs / name} of all shards into one another")
    print(f"report: {write_report(findings, default_out if out is None else out)}")

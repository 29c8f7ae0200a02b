"""Command of the study of bandits: `python -m ludoteca.evaluate.studies bandits`."""

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from ludoteca.duration import format_duration
from ludoteca.envs.params import check_integer, check_real
from ludoteca.evaluate.bandits.computation import (
    NOTHING,
    CellMissingError,
    Shard,
    run_experiment,
)
from ludoteca.evaluate.bandits.experiment import BanditExperiment
from ludoteca.evaluate.bandits.plan import Plan, make_plan
from ludoteca.evaluate.forecast import forecast_lines
from ludoteca.evaluate.studies.bandits.report import write_report
from ludoteca.evaluate.studies.bandits.thesis import THESIS, thesis_constants
from ludoteca.evaluate.studies.data import PUBLISHED_POLICIES
from ludoteca.evaluate.studies.report import render
from ludoteca.evaluate.tuning.annealing import DEFAULT_COOLING
from ludoteca.executor import LOCAL, make_executor

# The defaults are smaller than Valencia's experiment, `FULL`: about 2 * 10^12 pulls for the grids.
# The thesis does not give the steps of simulated annealing. It evaluates each step on all 1,000
# problems: with 40 steps 5 * 10^12 pulls more.
REDUCED = BanditExperiment(tuple(THESIS["arms"]))
FULL = replace(REDUCED, runs=100, annealing_problems=1000, curve_problems=50, block=50)


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
    """Find the best constant of UCB1 for each number of arms, as in Valencia's thesis (2021).

    An interrupted or killed run resumes when the same command is given again.

    To distribute the full experiment over machines, start it with --full --shard 0/8 to --full
    --shard 7/8, with one shared folder or one folder each. A shard stops where it needs results of
    other shards: copy all folders into one another, and start all shards again, until none stops.
    At last --full --merge writes the report.

    Args:
        out: folder for the report; by default docs/results/bandits or, in full, bandits_full, and
            with fewer problems a folder in `runs`.
        runs: folder for the computed results, which are in the folder bandits or bandits_full
            there; --cooling and --problems are appended to its name.
        full: run the thesis' experiment in full size, about 6 * 10^12 pulls, instead of the
            reduced one.
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
    experiment, name = (FULL, "bandits_full") if full else (REDUCED, "bandits")
    default_out = Path("docs/results") / name
    experiment = replace(experiment, seed=seed, cooling=cooling)
    if cooling != DEFAULT_COOLING:
        name = f"{name}_{cooling}"
        default_out = runs / name / "report"
    if problems is not None:
        name = f"{name}_{problems}"
        default_out = runs / name / "report"
        annealing_problems = min(problems, experiment.annealing_problems)
        experiment = replace(experiment, problems=problems, annealing_problems=annealing_problems)
    check_integer("threads", threads, 1, 1024)
    computed_shard = NOTHING if merge else Shard.parse(shard)
    constants = thesis_constants()
    if plan:
        check_real("price", price, 0, 1e6)
        print(plan_text(make_plan(experiment, PUBLISHED_POLICIES, constants), price), end="")
        return
    parallel = processes is not None or executor != LOCAL
    executor_context = make_executor(executor, processes) if parallel else nullcontext()
    threads, quiet = 1 if parallel else threads, not sys.stderr.isatty()
    try:
        with executor_context as workers:
            findings = run_experiment(
                experiment, runs / name, PUBLISHED_POLICIES, computed_shard, threads, workers,
                quiet, constants,
            )  # fmt: skip
    except CellMissingError as error:
        sys.exit(f"{error}; copy the folders {runs / name} of all shards into one another")
    print(f"report: {write_report(findings, default_out if out is None else out)}")


def plan_text(plan: Plan, price: float) -> str:
    """Return a plan as text; `price` is the price of a core hour, in dollars."""
    table = "\n".join(forecast_lines(plan.forecast, price))
    names = {**vars(plan), "forecast_table": table, "format_duration": format_duration}
    return render("bandits/plan.txt.j2", names)

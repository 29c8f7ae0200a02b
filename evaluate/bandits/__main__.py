"""The best constant of UCB1 by the number of arms: the thesis' experiment.

`python -m ludoteca.evaluate.bandits` plays a scaled version in some minutes; killed, it goes on
where it was when it is started again. `--full` is the thesis' own size. To distribute it, start
`--full --shard 0/8` to `--full --shard 7/8`, in one shared folder or each in its own: a shard stops
where it needs the others' cells. Join the folders, start all again, and join them again;
`--full --merge` then writes the report.
"""

import sys
from dataclasses import replace
from pathlib import Path

import tyro

from ludoteca.envs.params import integer
from ludoteca.evaluate.bandits.cells import FULL, CellMissingError, Study
from ludoteca.evaluate.bandits.report import write_report
from ludoteca.evaluate.bandits.study import Shard, run_study


def bandits(
    out: Path = Path("runs/bandits"),
    report: Path | None = None,
    full: bool = False,
    shard: str = "0/1",
    merge: bool = False,
    threads: int = 2,
    problems: int | None = None,
    seed: int = 1,
) -> None:
    """Find the best alpha of UCB1 for each number of arms, and write a report.

    Args:
        out: folder for the cells, which a run that was stopped goes on with.
        report: folder for the report; by default `out`.
        full: the thesis' own size, about 10^13 pulls, instead of the scaled experiment.
        shard: `i/n`: compute only the i-th of n parts, from 0.
        merge: compute nothing: join what shards left in `out`.
        threads: that share the problems.
        problems: for each K, in hundreds; fewer are faster and noisier.
        seed: decides all chance.
    """
    study = replace(FULL if full else Study(), seed=seed)
    try:
        if problems is not None:
            fewer = min(problems, study.annealing_problems)
            study = replace(study, problems=problems, annealing_problems=fewer)
        integer("threads", threads, 1, 1024)
        findings = run_study(study, out, Shard.parse(shard), threads, merge)
    except (CellMissingError, ValueError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(f"the same command goes on with the study in {out}")
    print(f"the report: {write_report(findings, report or out)}")


def main() -> None:
    """Run the command."""
    tyro.cli(bandits)


if __name__ == "__main__":
    main()

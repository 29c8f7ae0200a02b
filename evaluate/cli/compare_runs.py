"""The command `ludoteca compare-runs`."""

from typing import Annotated

from tyro.conf import Positional, arg

from ludoteca.evaluate.cli.options import OptionalFile


def compare_runs_command(
    runs: Annotated[Positional[tuple[str, ...]], arg(metavar="RUNS [RUNS ...]")],
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    json: OptionalFile = None,
) -> None:
    """Compare training runs over several seeds: aggregate scores with bootstrap intervals.

    Each group of runs has the same settings and different seeds. Their final evaluations are
    summarized by interquartile mean, median, mean and optimality gap; for every two groups the
    probability of improvement is printed, too.

    Args:
        runs: groups of runs: a folder of run folders, or a pattern in quotes, such as 'runs/dqn-*'.
        confidence: level of the intervals.
        resamples: number of bootstrap samples.
        seed: seed of the samples.
        json: also write all numbers to this file.
    """
    from json import dumps

    from rich.console import Console

    from ludoteca.evaluate.compare_runs import (
        compare_runs,
        comparison_json,
        comparison_notes,
        comparison_tables,
    )
    from ludoteca.files import write_atomically
    from ludoteca.provenance import run_provenance

    comparison = compare_runs(runs, confidence, resamples, seed)
    console = Console(highlight=False)
    for table in comparison_tables(comparison):
        console.print(table)
    for note in comparison_notes(comparison):
        console.print(note)
    if json is not None:
        content = comparison_json(comparison) | run_provenance("scipy")
        write_atomically(json, dumps(content, indent=2) + "\n")
        console.print(f"all numbers: {json}", soft_wrap=True)

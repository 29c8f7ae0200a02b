"""Benchmark of Hex with NumPy and with PyTorch: `ludoteca bench arrays`.

Tanaka, "Inteligencia artificial para o jogo de Hex" (University of Sao Paulo, 2018): its program
was slower with boards in PyTorch than with boards in NumPy that are converted for the network
(section 3.8), and about 6 times slower on 8x8 than on 5x5 (section 4.5). It has no further numbers
on either. This benchmark measures both, and the convolutions of its network in both libraries, in
CPU time.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ludoteca.evaluate.bench.arrays_page import markdown_page
from ludoteca.evaluate.bench.arrays_workloads import (
    BATCH,
    BoardWorkload,
    HeuristicWorkload,
    NetworkWorkload,
    TrainingWorkload,
)
from ludoteca.evaluate.bench.measures import Comparison, Group
from ludoteca.evaluate.bench.report import Report
from ludoteca.evaluate.bench.rounds import measure_groups
from ludoteca.files import parse_json, write_atomically

SIZES = (5, 8)  # rows of the boards that the paper compares
ROUNDS = 20  # samples of each side; the ratios of the rounds give an interval


def groups() -> dict[str, Callable[[], Group]]:
    """Return the makers of the groups of comparisons, by name, in the order of the report."""
    return {"boards": board_group, "convolutions": convolution_group, "sizes": size_group}


def board_group() -> Group:
    """Compare boards in NumPy with boards in PyTorch."""
    work = "random games of Hex 5x5 in plain Python, after each move a tensor of floats; planes in "
    return Group(
        ours={name: partial(BoardWorkload, name) for name in ("numpy", "torch")},
        comparisons=(
            Comparison(
                "random games of Hex 5x5: boards in NumPy, boards in PyTorch", ours="numpy",
                peer="torch", floor=None, timed=(f"{work}NumPy", f"{work}PyTorch"), unit="moves/s",
            ),
        ),
    )  # fmt: skip


def convolution_group() -> Group:
    """Compare the outputs of the paper's network by NumPy with those by PyTorch."""
    work = f"outputs of convolutions of 48 and 384 filters, 2x2, {BATCH} positions of 5x5, float32"
    return Group(
        ours={name: partial(NetworkWorkload, name) for name in ("torch", "numpy")},
        comparisons=(
            Comparison(
                "outputs of the paper's network: PyTorch, NumPy", ours="torch", peer="numpy",
                floor=None, unit="positions/s",
                timed=(f"{work}; PyTorch", f"{work}; NumPy: windows and matrix products"),
            ),
        ),
    )  # fmt: skip


def size_group() -> Group:
    """Compare 5x5 with 8x8: boards in NumPy, the opponent, updates, and whole games."""
    kinds: dict[str, tuple[Callable[..., Any], str]] = {
        "moves of random games, boards in NumPy": (partial(BoardWorkload, "numpy"), "moves/s"),
        "moves of mixed": (HeuristicWorkload, "moves/s"),
        "updates of the paper's network": (partial(NetworkWorkload, "update"), "positions/s"),
        "games of the training, without updates": (
            partial(TrainingWorkload, updates=False),
            "games/s",
        ),
        "games of the training, with updates": (TrainingWorkload, "games/s"),
    }
    return Group(
        ours={
            f"{name}, {size}x{size}": partial(make, size=size)
            for name, (make, _) in kinds.items()
            for size in SIZES
        },
        comparisons=tuple(
            Comparison(
                f"{name}: 5x5, 8x8", ours=f"{name}, 5x5", peer=f"{name}, 8x8", floor=None,
                timed=("5x5", "8x8"), unit=unit,
            )
            for name, (_, unit) in kinds.items()
        ),
    )  # fmt: skip


def bench_arrays(
    json: Path | None,
    seconds: float = 2.0,
    only: tuple[str, ...] = (),
    page: Path | None = None,
    *,
    keep: bool = False,
    rounds: int = ROUNDS,
) -> Report | None:
    """Measure, print the table, and write all numbers as JSON; see `measure_groups`.

    Args:
        json: file for the results; None: no file.
        seconds: CPU time per side, all rounds together.
        only: names of groups, or their prefixes; all by default.
        page: file for the page in Markdown; None: no file.
        keep: write only the page, from the results in `json`, and return None.
        rounds: number of samples of each side.

    Raises:
        ValueError: if there is no such group, `seconds` is not positive, the page lacks groups or
            a file for the numbers, or `keep` has no page.
        OSError: if a file cannot be read or written.
    """
    import torch

    if page is not None and (json is None or (only and not keep)):
        raise ValueError("the page needs --json, which it links to, and all measures")
    if keep and page is None:
        raise ValueError("bench arrays --keep writes the page again: it needs --page and --json")
    report = None
    if not keep:
        report = measure_groups(
            groups(), "Hex in NumPy and PyTorch", json, seconds, only,
            rounds=rounds, packages=("torch",), threads=torch.get_num_threads(),
        )  # fmt: skip
    if page is not None and json is not None:
        write_atomically(page, markdown_page(parse_json(json.read_bytes()), json.name))
    return report

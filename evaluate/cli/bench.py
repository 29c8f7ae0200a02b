"""The command `ludoteca bench`."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from ludoteca.evaluate.cli.options import File, Folder


def bench(
    what: Annotated[
        Positional[Literal["envs", "mcts", "endgame", "actors", "gdl", "tuning", "arrays"]],
        arg(help_behavior_hint=""),
    ],
    peers: bool = False,
    strength: bool = False,
    games: int = 40,
    folder: Path = Path("runs/strength"),
    json: File = None,
    seconds: float = 2.0,
    only: Annotated[tuple[str, ...], arg(metavar="[MEASURE ...]", help_behavior_hint="")] = (),
    executor: str = "local",
    sheets: File = None,
    traces: Folder = None,
    page: File = None,
) -> None:
    """Benchmark environments or searches, and other packages if they are installed.

    Args:
        what: benchmark; endgame: exact endgames of Othello; actors: self-play actors and
            their learner, and more of them in a simulation (more options:
            python -m ludoteca.train.throughput --help); gdl: rule sheets; tuning: optimizers of
            parameters against a grid search; arrays: Hex with NumPy and with PyTorch.
        peers: measure the other packages, too; `make peers` installs them.
        strength: play matches of our search against OpenSpiel's instead (mcts), with equal
            simulations and with equal time.
        games: number of games per game and condition (strength).
        folder: folder with the log of the games; an interrupted run resumes there (strength).
        json: also write all numbers to this file.
        seconds: time of each measurement, or of each endgame, compilation excluded.
        only: names of measures, matches or endgames (ffo-1 to ffo-59), or their beginnings; by
            default all, and the endgames with 20 to 23 empty squares.
        executor: executor of the actors: local, ray or ray:ADDRESS (actors).
        sheets: folder of rule sheets (*.kif), or one of them; by default those of this package
            (gdl).
        traces: folder with games that GGP-Base played by the sheets, to compare with; `make
            gdl-traces` records them (gdl).
        page: write the table into this file, in Markdown (gdl).
    """
    if what != "gdl" and (sheets or traces or page):
        raise ValueError(f"--sheets, --traces and --page are for bench gdl, not bench {what}")
    if what == "gdl":
        if peers or strength:
            raise ValueError("bench gdl takes no --peers and no --strength")
        from ludoteca.evaluate.bench.gdl import bench_gdl

        bench_gdl(sheets, traces, json, page, seconds, only)
        return
    if executor != "local" and what != "actors":
        raise ValueError(f"only actors run on an executor: bench actors --executor, not {what}")
    if what == "actors":
        if peers or strength or only:
            raise ValueError("bench actors takes no --peers, --strength or --only")
        module = "ludoteca.train.throughput"  # a command: this package does not import training
        arguments = ["--json-file", str(json)] if json is not None else []
        command = [sys.executable, "-P", "-m", module, "--executor", executor, *arguments]
        sys.exit(subprocess.run(command).returncode)
    if strength and what != "mcts":
        raise ValueError(f"only searches have a strength: bench mcts --strength, not bench {what}")
    if peers and what == "endgame":
        raise ValueError("there are no peers for endgames: expected no --peers")
    if strength:
        from ludoteca.evaluate.bench.strength import bench_strength

        bench_strength(json=json, games=games, folder=folder, only=only)
    elif what == "mcts":
        from ludoteca.evaluate.bench.mcts import bench_mcts

        bench_mcts(peers=peers, json=json, seconds=seconds, only=only)
    elif what == "tuning":
        if peers:
            raise ValueError("bench tuning takes no --peers")
        from ludoteca.evaluate.bench.tuning import bench_tuning

        bench_tuning(json=json, only=only)
    elif what == "arrays":
        if peers:
            raise ValueError("bench arrays takes no --peers")
        from ludoteca.evaluate.bench.arrays import bench_arrays

        bench_arrays(json=json, seconds=seconds, only=only)
    elif what == "endgame":
        from ludoteca.evaluate.bench.endgame import bench_endgame

        bench_endgame(json=json, seconds=seconds, only=only)
    else:
        from ludoteca.evaluate.bench.envs import bench_envs

        bench_envs(peers=peers, json=json, seconds=seconds, only=only)

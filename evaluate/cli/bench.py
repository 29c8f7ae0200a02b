"""The command `ludoteca bench`."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from ludoteca.evaluate.cli.options import OptionalFile, OptionalFolder

Benchmark = Literal["envs", "mcts", "endgame", "actors", "gdl", "tuning", "arrays", "bandits"]
PAGES = ("gdl", "tuning", "arrays")  # benchmarks that write pages


def bench(
    benchmark: Annotated[Positional[Benchmark], arg(help_behavior_hint="")],
    peers: bool = False,
    kernels: bool = False,
    playouts: bool = False,
    strength: bool = False,
    games: int = 40,
    folder: Path = Path("runs/strength"),
    json: OptionalFile = None,
    seconds: float = 2.0,
    only: Annotated[tuple[str, ...], arg(metavar="[MEASURE ...]", help_behavior_hint="")] = (),
    executor: str = "local",
    sheets: OptionalFile = None,
    traces: OptionalFolder = None,
    page: OptionalFile = None,
    conformance: Annotated[
        Literal["interpreted", "kernels", "compiled"] | None, arg(help_behavior_hint="")
    ] = None,
    keep: bool = False,
) -> None:
    """Benchmark environments or searches, and other packages if they are installed.

    Args:
        benchmark: envs: environments; mcts: tree search; endgame: exact endgames of Othello;
            actors: self-play actors with a learner, and a simulation of more actors (more
            options: python -m ludoteca.train.throughput --help); gdl: rule sheets; tuning:
            optimizers of parameters against a grid search; arrays: Hex with NumPy and with
            PyTorch; bandits: UCB1 in bandits.
        peers: also measure other packages; `make peers` installs them. gdl: instead compare the
            speed of sheets with Sancho and GGP-Base, which `make gdl-peers` compiles.
        kernels: instead measure random games and searches of single states by the kernels of each
            sheet, in CPU time (gdl).
        playouts: instead measure tree search with several playouts of each leaf, in CPU time (gdl).
        strength: instead play matches of this package's search against OpenSpiel's, with equal
            simulations and with equal time (mcts).
        games: number of games per game and condition (strength).
        folder: folder with the log of the games; an interrupted run resumes there (strength).
        json: also write all numbers to this file.
        seconds: time of each measurement, or of each endgame, compilation excluded.
        only: names of measures, matches or endgames (ffo-1 to ffo-59), or prefixes of names; by
            default all measures and matches, and the endgames ffo-40 to ffo-44. Exact names of
            sheets for bench gdl --peers, --kernels and --playouts.
        executor: executor of the actors: local, ray or ray:ADDRESS; see docs/distributed.md
            (actors).
        sheets: folder of rule sheets (*.kif), or one of them; by default those of this package
            (gdl).
        traces: folder of games that GGP-Base played by these sheets, for comparison; `make
            gdl-traces` records them (gdl).
        page: write the results into this file, in Markdown (gdl, tuning, arrays).
        conformance: also check the rules and environments of each sheet by the suites of
            ludoteca.testing, as interpreted games or compiled, which takes a minute for each;
            kernels: instead compare only the compiled kernels of each sheet with the rules, and
            with the games in --traces (gdl).
        keep: keep the results in the file --json, and measure only the sheets or tuning problems
            that it lacks, or those in --only: an interrupted run continues (gdl, tuning). arrays:
            measure nothing, and write --page from the file.
    """
    if benchmark != "gdl" and (sheets or traces or conformance or kernels or playouts):
        raise ValueError(
            "--sheets, --traces, --conformance, --kernels and --playouts are for bench gdl, not "
            f"bench {benchmark}"
        )
    if benchmark not in PAGES and (page or keep):
        raise ValueError(
            f"bench {benchmark} takes no --page or --keep; {', '.join(PAGES)} have pages"
        )
    if benchmark == "gdl":
        if strength:
            raise ValueError("bench gdl takes no --strength")
        given = {"--peers": peers, "--kernels": kernels, "--playouts": playouts}
        options = [option for option, is_given in given.items() if is_given]
        if options and (traces is not None or conformance is not None or keep):
            raise ValueError(f"bench gdl {options[0]} takes no --traces, --conformance or --keep")
        if len(options) > 1:
            raise ValueError(f"bench gdl takes one of {', '.join(given)}, got {', '.join(options)}")
        if kernels:
            from ludoteca.evaluate.bench.gdl_kernels import bench_gdl_kernels

            bench_gdl_kernels(sheets, json, page, seconds, only)
            return
        if playouts:
            from ludoteca.evaluate.bench.gdl_playouts import bench_gdl_playouts

            bench_gdl_playouts(sheets, json, page, seconds, only)
            return
        if peers:
            from ludoteca.evaluate.bench.gdl_comparison import bench_gdl_peers

            bench_gdl_peers(sheets, json, page, seconds, only)
            return
        from ludoteca.evaluate.bench.gdl import bench_gdl

        bench_gdl(sheets, traces, json, page, seconds, only, conformance or "", keep)
        return
    if executor != "local" and benchmark != "actors":
        raise ValueError(
            f"only actors run on an executor: bench actors --executor, not {benchmark}"
        )
    if benchmark == "actors":
        if peers or strength or only:
            raise ValueError("bench actors takes no --peers, --strength or --only")
        # Run as a process, because evaluation must not import training.
        module = "ludoteca.train.throughput"
        arguments = ["--json-file", str(json)] if json is not None else []
        command = [sys.executable, "-P", "-m", module, "--executor", executor, *arguments]
        sys.exit(subprocess.run(command).returncode)
    if strength and benchmark != "mcts":
        raise ValueError(
            f"only searches have a strength: bench mcts --strength, not bench {benchmark}"
        )
    if peers and benchmark not in ("envs", "mcts"):
        raise ValueError(f"bench {benchmark} takes no --peers; envs, mcts and gdl have peers")
    if strength:
        from ludoteca.evaluate.bench.strength import bench_strength

        bench_strength(json=json, games=games, folder=folder, only=only)
    elif benchmark == "mcts":
        from ludoteca.evaluate.bench.mcts import bench_mcts

        bench_mcts(peers=peers, json=json, seconds=seconds, only=only)
    elif benchmark == "tuning":
        from ludoteca.evaluate.bench.tuning import bench_tuning

        bench_tuning(json=json, only=only, page=page, keep=keep)
    elif benchmark == "arrays":
        from ludoteca.evaluate.bench.arrays import bench_arrays

        bench_arrays(json=json, seconds=seconds, only=only, page=page, keep=keep)
    elif benchmark == "bandits":
        from ludoteca.evaluate.bench.bandits import bench_bandits

        bench_bandits(json=json, seconds=seconds, only=only)
    elif benchmark == "endgame":
        from ludoteca.evaluate.bench.endgame import bench_endgame

        bench_endgame(json=json, seconds=seconds, only=only)
    else:
        from ludoteca.evaluate.bench.envs import bench_envs

        bench_envs(peers=peers, json=json, seconds=seconds, only=only)

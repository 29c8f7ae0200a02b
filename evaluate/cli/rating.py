"""The command `ludoteca rating`."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from ludoteca.evaluate.cli.options import Agents, OptionalFolder


def rating(
    run: Annotated[Positional[Path], arg(metavar="FOLDER")],
    against: Agents = ("random",),
    agent: Annotated[str, arg(metavar="AGENT")] = "az:path={path},simulations=32,precision=auto",
    games: int = 100,
    random_plies: int = 4,
    seed: int = 0,
    out: OptionalFolder = None,
    processes: int = 1,
    executor: str = "local",
) -> None:
    """Rate the checkpoints of a training run and other agents by matches (Elo curve).

    Every checkpoint plays its neighbors and all other agents. The Elo ratings, with 95 %
    intervals, are printed and written to elo_curve.png, elo_curve.csv and elo_curve.json. Train
    with --checkpoint-interval to keep checkpoints.

    Args:
        run: folder of the training run.
        against: other agents.
        agent: agent of each checkpoint; {path} stands for the checkpoint's file.
        games: number of games of each match.
        random_plies: number of random plies at the beginning of each game, the same for both
            seatings of the agents; otherwise networks would repeat the same game.
        seed: seed of the matches.
        out: folder of the results; by default the run's folder.
        processes: number of concurrent matches.
        executor: executor of the matches: local, or a Ray cluster: ray (a new one on this machine),
            ray:auto (the one that is running on it), ray:HOST:PORT; see docs/distributed.md.
    """
    import os

    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported
    from rich.console import Console

    from ludoteca.evaluate.elo_curve import elo_table, rate_checkpoints

    rated_agents = rate_checkpoints(
        run, against, agent, games, random_plies, seed, out, processes, executor
    )
    console = Console(highlight=False)
    console.print(elo_table(rated_agents), soft_wrap=True)
    console.print(f"figure and results: {run if out is None else out}", soft_wrap=True)

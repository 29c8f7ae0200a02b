"""The command `ludoteca rating`."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from ludoteca.evaluate.cli.options import Agents, Folder


def rating(
    run: Annotated[Positional[Path], arg(metavar="FOLDER")],
    against: Agents = ("random",),
    agent: Annotated[str, arg(metavar="AGENT")] = "az:path={path},simulations=32,precision=auto",
    games: int = 100,
    random_plies: int = 4,
    seed: int = 0,
    out: Folder = None,
    processes: int = 1,
    executor: str = "local",
) -> None:
    """Rate the checkpoints that a training run kept, beside other agents, by matches.

    Every checkpoint plays the ones around it and all other agents. The Elo ratings, with 95 %
    intervals, are printed and written to elo_curve.png, elo_curve.csv and elo_curve.json. Train
    with --keep-every to keep checkpoints.

    Args:
        run: folder of the training run.
        against: other agents.
        agent: the agent that plays with a checkpoint, whose file takes the place of {path}.
        games: games of each match.
        random_plies: random plies at the beginning of each game, the same for both sides; networks
            would otherwise play the same game again and again.
        seed: seed of the matches.
        out: folder for the results; by default the run's.
        processes: number of matches that are played side by side.
        executor: where they are played: local, or a Ray cluster: ray (of this machine), ray:auto,
            ray:HOST:PORT; see docs/distributed.md.
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
    console.print(f"figure and numbers: {run if out is None else out}", soft_wrap=True)

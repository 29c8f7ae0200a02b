"""The command `ludoteca tournament`."""

import sys
from pathlib import Path
from typing import Annotated

from tyro.conf import arg


def tournament(
    games: Annotated[tuple[str, ...], arg(metavar="GAME [GAME ...]")],
    agents: Annotated[tuple[str, ...], arg(metavar="AGENT AGENT [AGENT ...]")],
    out: Annotated[Path, arg(metavar="FOLDER")] = Path("runs/tournament"),
    games_per_pair: int = 300,
    repeats: int = 3,
    seed: int = 0,
    draws: str = "half",
    names: Annotated[tuple[str, ...], arg(metavar="[NAME ...]", help_behavior_hint="")] = (),
    processes: Annotated[
        int | None, arg(metavar="INT", help_behavior_hint="(default: one for each core)")
    ] = None,
) -> None:
    """Let agents play a round robin in several games, and write a report with statistics.

    Interrupted or killed, it goes on where it was when the same command is given again. The results
    depend on the seed, not on the number of processes or on interruptions.

    Args:
        games: which games, such as breakthrough hex:board_size=7; commas may join them.
        agents: who plays, such as random mcts:simulations=100.
        out: folder for the record of all games, and the report.
        games_per_pair: how many games every two agents play of each kind; both move first equally
            often.
        repeats: into how many matches they are divided, to see how much results vary.
        seed: the same seed gives the same games.
        draws: what a draw counts in the tables: half a win, or as a loss for both.
        names: short names for the agents, in their order; by default what sets them apart.
        processes: how many play side by side.
    """
    from rich.console import Console

    from ludoteca.evaluate.tournament.plan import Tournament, split_specs
    from ludoteca.evaluate.tournament.report import REPORT, write_report
    from ludoteca.evaluate.tournament.results_table import results_table
    from ludoteca.evaluate.tournament.run import cores, run_tournament

    plan = Tournament(
        games=split_specs(games),
        agents=agents,
        games_per_pair=games_per_pair,
        repeats=repeats,
        seed=seed,
        draws=draws,
        names=names,
    )
    processes = cores() if processes is None else processes
    results = run_tournament(plan, out, processes=processes, progress=sys.stderr.isatty())
    write_report(results, out, processes=processes)
    console = Console(highlight=False)
    console.print(results_table(results), soft_wrap=True)
    console.print(f"report: {out / REPORT}", soft_wrap=True)

"""The command `ludoteca tournament`."""

import sys
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import arg

from ludoteca.evaluate.cli.options import Clock, parse_time_control


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
    executor: str = "local",
    plan: bool = False,
    price: float = 0.04,
    clock: Clock = None,
    bank: float = 0.0,
    out_of_time: Literal["forfeit", "random"] = "forfeit",
) -> None:
    """Play a round robin of agents in several games, and write a report with statistics.

    After an interruption, the same command resumes the tournament. The results depend on the seed,
    not on the number of processes or on interruptions.

    Args:
        games: the games, such as breakthrough hex:board_size=7, separated by spaces or commas.
        agents: the agents, such as random mcts:simulations=100.
        out: folder for the log of all games, and the report.
        games_per_pair: number of games of each pair of agents in each game; each moves first in
            half of them.
        repeats: number of matches into which the games of a pair are divided, to show the variation
            of results.
        seed: seed of the tournament; the same seed gives the same games.
        draws: value of a draw in the tables: half a win (half), or a loss for both (loss).
        names: short names of the agents, in the same order; by default, the parameters in which
            they differ.
        processes: number of processes.
        executor: executor of the games: local, or a Ray cluster: ray (a new one on this machine),
            ray:auto (the one that is running on it), ray:HOST:PORT; see docs/distributed.md.
        plan: play only a few games of every pair in each game, keep them in the log, and print the
            expected time of the remaining games with 1 to 1000 processes.
        price: price of a core hour in dollars, for --plan.
        clock: time control of each player in seconds: before the first move and for every move,
            such as 10+1, or only for every move, such as 1; see docs/playing.md.
        bank: time bank of each player in seconds per game, for moves that take longer.
        out_of_time: penalty of a player that is out of time: it forfeits, or a random move is
            played for it.
    """
    from rich.console import Console

    from ludoteca.envs.params import check_real
    from ludoteca.evaluate.tournament.pilot import play_pilot
    from ludoteca.evaluate.tournament.plan import Tournament, split_specs
    from ludoteca.evaluate.tournament.report import REPORT, write_report
    from ludoteca.evaluate.tournament.results_table import results_table
    from ludoteca.evaluate.tournament.run import run_tournament
    from ludoteca.local_executor import cores

    schedule = Tournament(
        games=split_specs(games),
        agents=agents,
        games_per_pair=games_per_pair,
        repeats=repeats,
        seed=seed,
        draws=draws,
        names=names,
        time_control=parse_time_control(clock, bank, out_of_time),
    )
    progress = sys.stderr.isatty()
    if plan:
        check_real("price", price, 0, 1e6)
        pilot_run = play_pilot(
            schedule, out, processes=processes, progress=progress, executor=executor
        )
        print("\n".join(pilot_run.lines(price)))
        return
    results = run_tournament(
        schedule, out, processes=processes, progress=progress, executor=executor
    )
    write_report(results, out, processes=processes or cores(), executor=executor)
    console = Console(highlight=False)
    console.print(results_table(results), soft_wrap=True)
    console.print(f"report: {out / REPORT}", soft_wrap=True)

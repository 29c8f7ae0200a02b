"""Study of AlphaZero in solved games: Tic-Tac-Toe, Hex 5x5 and Connect Four."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from ludoteca.evaluate.studies.runner import run_study
from ludoteca.evaluate.studies.solved import tables
from ludoteca.evaluate.studies.solved.tables import (
    LINES,
    OPPONENTS,
    PLIES,
    SEARCHES,
    positions_name,
)
from ludoteca.evaluate.studies.study import Study, Task, Tasks, match_task

FAST = 1 / 32
FAST_HEX = "hex:board_size=4"  # untrained networks leave too many lines on 5x5
# Of every training, however long; by default they would follow the number of games.
SIZES = {"games_per_iteration": 256, "learning_starts": 10_000, "buffer_size": 500_000}
# Name of a network -> its game, and what differs from the defaults of the training.
NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "tictactoe": (
        "tictactoe",
        {
            "games": 4_096,
            "network.filters": 32,
            "network.blocks": 2,
            "num_simulations": 16,
            "buffer_size": 20_000,
            "learning_starts": 1_000,
        },
    ),
    "hex": (
        "hex:board_size=5",
        {
            "games": 16_384,
            "network.filters": 32,
            "network.blocks": 4,
            "buffer_size": 200_000,
        },
    ),
    "connect4": (
        "connect4",
        {
            "games": 81_920,
            "network.filters": 64,
            "network.blocks": 4,
            "random_plies": 16,
        },
    ),
}
POSITION_COUNT = 500
MATCH_GAMES = 200


def reproduce(
    out: Path | None = None,
    runs: Path = Path("runs/reproduce"),
    fast: bool = False,
    keep: bool = False,
    rewrite: bool = False,
) -> None:
    """Train AlphaZero in games that are solved, and measure how perfectly it plays.

    Interrupted or killed, it resumes when the same command is given again.

    Args:
        out: folder for the report; by default docs/results/solved, and for fast runs a folder in
            `runs`.
        runs: folder for the training runs.
        fast: train for a small part of the games: nothing is learned so soon, but all of it runs.
        keep: leave out the runs that the report has records of, even if `runs` is empty.
        rewrite: run nothing: write the report again from its results.json and from the runs that
            are finished in `runs`.
    """
    # Trainings use two cores each.
    run_study(make_study(fast), out, runs, processes=1, keep=keep, rewrite=rewrite)


def make_study(fast: bool = False) -> Study:
    """Return the study; `fast`: with a small part of the games."""
    tasks = solved_tasks(FAST if fast else 1)
    return Study("solved", {"solved": tasks}, (tables,), fast=fast, one_thread=False)


def solved_tasks(scale: float) -> Tasks:
    """Return all tasks, by name.

    Args:
        scale: of the number of games; 1: the full study.
    """
    tasks: list[Task] = []
    games_of = {name: game for name, (game, _) in NETWORKS.items()}
    if scale < 1:
        games_of["hex"] = FAST_HEX
    for name, (_, settings) in NETWORKS.items():
        games = max(round(settings["games"] * scale), 512)
        shared = {
            "game": games_of[name],
            "log_interval": 1_024 if scale == 1 else 256,
            "eval_interval": max(games // 4, 256),
            "eval_games": 20,
            "eval_opponents": ("random", "mcts:simulations=2000"),
            "final_eval_games": 50,
        }
        tasks.append(training(name, shared | settings | {"games": games}))
    for network, seat, count in LINES:
        name = f"lines-{network}-{seat}-{count}"
        tasks.append(
            exploit_task(name, network, "best-response", games_of[network], count, {"seat": seat})
        )
    positions = max(round(POSITION_COUNT * scale), 20)
    for (count, endgame), (least, most) in product(SEARCHES, PLIES):
        options = {"count": positions, "min_plies": least, "max_plies": most, "seed": 1}
        name = positions_name(count, endgame, least, most)
        tasks.append(
            exploit_task(name, "connect4", "positions", "connect4", count, options, endgame)
        )
    games = max(2 * round(MATCH_GAMES / 2 * scale), 10)
    for number, opponent in enumerate(OPPONENTS):
        agents = ("az:path={folder}/hex,simulations=32,precision=auto", opponent)
        game = {"game": games_of["hex"]}
        tasks.append(match_task(f"match-{number}", agents, games, ("hex",), game))
    return {task.name: task for task in tasks}


def training(name: str, settings: Mapping[str, Any]) -> Task:
    """Return the training of a network by AlphaZero."""
    options = {"run_dir": f"{{folder}}/{name}", **SIZES, **settings}
    kept = ("config", "training", "evaluation", "about")
    return Task(name, "ludoteca.train.alphazero", options, settings, kind="network", kept=kept)


def exploit_task(
    name: str,
    network: str,
    measure: str,
    game: str,
    simulations: int,
    options: Mapping[str, Any],
    endgame: int = 0,
) -> Task:
    """Return a measurement of how perfectly a network plays, see `ludoteca.evaluate.exploit`.

    Args:
        name: of the task.
        network: name of the network's task.
        measure: `"best-response"` or `"positions"`.
        game: the game.
        simulations: of each search.
        options: of the command.
        endgame: number of empty squares up to which positions are solved instead of searched.
    """
    solved = {"endgame": endgame} if endgame else {}
    agent = f"az:path={{folder}}/{network},simulations={simulations},precision=auto"
    agent += f",solver_empties={endgame}" if endgame else ""
    return Task(
        name, "ludoteca.evaluate.exploit", {"agent": agent, **options, "out": "{artifact}"},
        {"game": game, "simulations": simulations, **solved, **options}, (measure, game),
        (network,), kind=measure,
    )  # fmt: skip

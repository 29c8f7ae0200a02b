"""Study of AlphaZero in solved games: Tic-Tac-Toe, Hex 5x5 and Connect Four."""

from collections.abc import Mapping
from itertools import product
from typing import Any

from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.study import Study, Task

FAST_SCALE = 1 / 160  # factor of the numbers of games and positions in fast runs: 81,920 become 512
FAST_HEX = "hex:board_size=4"  # on 5x5, the games of an untrained network take too long to explore
FAST_SETTINGS: dict[str, Any] = {
    "network.filters": 8, "network.blocks": 1, "learning_starts": 1_000,
    "eval_opponents": ("random",), "final_eval_games": 10,
}  # fmt: skip
# Settings of every training run unless `NETWORKS` has others; their defaults would depend on the
# number of games.
ROLLOUT_SETTINGS = {"games_per_iteration": 256, "learning_starts": 10_000, "buffer_size": 500_000}
# Game of each network, and the training settings that differ from the defaults.
NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "tictactoe": ("tictactoe", {
        "games": 4_096, "network.filters": 32, "network.blocks": 2, "num_simulations": 16,
        "buffer_size": 20_000, "learning_starts": 1_000,
    }),
    "hex": ("hex:board_size=5", {
        "games": 16_384, "network.filters": 32, "network.blocks": 4, "buffer_size": 200_000,
    }),
    "connect4": ("connect4", {
        "games": 81_920, "network.filters": 64, "network.blocks": 4, "random_plies": 16,
    }),
}  # fmt: skip
# Best-response searches, which explore all lines of play against the network (tasks "lines-..."):
# network, its seat, and the number of simulations of its search (0: the policy alone).
BEST_RESPONSES = (
    *(("tictactoe", seat, count) for seat in ("first", "second") for count in (0, 16)),
    *(("hex", "first", count) for count in (0, 4, 32)),
)
# Simulations per move in Connect Four (0: the policy alone), and the agent's `solver_empties`: the
# number of empty squares up to which it solves positions instead (0: never).
SEARCHES = ((0, 0), (32, 0), (200, 0), (800, 0), (3_200, 0), (12_800, 0), (800, 30))
RANDOM_PLIES = ((12, 18), (19, 30))  # range of the number of random plies before a position
POSITION_COUNT = 500  # positions of each test in Connect Four
# Opponents of the network in Hex 5x5.
OPPONENTS = (
    "random", "greedy", "heuristic", "mixed:epsilon=0.2", "dqn:hex5", "mcts:simulations=10000",
    "mcts:simulations=10000,solver=True,amaf=rave",
)  # fmt: skip
# Against these, all games in a seat are the same, as the network's search is deterministic, too:
# the report counts them as one game.
DETERMINISTIC_OPPONENTS = ("heuristic", "dqn:hex5")
MATCH_GAMES = 200  # games of each match in Hex


def make_study(fast: bool = False) -> Study:
    """Return the study.

    Args:
        fast: train small networks with few games, to check that everything runs; networks do not
            learn to play.
    """
    scale = FAST_SCALE if fast else 1
    games = {name: game for name, (game, _) in NETWORKS.items()}
    if fast:
        games["hex"] = FAST_HEX
    tasks = [training_task(name, games[name], scale) for name in NETWORKS]
    for network, seat, count in BEST_RESPONSES:
        name, search = f"lines-{network}-{seat}-{count}", {"simulations": count}
        tasks.append(
            exploit_task(name, network, "best-response", games[network], search, seat=seat)
        )
    positions = max(round(POSITION_COUNT * scale), 20)
    for (count, empties), (min_plies, max_plies) in product(SEARCHES, RANDOM_PLIES):
        name, search = f"positions-{min_plies}-{max_plies}-{count}", {"simulations": count}
        name += f"-endgame-{empties}" if empties else ""
        search |= {"endgame": empties} if empties else {}
        options = {"count": positions, "min_plies": min_plies, "max_plies": max_plies, "seed": 1}
        tasks.append(exploit_task(name, "connect4", "positions", "connect4", search, **options))
    for number, opponent in enumerate(OPPONENTS):
        agents = ("az:path={folder}/hex,simulations=32,precision=auto", opponent)
        count = max(2 * round(MATCH_GAMES / 2 * scale), 10)  # even: as many games in each seat
        tasks.append(match_task(f"match-{number}", agents, count, ("hex",), {"game": games["hex"]}))
    template_names = {
        "NETWORKS": NETWORKS,
        "DETERMINISTIC_OPPONENTS": DETERMINISTIC_OPPONENTS,
    }
    parts = {"solved": {task.name: task for task in tasks}}
    # One task at a time, as each training run uses two cores.
    return Study(
        "solved", parts, template_names, fast=fast, processes={"solved": 1}, single_threaded=False
    )


def training_task(name: str, game: str, scale: float) -> Task:
    """Return the task that trains a network with AlphaZero.

    Args:
        name: name of the network in `NETWORKS`.
        game: spec string of its game.
        scale: factor of the number of games.
    """
    settings = NETWORKS[name][1]
    # At least two iterations of `games_per_iteration`.
    games = max(round(settings["games"] * scale), 512)
    settings = {
        "game": game, "log_interval": 1_024 if scale == 1 else 256,
        "eval_interval": max(games // 4, 256), "eval_games": 20,
        "eval_opponents": ("random", "mcts:simulations=2000"), "final_eval_games": 50,
        **settings, "games": games, **({} if scale == 1 else FAST_SETTINGS),
    }  # fmt: skip
    options = {"run_dir": f"{{folder}}/{name}", **ROLLOUT_SETTINGS, **settings}
    return Task(
        name, "ludoteca.train.alphazero", options, settings, kind="network",
        record_keys=("config", "training", "evaluation", "about"),
    )  # fmt: skip


def match_task(
    name: str,
    agents: tuple[str, ...],
    games: int,
    requires: tuple[str, ...] = (),
    options: Mapping[str, Any] | None = None,
) -> Task:
    """Return the task of a match.

    Args:
        name: name of the task.
        agents: spec strings of the agents.
        games: number of games.
        requires: names of the tasks whose networks play.
        options: further options of the match.
    """
    settings = {"agents": agents, "games": games, "seed": 1, **(options or {})}
    return Task(
        name, "ludoteca.evaluate.timed_match", settings | {"out": "{artifact}"}, settings,
        requires=requires, kind="match",
    )  # fmt: skip


def exploit_task(
    name: str, network: str, measure: str, game: str, search: Mapping[str, int], **options: Any
) -> Task:
    """Return the task of the command `ludoteca.evaluate.exploit`, which finds errors in play.

    Args:
        name: name of the task.
        network: name of the task that trains the network.
        measure: measure of the command, `"best-response"` or `"positions"`.
        game: spec string of the game.
        search: settings of the network's search: number of `simulations`, and `endgame`, which is
            the agent's `solver_empties`.
        **options: options of the command.
    """
    agent = f"az:path={{folder}}/{network},simulations={search['simulations']},precision=auto"
    agent += f",solver_empties={search['endgame']}" if "endgame" in search else ""
    return Task(
        name, "ludoteca.evaluate.exploit", {"agent": agent, **options, "out": "{artifact}"},
        {"game": game, **search, **options}, (measure, game), (network,), kind=measure,
    )  # fmt: skip


reproduce = study_command(
    make_study, "Train AlphaZero in solved games, and compare its moves with perfect play."
)

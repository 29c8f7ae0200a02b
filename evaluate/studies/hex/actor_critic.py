"""Actor-critic networks for Hex, the future work of the paper (`tanaka2018`): tasks and results."""

from collections.abc import Mapping
from typing import Any

from ludoteca.agents.networks.weights import fingerprint, shipped_weights
from ludoteca.evaluate.studies.hex.tanaka2018 import HEURISTIC, MIXED
from ludoteca.evaluate.studies.study import Records, Task, Tasks, match_task

SEEDS = (0, 1, 2)
SIZE = 5  # board size
GAMES = 30_000  # games of a training run
DQN = "dqn:hex5"  # network that deep Q-learning made in this study, and that the package includes
DUEL_GAMES = 1_000  # games of each match against `DQN`
RANDOM_PLIES = 2  # at the beginning of these games, since both networks are deterministic


def actor_critic_tasks(scale: float, precision: str) -> Tasks:
    """Return the training runs, one per seed, and a match of each network against `DQN`.

    Args:
        scale: factor of the number of games; 1: as in the report.
        precision: numeric precision of the networks.
    """
    full = scale == 1
    games, tasks = max(round(GAMES * scale), 512), []
    for seed in SEEDS:
        settings: dict[str, Any] = {
            "seed": seed, "games": games, "game": f"hex:board_size={SIZE}",
            "network.kind": "residual", "network.view": "plain",
            "network.filters": 32, "network.blocks": 3, "batch_size": 256, "replay_ratio": 2.0,
            "games_per_iteration": 128, "opponent_pool": (MIXED,), "opponent_pool_prob": 0.5,
            "num_past_opponents": 0, "threads": 1, "precision": precision,
            "log_interval": max(games // 60, 128), "eval_interval": max(games // 10, 256),
            "eval_games": 100 if full else 10,
            "eval_opponents": ("random", MIXED, HEURISTIC),
            "final_eval_games": 1_000 if full else 50,
        }  # fmt: skip
        name = run_name(seed)
        tasks.append(
            Task(
                name, "ludoteca.train.ppo", {"run_dir": f"{{folder}}/{name}", **settings},
                {"preset": "default", **settings}, ("default",), kind="network",
                record_keys=("config", "training", "evaluation", "about"),
            )
        )  # fmt: skip
        options = {"game": f"hex:board_size={SIZE}", "random_plies": RANDOM_PLIES}
        weights = shipped_weights("dqn").get(DQN.removeprefix("dqn:"))
        tasks.append(
            match_task(
                duel_name(seed), (f"ac:{{folder}}/{name}", DQN), DUEL_GAMES if full else 50,
                requires=(name,), options=options,
                networks={DQN: fingerprint(weights)} if weights else None,
            )
        )  # fmt: skip
    return {task.name: task for task in tasks}


def run_name(seed: int) -> str:
    """Return the name of the training run with a seed."""
    return f"actor-critic-{seed}"


def duel_name(seed: int) -> str:
    """Return the name of the match of the network of a seed against `DQN`."""
    return f"duel-{seed}"


def seat_result(match: Mapping[str, Any], seat: int) -> dict[str, Any]:
    """Return the first agent's result in a seat of a match, 0 or 1."""
    return dict(match["agents"][0]["seats"][seat])


def range_of_wins(records: Records, opponent: str, seat: int) -> str:
    """Return the lowest and highest percentage of wins of the seeds' networks against an opponent.

    Args:
        records: records of the training runs.
        opponent: opponent of the final evaluation.
        seat: 0: as first player, 1: as second.
    """
    rates = [
        100 * match["seats"][seat]["win_rate"]
        for run in records.values()
        for match in run["evaluation"]
        if match["opponent"] == opponent
    ]
    return f"{min(rates):.1f} to {max(rates):.1f}"

"""Study of deep Q-learning in Hex (Tanaka, University of Sao Paulo, 2018), with further runs."""

from collections.abc import Mapping
from itertools import product
from typing import Any

from ludoteca.evaluate.studies.hex import actor_critic, curves, evaluation, tanaka2018
from ludoteca.evaluate.studies.hex.tanaka2018 import HEURISTIC, MIXED
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.study import Study, Task, Tasks

Settings = Mapping[str, Any]
FAST_SCALE = 1 / 75  # factor of the number of games in fast runs of the paper's experiments
FAST_BEYOND_SCALE = 1 / 16  # the same for the runs beyond the paper
GAMES = 150_000  # games of a training run of the paper
OMITTED_GAMES = 50_000  # games of a run of the paper's grid whose result the paper omits
# Our reading of the paper's settings, with which networks learn. The ablation `literal` has the
# settings exactly as the paper states them.
READING: dict[str, Any] = {"network.init": "zero_head", "win_reward": 1.0, "loss_reward": -1.0}
# Settings of the runs beyond the paper; their defaults would depend on the number of games.
DEFAULT_SIZES = {"games_per_iteration": 256, "buffer_size": 200_000}
FILTERS = {1: "48", 2: "48 384"}  # filters of the convolutions, by their number
# Label of each ablation in the report, and its settings that differ from the preset `tanaka2018`,
# the literal reading of the paper.
ABLATIONS: dict[str, tuple[str, Settings]] = {
    "literal": ("the paper, literally: all weights zero, rewards 100", {}),
    "weights": ("PyTorch's first weights, rewards 100", {"network.init": "default"}),
    "head": ("only the last layer zero, rewards 100", {"network.init": "zero_head"}),
    "rewards": ("all weights zero, rewards 1", {"win_reward": 1.0, "loss_reward": -1.0}),
    "both": ("**our reading:** only the last layer zero, rewards 1", READING),
    "default": (
        "PyTorch's first weights, rewards 1",
        {"network.init": "default", "win_reward": 1.0, "loss_reward": -1.0},
    ),
    "memory": (
        "our reading, replay buffer of 30,000 instead of 300", {**READING, "buffer_size": 30_000},
    ),
    "masked": (
        "our reading, only legal moves in targets", {**READING, "masked_targets": True},
    ),
    "target": (
        "our reading, targets from a copy that is 100 updates old",
        {**READING, "target_update_interval": 100},
    ),
}  # fmt: skip
ABLATION_GAMES = 20_000
# Runs beyond the paper, by board size: games, residual blocks, replay ratio (how often a transition
# is sampled on average), and the run whose network is the initial one.
BEYOND: dict[int, tuple[int, int, float, str | None]] = {
    5: (40_000, 3, 1.0, None),
    6: (40_000, 4, 0.7, None),
    7: (50_000, 4, 0.7, None),
    8: (50_000, 4, 0.5, None),
    11: (20_000, 4, 0.5, "hex7"),
}


def make_study(fast: bool = False, precision: str = "auto") -> Study:
    """Return the study.

    Args:
        fast: train with few games, in some minutes, to check that everything runs; networks do not
            learn to play.
        precision: numeric precision of the networks: "float32", "bfloat16", which is several times
            faster on processors that support it, or "auto", the faster one.
    """
    return Study(
        "hex",
        {
            "tanaka2018": paper_tasks(FAST_SCALE if fast else 1, precision),
            "beyond": beyond_tasks(FAST_BEYOND_SCALE if fast else 1, precision),
            "actor-critic": actor_critic.actor_critic_tasks(
                FAST_BEYOND_SCALE if fast else 1, precision
            ),
        },
        {**vars(tanaka2018), **vars(evaluation), **vars(actor_critic)},
        curves.draw,
        fast,
        processes={"beyond": 1},  # each run uses two cores
        single_threaded=False,
        is_valid_record=has_enough_games,
    )


def has_enough_games(record: Mapping[str, Any], task: Task) -> bool:
    """Return whether a training run or a match had at least as many games as its task has now."""
    played: int = record.get("config", record)["games"]  # matches have no "config"
    return played >= int(task.options["games"])


def paper_tasks(scale: float, precision: str) -> Tasks:
    """Return the training runs of the paper's experiments and of the ablations, by name.

    Args:
        scale: factor of the number of games; 1 as in the paper.
        precision: numeric precision of the networks.
    """
    against = {"opponent": HEURISTIC}
    runs: dict[str, tuple[int, Settings]] = {}
    for rate, gamma, epsilon, layers in product(
        tanaka2018.LEARNING_RATES, tanaka2018.GAMMAS, tanaka2018.EPSILONS, tanaka2018.LAYERS
    ):
        games = GAMES if (rate, gamma, epsilon, layers) in tanaka2018.GRID else OMITTED_GAMES
        runs[f"grid-{rate}-{gamma}-{epsilon}-{layers}"] = games, {
            "learning_rate": rate, "final_learning_rate": rate, "gamma": gamma,
            "exploration_initial_eps": epsilon, "exploration_final_eps": epsilon,
            "network.filters": FILTERS[layers],
        }  # fmt: skip
    runs |= {
        "best": (2 * GAMES, {}),
        "simple": (2 * GAMES, {"experience": "simple", **against}),
        "mirrored": (2 * GAMES, against),
        **{
            f"board-{size}": (GAMES // divisor, {"game": f"hex:board_size={size},first=white"})
            for size, divisor in ((6, 1), (7, 2), (8, 5))
        },
        "second": (2 * GAMES, {"agent_seat": "second"}),
    }
    runs = {name: (games, {**READING, **settings}) for name, (games, settings) in runs.items()}
    labels = {f"ablation-{name}": label for name, (label, _) in ABLATIONS.items()}
    runs |= {
        f"ablation-{name}": (ABLATION_GAMES, settings) for name, (_, settings) in ABLATIONS.items()
    }
    tasks = {}
    for name, (games, settings) in runs.items():
        count, final_eval_games = max(round(games * scale), 500), 1_000 if scale == 1 else 100
        sizes = {"eval_interval": count, "eval_games": 50, "final_eval_games": final_eval_games}
        options = {**settings, **sizes, "precision": precision}
        tasks[name] = training(name, "tanaka2018", count, options, label=labels.get(name, ""))
    return tasks


def beyond_tasks(scale: float, precision: str) -> Tasks:
    """Return the training runs beyond the paper, with the preset `default`, by name.

    Args:
        scale: factor of the number of games; 1 as in the report.
        precision: numeric precision of the networks.
    """
    tasks = {}
    for size, (games, blocks, ratio, start_from) in BEYOND.items():
        count = max(round(games * scale), 2_048)
        settings = {
            **DEFAULT_SIZES, "game": f"hex:board_size={size}", "opponent": MIXED,
            "td_target": "reply", "network.filters": 64, "learning_starts": 2_000,
            "exploration_fraction": 0.4, "precision": precision,
            "eval_games": 500 if scale == 1 else 50, "eval_opponents": f"{MIXED} {HEURISTIC}",
            "final_eval_games": 2_000 if scale == 1 else 200, "network.blocks": blocks,
            "replay_ratio": ratio, "exploration_initial_eps": 0.15 if start_from else 0.3,
            "log_interval": max(count // 60, 256), "eval_interval": max(count // 10, 512),
        }  # fmt: skip
        tasks[f"hex{size}"] = training(f"hex{size}", "default", count, settings, start_from)
    return tasks


def training(
    name: str,
    preset: str,
    games: int,
    settings: Settings,
    start_from: str | None = None,
    label: str = "",
) -> Task:
    """Return the task of a training run of `ludoteca.train.dqn`.

    Args:
        name: name of the task.
        preset: preset of the training settings.
        games: number of games.
        settings: settings that differ from the preset.
        start_from: name of the run whose best network is the initial one.
        label: label of the task in the report.
    """
    options = {"games": games, **settings}
    paths = {"run_dir": f"{{folder}}/{name}"}
    paths |= {"start_from": f"{{folder}}/{start_from}"} if start_from else {}
    return Task(
        name, "ludoteca.train.dqn", paths | options, {"preset": preset, **options}, (preset,),
        (start_from,) if start_from else (), kind="network", label=label,
        record_keys=("config", "training", "evaluation", "about"), summarize=curves.summarize,
    )  # fmt: skip


reproduce = study_command(
    make_study, "Train the paper's networks for Hex and our own, and compare with its tables."
)

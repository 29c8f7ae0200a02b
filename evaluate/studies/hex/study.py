"""Study of deep Q-learning in Hex (Tanaka, University of Sao Paulo, 2018), and beyond it."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from ludoteca.envs.params import choice
from ludoteca.evaluate.studies.hex import curves, tables, tanaka2018
from ludoteca.evaluate.studies.hex.tanaka2018 import (
    EPSILONS,
    GAMMAS,
    GRID,
    HEURISTIC,
    LAYERS,
    LEARNING_RATES,
    MIXED,
)
from ludoteca.evaluate.studies.runner import run_study
from ludoteca.evaluate.studies.study import Study, Task, Tasks

Settings = Mapping[str, Any]
FAST = 1 / 75
FAST_BEYOND = 1 / 16
GAMES = 150_000  # the paper's usual run
OMITTED_GAMES = 50_000  # of the points of its grid whose results the paper omits
# The paper's settings, read such that they can learn; `literal` of the ablation takes them as
# they stand.
READING: dict[str, Any] = {"network.init": "zero_head", "win_reward": 1.0, "loss_reward": -1.0}
# Of every run, however long; by default they would follow the number of games.
DEFAULT_SIZES = {"games_per_iteration": 256, "buffer_size": 200_000}
FILTERS = {1: "48", 2: "48 384"}
# What differs from the paper's preset, taken literally.
ABLATIONS: dict[str, Settings] = {
    "literal": {},
    "weights": {"network.init": "default"},
    "head": {"network.init": "zero_head"},
    "rewards": {"win_reward": 1.0, "loss_reward": -1.0},
    "both": READING,
    "default": {"network.init": "default", "win_reward": 1.0, "loss_reward": -1.0},
    "memory": {**READING, "buffer_size": 30_000},
    "masked": {**READING, "masked_targets": True},
    "target": {**READING, "target_update_interval": 100},
}
ABLATION_GAMES = 20_000
# Board size -> games, residual blocks, how often a transition is learned from, and the run whose
# network is the first one.
BEYOND: dict[int, tuple[int, int, float, str | None]] = {
    5: (40_000, 3, 1.0, None),
    6: (40_000, 4, 0.7, None),
    7: (50_000, 4, 0.7, None),
    8: (50_000, 4, 0.5, None),
    11: (20_000, 4, 0.5, "hex7"),
}


def reproduce(
    out: Path | None = None,
    runs: Path = Path("runs/reproduce"),
    fast: bool = False,
    part: str = "all",
    precision: str = "auto",
    processes: int | None = None,
    executor: str = "local",
    keep: bool = False,
    rewrite: bool = False,
) -> None:
    """Train all networks of the paper on Hex and ours, and compare with its tables.

    Interrupted or killed, it resumes when the same command is given again. The report is written
    after each run: it has the sections whose runs are all finished.

    Args:
        out: folder for the report; by default docs/results/hex, and for fast runs a folder in
            `runs`.
        runs: folder for the training runs.
        fast: train for a small part of the games, in some minutes: nothing is learned so soon, but
            all of it runs.
        part: "tanaka2018", the experiments of the paper; "beyond", the networks that ought to do
            better; or "all". The report keeps its records of the other part.
        precision: numbers of the networks: "float32", "bfloat16", which is several times faster on
            processors made for it, or "auto", the faster one.
        processes: how many runs of the paper run at a time; one for each core by default.
        executor: where they run: local, or a Ray cluster: ray (of this machine), ray:auto,
            ray:HOST:PORT; see docs/distributed.md.
        keep: leave out the runs that the report has records of, even if `runs` is empty.
        rewrite: run nothing: write the report again from its results.json and from the runs that
            are finished in `runs`.
    """
    choice("precision", precision, ("auto", "float32", "bfloat16"))
    run_study(make_study(fast, precision), out, runs, part, processes, executor, keep, rewrite)


def make_study(fast: bool = False, precision: str = "auto") -> Study:
    """Return the study.

    Args:
        fast: train for a small part of the games.
        precision: of the networks' numbers.
    """
    return Study(
        "hex",
        {
            "tanaka2018": paper_tasks(FAST if fast else 1, precision),
            "beyond": beyond_tasks(FAST_BEYOND if fast else 1, precision),
        },
        {**vars(tanaka2018), **vars(tables)},
        curves.draw,
        fast,
        processes={"beyond": 1},  # each uses two cores, and one begins with another's network
        one_thread=False,
        fits=lambda found, task: bool(found["config"]["games"] >= task.options["games"]),
    )


def paper_tasks(scale: float, precision: str) -> Tasks:
    """Return the paper's experiments and the ablations, by name.

    Args:
        scale: of the number of games; 1: as in the paper.
        precision: of the networks' numbers.
    """

    def run(name: str, games: int, settings: Settings) -> Task:
        count = max(round(games * scale), 500)
        final = 1_000 if scale == 1 else 100
        sizes = {"eval_interval": count, "eval_games": 50, "final_eval_games": final}
        return training(name, "tanaka2018", count, {**settings, **sizes, "precision": precision})

    def white_first(size: int) -> dict[str, Any]:
        return {"game": f"hex:board_size={size},first=white"}

    points = product(LEARNING_RATES, GAMMAS, EPSILONS, LAYERS)
    readings: dict[str, tuple[int, Settings]] = {
        "best": (2 * GAMES, {}),
        "simple": (2 * GAMES, {"experience": "simple", "opponent": HEURISTIC}),
        "mirrored": (2 * GAMES, {"opponent": HEURISTIC}),
        "board-6": (GAMES, white_first(6)),
        "board-7": (GAMES // 2, white_first(7)),
        "board-8": (GAMES // 5, white_first(8)),
        "second": (2 * GAMES, {"agent_seat": "second"}),
    }
    tasks = [
        *(
            run(tables.grid_name(*point), grid_games(*point), grid_settings(*point))
            for point in points
        ),
        *(run(name, games, {**READING, **more}) for name, (games, more) in readings.items()),
        *(run(f"ablation-{name}", ABLATION_GAMES, more) for name, more in ABLATIONS.items()),
    ]
    return {task.name: task for task in tasks}


def grid_games(rate: float, gamma: float, epsilon: float, layers: int) -> int:
    """Return the number of games of a run of the grid."""
    return GAMES if (rate, gamma, epsilon, layers) in GRID else OMITTED_GAMES


def grid_settings(rate: float, gamma: float, epsilon: float, layers: int) -> Settings:
    """Return the settings of a run of the grid."""
    return {
        **READING,
        "learning_rate": rate,
        "final_learning_rate": rate,
        "gamma": gamma,
        "exploration_initial_eps": epsilon,
        "exploration_final_eps": epsilon,
        "network.filters": FILTERS[layers],
    }


def beyond_tasks(scale: float, precision: str) -> Tasks:
    """Return the runs with our preset, by name."""
    shared = {
        "opponent": MIXED,
        "td_target": "reply",
        "network.filters": 64,
        "learning_starts": 2_000,
        "exploration_fraction": 0.4,
        "precision": precision,
        "eval_games": 500 if scale == 1 else 50,
        "eval_opponents": f"{MIXED} {HEURISTIC}",
        "final_eval_games": 2_000 if scale == 1 else 200,
    }
    tasks = {}
    for size, (games, blocks, ratio, start_from) in BEYOND.items():
        count = max(round(games * scale), 2_048)
        settings = {
            "game": f"hex:board_size={size}",
            **shared,
            "network.blocks": blocks,
            "replay_ratio": ratio,
            "exploration_initial_eps": 0.3 if start_from is None else 0.15,
            "log_interval": max(count // 60, 256),
            "eval_interval": max(count // 10, 512),
        }
        name = f"hex{size}"
        tasks[name] = training(name, "default", count, DEFAULT_SIZES | settings, start_from)
    return tasks


def training(
    name: str, preset: str, games: int, settings: Settings, start_from: str | None = None
) -> Task:
    """Return a run of `ludoteca.train.dqn`.

    Args:
        name: of the task.
        preset: of the training.
        games: number of games.
        settings: what differs from the preset.
        start_from: name of the run whose best network it begins with.
    """
    options = {"games": games, **settings}
    places = {"run_dir": f"{{folder}}/{name}"}
    if start_from is not None:
        places["start_from"] = f"{{folder}}/{start_from}"
    return Task(
        name, "ludoteca.train.dqn", places | options, {"preset": preset, **options}, (preset,),
        () if start_from is None else (start_from,), kind="network",
        kept=("config", "training", "evaluation", "about"), summarize=curves.summarize,
    )  # fmt: skip

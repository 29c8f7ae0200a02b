"""The training runs that reproduce the document on Hex, and those that go beyond it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from ludoteca.evaluate.studies.hex.tanaka2018 import EPSILONS, GAMMAS, GRID, LAYERS, LEARNING_RATES
from ludoteca.evaluate.studies.study import FolderTask, command_line

Settings = Mapping[str, Any]
GAMES = 150_000  # the document's usual run
UNTOLD_GAMES = 50_000  # of the points of its grid whose results it does not tell
MIXED, HEURISTIC = "mixed:x=0.2", "heuristic"
# The document's settings, read such that they can learn; `literally` has the ablation.
READING: dict[str, Any] = {"network.init": "zero_head", "win_reward": 1.0, "loss_reward": -1.0}
# Of every run, however long; by default they would follow the number of games.
DEFAULT_SIZES = {"games_per_iteration": 256, "buffer_size": 200_000}
FILTERS = {1: "48", 2: "48 384"}


@dataclass(frozen=True)
class Run(FolderTask):
    """One training run of `ludoteca.train.dqn`.

    Attributes:
        name: of its folder.
        preset: `"tanaka2018"` or `"default"`.
        games: how many it plays.
        settings: what differs from the preset.
        start_from: name of the run whose best network it begins with.
    """

    name: str
    preset: str
    games: int
    settings: Settings
    start_from: str | None = None

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`."""
        sizes = DEFAULT_SIZES if self.preset == "default" else {}
        options = {"run_dir": folder / self.name, "games": self.games, **sizes, **self.settings}
        if self.start_from is not None:
            options["start_from"] = folder / self.start_from
        return command_line("ludoteca.train.dqn", (self.preset,), options)

    @property
    def requires(self) -> tuple[str, ...]:
        """Names of the runs that it needs."""
        return () if self.start_from is None else (self.start_from,)


def document_runs(scale: float, precision: str) -> dict[str, Run]:
    """Return the document's experiments and the ablations, by name.

    Args:
        scale: of the number of games; 1: as in the document.
        precision: of the networks' numbers.
    """
    runs = [
        *(_grid(*point, scale=scale) for point in _grid_points()),
        _read("best", 2 * GAMES, scale),
        _read("simple", 2 * GAMES, scale, experience="simple", opponent=HEURISTIC),
        _read("mirrored", 2 * GAMES, scale, opponent=HEURISTIC),
        _read("board-6", GAMES, scale, game=_white_first(6)),
        _read("board-7", GAMES // 2, scale, game=_white_first(7)),
        _read("board-8", GAMES // 5, scale, game=_white_first(8)),
        _read("second", 2 * GAMES, scale, agent_seat="second"),
        *(_ablation(name, settings, scale) for name, settings in ABLATIONS.items()),
    ]
    return {run.name: _with(run, {"precision": precision}) for run in runs}


# What differs from the document's preset, taken literally.
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


def beyond_runs(scale: float, precision: str) -> dict[str, Run]:
    """Return the runs with the default preset, by name."""
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
    runs = {}
    for size, (games, blocks, ratio, begun) in BEYOND.items():
        count = _scaled(games, scale, 2_048)
        settings = {
            "game": f"hex:board_size={size}",
            **shared,
            "network.blocks": blocks,
            "replay_ratio": ratio,
            "exploration_initial_eps": 0.3 if begun is None else 0.15,
            "log_interval": max(count // 60, 256),
            "eval_interval": max(count // 10, 512),
        }
        runs[f"hex{size}"] = Run(f"hex{size}", "default", count, settings, begun)
    return runs


# Board size -> games, residual blocks, how often a transition is learned from, and the run whose
# network is the first one.
BEYOND: dict[int, tuple[int, int, float, str | None]] = {
    5: (40_000, 3, 1.0, None),
    6: (40_000, 4, 0.7, None),
    7: (50_000, 4, 0.7, None),
    8: (50_000, 4, 0.5, None),
    11: (20_000, 4, 0.5, "hex7"),
}


def _grid_points() -> Iterator[tuple[float, float, float, int]]:
    return product(LEARNING_RATES, GAMMAS, EPSILONS, LAYERS)


def grid_name(rate: float, gamma: float, epsilon: float, layers: int) -> str:
    """Return the name of a run of the grid."""
    return f"grid-{rate}-{gamma}-{epsilon}-{layers}"


def _grid(rate: float, gamma: float, epsilon: float, layers: int, scale: float) -> Run:
    settings = {
        "learning_rate": rate,
        "final_learning_rate": rate,
        "gamma": gamma,
        "exploration_initial_eps": epsilon,
        "exploration_final_eps": epsilon,
        "network.filters": FILTERS[layers],
    }
    games = GAMES if (rate, gamma, epsilon, layers) in GRID else UNTOLD_GAMES
    return _read(grid_name(rate, gamma, epsilon, layers), games, scale, **settings)


def _read(name: str, games: int, scale: float, **settings: Any) -> Run:
    """Return a run of the document as we read it."""
    return _document(name, games, scale, {**READING, **settings})


def _ablation(name: str, settings: Settings, scale: float) -> Run:
    return _document(f"ablation-{name}", ABLATION_GAMES, scale, settings)


def _document(name: str, games: int, scale: float, settings: Settings) -> Run:
    count = _scaled(games, scale, 500)
    final = 1_000 if scale == 1 else 100
    evaluation = {"eval_interval": count, "eval_games": 50, "final_eval_games": final}
    return Run(name, "tanaka2018", count, {**settings, **evaluation})


def _scaled(games: int, scale: float, least: int) -> int:
    return max(round(games * scale), least)


def _with(run: Run, settings: Settings) -> Run:
    return replace(run, settings={**run.settings, **settings})


def _white_first(size: int) -> str:
    return f"hex:board_size={size},first=white"

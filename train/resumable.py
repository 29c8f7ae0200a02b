"""State of a reinforcement learning run: checkpoints, exact resume, and the files of `run_dir`."""

import time
from dataclasses import fields
from typing import Any

import numpy as np
import torch

from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.executor import LOCAL
from ludoteca.train.allocator import keep_memory
from ludoteca.train.best_network import BestNetwork
from ludoteca.train.checkpoint import Weights, as_arrays, copied, write_if_other
from ludoteca.train.distributed import ranks
from ludoteca.train.evaluation import Evaluator
from ludoteca.train.learner import NetworkLearner
from ludoteca.train.metrics import Metrics
from ludoteca.train.monitor import Monitor
from ludoteca.train.precision import run_precision
from ludoteca.train.run_directory import Arrays, RunDirectory, with_prefix, without_prefix
from ludoteca.train.settings import RLConfig
from ludoteca.train.training_steps import TrainingSteps

# Settings that may differ when a run resumes: they do not change what is learned, or, as the number
# of games, extend the run with the learning rate schedule of the longer one.
MUTABLE_SETTINGS = (
    "run_dir",
    "minutes",
    "save_seconds",
    "checkpoint_selection",
    "final_eval_games",
    "checkpoint_interval",
    "games",
    "executor",
)
# Settings that runs of older versions lack, with their value then.
NEW_SETTINGS = {"num_actors": 1, "executor": LOCAL, "max_staleness": 0, "inference": "actors"}


class ResumableTraining(TrainingSteps):
    """Training run whose checkpoints hold everything that exact resume needs.

    A subclass calls `begin` at the end of its constructor.

    Attributes:
        config: settings.
        game: the game.
        precision: numeric precision of convolutions, `"float32"` or `"bfloat16"`.
        learner: network and optimizer.
        games: number of games learned from so far.
        plies: number of plies of these games; in simultaneous games, of joint actions.
        seconds: wall time of the run, over all processes that resumed it.
        learning_seconds: the same without evaluations, checkpoints and compilation.
        evaluator: plays the evaluation games.
        metrics: rows of metrics so far.
        monitor: receives the progress, and can stop the run.
        begun: start of this process's part of the run, by `time.monotonic()`.
        saved: number of games at the last checkpoint, or None if there is none.
    """

    config: RLConfig
    metrics: Metrics
    learner: NetworkLearner[Any]

    def __init__(self, config: RLConfig, game: Game):
        """Begin a run, or resume the one in `run_dir`.

        Raises:
            ValueError: if `run_dir` holds a run with other settings.
        """
        self.begun = time.monotonic()
        self._ranks = ranks()
        torch.set_num_threads(config.threads)
        keep_memory()
        self.config, self.game = config, game
        self.monitor = Monitor()
        self.run_directory = RunDirectory(
            config.run_dir, config.as_dict(), MUTABLE_SETTINGS, NEW_SETTINGS
        )
        self._state = self.run_directory.load_state()
        self.precision = run_precision(config, self.run_directory, self._state)
        # Self-play and learning run concurrently, so each has a generator of its own.
        seeds = np.random.SeedSequence(config.seed).spawn(2)
        self.playing, self.learning = (np.random.default_rng(seed) for seed in seeds)
        self.games = self.plies = 0
        self.seconds = self.learning_seconds = 0.0
        self.saved: int | None = None
        self._best = BestNetwork(
            config.checkpoint_selection, pretrained=config.start_from is not None
        )
        self.evaluator = Evaluator(game, config.eval_games, config.seed + 1, self.monitor)
        self._last_games = 0  # games of the last rollout
        self._rollout: Any = None  # collected, with updates still pending
        self._learning = False  # whether updates from it were made
        self._unmeasured = False  # whether metrics of the last iteration are still to be logged
        # Weights of the self-play network, from `player.load` to the end of its rollout.
        self._acting: Weights | None = None

    def begin(self, tensorboard: bool) -> None:
        """Restore the state of a run that resumes, and open the metrics.

        Raises:
            ValueError: if an evaluation opponent is unknown or invalid for the game, or the state
                is of another version of this package.
            FileNotFoundError: if an opponent's network file is missing.
        """
        for spec in dict.fromkeys(self.opponents()):
            make_agent(spec, self.game)
        rows = []
        if self._state is not None:
            with self.run_directory.restoring():
                rows = self._restore(*self._state)
            self._state = None
        self.run_directory.claim()
        self.metrics = Metrics(self.config.run_dir, rows, keep_writing=tensorboard)
        if self.saved is not None:
            self._write_derived()

    def _restore(self, numbers: dict[str, Any], arrays: Arrays) -> list[Any]:
        """Restore a checkpoint; return its rows of metrics."""
        self.games, self.plies = numbers["games"], numbers["plies"]
        self.seconds = numbers["seconds"]
        self.learning_seconds = numbers["learning_seconds"]
        self._last_games = numbers["last"]
        self.playing.bit_generator.state = numbers["playing"]
        self.learning.bit_generator.state = numbers["learning"]
        self._unmeasured = numbers.get("unmeasured", False)
        self._learning = numbers.get("in_learning", False)
        waiting = without_prefix("waiting", arrays)
        if waiting:
            names = [field.name for field in fields(self.rollout_class)]
            self._rollout = self.rollout_class(**{name: waiting[name] for name in names})
        acting = without_prefix("acting", arrays)
        if acting:
            self._acting = {name: torch.from_numpy(array) for name, array in acting.items()}
        self._best.restore(numbers, arrays, self.config.run_dir / "best.safetensors")
        self.restore(numbers["own"], arrays)
        self.saved = self.games
        rows: list[Any] = numbers["rows"]
        return rows

    @property
    def learning_rollout(self) -> Any:
        """Rollout from which some, but not all updates were made, or None."""
        return self._rollout if self._learning else None

    @property
    def network(self) -> Any:
        """Network that is trained; `config.network` describes its architecture."""
        return self.learner.network

    @property
    def updates(self) -> int:
        """Number of gradient updates."""
        return self.learner.updates

    @property
    def finished(self) -> bool:
        """Whether all games were learned from, and the last network is evaluated."""
        return bool(self.games >= self.config.games) and not self._unmeasured

    @property
    def progress(self) -> float:
        """Number of games so far; those in self-play or in learning count in proportion."""
        waiting = self._rollout  # another thread may ask
        played = 0.0 if waiting is None else float(len(waiting.lengths))
        learned = played * self.monitor.phases["learning"].share if self._learning else 0.0
        if self._acting is not None or played == 0:
            played += self.config.games_per_iteration * self.monitor.phases["playing"].share
        return min(self.games + (played + learned) / 2, self.config.games)

    @property
    def best(self) -> dict[str, Any]:
        """Score of the best network, and its number of games; see `BestNetwork.record`."""
        return self._best.record

    @property
    def selected_is_latest(self) -> bool:
        """Whether `best.safetensors` holds the current network; see `BestNetwork.is_present`."""
        return self._best.is_present(self.updates)

    @property
    def selected(self) -> dict[str, Any]:
        """Description of the network in `best.safetensors`; see `BestNetwork.selected`."""
        return self._best.selected(self.games, self.updates)

    def save(self) -> None:
        """Write a checkpoint, from which the run resumes exactly.

        `state.npz` holds everything, and is written first and atomically. The other files derive
        from it: those that are missing or out of date are written when the run resumes.
        """
        own, arrays = self.state()
        best, best_arrays = self._best.state()
        if self._rollout is not None:
            columns = {f.name: getattr(self._rollout, f.name) for f in fields(self._rollout)}
            arrays = arrays | with_prefix("waiting", columns)
        if self._acting is not None:
            arrays = arrays | with_prefix("acting", as_arrays(self._acting))
        numbers = {
            "games": self.games,
            "plies": self.plies,
            "seconds": self.seconds,
            "learning_seconds": self.learning_seconds,
            "last": self._last_games,
            **best,
            "precision": self.precision,
            "rows": self.metrics.rows,
            "playing": self.playing.bit_generator.state,
            "learning": self.learning.bit_generator.state,
            "unmeasured": self._unmeasured,
            "in_learning": self._learning,
            "own": own,
        }
        self.run_directory.save_state(numbers, arrays | best_arrays)
        self.saved = self.games
        self._write_derived()

    def _write_derived(self) -> None:
        """Write the files that derive from the state, if they are missing or out of date."""
        if not self._ranks.leads:
            return
        folder, weights, about = self.config.run_dir, copied(self.network), self._about()
        write_if_other(folder / "network.safetensors", weights, about)
        self._best.write(folder / "best.safetensors", weights, about)
        self.metrics.save()

    def _about(self) -> dict[str, Any]:
        """Return the metadata of the current network."""
        return {
            "game": self.game.spec,
            "network": self.config.network.as_dict(),
            "games": self.games,
            "updates": self.updates,
            **({"start_from": str(start)} if (start := self.config.start_from) else {}),
        }

"""State of a reinforcement learning run: checkpoints, exact resume, and the files of `run_dir`."""

import time
from dataclasses import fields, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.executor import LOCAL
from ludoteca.train.actors import make_self_play_actor
from ludoteca.train.algorithms import check_algorithm, find_algorithm
from ludoteca.train.allocator import disable_memory_trimming
from ludoteca.train.auto_settings import fit_to_run
from ludoteca.train.best_network import BestNetwork
from ludoteca.train.checkpoint import Weights, as_arrays, copy_weights, write_if_changed
from ludoteca.train.distributed import ranks
from ludoteca.train.evaluation import Evaluator
from ludoteca.train.learner import NetworkLearner, initial_network
from ludoteca.train.mean_metrics import MeanMetrics
from ludoteca.train.metrics import Metrics
from ludoteca.train.minibatches import make_minibatches
from ludoteca.train.monitor import Monitor
from ludoteca.train.precision import run_precision
from ludoteca.train.run_directory import Arrays, RunDirectory, with_prefix, without_prefix
from ludoteca.train.settings import RLConfig

# Settings that may differ when a run resumes. They have no effect on updates, except that a larger
# number of games extends the run with the learning rate schedule of the longer run.
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
# Settings that runs of older versions lack, with the values that these runs used.
NEW_SETTINGS = {
    "num_actors": 1,
    "executor": LOCAL,
    "max_staleness": 0,
    "inference": "actors",
    "opponent_prob": 1.0,
}


class ResumableTraining:
    """Training run of an algorithm, whose checkpoints hold everything that exact resume needs.

    A run that is resumed consists of several parts, one per process.

    Attributes:
        config: settings.
        game: the game.
        algorithm: the algorithm.
        precision: numeric precision of convolutions, `"float32"` or `"bfloat16"`.
        learner: network and optimizer.
        actor: self-play actor; `load` replaces its copy of the network.
        multiprocess_actor: self-play in other processes, or None for self-play in this one.
        minibatches: training examples, and the pending updates from them.
        games: number of games learned from.
        plies: number of plies of these games; in simultaneous games, of joint moves.
        seconds: wall time of the run, all parts included.
        learning_seconds: wall time without evaluations, checkpoints and compilation.
        playing_rng: random number generator of self-play.
        learning_rng: random number generator of updates.
        evaluator: plays the evaluation games.
        metrics: rows of metrics so far.
        run_directory: folder of the run.
        monitor: receives the progress, and can stop the run.
        begun: start of this process's part of the run, by `time.monotonic()`.
        saved: number of games at the last checkpoint, or None if there is none.
    """

    metrics: Metrics

    def __init__(self, config: RLConfig, tensorboard: bool = True):
        """Begin a run, or resume the one in `run_dir`.

        Args:
            config: settings; some may be `AUTO`.
            tensorboard: whether TensorBoard files are written.

        Raises:
            ValueError: if `run_dir` holds a run with other settings, or a setting is invalid.
            FileNotFoundError: if the network file of an opponent is missing.
        """
        self.begun = time.monotonic()
        self._ranks = ranks()
        torch.set_num_threads(config.threads)
        disable_memory_trimming()
        self.game, algorithm = make_game(config.game), find_algorithm(config.algorithm)
        check_algorithm(config.algorithm, self.game)
        self.config = config = fit_to_run(config, self.game, algorithm.limits)
        network = initial_network(algorithm, config, self.game)
        self.monitor = Monitor()
        self.run_directory = RunDirectory(
            config.run_dir, config.as_dict(), MUTABLE_SETTINGS, NEW_SETTINGS
        )
        self._state = self.run_directory.load_state()
        self.precision = run_precision(config, self.run_directory, self._state)
        # Self-play and learning run concurrently, so each has a separate generator.
        seeds = np.random.SeedSequence(config.seed).spawn(2)
        self.playing_rng, self.learning_rng = (np.random.default_rng(seed) for seed in seeds)
        self.algorithm = algorithm(replace(config, precision=self.precision), self.game, network)
        self.algorithm.monitor = self.monitor
        self.learner = NetworkLearner(self.algorithm)
        self.minibatches = make_minibatches(self.algorithm)
        self.actor, self.multiprocess_actor = make_self_play_actor(self.algorithm)
        self.games = self.plies = 0
        self.seconds = self.learning_seconds = 0.0
        self.saved: int | None = None
        self._best = BestNetwork(
            config.checkpoint_selection, pretrained=config.start_from is not None
        )
        self.evaluator = Evaluator(self.game, config.eval_games, config.seed + 1, self.monitor)
        names = (*algorithm.rollout_metrics, *algorithm.loss_metrics)
        self._means = MeanMetrics(names, algorithm.summed_metrics)
        self._last_games = 0  # games of the last rollout
        self._rollout: Any = None  # collected rollout that is not learned from yet
        # Lengths of the games of the rollout with pending updates.
        self._lengths: NDArray[np.int64] | None = None
        self._unmeasured = False  # whether metrics of the last iteration are still to be logged
        # Weights of the self-play network, from `actor.load` to the end of its rollout.
        self._actor_weights: Weights | None = None
        self._begin(tensorboard)

    def _begin(self, tensorboard: bool) -> None:
        """Restore the state of a run that resumes, and open the metrics.

        Raises:
            ValueError: if an evaluation opponent is unknown or invalid for the game, or the state
                is of another version of this package.
            FileNotFoundError: if an opponent's network file is missing.
        """
        for spec in dict.fromkeys(self.algorithm.opponents()):
            make_agent(spec, self.game)
        rows = []
        if self._state is not None:
            with self.run_directory.restoring():
                rows = self._restore(*self._state)
            self._state = None
        self.run_directory.claim()
        self.metrics = Metrics(
            self.config.run_dir, rows, tensorboard=tensorboard, settings=self.config.as_dict()
        )
        if self.saved is not None:
            self._write_derived()

    def _restore(self, numbers: dict[str, Any], arrays: Arrays) -> list[Any]:
        """Restore a checkpoint; return its rows of metrics."""
        self.games, self.plies = numbers["games"], numbers["plies"]
        self.seconds = numbers["seconds"]
        self.learning_seconds = numbers["learning_seconds"]
        self._last_games = numbers["last"]
        self.playing_rng.bit_generator.state = numbers["playing"]
        self.learning_rng.bit_generator.state = numbers["learning"]
        self._unmeasured = numbers.get("unmeasured", False)
        self._lengths = arrays.get("lengths")
        waiting, rollout_class = without_prefix("waiting", arrays), self.algorithm.rollout_class
        if waiting:
            names = [field.name for field in fields(rollout_class)]
            self._rollout = rollout_class(**{name: waiting[name] for name in names})
        acting = without_prefix("acting", arrays)
        if acting:
            self._actor_weights = {name: torch.from_numpy(array) for name, array in acting.items()}
        self._best.restore(numbers, arrays, self.config.run_dir / "best.safetensors")
        self._means.sums |= numbers["sums"]  # older checkpoints may lack metrics
        self.learner.restore(without_prefix("learner", arrays))
        self.actor.restore(without_prefix("player", arrays), self.network)
        self.minibatches.restore(numbers["minibatches"], without_prefix("minibatches", arrays))
        self.algorithm.restore(numbers["algorithm"], without_prefix("algorithm", arrays))
        self.saved = self.games
        rows: list[Any] = numbers["rows"]
        return rows

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
        """Whether all games are learned from, and the last network is evaluated."""
        return bool(self.games >= self.config.games) and not self._unmeasured

    @property
    def progress(self) -> float:
        """Number of games so far, including fractions of the current rollout and its updates."""
        # Read once: the display's thread calls this while the run's thread changes them.
        waiting, learned_from = self._rollout, self._lengths
        played = learned = 0.0
        if learned_from is not None:
            played = float(len(learned_from))
            learned = played * self.monitor.phases["learning"].fraction
        elif waiting is not None:
            played = float(len(waiting.lengths))
        if self._actor_weights is not None or played == 0:
            played += self.config.games_per_iteration * self.monitor.phases["playing"].fraction
        # A game counts half when it is played, half when it is learned from.
        return min(self.games + (played + learned) / 2, self.config.games)

    @property
    def best(self) -> dict[str, Any]:
        """Score of the best network, and its number of games; see `BestNetwork.record`."""
        return self._best.record

    @property
    def selected_is_latest(self) -> bool:
        """Whether `best.safetensors` holds the current network; see `BestNetwork.is_current`."""
        return self._best.is_current(self.updates)

    @property
    def selected(self) -> dict[str, Any]:
        """Description of the network in `best.safetensors`; see `BestNetwork.selected`."""
        return self._best.selected(self.games, self.updates)

    def save(self) -> None:
        """Write a checkpoint, from which the run resumes exactly.

        `state.npz` holds everything, and is written first and atomically. The other files derive
        from it: those that are missing or out of date are written when the run resumes.
        """
        best, arrays = self._best.state()
        minibatches, examples = self.minibatches.state()
        algorithm_numbers, algorithm_arrays = self.algorithm.state()
        arrays = (
            arrays
            | with_prefix("learner", self.learner.state())
            | with_prefix("player", self.actor.state())
            | with_prefix("minibatches", examples)
            | with_prefix("algorithm", algorithm_arrays)
        )
        if self._rollout is not None:
            columns = {f.name: getattr(self._rollout, f.name) for f in fields(self._rollout)}
            arrays = arrays | with_prefix("waiting", columns)
        if self._lengths is not None:
            arrays = arrays | {"lengths": self._lengths}
        if self._actor_weights is not None:
            arrays = arrays | with_prefix("acting", as_arrays(self._actor_weights))
        numbers = {
            "games": self.games,
            "plies": self.plies,
            "seconds": self.seconds,
            "learning_seconds": self.learning_seconds,
            "last": self._last_games,
            **best,
            "precision": self.precision,
            "rows": self.metrics.rows,
            "playing": self.playing_rng.bit_generator.state,
            "learning": self.learning_rng.bit_generator.state,
            "unmeasured": self._unmeasured,
            "sums": self._means.sums,
            "minibatches": minibatches,
            "algorithm": algorithm_numbers,
        }
        self.run_directory.save_state(numbers, arrays)
        self.saved = self.games
        self._write_derived()

    def _write_derived(self) -> None:
        """Write the files that derive from the state, if they are missing or out of date."""
        if not self._ranks.is_main_process:
            return
        folder, weights, metadata = (
            self.config.run_dir,
            copy_weights(self.network),
            self._metadata(),
        )
        write_if_changed(folder / "network.safetensors", weights, metadata)
        self._best.write(folder / "best.safetensors", weights, metadata)
        self.metrics.save()

    def _metadata(self) -> dict[str, Any]:
        """Return the metadata of the current network."""
        return {
            "game": self.game.spec,
            "network": self.config.network.as_dict(),
            "games": self.games,
            "updates": self.updates,
            **({"start_from": str(start)} if (start := self.config.start_from) else {}),
        }

"""The loop of training in rounds: play some games, learn from them, measure, and never lose any."""

import copy
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import fields
from typing import Any

import numpy as np
import torch

from ludoteca.agents.registry import make_agent
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.executor import LOCAL
from ludoteca.train.allocator import keep_memory
from ludoteca.train.best_network import BestNetwork
from ludoteca.train.checkpoint import Weights, as_arrays, copied, write_if_other, write_network
from ludoteca.train.distributed import ranks
from ludoteca.train.evaluation import Evaluator
from ludoteca.train.learner import Learner
from ludoteca.train.metrics import Metrics
from ludoteca.train.monitor import Monitor, Stopped
from ludoteca.train.precision import run_precision
from ludoteca.train.run_directory import Arrays, RunDirectory, with_prefix, without_prefix
from ludoteca.train.settings import RLConfig
from ludoteca.train.training_steps import TrainingSteps

# Settings that do not change what is learned, and the number of games: a run can be made longer,
# with learning rates from then on as if it had been so from the start.
FREE = (
    "run_dir",
    "minutes",
    "save_seconds",
    "checkpoint_selection",
    "final_eval_games",
    "checkpoint_interval",
    "games",
    "executor",
)
# Settings that runs of older versions lack, with what these did.
ADDED = {"num_actors": 1, "executor": LOCAL, "max_staleness": 0, "inference": "actors"}


class RLTraining(TrainingSteps):
    """A training run in rounds, which can be interrupted at any time.

    With `overlap_actor_learner`, the next round is played in a second thread while the last one is
    learned from, by the network as it was before. The state is saved between two updates, together
    with the round that is being learned from or has just been played: a run that resumes from there
    learns bit for bit the same. A round that was not played to its end is dropped, and played again
    by the same network with the same random numbers.

    A subclass prepares itself in its constructor and then calls `begin`; the loop calls its steps,
    see `TrainingSteps`.

    Attributes:
        config: the settings.
        game: the game.
        precision: of convolutions, `"float32"` or `"bfloat16"`.
        learner: the network that learns, and how.
        games: how many games were learned from.
        plies: how many plies they had; where all move at once, a ply is a step of all.
        seconds: how long that took, in all parts of the run.
        learning_seconds: the same without evaluations, checkpoints and compiling.
        evaluator: plays the evaluation games.
        metrics: what was measured so far.
        monitor: is shown the progress, and can stop the run.
        begun: when this part of the run began, by `time.monotonic()`.
        saved: how many games the last checkpoint has seen, or None if there is none.
    """

    config: RLConfig
    metrics: Metrics
    learner: Learner[Any]

    def __init__(self, config: RLConfig, game: Game):
        """Begin a run, or resume the one in the folder.

        Raises:
            ValueError: if the folder holds a run with other settings.
        """
        self.begun = time.monotonic()
        self._ranks = ranks()
        torch.set_num_threads(config.threads)
        keep_memory()
        self.config, self.game = config, game
        self.monitor = Monitor()
        self.folder = RunDirectory(config.run_dir, config.as_dict(), FREE, ADDED)
        self._state = self.folder.load_state()
        self.precision = run_precision(config, self.folder, self._state)
        # Playing and learning draw from generators of their own, as they go on side by side.
        seeds = np.random.SeedSequence(config.seed).spawn(2)
        self.playing, self.learning = (np.random.default_rng(seed) for seed in seeds)
        self.games = self.plies = 0
        self.seconds = self.learning_seconds = 0.0
        self.saved: int | None = None
        self._best = BestNetwork(
            config.checkpoint_selection, pretrained=config.start_from is not None
        )
        self.evaluator = Evaluator(game, config.eval_games, config.seed + 1, self.monitor)
        self._last = 0  # games of the last round
        self._waiting: Any = None  # the round that was played, but not learned from to its end
        self._learning = False  # whether updates were made from it
        self._unmeasured = False  # whether the last round has yet to be measured
        # The weights that play the next round, from when the player has them until it is played.
        self._acting: Weights | None = None

    def begin(self, tensorboard: bool) -> None:
        """Restore the state of a run that resumes, and open the metrics.

        Raises:
            ValueError: if there is no such opponent to be evaluated against, or it does not fit; or
                if the state is of another version of this package.
            FileNotFoundError: if it is a network that is not there.
        """
        for spec in dict.fromkeys(self.opponents()):
            make_agent(spec, self.game)
        rows = []
        if self._state is not None:
            with self.folder.restoring():
                rows = self._restore(*self._state)
            self._state = None
        self.folder.claim()
        self.metrics = Metrics(self.config.run_dir, rows, keep_writing=tensorboard)
        if self.saved is not None:
            self._write_derived()

    def _restore(self, numbers: dict[str, Any], arrays: Arrays) -> list[Any]:
        """Resume from where a checkpoint was written; return the rows of metrics."""
        self.games, self.plies = numbers["games"], numbers["plies"]
        self.seconds = numbers["seconds"]
        self.learning_seconds = numbers["learning_seconds"]
        self._last = numbers["last"]
        self.playing.bit_generator.state = numbers["playing"]
        self.learning.bit_generator.state = numbers["learning"]
        self._unmeasured = numbers.get("unmeasured", False)
        self._learning = numbers.get("in_learning", False)
        waiting = without_prefix("waiting", arrays)
        if waiting:
            self._waiting = self.round(**{f.name: waiting[f.name] for f in fields(self.round)})
        acting = without_prefix("acting", arrays)
        if acting:
            self._acting = {name: torch.from_numpy(array) for name, array in acting.items()}
        self._best.restore(numbers, arrays, self.config.run_dir / "best.safetensors")
        self.restore(numbers["own"], arrays)
        self.saved = self.games
        rows: list[Any] = numbers["rows"]
        return rows

    @property
    def in_learning(self) -> Any:
        """The round of which updates were made but not the last one, or None."""
        return self._waiting if self._learning else None

    @property
    def network(self) -> Any:
        """What learns; `config.network` tells how it is built."""
        return self.learner.network

    @property
    def updates(self) -> int:
        """How many updates were made."""
        return self.learner.updates

    @property
    def finished(self) -> bool:
        """Whether all games are played, and the last network is evaluated."""
        return bool(self.games >= self.config.games) and not self._unmeasured

    @property
    def progress(self) -> float:
        """Games so far, those that are being played or learned from in proportion."""
        waiting = self._waiting  # another thread may ask
        played = 0.0 if waiting is None else float(len(waiting.lengths))
        learned = played * self.monitor.work["learning"].share if self._learning else 0.0
        if self._acting is not None or played == 0:
            played += self.config.games_per_iteration * self.monitor.work["playing"].share
        return min(self.games + (played + learned) / 2, self.config.games)

    def run(self) -> Iterator[int]:
        """Train; yields the number of games after each round, until all are played.

        It ends before that if `monitor` is asked to stop: then `save` keeps everything, the updates
        that were made from the present round included. If the iteration is left in between, what
        happened since the last checkpoint is lost.
        """
        try:
            yield from self._run()
        except Stopped:
            return

    def _run(self) -> Iterator[int]:
        """Train.

        Raises:
            Stopped: if the run is to stop.
        """
        config = self.config
        before, saved = self.seconds, time.monotonic()
        began = saved

        def tick() -> None:
            self.seconds = before + time.monotonic() - began

        pool = ThreadPoolExecutor(1, initializer=torch.set_num_threads, initargs=(config.threads,))
        try:
            if self.games == 0 and not self.metrics.rows:
                self._log_untrained()
            while not self.finished:
                if not self._unmeasured:
                    start = clock()
                    try:
                        self._iterate(pool)
                    finally:
                        self.learning_seconds += clock() - start
                    tick()
                self._measure()
                self._unmeasured = False
                if self.finished or time.monotonic() - saved > config.save_seconds:
                    tick()
                    self.save()
                    saved = time.monotonic()
                yield self.games
        except Stopped:
            tick()
            raise
        finally:
            pool.shutdown(wait=False)
            if self.actors is not None:
                self.actors.close()

    def _iterate(self, pool: ThreadPoolExecutor) -> None:
        """Play a round, if there is none, and learn from it.

        Raises:
            Stopped: if the run is to stop; all that was finished is kept.
        """
        if self._waiting is None:
            self.monitor.phase = "playing"
            self._prepare()
            before = self.playing.bit_generator.state
            try:
                self._waiting = self._play(self.games)
            except Stopped:
                self.playing.bit_generator.state = before
                raise
            self._acting = None
        played, coming = self._waiting, None
        after = self.games + len(played.lengths)
        before = self.playing.bit_generator.state
        try:
            if self._overlaps and after < self.config.games:
                self._prepare()
                coming = pool.submit(self._play, after)
            self._learn(played)
            self._learning, self._unmeasured, self._waiting = False, True, None
            self.games, self._last = after, len(played.lengths)
            self.plies += int(played.lengths.sum())
            self.monitor.phase = "playing"
            if coming is None:
                self.monitor.begin("playing", 0)
            else:
                self._waiting = coming.result()
                self._acting = None
        except Stopped:
            self._drop(coming, before)
            raise
        except BaseException:
            if not self.monitor.request:  # an error in this thread: the other one is to stop, too
                self.monitor.stop("an error")
                self._drop(coming, before)
                self.monitor.stop("")
            raise

    def _play(self, games: int) -> Any:
        """Play a round; where several processes learn, rank 0 plays for all.

        Raises:
            Stopped: if the run is to stop.
        """
        return self._ranks.decided(lambda: self.play(games), playing=True)

    @property
    def _overlaps(self) -> bool:
        """Whether the next round is asked for while the network learns."""
        return (
            self.config.overlap_actor_learner and self.config.max_staleness == 0
        )  # else actors play ahead

    def _prepare(self) -> None:
        """Give the player the network for the next round."""
        if self._acting is None:
            self.player.load(self.network)
            self._acting = copied(self.network)
        else:
            network = copy.deepcopy(self.network)
            network.load_state_dict(self._acting)
            self.reload(network)

    def _learn(self, played: Any) -> None:
        """Make the updates from a round that are still due.

        Raises:
            Stopped: if the run is to stop; it can be called again then.
        """
        if not self._learning:
            self.keep(played)
            self._learning = True
        monitor = self.monitor
        monitor.phase = "learning"
        total = self.due
        monitor.begin("learning", total, "update")
        while self.due > 0:
            self._ranks.check(monitor)
            self.update()
            self._ranks.step(monitor, total - self.due)
        self.conclude(played)

    def _drop(self, coming: "Future[Any] | None", before: Any) -> None:
        """Drop the round that is being played: all random numbers it has drawn are to come."""
        if coming is not None:
            wait([coming])
            self.playing.bit_generator.state = before

    def save(self) -> None:
        """Write a checkpoint, from which the run resumes exactly.

        `state.npz` holds everything and is replaced as a whole, first of all. The other files
        follow from it: those that are missing or out of date are written when the run resumes.
        """
        own, arrays = self.state()
        best, best_arrays = self._best.state()
        if self._waiting is not None:
            played = {f.name: getattr(self._waiting, f.name) for f in fields(self._waiting)}
            arrays = arrays | with_prefix("waiting", played)
        if self._acting is not None:
            arrays = arrays | with_prefix("acting", as_arrays(self._acting))
        numbers = {
            "games": self.games,
            "plies": self.plies,
            "seconds": self.seconds,
            "learning_seconds": self.learning_seconds,
            "last": self._last,
            **best,
            "precision": self.precision,
            "rows": self.metrics.rows,
            "playing": self.playing.bit_generator.state,
            "learning": self.learning.bit_generator.state,
            "unmeasured": self._unmeasured,
            "in_learning": self._learning,
            "own": own,
        }
        self.folder.save_state(numbers, arrays | best_arrays)
        self.saved = self.games
        self._write_derived()

    def _write_derived(self) -> None:
        """Write the files that follow from the state, if they are missing or out of date."""
        if not self._ranks.leads:
            return
        folder, weights, about = self.config.run_dir, copied(self.network), self._about()
        write_if_other(folder / "network.safetensors", weights, about)
        self._best.write(folder / "best.safetensors", weights, about)
        self.metrics.save()

    @property
    def best(self) -> dict[str, Any]:
        """How good the best network was, and after how many games; see `BestNetwork.record`."""
        return self._best.record

    @property
    def keeps_last(self) -> bool:
        """Whether `best.safetensors` holds the present network; see `BestNetwork.is_present`."""
        return self._best.is_present(self.updates)

    @property
    def kept(self) -> dict[str, Any]:
        """Which network `best.safetensors` holds; see `BestNetwork.kept`."""
        return self._best.kept(self.games, self.updates)

    def _about(self) -> dict[str, Any]:
        """Return what is written about the network as it is now beside its weights."""
        return {
            "game": self.game.spec,
            "network": self.config.network.as_dict(),
            "games": self.games,
            "updates": self.updates,
            **({"start_from": str(start)} if (start := self.config.start_from) else {}),
        }

    def evaluate(self) -> dict[str, float]:
        """Play evaluation games, the same each time, and return the shares won.

        Keeps the network as the best one, unless an earlier one did better and `config.select` is
        "best"; of equal ones, the latest.

        Raises:
            Stopped: if the run is to stop; then nothing is kept.
        """
        values, matches = self.evaluator.evaluate(self.candidate(), self.opponents())
        self._best.consider(self.network, self.games, self.updates, self.strength(matches))
        return values

    def evaluate_out_of_turn(self) -> None:
        """Evaluate the network at the end of a part of the run, and write it if it is best.

        The run that resumes does not know of that: it evaluates when it would have done so anyway.

        Raises:
            Stopped: if there is not enough time.
        """
        _, matches = self.evaluator.evaluate(self.candidate(), self.opponents())
        self._best.consider_interim(self.updates, self.strength(matches))
        self._write_derived()

    def _measure(self) -> None:
        """Write down how it goes, and evaluate, when it is time for either."""
        before = self.games - self._last
        every = self.config.checkpoint_interval
        over = self.games >= self.config.games
        if every and self._ranks.leads and (over or self.games // every > before // every):
            path = self.config.run_dir / f"checkpoints/games-{self.games:08}.safetensors"
            write_network(path, copied(self.network), self._about())
        logged, evaluated = (
            over or self.games // every > before // every
            for every in (self.config.log_interval, self.config.eval_interval)
        )
        if logged or evaluated:
            self._log(evaluated)

    def _log_untrained(self) -> None:
        """Add the first row; of the time until a deadline, that may take a tenth.

        Raises:
            Stopped: if the run is to stop.
        """
        with self.monitor.task(1 / 10):
            self._log(evaluated=True)
        if not self.metrics.rows:
            self._log(evaluated=False)

    def _log(self, evaluated: bool) -> None:
        """Add a row of metrics.

        Raises:
            Stopped: if the run is to stop; then the row is still to be added.
        """
        values = self._ranks.decided(self.evaluate) if evaluated else {}
        seen = self.summary() | (self.actors.summary() if self.actors is not None else {})
        self.metrics.add(self.games, seconds=round(self.seconds, 1), **seen, **values)

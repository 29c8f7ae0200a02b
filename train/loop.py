"""Training loop of reinforcement learning: collect a rollout, update, evaluate, save."""

import copy
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import torch

from ludoteca.envs.clock import clock
from ludoteca.train.checkpoint import copy_weights, write_network
from ludoteca.train.monitor import Stopped
from ludoteca.train.resumable import ResumableTraining


class RLTraining(ResumableTraining):
    """Training run of an algorithm, which can be interrupted at any time.

    With `overlap_actor_learner`, the next rollout is collected in a second thread during the
    updates from the last one, by the network as it was before these updates. A checkpoint is taken
    between two updates, together with the rollout in use: a run that resumes from it learns bit for
    bit the same. An unfinished rollout is dropped, and collected again by the same network with the
    same random numbers.
    """

    def run(self) -> Iterator[int]:
        """Train; yield the number of games after each iteration, until all games are learned from.

        Ends earlier if `monitor` is asked to stop; `save` then writes a checkpoint that includes
        the updates from the current rollout. If the generator is abandoned, everything since the
        last checkpoint is lost.
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
        seconds_before = self.seconds
        start = saved = time.monotonic()

        def update_seconds() -> None:
            self.seconds = seconds_before + time.monotonic() - start

        pool = ThreadPoolExecutor(1, initializer=torch.set_num_threads, initargs=(config.threads,))
        try:
            if self.games == 0 and not self.metrics.rows:
                self._log_untrained()
            while not self.finished:
                if not self._unmeasured:
                    iteration_start = clock()
                    try:
                        self._iterate(pool)
                    finally:
                        self.learning_seconds += clock() - iteration_start
                    update_seconds()
                self._log_and_evaluate()
                self._unmeasured = False
                if self.finished or time.monotonic() - saved > config.save_seconds:
                    update_seconds()
                    self.save()
                    saved = time.monotonic()
                yield self.games
        except Stopped:
            update_seconds()
            raise
        finally:
            pool.shutdown(wait=False)
            if self.multiprocess_actor is not None:
                self.multiprocess_actor.close()

    def _iterate(self, pool: ThreadPoolExecutor) -> None:
        """Collect a rollout, unless there is one, and learn from it.

        Args:
            pool: the thread that collects the next rollout meanwhile.

        Raises:
            Stopped: if the run is to stop; all finished work is kept.
        """
        if self._rollout is None and self._lengths is None:
            self.monitor.phase = "playing"
            self._load_actor()
            rng_state = self.playing_rng.bit_generator.state
            try:
                self._rollout = self._play(self.games)
            except Stopped:
                self.playing_rng.bit_generator.state = rng_state
                raise
            self._actor_weights = None
        lengths = self._rollout.lengths if self._lengths is None else self._lengths
        games, next_rollout = self.games + len(lengths), None
        rng_state = self.playing_rng.bit_generator.state
        try:
            if self._overlaps and games < self.config.games:
                self._load_actor()
                next_rollout = pool.submit(self._play, games)
            self._learn()
            self._lengths, self._unmeasured = None, True
            self.games, self._last_games = games, len(lengths)
            self.plies += int(lengths.sum())
            self.monitor.phase = "playing"
            if next_rollout is None:
                self.monitor.begin("playing", 0)
            else:
                self._rollout = next_rollout.result()
                self._actor_weights = None
        except Stopped:
            self._drop(next_rollout, rng_state)
            raise
        except BaseException:
            # After an error in this thread, the self-play thread must stop, too.
            if not self.monitor.stop_reason:
                self.monitor.stop("an error")
                self._drop(next_rollout, rng_state)
                self.monitor.stop("")
            raise

    def _play(self, games: int) -> Any:
        """Collect a rollout after `games` games; in data-parallel training, rank 0 does for all.

        Raises:
            Stopped: if the run is to stop.
        """
        return self._ranks.broadcast(lambda: self.play(games), playing=True)

    def play(self, games: int) -> Any:
        """Collect a rollout after `games` games; only `playing_rng` is used.

        Raises:
            Stopped: if the run is to stop.
        """
        return self.actor.play(self.playing_rng, games)

    @property
    def _overlaps(self) -> bool:
        """Whether the next rollout is requested during the updates."""
        # With `max_staleness` above 0, the actors play ahead instead.
        return self.config.overlap_actor_learner and self.config.max_staleness == 0

    def _load_actor(self) -> None:
        """Load the network of the next rollout into the actor; the same one after a resume."""
        if self._actor_weights is None:
            self.actor.load(self.network)
            self._actor_weights = copy_weights(self.network)
        else:
            network = copy.deepcopy(self.network)
            network.load_state_dict(self._actor_weights)
            self.actor.reload(network)

    def _learn(self) -> None:
        """Make the pending updates from the collected rollout.

        Raises:
            Stopped: if the run is to stop; when it resumes, this method is called again.
        """
        if self._lengths is None:
            self.add_rollout(self._rollout)
            # Only the training examples are needed from now on.
            self._rollout, self._lengths = None, self._rollout.lengths
        monitor = self.monitor
        monitor.phase = "learning"
        total = self.num_pending_updates
        monitor.begin("learning", total, "update")
        while self.num_pending_updates > 0:
            self._ranks.check(monitor)
            self.update()
            self._ranks.step(monitor, total - self.num_pending_updates)
        self.finish_rollout()

    def learn(self, rollout: Any) -> None:
        """Learn from a rollout, from its first to its last update."""
        self.add_rollout(rollout)
        while self.num_pending_updates > 0:
            self.update()
        self.finish_rollout()

    def add_rollout(self, rollout: Any) -> None:
        """Add a rollout to the training examples; its size determines the pending updates."""
        algorithm, minibatches = self.algorithm, self.minibatches
        records = algorithm.targets(rollout, self.learning_rng)
        algorithm.begin_rollout(self.learner)
        minibatches.add(records, len(rollout.lengths), self.learning_rng)
        self._means.add(algorithm.measure(rollout))

    @property
    def num_pending_updates(self) -> int:
        """Number of pending updates."""
        return self.minibatches.num_pending_updates

    def update(self) -> None:
        """Make one pending update; only `learning_rng` is used."""
        algorithm, rng = self.algorithm, self.learning_rng
        minibatch = self.minibatches.sample(rng)
        batch = algorithm.layout.unpack(minibatch.records)
        symmetries = algorithm.encoder.symmetries
        if self.config.augment and len(symmetries) > 1:
            batch = algorithm.layout.mapped(batch, symmetries[int(rng.integers(len(symmetries)))])
        if minibatch.weights is not None:
            batch["weight"] = minibatch.weights
        with self.minibatches.dropout():
            losses, errors = self.learner.update(batch, self.games / self.config.games)
        if errors is not None:
            self.minibatches.set_priorities(minibatch, errors)
        self._means.add({name: (loss, 1) for name, loss in losses.items()})

    def finish_rollout(self) -> None:
        """Finish learning from a rollout after its last update.

        Raises:
            Stopped: if the run is to stop; when it resumes, this method is called again.
        """
        self.algorithm.finish_rollout(self.learner)
        self.minibatches.clear()

    def _drop(self, next_rollout: "Future[Any] | None", rng_state: Any) -> None:
        """Drop an unfinished rollout, and restore the state `rng_state` of `playing_rng`."""
        if next_rollout is not None:
            wait([next_rollout])
            self.playing_rng.bit_generator.state = rng_state

    def evaluate(self) -> dict[str, float]:
        """Play evaluation games, the same each time; return win rates by `{opponent}__{seat}`.

        The network becomes the best one, unless an earlier one scored higher and
        `config.checkpoint_selection` is "best".

        Raises:
            Stopped: if the run is to stop; the evaluation is then dropped.
        """
        values, score = self._evaluated()
        self._best.consider(self.network, self.games, self.updates, score)
        return values

    def evaluate_off_schedule(self) -> None:
        """Evaluate the network of a stopped run, and write it if it is the best.

        A resumed run ignores this evaluation.

        Raises:
            Stopped: if there is not enough time.
        """
        _, score = self._evaluated()
        self._best.consider_interim(self.updates, score)
        self._write_derived()

    def _evaluated(self) -> tuple[dict[str, float], float]:
        """Return the network's win rates, by `{opponent}__{seat}`, and its evaluation score."""
        algorithm = self.algorithm
        self.evaluator.num_replays = int(self.metrics.draws_boards)
        values, matches = self.evaluator.evaluate(algorithm.agent(), algorithm.opponents())
        if matches[0].replays:
            self.metrics.add_board(self.games, self.game, matches[0].replays[0])
        return values, algorithm.score(matches)

    def _log_and_evaluate(self) -> None:
        """Write a network copy, log metrics and evaluate, each at its interval."""
        games_before = self.games - self._last_games
        interval = self.config.checkpoint_interval
        finished = self.games >= self.config.games
        crossed = interval and self.games // interval > games_before // interval
        if interval and self._ranks.is_main_process and (finished or crossed):
            path = self.config.run_dir / f"checkpoints/games-{self.games:08}.safetensors"
            write_network(path, copy_weights(self.network), self._metadata())
        logged, evaluated = (
            finished or self.games // interval > games_before // interval
            for interval in (self.config.log_interval, self.config.eval_interval)
        )
        if logged or evaluated:
            self._log(evaluated)

    def _log_untrained(self) -> None:
        """Add the row of metrics of the initial network.

        If its evaluation takes over a tenth of the time left, the row has no win rates.

        Raises:
            Stopped: if the run is to stop.
        """
        with self.monitor.task(1 / 10):
            self._log(evaluated=True)
        if not self.metrics.rows:
            self._log(evaluated=False)

    def _log(self, evaluated: bool) -> None:
        """Add a row of metrics, with win rates if `evaluated`.

        Raises:
            Stopped: if the run is to stop; no row is added.
        """
        rates = self._ranks.broadcast(self.evaluate) if evaluated else {}
        values = self.summary() | (
            self.multiprocess_actor.summary() if self.multiprocess_actor is not None else {}
        )
        self.metrics.add(self.games, seconds=round(self.seconds, 1), **values, **rates)

    def summary(self) -> dict[str, float | int | None]:
        """Return the metrics since the last summary, by name."""
        means = self._means.summary()
        return {
            **means,
            "updates": self.updates,
            **self.algorithm.metrics(self.games),
            **self.actor.metrics(),
        }

"""Asynchronous rollouts: actors play later rollouts while the network learns.

Each actor plays a part of the games of each rollout.
"""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from ludoteca.executor import WAIT, Executor
from ludoteca.shared import Shared
from ludoteca.train.settings import RLConfig

R = TypeVar("R")
POLL_SECONDS = 0.05  # seconds between polls for finished parts


class AsyncRollouts(Generic[R]):
    """Parts of the current and later rollouts, played while the network learns.

    Part k belongs to rollout k // num_actors. It starts, with the latest network, as soon as the
    network has learned from all but at most `max_staleness` earlier rollouts. So staleness is
    bounded, however slow a worker is.
    """

    def __init__(
        self,
        executor: Executor,
        task: Callable[..., Any],
        config: RLConfig,
        games: int,
        rollouts: int,
        seed: int,
    ):
        """Start the thread that distributes parts. No part starts before weights are loaded.

        Args:
            executor: runs the workers.
            task: plays a part, given the shared weights, a random generator and the number of games
                of the run before the rollout; see `ludoteca.train.actors.play_part`.
            config: settings of the run.
            games: number of games played in the run before the first rollout.
            rollouts: number of rollouts left.
            seed: seed of all parts.
        """
        self._task, self._config, self._games = task, config, games
        self._num_parts, self._seed = rollouts * config.num_actors, seed
        self._changed = threading.Condition()
        self._version, self._shared = -1, tuple[Shared[Any], ...]()
        self._started = self._returned = 0  # numbers of parts so far
        self._versions: list[int] = []  # versions of the network, by part
        # By part: finished parts that were not returned yet, with their wall and CPU seconds.
        self._finished: dict[int, tuple[R, tuple[float, float]]] = {}
        self._error: BaseException | None = None
        self._closing = False
        self._stream = executor.stream(self._next)
        self._thread = threading.Thread(
            target=self._distribute, name="ludoteca-actors", daemon=True
        )
        self._thread.start()

    def load(self, version: int, shared: tuple[Shared[Any], ...]) -> None:
        """Set the weights of all parts that start from now on.

        Args:
            version: number of iterations that the network has learned from.
            shared: weights of the network, then of past networks in the opponent pool.
        """
        with self._changed:
            self._version, self._shared = version, shared
            self._changed.notify_all()

    def take(self, step: Callable[[int], None]) -> list[tuple[int, R, tuple[float, float]]]:
        """Return the parts of the next rollout; wait until they are finished.

        Args:
            step: called repeatedly with the number of finished parts.

        Returns:
            Version of the network, the part, and its wall and CPU seconds, for each part.
        """
        numbers = range(self._returned, self._returned + self._config.num_actors)
        while True:
            with self._changed:
                if self._error is not None:
                    raise self._error
                done = sum(number in self._finished for number in numbers)
                if done == len(numbers):
                    self._returned = numbers.stop
                    return [(self._versions[k], *self._finished.pop(k)) for k in numbers]
                self._changed.wait(POLL_SECONDS)
            step(done)

    def close(self) -> None:
        """Stop the thread; unfinished parts are dropped."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()

    def _next(self, worker: int) -> Any:
        """Return the task of the next part, for any worker, None after the last one, or `WAIT`."""
        workers, number = self._config.num_actors, self._started
        with self._changed:
            if number >= self._num_parts:
                return None
            staleness = number // workers - self._version  # earlier rollouts not learned from
            if self._version < 0 or staleness > self._config.max_staleness:
                return WAIT
            self._started += 1
            self._versions.append(self._version)
            rng = np.random.default_rng([self._seed, number])
            games = self._games + number // workers * self._config.games_per_iteration
            return partial(self._task, self._shared, rng, games)

    def _distribute(self) -> None:
        """Distribute parts to idle workers and collect finished parts; runs in a thread."""
        try:
            while not self._closing and not self._stream.finished:
                start = time.monotonic()
                finished = self._stream.collect(POLL_SECONDS)
                with self._changed:
                    for number, (part, _, seconds) in finished:
                        self._finished[number] = (part, seconds)
                    if finished:
                        self._changed.notify_all()
                    # `collect` returns at once if all workers wait for weights.
                    elif time.monotonic() - start < POLL_SECONDS / 2:
                        self._changed.wait(POLL_SECONDS)
        except BaseException as error:
            with self._changed:
                self._error = error
                self._changed.notify_all()
        finally:
            self._stream.close()

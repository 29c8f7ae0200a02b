"""Workload of the vector environment with a standard thread pool.

Compared with `VectorWorkload`, it shows the speedup by `ludoteca.envs.engine.thread_pool`.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.evaluate.bench.own_workloads import VectorWorkload


class PlainThreadPool:
    """Thread pool of `concurrent.futures`: each thread steps one slice of the batch of games.

    Its interface is that of `ludoteca.envs.engine.thread_pool.ThreadPool`.
    """

    def __init__(self, game_batch: GameBatch, num_threads: int):
        self._stepper, self._count = game_batch._stepper, game_batch.count
        self._num_threads = num_threads
        self._executor = ThreadPoolExecutor(num_threads - 1)

    def run(self, arguments: tuple[Any, Any, Any]) -> None:
        """Step all games, and return when all slices are done.

        Args:
            arguments: arrays of the batch, step result and options, see `Stepper.step`.
        """
        futures = [
            self._executor.submit(self._step_slice, k, *arguments)
            for k in range(1, self._num_threads)
        ]
        self._step_slice(0, *arguments)
        for future in futures:
            future.result()

    def close(self) -> None:
        """End the threads."""
        self._executor.shutdown()

    def _step_slice(self, k: int, arrays: Any, step_result: Any, options: Any) -> None:
        """Step slice `k` of the batch, and write its step results."""
        lo, hi = (self._count * i // self._num_threads for i in (k, k + 1))
        self._stepper.step(arrays, options, k, lo, hi)
        episode_states, masks = arrays[1], arrays[3]
        self._stepper.write_step_result(episode_states, masks, step_result, lo, hi)


class PlainThreadsWorkload(VectorWorkload):
    """`VectorWorkload` with a `PlainThreadPool`."""

    def __init__(self, game: str, num_envs: int, num_threads: int):
        super().__init__(game, num_envs, num_threads)
        game_batch: Any = self._env.game_batch
        game_batch.close()
        game_batch._thread_pool = PlainThreadPool(game_batch, num_threads)

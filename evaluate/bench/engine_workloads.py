"""Workloads of the engine with plain means: a standard thread pool, newly allocated arrays.

They show what `ludoteca.envs.engine.thread_pool` and `ludoteca.envs.engine.buffers` gain.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.evaluate.bench.own_workloads import VectorWorkload


class PlainThreadPool:
    """Threads of `concurrent.futures`, each with one slice of a step; see `ThreadPool`."""

    def __init__(self, game_batch: GameBatch, num_threads: int):
        self._stepper, self._count = game_batch._stepper, game_batch.count
        self._num_threads = num_threads
        self._executor = ThreadPoolExecutor(num_threads - 1)

    def run(self, arguments: tuple[Any, Any, Any]) -> None:
        """Step, and return when all slices are done."""
        others = range(1, self._num_threads)
        futures = [self._executor.submit(self._step_slice, k, *arguments) for k in others]
        self._step_slice(0, *arguments)
        for future in futures:
            future.result()

    def close(self) -> None:
        """End the threads."""
        self._executor.shutdown()

    def _step_slice(self, k: int, arrays: Any, step_result: Any, options: Any) -> None:
        lo, hi = (self._count * i // self._num_threads for i in (k, k + 1))
        self._stepper.step(arrays, options, k, lo, hi)
        self._stepper.write_step_result(arrays[1], arrays[3], step_result, lo, hi)


class NewArrays:
    """New arrays for each step; see `Buffers`."""

    def __init__(self, like: NDArray[Any], cleared: bool = False):
        self._shape, self._dtype, self._cleared = like.shape, like.dtype, cleared

    def take(self) -> NDArray[Any]:
        """Return a new array, of zeros if `cleared`."""
        return (np.zeros if self._cleared else np.empty)(self._shape, self._dtype)

    def mark(self, array: NDArray[Any], rows: NDArray[np.int64]) -> None:
        """Do nothing."""


class PlainThreadsWorkload(VectorWorkload):
    """`VectorWorkload` with a `PlainThreadPool`."""

    def __init__(self, game: str, num_envs: int, num_threads: int):
        super().__init__(game, num_envs, num_threads)
        game_batch: Any = self._env.game_batch
        game_batch.close()
        game_batch._thread_pool = PlainThreadPool(game_batch, num_threads)


class NewArraysWorkload(VectorWorkload):
    """`VectorWorkload` with new arrays of observations and masks in each step."""

    def __init__(
        self,
        game: str,
        num_envs: int,
        num_threads: int = 1,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
    ):
        super().__init__(game, num_envs, num_threads, autoreset_mode)
        game_batch: Any = self._env.game_batch
        game_batch._final_buffers = NewArrays(game_batch.final_observations, cleared=True)
        game_batch._buffers = NewArrays(game_batch.observations)
        game_batch._mask_buffers = NewArrays(game_batch.masks)

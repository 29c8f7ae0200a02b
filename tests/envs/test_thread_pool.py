"""Thread pool: every slice runs once, whether threads sleep, spin or wake late."""

import gc
import threading
import time
import weakref
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.atomics import add, exchange, load, pause, store
from ludoteca.envs.engine.thread_pool import ThreadPool, make_sliced
from ludoteca.envs.jit import compiled_without_allocation, kernel

SLICES = 24


def make_slow_slices() -> Any:
    """Return the sliced form of a kernel that computes the cells of its slice slowly.

    Arguments: `cells [N]`, `workers [N]`, and the number of rounds. For each computed cell, 1 + the
    number of the thread is added to `workers`.
    """

    @kernel
    def compute_slice(arguments: Any, thread: Any, k: Any, slices: Any) -> None:
        (cells, workers), (rounds,) = arguments
        for i in range(len(cells) * k // slices, len(cells) * (k + 1) // slices):
            for _ in range(rounds):
                # A linear congruential generator, which the compiler cannot shorten.
                cells[i] = (cells[i] * 1103515245 + 12345) % 2**31
            workers[i] += thread + 1

    return make_sliced(compute_slice)


RUN_SLICES = make_slow_slices()


def run(pool: ThreadPool, rounds: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Compute 100 cells in a pool; return the cells, and the thread that computed each, from 1."""
    cells, workers = np.zeros(100, np.int64), np.zeros(100, np.int64)
    pool.run(((cells, workers), (rounds,)))
    return cells, workers


def expected(rounds: int) -> int:
    """Return the value of a cell after some rounds."""
    cell = 0
    for _ in range(rounds):
        cell = (cell * 1103515245 + 12345) % 2**31
    return cell


def make_pool(threads: int) -> ThreadPool:
    """Make a thread pool for `compute_slice`."""
    example = ((np.zeros(2, np.int64), np.zeros(2, np.int64)), (1,))
    return ThreadPool(RUN_SLICES, threads, SLICES, example)


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_every_slice_runs_once(threads: int) -> None:
    pool = make_pool(threads)
    for pause_ms in [0] * 300 + [20] * 5:  # after 20 ms the threads sleep and must be woken
        time.sleep(pause_ms / 1000)
        cells, workers = run(pool, 7)
        assert (cells == expected(7)).all()
        assert ((workers >= 1) & (workers <= threads)).all()
    pool.close()


def test_all_threads_take_part() -> None:
    pool = make_pool(2)
    used: set[int] = set()
    cell = expected(20_000)
    deadline = time.monotonic() + 60  # other programs may keep a thread from starting
    while used != {1, 2} and time.monotonic() < deadline:
        cells, workers = run(pool, 20_000)
        assert (cells == cell).all()
        used |= set(workers.tolist())
    assert used == {1, 2}
    pool.close()


def test_threads_end_with_their_pool() -> None:
    before = set(threading.enumerate())
    pool = make_pool(3)
    run(pool, 1)
    helpers = set(threading.enumerate()) - before
    assert len(helpers) == 2
    reference = weakref.ref(pool)
    del pool
    gc.collect()
    assert reference() is None
    for helper in helpers:
        helper.join(10)
        assert not helper.is_alive()


@pytest.mark.slow
def test_a_closed_environment_can_be_stepped() -> None:
    env = GameVectorEnv("tictactoe", 8, num_threads=2)
    _, info = env.reset(seed=0)
    env.close()
    _, _, _, _, info = env.step(info["action_mask"].argmax(1))
    assert info["player"].tolist() == [1] * 8


@compiled_without_allocation
def use_atomics(shared: Any, log: Any) -> None:
    """Write what each atomic operation returns to `log`."""
    log[0] = exchange(shared, 1, 5)
    log[1] = add(shared, 1, 3)
    log[2] = load(shared, 1)
    store(shared, 2, 9)
    pause()


@pytest.mark.parametrize("mode", ["compiled", "interpreted"])
def test_atomics_are_equal_compiled_and_interpreted(mode: str) -> None:
    shared, log = np.array([1, 2, 3]), np.zeros(3, np.int64)
    (use_atomics if mode == "compiled" else use_atomics.py_func)(shared, log)
    assert log.tolist() == [2, 5, 8]
    assert shared.tolist() == [1, 8, 9]


def make_adder() -> Any:
    """Return a compiled function that adds 1 to a shared number `count` times."""

    @compiled_without_allocation
    def add_often(shared: Any, count: Any) -> None:
        for _ in range(count):
            add(shared, 0, 1)

    return add_often


def test_no_addition_is_lost_between_threads() -> None:
    adder, shared, count = make_adder(), np.zeros(1, np.int64), 2_000_000
    adder(shared, 0)
    threads = [threading.Thread(target=adder, args=(shared, count)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared[0] == 2 * count

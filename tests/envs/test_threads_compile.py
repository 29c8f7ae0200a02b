"""Threads that make environments concurrently: steppers are built and compiled once."""

import os
import subprocess
import sys

import pytest

# Program: eight threads make environments of two games at the same time.
MAKE = """
import sys, threading
import gymnasium as gym
import numpy as np
import pettingzoo
import ludoteca

sys.setswitchinterval(1e-6)  # threads take turns all the time
NAMES = ("TicTacToe-v0", "Connect4-v0")
BOARD = {"TicTacToe-v0": {}, "Connect4-v0": {"rows": 3, "columns": 4, "connect": 3}}
barrier, made, errors = threading.Barrier(8), [], []

def make(k):
    try:
        id_ = NAMES[k % 2]
        name, board = f"ludoteca/{id_}", BOARD[id_]
        barrier.wait()
        if k < 6:
            env = gym.make_vec(name, num_envs=2, **board)
            env.reset(seed=1)
            seen = env.step(np.zeros(2, np.int64))[0].tolist()
        else:
            env = pettingzoo.make("aec", name, **board)
            env.reset(seed=1)
            seen = None
        made.append((id_, env.unwrapped.game_batch._stepper, seen))
    except BaseException as error:
        errors.append(repr(error))

threads = [threading.Thread(target=make, args=(k,)) for k in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not errors, errors
assert len(made) == 8
for id_ in NAMES:
    steppers = [stepper for name, stepper, _ in made if name == id_]
    assert len(set(map(id, steppers))) == 1, "built once"
    seen = [seen for name, _, seen in made if name == id_ and seen is not None]
    assert all(result == seen[0] for result in seen)
    for function in steppers[0]:
        stats = function.stats
        compilations = [*stats.cache_hits.values(), *stats.cache_misses.values()]
        assert all(count == 1 for count in compilations), (function, stats)
"""


@pytest.mark.slow
def test_threads_make_environments_concurrently() -> None:
    environment = os.environ | {"LUDOTECA_COMPILE_MESSAGES": "0"}
    subprocess.run([sys.executable, "-P", "-c", MAKE], check=True, timeout=200, env=environment)

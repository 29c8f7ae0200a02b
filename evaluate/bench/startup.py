"""Startup time: a fresh process that imports the package and makes a first step."""

import json
import os
import subprocess
import sys
import tempfile
from time import perf_counter

from ludoteca.child_processes import run_child
from ludoteca.envs.registry import game_id

# The two usual ways in. `python -c` with an empty sys.path entry removed, so that no folder of the
# working directory is mistaken for a package.
SINGLE = """
import gymnasium, ludoteca
env = gymnasium.make("ludoteca/{id}", opponent="random")
_, info = env.reset(seed=0)
env.step(env.action_space.sample(info["action_mask"]))
"""
VECTOR = """
import gymnasium, ludoteca
env = gymnasium.make_vec("ludoteca/{id}", num_envs=16)
env.reset(seed=0)
env.step(env.action_space.sample())
"""
WAYS = {"single": SINGLE, "vector": VECTOR}


def measure_startup(game: str, warm_runs: int = 3) -> dict[str, dict[str, list[float]]]:
    """Time whole processes with an empty compilation cache, then with a filled one.

    Returns:
        Wall-clock seconds, start and end of the interpreter included:
        `{"single": {"cold": [s], "warm": [s, ...]}, "vector": ...}`.

    Raises:
        RuntimeError: if the program fails.
    """
    startup: dict[str, dict[str, list[float]]] = {}
    for variant, program in WAYS.items():
        with tempfile.TemporaryDirectory() as folder:
            times = [
                run_fresh(program.format(id=game_id(game)), folder) for _ in range(1 + warm_runs)
            ]
        startup[variant] = {"cold": times[:1], "warm": times[1:]}
    return startup


def run_fresh(program: str, numba_cache: str) -> float:
    """Return the seconds of a new Python process that runs `program`."""
    environment = os.environ | {"NUMBA_CACHE_DIR": numba_cache, "PYTHONSAFEPATH": "1"}
    start = perf_counter()
    pipe = subprocess.PIPE
    done = run_child(
        [sys.executable, "-c", program], env=environment, stdout=pipe, stderr=pipe, text=True
    )
    passed = perf_counter() - start
    if done.returncode != 0:
        raise RuntimeError(f"a fresh process failed: {json.dumps(done.stderr[-1000:])}")
    return passed

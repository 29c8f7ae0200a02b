"""Startup time: a new process that imports the package, makes an environment, and steps it once."""

import json
import os
import subprocess
import sys
import tempfile
from time import perf_counter

from ludoteca.child_processes import run_child
from ludoteca.envs.registry import game_id

# Programs that make an environment in the two usual ways, and step it once.
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
PROGRAMS = {"single": SINGLE, "vector": VECTOR}


def measure_startup(game: str, warm_runs: int = 3) -> dict[str, dict[str, list[float]]]:
    """Time new processes with an empty compilation cache, then with a filled one.

    Args:
        game: name of the game.
        warm_runs: number of processes with a filled cache.

    Returns:
        Wall-clock seconds, start and end of the interpreter included:
        `{"single": {"cold": [s], "warm": [s, ...]}, "vector": ...}`.

    Raises:
        RuntimeError: if a process fails.
    """
    startup: dict[str, dict[str, list[float]]] = {}
    for variant, program in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            times = [
                time_process(program.format(id=game_id(game)), folder) for _ in range(1 + warm_runs)
            ]
        startup[variant] = {"cold": times[:1], "warm": times[1:]}
    return startup


def time_process(program: str, numba_cache: str) -> float:
    """Return the wall-clock seconds of a new Python process that runs `program`.

    Args:
        program: source text.
        numba_cache: folder of the compilation cache.

    Raises:
        RuntimeError: if the process fails.
    """
    # The working directory is not importable: none of its folders is mistaken for a package.
    environment = os.environ | {"NUMBA_CACHE_DIR": numba_cache, "PYTHONSAFEPATH": "1"}
    start = perf_counter()
    pipe = subprocess.PIPE
    process = run_child(
        [sys.executable, "-c", program], env=environment, stdout=pipe, stderr=pipe, text=True
    )
    passed = perf_counter() - start
    if process.returncode != 0:
        raise RuntimeError(f"the process failed: {json.dumps(process.stderr[-1000:])}")
    return passed

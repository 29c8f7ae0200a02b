"""Clock that excludes compilation, for speed measurements and searches with a time limit."""

import time

from ludoteca.envs.jit import compile_seconds


def clock() -> float:
    """Return the time in seconds, without the time that this process has spent on compiling.

    Only differences are meaningful, as with `time.perf_counter`. Compilation in every thread is
    subtracted.
    """
    return time.perf_counter() - compile_seconds()

"""Keeping time: how often a search looks at the clock."""

import time
from collections.abc import Callable

FIRST, MOST = 8, 64  # simulations of a thread between two looks at the clock
LOOKS = 20  # that a search takes at least, so that it ends on time to a twentieth


def search_for(seconds: float, start: float, run: Callable[[int], bool]) -> None:
    """Call `run(simulations)` until time is up, or it returns that nothing is left to be done.

    Args:
        seconds: how long a search may take.
        start: when it began, by `time.perf_counter`.
        run: does that many simulations.
    """
    count, done = FIRST, 0
    while not run(count):
        done += count
        passed = time.perf_counter() - start
        if passed >= seconds:
            return
        count = max(1, min(MOST, int(done * seconds / (LOOKS * passed))))

"""Searches with a time limit, in chunks of simulations between readings of the clock."""

from collections.abc import Callable

from ludoteca.envs.clock import clock

FIRST, MOST = 8, 64  # simulations of a thread between two readings of the clock
READINGS = 20  # minimum number per search, so that it overruns by a twentieth at most


def search_for(seconds: float, start: float, run: Callable[[int], bool]) -> None:
    """Call `run(simulations)` until the time is over or it returns True.

    Args:
        seconds: time limit, not counting compilation.
        start: start of the search, by `ludoteca.envs.clock.clock`.
        run: function that runs so many simulations, and returns whether the search is finished.
    """
    count, done = FIRST, 0
    while not run(count):
        done += count
        passed = clock() - start
        if passed >= seconds:
            return
        count = max(1, min(MOST, int(done * seconds / (READINGS * passed))))

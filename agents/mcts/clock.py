"""Keeping time: how often a search looks at the clock."""

from collections.abc import Callable

from ludoteca.envs.clock import clock

FIRST, MOST = 8, 64  # simulations of a thread between two looks at the clock
LOOKS = 20  # that a search takes at least, so that it ends on time to a twentieth


def search_for(seconds: float, start: float, run: Callable[[int], bool]) -> None:
    """Call `run(simulations)` until time is up, or it returns that nothing is left to be done.

    Args:
        seconds: how long a search may take, compiling not counted.
        start: when it began, by `ludoteca.envs.clock.clock`.
        run: does that many simulations.
    """
    count, done = FIRST, 0
    while not run(count):
        done += count
        passed = clock() - start
        if passed >= seconds:
            return
        count = max(1, min(MOST, int(done * seconds / (LOOKS * passed))))

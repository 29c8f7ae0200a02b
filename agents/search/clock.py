"""Search loop with a time limit: chunks of simulations between readings of the clock."""

from collections.abc import Callable

from ludoteca.envs.clock import clock

FIRST_CHUNK, MAX_CHUNK = 8, 64  # simulations of a thread between two readings of the clock
MIN_READINGS = 20  # per search, so that it exceeds its time by a twentieth at most


def search_for(
    seconds: float, start: float, run: Callable[[int], bool], first_chunk: int = FIRST_CHUNK
) -> None:
    """Call `run(simulations)` until the time is up or it returns True.

    Args:
        seconds: time limit, not counting compilation, which the clock leaves out.
        start: start of the search, by `ludoteca.envs.clock.clock`.
        run: function that runs a number of simulations, and returns whether the search is done.
        first_chunk: number of simulations before the first reading of the clock.
    """
    count, finished = first_chunk, 0
    while not run(count):
        finished += count
        elapsed = clock() - start
        if elapsed >= seconds:
            return
        count = max(1, min(MAX_CHUNK, int(finished * seconds / (MIN_READINGS * elapsed))))

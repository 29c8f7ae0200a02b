"""Monitor of a search: intermediate reports and early stopping."""

import time
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from ludoteca.agents.search.report import SearchReport

MakeReport = Callable[[], SearchReport]
Monitor = Callable[[MakeReport], bool]
"""Called between chunks of simulations with a function that returns the report so far; the search
ends when it returns True."""


@runtime_checkable
class SupportsMonitor(Protocol):
    """Agent whose searches can be watched and stopped: a tree search, with or without a network."""

    monitor: Monitor | None


FIRST_CHUNK = 16  # simulations before the first call of the monitor
CHUNK_SECONDS = 0.05  # chunks are doubled until they take this long


def with_monitor(
    run: Callable[[int], None], report: MakeReport, monitor: Monitor | None
) -> tuple[Callable[[int], None], Callable[[], bool]]:
    """Return a function that runs simulations in chunks, and one that returns whether to stop.

    Without a monitor, all simulations are one chunk. Chunks do not change the result.

    Args:
        run: function that runs a given number of simulations.
        report: function that returns the report so far.
        monitor: function that is called after each chunk.
    """
    if monitor is None:
        return run, lambda: False
    chunk, stopped = FIRST_CHUNK, False

    def run_in_chunks(count: int) -> None:
        nonlocal chunk, stopped
        while count > 0 and not stopped:
            start = time.perf_counter()
            run(min(chunk, count))
            count -= chunk
            if time.perf_counter() - start < CHUNK_SECONDS:
                chunk *= 2
            stopped = monitor(report)

    return run_in_chunks, lambda: stopped

"""How long work takes on more machines, by what a slice of it took on this one."""

from collections.abc import Sequence
from dataclasses import dataclass

WORKERS = (1, 2, 64, 1_000)


@dataclass(frozen=True)
class Forecast:
    """What is left of some work, in seconds of one worker.

    Attributes:
        seconds: of all tasks together.
        chain: of the longest chain of tasks that wait for each other; no number of workers does
            them faster.
        driver: that the driver needs to take in all results, one after another.
    """

    seconds: float
    chain: float = 0.0
    driver: float = 0.0

    def expected(self, workers: int) -> float:
        """Return the expected seconds with so many workers.

        The work is shared evenly, but never faster than its longest chain (Graham's bound for list
        scheduling, 1969, is at most the sum of both), nor than the driver takes in results.
        """
        return max(self.seconds / workers + self.chain * (1 - 1 / workers), self.driver)

    def limit(self, workers: int) -> str:
        """Return what decides about the time with so many workers."""
        parts = {
            "work": self.seconds / workers,
            "chain": self.chain * (1 - 1 / workers),
            "driver": self.driver if self.expected(workers) <= self.driver else 0.0,
        }
        return max(parts, key=parts.__getitem__)


def forecast_lines(forecast: Forecast, price: float, workers: Sequence[int] = WORKERS) -> list[str]:
    """Return a table: for each number of workers the time, what limits it, and the price.

    Args:
        forecast: of what is left.
        price: of a worker's core for an hour, in dollars.
        workers: the numbers of workers.
    """
    lines = [f"{'workers':>8}  {'time':>12}  {'limited by':>10}  {'core hours':>11}  {'cost':>10}"]
    for count in workers:
        seconds = forecast.expected(count)
        hours = count * seconds / 3600
        lines.append(
            f"{count:>8,}  {long_time(seconds):>12}  {forecast.limit(count):>10}  {hours:>11,.1f}  "
            f"{'$' + format(hours * price, ',.2f'):>10}"
        )
    return lines


def long_time(seconds: float) -> str:
    """Return a time in the unit that suits it, such as `"2.5 h"`."""
    for unit, size in (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.1f} s"

"""Forecast of the time of parallel work on more machines, from measurements on one."""

from collections.abc import Sequence
from dataclasses import dataclass

from ludoteca.duration import format_duration

WORKERS = (1, 2, 64, 1_000)


@dataclass(frozen=True)
class Forecast:
    """Remaining work, in seconds of one worker.

    Attributes:
        seconds: CPU seconds of all tasks.
        chain: longest chain of dependent tasks, which more workers do not shorten.
        driver: time of the driver to receive all results.
    """

    seconds: float
    chain: float = 0.0
    driver: float = 0.0

    def expected(self, workers: int) -> float:
        """Return the expected seconds with a number of workers.

        The work is shared evenly, but takes at least its longest chain (Graham's bound for list
        scheduling, 1969, is at most the sum of both), and at least the time of the driver.
        """
        return max(self.seconds / workers + self.chain * (1 - 1 / workers), self.driver)

    def limit(self, workers: int) -> str:
        """Return the limiting factor with a number of workers: work, chain or driver."""
        parts = {
            "work": self.seconds / workers,
            "chain": self.chain * (1 - 1 / workers),
            "driver": self.driver if self.expected(workers) <= self.driver else 0.0,
        }
        return max(parts, key=parts.__getitem__)


def forecast_lines(forecast: Forecast, price: float, workers: Sequence[int] = WORKERS) -> list[str]:
    """Return a table of time, limiting factor and price by number of workers.

    Args:
        forecast: the remaining work.
        price: price of a core hour in dollars.
        workers: the numbers of workers.
    """
    lines = [f"{'workers':>8}  {'time':>12}  {'limited by':>10}  {'core hours':>11}  {'cost':>10}"]
    for count in workers:
        seconds = forecast.expected(count)
        hours = count * seconds / 3600
        lines.append(
            f"{count:>8,}  {format_duration(seconds):>12}  {forecast.limit(count):>10}  "
            f"{hours:>11,.1f}  {'$' + format(hours * price, ',.2f'):>10}"
        )
    return lines

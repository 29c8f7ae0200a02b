"""Forecast of the time of parallel tasks by number of workers, from measurements on one."""

from collections.abc import Sequence
from dataclasses import dataclass

from ludoteca.duration import format_duration

WORKER_COUNTS = (1, 2, 64, 1_000)


@dataclass(frozen=True)
class Forecast:
    """Forecast of the time of parallel tasks, from the times that one worker would need.

    Attributes:
        seconds: total time of all tasks, in seconds.
        chain: seconds of the longest chain of dependent tasks, which run one after the other.
        driver: seconds that the driver process needs to receive all results.
    """

    seconds: float
    chain: float = 0.0
    driver: float = 0.0

    def expected_seconds(self, workers: int) -> float:
        """Return the expected time in seconds with a number of workers.

        Graham's bound for list scheduling ("Bounds on multiprocessing timing anomalies", 1969),
        but at least the time of the driver.
        """
        return max(self.seconds / workers + self.chain * (1 - 1 / workers), self.driver)

    def limiting_factor(self, workers: int) -> str:
        """Return the largest term of the time with a number of workers: work, chain or driver."""
        seconds = {
            "work": self.seconds / workers,
            "chain": self.chain * (1 - 1 / workers),
            "driver": self.driver if self.expected_seconds(workers) <= self.driver else 0.0,
        }
        return max(seconds, key=seconds.__getitem__)


def forecast_lines(
    forecast: Forecast, price: float, workers: Sequence[int] = WORKER_COUNTS
) -> list[str]:
    """Return a table of time, limiting factor and price by number of workers.

    Args:
        forecast: the remaining work.
        price: price of a core hour in dollars.
        workers: the numbers of workers.
    """
    lines = [f"{'workers':>8}  {'time':>12}  {'limited by':>10}  {'core hours':>11}  {'cost':>10}"]
    for count in workers:
        seconds = forecast.expected_seconds(count)
        hours = count * seconds / 3600
        lines.append(
            f"{count:>8,}  {format_duration(seconds):>12}  {forecast.limiting_factor(count):>10}  "
            f"{hours:>11,.1f}  {'$' + format(hours * price, ',.2f'):>10}"
        )
    return lines

"""The time that a command may take, and what of it is reserved for its end."""

from math import inf

REPORT = 5.0  # seconds that writing the report and the checkpoint may take
# Shares of the time that evaluation and report at the end get: at first, as nobody knows how long
# they take, and at most.
UNKNOWN, MOST = 0.15, 0.2


class TimeLimit:
    """A limit in minutes, or none.

    Attributes:
        seconds: the time in all; infinite without a limit.
    """

    def __init__(self, minutes: float | None, begun: float):
        """Count from `begun`, by `time.monotonic()`."""
        self.seconds = inf if minutes is None else 60 * minutes
        self._begun = begun

    def deadline(self, last: float | None) -> float:
        """Return when learning is to stop, by `time.monotonic()`.

        Args:
            last: seconds that the evaluation at the end will take; None: not known.
        """
        if self.seconds == inf:
            return inf
        wanted = UNKNOWN * self.seconds if last is None else REPORT + last
        return self._begun + self.seconds - min(wanted, MOST * self.seconds)

    @property
    def end(self) -> float:
        """When evaluations at the end are to stop, by `time.monotonic()`."""
        if self.seconds == inf:
            return inf
        return self._begun + self.seconds - min(REPORT, MOST / 2 * self.seconds)

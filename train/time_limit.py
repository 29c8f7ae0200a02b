"""Time limit of a command, with time reserved for its final evaluation and report."""

from math import inf

REPORT = 5.0  # seconds reserved for the report and the checkpoint
# Fractions of the time reserved for final evaluation and report: while their duration is unknown,
# and at most.
UNKNOWN, MOST = 0.15, 0.2


class TimeLimit:
    """Time limit in minutes, or none.

    Attributes:
        seconds: total time; infinite without a limit.
    """

    def __init__(self, minutes: float | None, begun: float):
        """Count from `begun`, by `time.monotonic()`."""
        self.seconds = inf if minutes is None else 60 * minutes
        self._begun = begun

    def deadline(self, last: float | None) -> float:
        """Return the deadline of learning, by `time.monotonic()`.

        Args:
            last: estimated seconds of the final evaluation; None: unknown.
        """
        if self.seconds == inf:
            return inf
        wanted = UNKNOWN * self.seconds if last is None else REPORT + last
        return self._begun + self.seconds - min(wanted, MOST * self.seconds)

    @property
    def end(self) -> float:
        """Deadline of the final evaluation, by `time.monotonic()`."""
        if self.seconds == inf:
            return inf
        return self._begun + self.seconds - min(REPORT, MOST / 2 * self.seconds)

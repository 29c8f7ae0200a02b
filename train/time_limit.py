"""Time limit of a command, with time reserved for its final evaluation and report."""

from math import inf

REPORT_SECONDS = 5.0  # seconds reserved for the report and the checkpoint
# Fractions of the time limit reserved for final evaluation and report: the default, while their
# duration is unknown, and the maximum.
DEFAULT_RESERVE, MAX_RESERVE = 0.15, 0.2


class TimeLimit:
    """Time limit in minutes, or none.

    Attributes:
        seconds: total time; infinite without a limit.
    """

    def __init__(self, minutes: float | None, start: float):
        """Make a limit that counts from `start`, by `time.monotonic()`."""
        self.seconds = inf if minutes is None else 60 * minutes
        self._start = start

    def deadline(self, eval_seconds: float | None) -> float:
        """Return the deadline of learning, by `time.monotonic()`.

        Args:
            eval_seconds: estimated duration of the evaluations after learning; None: unknown.
        """
        if self.seconds == inf:
            return inf
        if eval_seconds is None:
            reserve = DEFAULT_RESERVE * self.seconds
        else:
            reserve = REPORT_SECONDS + eval_seconds
        return self._start + self.seconds - min(reserve, MAX_RESERVE * self.seconds)

    @property
    def end(self) -> float:
        """Deadline of the final evaluation, by `time.monotonic()`."""
        if self.seconds == inf:
            return inf
        # Of the maximum reserve, the final evaluation has at least half.
        return self._start + self.seconds - min(REPORT_SECONDS, MAX_RESERVE / 2 * self.seconds)

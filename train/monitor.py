"""Progress of a run, and the request to stop it.

Work in a run consists of small steps: a ply of all games of a rollout, an update, a ply of a match.
Between two steps it calls `Monitor.step` or `Monitor.check`, which raise `Stopped` once the run is
to stop. The caller that catches it drops unfinished work, or keeps it for resuming.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from typing import Literal

Phase = Literal["playing", "learning", "evaluating"]


class Stopped(Exception):  # noqa: N818 - not an error, like StopIteration
    """Interruption of unfinished work, raised when a run is to stop."""


@dataclass
class PhaseProgress:
    """Progress of a phase.

    Attributes:
        unit: unit of the counts, such as `"move"`.
        done: number of units done.
        total: total number of units, or 0 if unknown.
        steps: number of steps of this phase in this process; the first one compiles.
    """

    unit: str = ""
    done: int = 0
    total: int = 0
    steps: int = 0

    @property
    def fraction(self) -> float:
        """Completed fraction of the phase, 0 to 1; 0 if the total is unknown."""
        return min(self.done / self.total, 1.0) if self.total > 0 else 0.0


class Monitor:
    """Progress of a run, and the request to stop it.

    Both the self-play thread and the learner thread report to the monitor.

    Attributes:
        phase: current phase.
        phases: progress of each phase.
        deadline: deadline of the run, by `time.monotonic()`.
        task_deadline: deadline of the current task, if that is earlier.
        stop_reason: reason of a stop request, or "" without one.
        notice: message to the user about the stop request, or "".
    """

    def __init__(self) -> None:
        """Begin without a deadline."""
        self.phase: Phase = "playing"
        self.phases: dict[Phase, PhaseProgress] = {
            "playing": PhaseProgress("move"),
            "learning": PhaseProgress("update"),
            "evaluating": PhaseProgress("game"),
        }
        self.deadline = self.task_deadline = inf
        self.stop_reason = self.notice = ""

    @property
    def compiling(self) -> bool:
        """Whether the current phase is before the end of its first step, which compiles code."""
        return self.phases[self.phase].steps == 0

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline, at least 0; infinite without a deadline."""
        return max(self.deadline - time.monotonic(), 0.0)

    def stop(self, reason: str) -> None:
        """Request a stop, with a reason for messages; any thread or signal handler may call it."""
        self.stop_reason = reason

    def extend(self, deadline: float) -> None:
        """Withdraw the stop request, and set a new deadline."""
        self.stop_reason, self.deadline = "", deadline

    def check(self) -> None:
        """Check whether the run continues.

        Raises:
            Stopped: if the run or the current task is to stop.
        """
        if self.stop_reason or time.monotonic() > min(self.deadline, self.task_deadline):
            raise Stopped

    @contextmanager
    def task(self, fraction: float) -> Iterator[None]:
        """Limit a task, the block, to a fraction of the time until the deadline.

        A task that takes longer ends early, without an exception.

        Raises:
            Stopped: if the whole run is to stop, not only the task.
        """
        self.task_deadline = time.monotonic() + fraction * self.seconds_left
        try:
            yield
        except Stopped:
            self.task_deadline = inf
            self.check()
        finally:
            self.task_deadline = inf

    def begin(self, phase: Phase, total: int, unit: str = "") -> None:
        """Begin a phase of `total` units."""
        work = self.phases[phase]
        work.done, work.total, work.unit = 0, total, unit or work.unit

    def step(self, phase: Phase, done: int) -> None:
        """Report that `done` units of a phase are finished, and check whether the run continues.

        Raises:
            Stopped: if the run is to stop.
        """
        work = self.phases[phase]
        work.done = done
        work.steps += 1
        self.check()

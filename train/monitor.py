"""The progress of a run as others can watch it, and the request to stop it.

Work in a run is made of small steps: a ply of all games of a rollout, an update, a ply of a match.
Between two of them it calls `Monitor.step` or `Monitor.check`, which raise `Stopped` once the run
is to end. The code that catches it drops what was unfinished, or keeps it to be resumed.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from typing import Literal

Phase = Literal["playing", "learning", "evaluating"]


class Stopped(Exception):  # noqa: N818 - not an error, like StopIteration
    """Ends unfinished work of a run that is to stop."""


@dataclass
class PhaseProgress:
    """How far the work of a phase is.

    Attributes:
        unit: of what is counted, such as `"move"`.
        done: how many are done.
        total: how many there are, as far as is known, or 0.
        steps: how many steps of this phase the process has made: the first one compiles.
    """

    unit: str = ""
    done: int = 0
    total: int = 0
    steps: int = 0

    @property
    def share(self) -> float:
        """The share that is done, 0 to 1; 0 if the total is not known."""
        return min(self.done / self.total, 1.0) if self.total > 0 else 0.0


class Monitor:
    """The progress of a run, and the request to stop it.

    Games are played in a second thread while the first one learns; both report here.

    Attributes:
        phase: what the run waits for now.
        work: how far each phase is.
        deadline: when the run is to stop, by `time.monotonic()`.
        task_deadline: when the present task is to stop, if that is earlier.
        request: why the run is to stop before that, or "".
        notice: what the user is to know about that, or "".
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
        self.request = self.notice = ""

    @property
    def compiling(self) -> bool:
        """Whether the phase has not made its first step: compiled code is being made or loaded."""
        return self.phases[self.phase].steps == 0

    @property
    def seconds_left(self) -> float:
        """The time until the deadline; infinite if there is none, and never below 0."""
        return max(self.deadline - time.monotonic(), 0.0)

    def stop(self, why: str) -> None:
        """Request a stop; may be called from any thread or signal handler."""
        self.request = why

    def grant(self, deadline: float) -> None:
        """Withdraw the request: what is still to be done has time until the deadline."""
        self.request, self.deadline = "", deadline

    def check(self) -> None:
        """Return if the run continues.

        Raises:
            Stopped: if it, or the present task, is to stop.
        """
        if self.request or time.monotonic() > min(self.deadline, self.task_deadline):
            raise Stopped

    @contextmanager
    def task(self, share: float) -> Iterator[None]:
        """Give a task a share of the time until the deadline, and end it when that is over.

        Raises:
            Stopped: if the run is to stop, and not only the task.
        """
        self.task_deadline = time.monotonic() + share * self.seconds_left
        try:
            yield
        except Stopped:
            self.task_deadline = inf
            self.check()
        finally:
            self.task_deadline = inf

    def begin(self, phase: Phase, total: int, unit: str = "") -> None:
        """Begin the work of a phase, of `total` steps of a unit."""
        work = self.phases[phase]
        work.done, work.total, work.unit = 0, total, unit or work.unit

    def step(self, phase: Phase, done: int) -> None:
        """Note that `done` units of a phase are done, and check whether the run continues.

        Raises:
            Stopped: if it is to stop.
        """
        work = self.phases[phase]
        work.done = done
        work.steps += 1
        self.check()

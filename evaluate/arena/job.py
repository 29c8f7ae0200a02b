"""State of a request to a search worker, its answer, and the time limits for stopping it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ludoteca.evaluate.arena.requests import COMPUTING, PREPARING, AgentsRequest, AnalysisRequest

# Time limits, in seconds, of a process that was asked to stop; it is killed when one is exceeded.
ACKNOWLEDGE_SECONDS = 2.0  # for the acknowledgment of a stop
SEARCHING_SECONDS = 5.0  # for an agent with a search that can be stopped
COMPUTING_SECONDS = 1.0  # for any other agent
PREPARING_SECONDS = 300.0  # for compiling or loading; the request is answered at once

Request = AnalysisRequest | AgentsRequest
Progress = Callable[[dict[str, Any]], None]


class Job:
    """State of a request, which waits, is sent to the worker's process, and ends there.

    The answer may come before the end: a stopped request is answered while its process is still
    compiling.

    Attributes:
        number: number of the request, unique in its worker.
        request: the request.
        answer: the answer, see `SearchWorker.handle`.
        is_wanted: returns whether the answer is still wanted.
        was_sent: whether the request was sent to the process.
        is_stopping: whether a stop was sent to the process.
        phase: phase of the request in its process, see `requests`.
        phase_begin: time of the event loop when the phase began, or a compilation in it began or
            ended, in seconds.
        is_acknowledged: whether the process has acknowledged a stop.
        has_ended: set when the process has answered, or has ended.
    """

    def __init__(
        self,
        number: int,
        request: Request,
        progress: Progress | None,
        is_wanted: Callable[[], bool],
    ):
        self.number, self.request = number, request
        self.answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.was_sent = self.is_stopping = self.is_acknowledged = False
        self.phase, self.phase_begin = PREPARING, 0.0
        self.has_ended = asyncio.Event()
        self._progress, self.is_wanted = progress, is_wanted
        self._compiling = ""  # message while code is compiled

    @property
    def owner(self) -> str:
        """Owner of the request, see `AnalysisRequest.owner`; "" if it has none."""
        return getattr(self.request, "owner", "")

    @property
    def agent(self) -> str:
        """Spec string of the agent, for messages; "the search" if the request names none."""
        return getattr(self.request, "agent", "the search")

    @property
    def is_preparing(self) -> bool:
        """Whether code is compiled or loaded, so that there is no search that could be stopped."""
        return self.phase == PREPARING or bool(self._compiling)

    def enter(self, phase: str) -> None:
        """Set the phase, which begins now."""
        self.phase, self.phase_begin = phase, asyncio.get_running_loop().time()

    def set_compiling(self, text: str) -> None:
        """Set and report the message of a compilation; "" at its end."""
        self.phase_begin = asyncio.get_running_loop().time()
        if text != self._compiling:
            self._compiling = text
            self.report({"compiling": text})

    def report(self, message: dict[str, Any]) -> None:
        """Report an intermediate result, unless the request has been answered."""
        if self._progress is not None and not self.answer.done():
            self._progress(message)

    def finish(self, answer: dict[str, Any]) -> None:
        """Answer the request, unless it has been answered."""
        if self.answer.done():
            return
        if self._compiling:
            self.report({"compiling": ""})
        with suppress(RuntimeError):  # the event loop is closed
            self.answer.set_result(answer)

    def stop_limit(self) -> float:
        """Return the time limit for stopping in the present phase, in seconds."""
        if self.is_preparing:
            return PREPARING_SECONDS
        if not self.is_acknowledged:
            return ACKNOWLEDGE_SECONDS
        return COMPUTING_SECONDS if self.phase == COMPUTING else SEARCHING_SECONDS


def stopped(note: str) -> dict[str, Any]:
    """Return the answer to a stopped request without a result."""
    return {"stopped": True, "note": note}


def answer_after_exit(job: Job, exit_code: int) -> dict[str, Any]:
    """Return the answer to a request whose process has ended."""
    if job.is_stopping:
        return stopped(f"{job.agent} did not stop by itself, so its process was ended")
    return {"failure": f"{job.agent} failed: its process ended with exit code {exit_code}"}

"""Search workers: processes, the queues of their requests, answers, and stops.

The owner of a request is `"NAME/ROLE"`: a game of the arena, `ArenaGame.name`, and what its agent
does there, `play` or `advice`. Requests for a list of agents have no owner. See
`ludoteca.evaluate.arena.requests`.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from ludoteca.evaluate.arena.job import Job, Progress, Request, answer_after_exit, stopped
from ludoteca.evaluate.arena.worker_process import WorkerProcess

POLL_SECONDS = 0.02  # between two checks of the time limit for stopping


class SearchWorker:
    """One process that handles one request at a time.

    The first request starts the process, and so does the next one after the process has ended. All
    methods run in the event loop.
    """

    def __init__(self) -> None:
        self._process: WorkerProcess | None = None
        self._waiting: deque[Job] = deque()
        self._current: Job | None = None
        self._driver: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()  # set by each message of the process
        self._stops: set[asyncio.Task[None]] = set()
        self._number = 0  # of the last request
        self._is_closed = False

    async def handle(
        self,
        request: Request,
        progress: Progress | None = None,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> dict[str, Any]:
        """Return the answer to a request; requests are handled one at a time, in order.

        The answer is that of `RequestHandler.handle`. A request that is stopped is answered with
        its result so far and the additional item `stopped`, or with `stopped` and a `note` that
        says why there is no result.

        Args:
            request: the request.
            progress: called in the event loop with intermediate results, `{"progress": analysis}`
                or `{"compiling": message}`; the message is "" at the end of the compilation.
            is_wanted: returns whether the answer is still wanted when the request's turn comes.
        """
        self._number += 1
        job = Job(self._number, request, progress, is_wanted)
        if self._is_closed:
            return stopped("the arena is closed")
        self._waiting.append(job)
        if self._driver is None or self._driver.done():
            self._driver = asyncio.create_task(self._drive())
        try:
            return await job.answer
        except asyncio.CancelledError:
            self._stop(job)
            raise

    def stop(self, owner: str) -> None:
        """Stop the requests of an owner; does nothing if they have been answered.

        A request that waits for its turn or for the start of the process, or whose code is being
        compiled or loaded, is answered at once. A search that can be stopped answers with its
        result so far. Any other process is killed, and the next request starts another.
        """
        for job in (*self._waiting, *([self._current] if self._current else [])):
            if job.owner == owner:
                self._stop(job)

    def close(self) -> None:
        """Answer all requests as stopped, and kill the process; closing again does nothing."""
        self._is_closed = True
        for job in (*self._waiting, *([self._current] if self._current else [])):
            job.finish(stopped("the arena is closed"))
        if self._process is not None:
            self._process.kill()

    @property
    def is_busy(self) -> bool:
        """Whether a request waits or is handled."""
        return self._current is not None or bool(self._waiting)

    @property
    def pid(self) -> int | None:
        """ID of the process, or None if there is none."""
        return None if self._process is None else self._process.pid

    async def _drive(self) -> None:
        """Let the process handle the requests that wait, one after the other."""
        while self._waiting and not self._is_closed:
            job = self._current = self._waiting.popleft()
            try:
                if job.is_wanted():
                    await self._execute(job)
            except Exception as error:
                job.finish({"failure": f"{type(error).__name__}: {error!s:.400}"})
            finally:
                self._current = None
                job.finish(stopped("the answer is not wanted"))

    async def _execute(self, job: Job) -> None:
        """Send a request to the process, and wait until it has ended there."""
        if job.answer.done():
            return
        process = await self._ready_process()
        if process is None:
            job.finish({"failure": "the process for searches ended while it was started"})
        elif not job.answer.done():
            job.was_sent = True
            process.send("request", job.number, job.request)
            await job.has_ended.wait()

    async def _ready_process(self) -> WorkerProcess | None:
        """Return a process that is ready for requests, or None if it ends before it is ready."""
        while not self._is_closed:
            process = self._process
            if process is None:
                process = self._process = WorkerProcess(self._receive)
            while process.is_alive and not process.is_ready:
                self._changed.clear()
                await self._changed.wait()
            if process.is_ready:
                return process
            if not process.was_killed:
                break
        return None

    def _receive(self, process: WorkerProcess, kind: str, number: int, content: Any) -> None:
        """Handle a message of the process."""
        job = self._current
        if kind == "ended":
            self._process = None
            if job is not None and job.was_sent:
                job.finish(answer_after_exit(job, content))
                job.has_ended.set()
        self._changed.set()
        if job is None or number != job.number:
            return
        if kind == "answer":
            job.finish(content)
            job.has_ended.set()
        elif kind == "phase":
            job.enter(content)
        elif kind == "compiling":
            job.set_compiling(content)
        elif kind == "progress":
            job.report({"progress": content})
        elif kind == "stopping":
            job.is_acknowledged = True

    def _stop(self, job: Job) -> None:
        """Stop a request; see `stop`."""
        process = self._process
        if not job.was_sent or process is None:
            job.finish(stopped(f"{job.agent} was stopped before its search began"))
        elif not job.is_stopping and not job.has_ended.is_set():
            job.is_stopping = True
            process.send("stop", job.number)
            task = asyncio.create_task(self._enforce_stop(job, process))
            self._stops.add(task)
            task.add_done_callback(self._stops.discard)

    async def _enforce_stop(self, job: Job, process: WorkerProcess) -> None:
        """Answer a stopped request in preparation; kill a process that exceeds its time limit."""
        loop = asyncio.get_running_loop()
        begin = loop.time()
        while not job.has_ended.is_set():
            if job.is_preparing:
                job.finish(
                    stopped(f"{job.agent} was stopped while its code was compiled or loaded")
                )
            if loop.time() > max(begin, job.phase_begin) + job.stop_limit():
                process.kill()
                return
            await asyncio.sleep(POLL_SECONDS)


class SearchWorkers:
    """Pool of workers, which are assigned to the owners of requests in turn.

    Requests of one owner always reach the same worker, which keeps the agents of this owner.
    """

    def __init__(self, count: int):
        self.workers = [SearchWorker() for _ in range(count)]
        self._assigned: dict[str, SearchWorker] = {}

    def of(self, owner: str) -> SearchWorker:
        """Return the worker of an owner."""
        if owner not in self._assigned:
            self._assigned[owner] = self.workers[len(self._assigned) % len(self.workers)]
        return self._assigned[owner]

    async def handle(self, request: Request) -> dict[str, Any]:
        """Return the answer to a request without an owner, from any worker that is not busy.

        If all are busy, a worker that exists only for this request answers it, so that it does not
        wait for searches.
        """
        for worker in reversed(self.workers):
            if not worker.is_busy:
                return await worker.handle(request)
        worker = SearchWorker()
        try:
            return await worker.handle(request)
        finally:
            worker.close()

    async def stop(self, owner: str) -> None:
        """Stop the requests of an owner, see `SearchWorker.stop`."""
        if owner in self._assigned:
            self._assigned[owner].stop(owner)

    def close(self) -> None:
        """Answer all requests and kill all processes."""
        for worker in self.workers:
            worker.close()

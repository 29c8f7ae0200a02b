"""Worker processes for searches, so that the server never waits for one and each can be stopped."""

import asyncio
import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from ludoteca.agents.register import Registrations, code_registrations, restore_registrations
from ludoteca.child_processes import end_with_parent, started_by_main_thread
from ludoteca.envs.jit import compilation_listener
from ludoteca.evaluate.arena.requests import AgentsRequest, AnalysisRequest, RequestHandler

STOP_SECONDS = 2.0  # for a search to stop by itself before its process is killed
Request = AnalysisRequest | AgentsRequest
Progress = Callable[[dict[str, Any]], None]
STOPPED = {"stopped": True}  # answer to a request whose process was killed


class SearchWorker:
    """One process that handles one request at a time.

    Searches of trees end soon after `stop`, with their result so far. The process of any other
    agent is killed, and the next request starts another.
    """

    def __init__(self) -> None:
        self._process: Any = None
        self._connection: Connection | None = None
        self._turn = asyncio.Lock()
        self._number = 0
        self._current: str | None = None

    async def handle(
        self,
        request: Request,
        progress: Progress | None = None,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> dict[str, Any]:
        """Return the answer to a request; requests wait for each other.

        Args:
            request: the request.
            progress: function that takes intermediate answers, called in the event loop: an
                analysis as `progress`, or a message as `compiling`, empty at the end.
            is_wanted: returns whether the answer is still wanted when the request's turn comes.
        """
        async with self._turn:
            if not is_wanted():
                return dict(STOPPED)
            self._current = getattr(request, "owner", "")
            self._number += 1
            try:
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(
                    None, self._round_trip, self._number, request, progress, loop
                )
            finally:
                self._current = None

    @property
    def current(self) -> str | None:
        """Owner of the present request, or None."""
        return self._current

    async def stop(self) -> None:
        """End the present request."""
        process, connection, number = self._process, self._connection, self._number
        if connection is None or self._current is None:
            return
        try:
            connection.send(("stop", number))
        except OSError:
            return
        for _ in range(int(STOP_SECONDS / 0.02)):
            if self._current is None or self._number != number:
                return
            await asyncio.sleep(0.02)
        if self._number == number and self._current is not None and process is self._process:
            process.kill()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None

    def _round_trip(
        self,
        number: int,
        request: Request,
        progress: Progress | None,
        loop: asyncio.AbstractEventLoop,
    ) -> dict[str, Any]:
        """Send a request and wait for the answer; runs in a thread."""
        if self._process is None or not self._process.is_alive():
            self._start()
        assert self._connection is not None
        try:
            self._connection.send((number, request))
            while True:
                _, answer = self._connection.recv()
                if "progress" not in answer and "compiling" not in answer:
                    return dict(answer)
                if progress is not None:
                    loop.call_soon_threadsafe(progress, answer)
        except (EOFError, OSError):
            self._process.join()
            self._process = None
            return dict(STOPPED)

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=work, args=(theirs, started_by_main_thread(), code_registrations()), daemon=True
        )
        self._process.start()
        theirs.close()


def work(connection: Connection, by_main_thread: bool, registered: Registrations) -> None:
    """Handle requests until the connection closes; the main function of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    end_with_parent(by_main_thread)
    restore_registrations(registered)
    stopped: set[int] = set()
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def read() -> None:
        while True:
            try:
                kind, content = connection.recv()
            except (EOFError, OSError):
                os._exit(0)
            if kind == "stop":
                stopped.add(content)
            else:
                requests.put((kind, content))

    threading.Thread(target=read, daemon=True).start()
    current = 0
    handler = RequestHandler(lambda: current in stopped)
    while True:
        current, request = requests.get()
        send = partial(_send_part, connection, current)
        try:
            with compilation_listener(lambda event: send({"compiling": str(event or "")})):  # noqa: B023
                answer = handler.handle(request, send)
        except Exception as error:
            answer = {"failure": f"{type(error).__name__}: {error!s:.400}"}
        connection.send((current, answer))


def _send_part(connection: Connection, number: int, part: dict[str, Any]) -> None:
    connection.send((number, part))


class SearchWorkers:
    """Some workers, assigned to the owners of requests in turn.

    Requests of one owner always reach the same worker, which has its agents.
    """

    def __init__(self, count: int):
        self.workers = [SearchWorker() for _ in range(count)]
        self._assigned: dict[str, SearchWorker] = {}

    def of(self, owner: str) -> SearchWorker:
        """Return the worker of an owner."""
        if owner not in self._assigned:
            self._assigned[owner] = self.workers[len(self._assigned) % len(self.workers)]
        return self._assigned[owner]

    async def stop(self, owner: str) -> None:
        """End the present request of an owner."""
        worker = self.of(owner)
        if worker.current == owner:
            await worker.stop()

    def close(self) -> None:
        """End all processes."""
        for worker in self.workers:
            worker.close()

"""Process that handles requests: its start, the messages in both directions, and its end.

Messages are `(kind, number, content)`; the number is that of the request. The server sends
`"request"` and `"stop"`. The process answers with `"ready"` once it can take requests, `"stopping"`
as the acknowledgment of a stop, and for a request with `"phase"`, `"compiling"`, `"progress"` and
one `"answer"`. After the last message of a process its end is reported as `"ended"`.
"""

import asyncio
import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from ludoteca.agents.register import Registrations, code_registrations, restore_registrations
from ludoteca.child_processes import end_with_parent, started_by_main_thread
from ludoteca.envs.jit import compilation_listener
from ludoteca.evaluate.arena.requests import RequestHandler

Receive = Callable[["WorkerProcess", str, int, Any], None]


class WorkerProcess:
    """Process with the main function `work`, and a thread that reads its messages.

    Attributes:
        is_ready: whether it takes requests; it has been started and not been killed.
        is_alive: whether its end has not been reported.
        was_killed: whether `kill` has been called.
    """

    def __init__(self, receive: Receive):
        """Start the process, without waiting for it.

        Args:
            receive: function that is called in the event loop with this object and each message.
        """
        self.is_ready, self.is_alive, self.was_killed = False, True, False
        self._receive, self._loop = receive, asyncio.get_running_loop()
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        by_main_thread = started_by_main_thread()
        self._process = context.Process(
            target=work, args=(theirs, by_main_thread, code_registrations()), daemon=True
        )
        self._process.start()
        theirs.close()
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def pid(self) -> int | None:
        """Process ID."""
        return self._process.pid

    def send(self, kind: str, number: int, content: Any = None) -> None:
        """Send a message; a process that has ended gets none."""
        with suppress(OSError):  # its end is reported by the reading thread
            self._connection.send((kind, number, content))

    def kill(self) -> None:
        """End the process; killing it again does nothing."""
        self.is_ready, self.was_killed = False, True
        self._process.kill()

    def _read(self) -> None:
        """Pass messages to the event loop until the process has ended."""
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                break
            self._pass(*message)
        self._connection.close()
        self._process.join()
        self._pass("ended", 0, self._process.exitcode)

    def _pass(self, kind: str, number: int, content: Any) -> None:
        with suppress(RuntimeError):  # the event loop is closed, and with it all that waits
            self._loop.call_soon_threadsafe(self._take, kind, number, content)

    def _take(self, kind: str, number: int, content: Any) -> None:
        if kind == "ready":
            self.is_ready = not self.was_killed
        elif kind == "ended":
            self.is_alive = False
        self._receive(self, kind, number, content)


def work(connection: Connection, by_main_thread: bool, registered: Registrations) -> None:
    """Handle requests until the connection closes; the main function of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    end_with_parent(by_main_thread)
    restore_registrations(registered)
    RequestLoop(connection).run()


class RequestLoop:
    """Loop of a worker process: it handles requests in turn, while a thread receives stops.

    The numbers of requests rise, so a stop holds for its request and all earlier ones, whether it
    comes before, during or after them.
    """

    def __init__(self, connection: Connection):
        self._connection, self._sending = connection, threading.Lock()
        self._requests: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._current = self._stopped = 0

    def run(self) -> None:
        """Handle requests until the connection closes."""
        threading.Thread(target=self._read, daemon=True).start()
        handler = RequestHandler(lambda: self._current <= self._stopped)
        self._send("ready", 0)
        while True:
            self._current, request = self._requests.get()
            try:
                with compilation_listener(
                    lambda event: self._report("compiling", str(event or ""))
                ):
                    answer = handler.handle(request, self._report)
            except Exception as error:
                answer = {"failure": f"{type(error).__name__}: {error!s:.400}"}
            self._report("answer", answer)

    def _read(self) -> None:
        while True:
            try:
                kind, number, content = self._connection.recv()
            except (EOFError, OSError):
                os._exit(0)
            if kind == "request":
                self._requests.put((number, content))
            else:
                self._stopped = max(self._stopped, number)
                self._send("stopping", number)

    def _report(self, kind: str, content: Any) -> None:
        """Send a message about the present request."""
        self._send(kind, self._current, content)

    def _send(self, kind: str, number: int, content: Any = None) -> None:
        with self._sending:
            self._connection.send((kind, number, content))

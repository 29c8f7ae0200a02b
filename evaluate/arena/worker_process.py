"""Process that handles requests: its start, the messages in both directions, and its end.

Messages are `(kind, number, content)`, where the number is that of the request. The server sends
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
        is_ready: whether it is ready for requests: it has reported so, and has not been killed.
        is_alive: whether its end has not been reported.
        was_killed: whether `kill` has been called.
    """

    def __init__(self, receive: Receive):
        """Start the process, without waiting for it.

        Args:
            receive: called in the event loop with this object and the three parts of each message.
        """
        self.is_ready, self.is_alive, self.was_killed = False, True, False
        self._receive, self._loop = receive, asyncio.get_running_loop()
        context = multiprocessing.get_context("spawn")
        self._connection, child_connection = context.Pipe()
        by_main_thread = started_by_main_thread()
        self._process = context.Process(
            target=work, args=(child_connection, by_main_thread, code_registrations()), daemon=True
        )
        self._process.start()
        child_connection.close()
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def pid(self) -> int | None:
        """Process ID."""
        return self._process.pid

    def send(self, kind: str, number: int, content: Any = None) -> None:
        """Send a message, unless the process has ended."""
        with suppress(OSError):  # the thread that reads reports the end of the process
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
            self._post(*message)
        self._connection.close()
        self._process.join()
        self._post("ended", 0, self._process.exitcode)

    def _post(self, kind: str, number: int, content: Any) -> None:
        """Pass a message to the event loop."""
        with suppress(RuntimeError):  # the event loop is closed: nothing waits for messages
            self._loop.call_soon_threadsafe(self._handle, kind, number, content)

    def _handle(self, kind: str, number: int, content: Any) -> None:
        """Handle a message in the event loop."""
        if kind == "ready":
            self.is_ready = not self.was_killed
        elif kind == "ended":
            self.is_alive = False
        self._receive(self, kind, number, content)


def work(connection: Connection, by_main_thread: bool, registered: Registrations) -> None:
    """Handle requests until the connection closes; the main function of a worker process.

    Args:
        connection: connection to the server.
        by_main_thread: whether the main thread of the server has started this process.
        registered: games and agents that code of the server has registered.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C ends the server, which ends this process
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # small networks are faster in one thread
    end_with_parent(by_main_thread)
    restore_registrations(registered)
    RequestLoop(connection).run()


class RequestLoop:
    """Loop of a worker process, which handles requests in turn while a thread receives stops.

    The numbers of requests increase. A stop applies to the request with its number and all earlier
    ones, whether it arrives before, during or after their execution.
    """

    def __init__(self, connection: Connection):
        self._connection, self._send_lock = connection, threading.Lock()
        self._requests: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._current = self._stopped = 0  # numbers: of the present request, of the last stop

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
        """Receive requests and stops; end the process when the server has ended."""
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
        with self._send_lock:
            self._connection.send((kind, number, content))

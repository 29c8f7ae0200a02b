"""Signal handling: the first signal stops a run in order, the second one at once."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ludoteca.train.monitor import Monitor

STOPPING = "stopping: what was learned is being saved; Ctrl-C again quits at once"
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """End of a run that a signal has stopped, after everything was saved.

    Attributes:
        signal: the signal's number.
    """

    def __init__(self, number: int):
        """Make one for a signal."""
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.signal = number


@contextmanager
def stopping_on_signals(monitor: Monitor) -> Iterator[list[int]]:
    """Let SIGINT (Ctrl-C) and SIGTERM request the stop of a run; yields those that came.

    After the first one, the next one raises KeyboardInterrupt wherever the main thread is. Signals
    that the process ignores stay ignored. In any other thread than the main one, nothing changes.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def receive(number: int, frame: FrameType | None) -> None:
        received.append(number)
        if len(received) > 1:
            raise KeyboardInterrupt
        monitor.notice = STOPPING
        monitor.stop(signal.Signals(number).name)

    before = {one: signal.getsignal(one) for one in SIGNALS}
    changed = {one: handler for one, handler in before.items() if handler != signal.SIG_IGN}
    for one in changed:
        signal.signal(one, receive)
    try:
        yield received
    finally:
        for one, handler in changed.items():
            signal.signal(one, handler if handler is not None else signal.SIG_DFL)

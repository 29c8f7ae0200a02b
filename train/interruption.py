"""Signal handling: the first signal saves and stops a run, the second one quits at once."""

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
        signal: number of the signal.
    """

    def __init__(self, signal_number: int):
        """Make the exception for a signal."""
        super().__init__(f"stopped by {signal.Signals(signal_number).name}")
        self.signal = signal_number


@contextmanager
def stopping_on_signals(monitor: Monitor) -> Iterator[list[int]]:
    """Let SIGINT (Ctrl-C) and SIGTERM request the stop of a run; yield the received signals.

    The second signal raises KeyboardInterrupt, whatever the main thread is doing. Signals that the
    process ignores stay ignored. Outside the main thread, which alone can set handlers, nothing
    changes.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def receive(signal_number: int, frame: FrameType | None) -> None:
        received.append(signal_number)
        if len(received) > 1:
            raise KeyboardInterrupt
        monitor.notice = STOPPING
        monitor.stop(signal.Signals(signal_number).name)

    handlers = {signal_number: signal.getsignal(signal_number) for signal_number in SIGNALS}
    replaced = {n: handler for n, handler in handlers.items() if handler != signal.SIG_IGN}
    for signal_number in replaced:
        signal.signal(signal_number, receive)
    try:
        yield received
    finally:
        for signal_number, handler in replaced.items():
            # None: the handler was not installed by Python, and cannot be restored.
            signal.signal(signal_number, handler if handler is not None else signal.SIG_DFL)

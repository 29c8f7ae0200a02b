"""Status of compilation in this process, for progress displays."""

from collections.abc import Iterator
from contextlib import contextmanager

from ludoteca.envs.compilation import MIN_ANNOUNCED, Compilation, needs_message
from ludoteca.envs.jit import compilation_listener


class CompileStatus:
    """Listener for compilations in this process, in place of messages on standard error.

    Attributes:
        running: the present compilation, or None.
    """

    def __init__(self) -> None:
        """Start without a compilation."""
        self.running: Compilation | None = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen to compilations in the block."""
        with compilation_listener(self._update):
            yield

    def _update(self, event: Compilation | None) -> None:
        self.running = event

    def detail(self) -> str:
        """Return a text such as `"hex 7x7 environment, about 5 s"`; "" if nothing is compiled."""
        running = self.running
        if running is None:
            return ""
        text = " ".join(filter(None, (running.subject, running.purpose))) or "code"
        if running.expected_seconds >= MIN_ANNOUNCED:
            text += f", about {round(running.expected_seconds)} s"
        return text

    def announcement(self) -> str:
        """Return the message about the running compilation; "" if not needed, or in later calls."""
        running = self.running
        return "" if running is None or not needs_message(running) else str(running)

"""Failure of an agent that runs in a process of its own: crash, timeout or invalid answer."""

CRASH, TIMEOUT, INVALID = "crash", "timeout", "invalid"


class FailureError(Exception):
    """Error of an agent in a process of its own that did not return a valid answer.

    Attributes:
        kind: `CRASH`, `TIMEOUT` or `INVALID`; or `"resign"`, of an engine.
        message: description of the failure.
    """

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind, self.message = kind, message


def printable(text: str) -> str:
    """Escape the unprintable characters of a text."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)

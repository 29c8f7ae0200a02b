"""Compilation as it happens: one lock, the time it takes, and messages to those who wait for it."""

import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from numba.core.compiler_lock import global_compiler_lock

LOCK = global_compiler_lock
"""The process-wide, re-entrant lock of everything that compiles or changes what Numba knows.

It is Numba's own: with a second one, two threads could hold one each and wait for the other.
"""

SILENCED_BY = "LUDOTECA_COMPILE_MESSAGES"
"""The environment variable: `0` turns messages about compilation off."""

NOTICEABLE = 2.0  # seconds: what is expected to take less is not announced


@dataclass(frozen=True)
class Compilation:
    """Code that is being compiled, since no disk cache holds it.

    Attributes:
        subject: the game and its board, such as `"hex 11x11"`; `""` if it is for every game.
        purpose: what it is for, such as `"search"`; `""` if its author has not said so.
        expected_seconds: about how long all code of this subject and purpose takes to compile on
            this machine; None if nobody has measured it.
    """

    subject: str
    purpose: str
    expected_seconds: float | None = None

    def __str__(self) -> str:
        what = " ".join(filter(None, (self.subject, self.purpose))) or "code"
        expected = self.expected_seconds
        about = "" if expected is None else f", about {max(1, round(expected))} s"
        return f"compiling {what} (first time on this machine{about})"


Listener = Callable[[Compilation | None], None]
_listeners: list[Listener] = []


class _Progress:
    """What has been compiled so far; only the thread that holds `LOCK` changes it."""

    depth = 0  # compilations that the running one is part of, itself included
    since = 0.0  # when the outermost of them began
    seconds = 0.0  # that all finished ones took
    compiling = False  # whether listeners wait for the end of a compilation
    measured = 0.0  # seconds of compilations with a known typical duration ...
    typical = 0.0  # ... and these durations
    messages = os.environ.get(SILENCED_BY, "1") not in ("0", "false", "no", "off")


_announced: set[tuple[str, str]] = set()


def compile_seconds() -> float:
    """Return how many seconds this process has spent on compiling and on loading compiled code.

    The difference of two readings is the part of an interval that a speed must not include. A
    compilation that is running in another thread counts up to now.
    """
    running = time.perf_counter() - _Progress.since if _Progress.depth else 0.0
    return _Progress.seconds + running


def announce_compilation(enabled: bool) -> None:
    """Turn messages about compilation on standard error on or off.

    The environment variable `LUDOTECA_COMPILE_MESSAGES=0` turns them off from the start. Child
    processes of `multiprocessing` never write any.
    """
    _Progress.messages = enabled


@contextmanager
def compilation_listener(listener: Listener) -> Iterator[None]:
    """Call `listener` in place of writing messages, for example from a progress display.

    Args:
        listener: called with a `Compilation` whenever one begins that no disk cache can spare, and
            with None when it has ended; by the thread that compiles, which holds the lock.
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@contextmanager
def compiling() -> Iterator[None]:
    """Hold the lock and count the time of one compilation, or of loading its result."""
    with LOCK:
        if _Progress.depth == 0:
            _Progress.since = time.perf_counter()
        _Progress.depth += 1
        try:
            yield
        finally:
            _Progress.depth -= 1
            if _Progress.depth == 0:
                _Progress.seconds += time.perf_counter() - _Progress.since
                if _Progress.compiling:
                    _Progress.compiling = False
                    for listener in _listeners[:]:
                        listener(None)


def begin(subject: str, purpose: str, typical_seconds: float | None) -> None:
    """Announce a compilation that begins: to the listeners, or once on standard error.

    Args:
        subject: see `Compilation`.
        purpose: see `Compilation`.
        typical_seconds: how long it takes on the machine that the durations were measured on.
    """
    expected = None if typical_seconds is None else typical_seconds * machine_factor()
    compilation = Compilation(subject, purpose, expected)
    _Progress.compiling = True
    for listener in _listeners[:]:
        listener(compilation)
    if _listeners or not _Progress.messages or multiprocessing.parent_process() is not None:
        return
    if (subject, purpose) in _announced or expected is None or expected < NOTICEABLE:
        return
    _announced.add((subject, purpose))
    if sys.stderr is not None:
        print(compilation, file=sys.stderr, flush=True)


def end(seconds: float, typical_seconds: float | None) -> None:
    """Learn from a finished compilation how fast this machine is."""
    if typical_seconds is not None:
        _Progress.measured += seconds
        _Progress.typical += typical_seconds


def machine_factor() -> float:
    """Return how many times longer compilation takes here than the typical durations say.

    It is 1 until this process has compiled something whose duration is known.
    """
    return _Progress.measured / _Progress.typical if _Progress.typical > 0 else 1.0

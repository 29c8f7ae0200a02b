"""State of compilation in this process: its lock, time spent, listeners, messages on stderr."""

import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from numba.core.compiler_lock import global_compiler_lock

LOCK = global_compiler_lock
"""Process-wide, re-entrant lock for compiling, and for registering functions in Numba.

It is Numba's own: with a second lock, two threads could hold one each and deadlock.
"""

MESSAGES_VARIABLE = "LUDOTECA_COMPILE_MESSAGES"
"""Environment variable: `0` turns messages about compilation off."""

MIN_ANNOUNCED = 2.0  # seconds; compilations with a lower estimate cause no message


@dataclass(frozen=True)
class Compilation:
    """Compilation of code that the disk cache lacks.

    Attributes:
        subject: the game and its board, such as `"hex 11x11"`; `""` for code of no single game.
        purpose: part of the package that needs the code, such as `"search"`; `""` if not named.
        expected_seconds: estimate for this machine, including code that is always used together
            with this code.
    """

    subject: str
    purpose: str
    expected_seconds: float

    def __str__(self) -> str:
        code = " ".join(filter(None, (self.subject, self.purpose))) or "code"
        duration = f"about {max(1, round(self.expected_seconds))} s"
        return f"compiling {code} (first time on this machine, {duration})"


Listener = Callable[[Compilation | None], None]
_listeners: list[Listener] = []


class _Progress:
    """Progress of compilation in this process; only the thread that holds `LOCK` writes it."""

    depth = 0  # nesting depth of the running compilation
    start_time = 0.0  # of the outermost compilation
    seconds = 0.0  # total time of finished compilations, and of loading compiled code
    announced = False  # whether listeners must be called with None at the end
    measured_seconds = 0.0  # total time of compilations, without loading compiled code
    typical_seconds = 0.0  # sum of the `typical_seconds` of these compilations
    # Whether messages are written to standard error.
    messages = os.environ.get(MESSAGES_VARIABLE, "1") not in ("0", "false", "no", "off")


_announced: set[tuple[str, str]] = set()  # (subject, purpose) of the messages written


def compile_seconds() -> float:
    """Return the seconds that this process has spent on compiling and on loading compiled code.

    Measurements of speed subtract the difference of two results. A compilation that is still
    running in another thread counts up to now.
    """
    running = time.perf_counter() - _Progress.start_time if _Progress.depth else 0.0
    return _Progress.seconds + running


def announce_compilation(enabled: bool) -> None:
    """Turn messages about compilation on standard error on or off.

    The environment variable `LUDOTECA_COMPILE_MESSAGES=0` turns them off from the start. Child
    processes of `multiprocessing` never write any.
    """
    _Progress.messages = enabled


@contextmanager
def compilation_listener(listener: Listener) -> Iterator[None]:
    """Call `listener` instead of writing messages, for example from a progress display.

    Args:
        listener: called with a `Compilation` when it begins and with None when it has ended, in
            the thread that compiles, which holds `LOCK`.
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@contextmanager
def compiling() -> Iterator[None]:
    """Hold the lock and add the time of the block to that of compiling and loading code."""
    with LOCK:
        if _Progress.depth == 0:
            _Progress.start_time = time.perf_counter()
        _Progress.depth += 1
        try:
            yield
        finally:
            _Progress.depth -= 1
            if _Progress.depth == 0:
                _Progress.seconds += time.perf_counter() - _Progress.start_time
                if _Progress.announced:
                    _Progress.announced = False
                    for listener in _listeners[:]:
                        listener(None)


def announce(subject: str, purpose: str, typical: float) -> None:
    """Announce a compilation to the listeners; without listeners, once on standard error.

    Args:
        subject: see `Compilation`.
        purpose: see `Compilation`.
        typical: typical compilation time in seconds, see `typical_seconds`.
    """
    expected = typical * machine_factor()
    compilation = Compilation(subject, purpose, expected)
    _Progress.announced = True
    for listener in _listeners[:]:
        listener(compilation)
    if not _listeners and needs_message(compilation) and sys.stderr is not None:
        print(compilation, file=sys.stderr, flush=True)


def needs_message(compilation: Compilation) -> bool:
    """Return whether to write a message about a compilation.

    True once per subject and purpose, if messages are on and the estimate is at least
    `MIN_ANNOUNCED` seconds.
    """
    if not _Progress.messages or multiprocessing.parent_process() is not None:
        return False
    key = compilation.subject, compilation.purpose
    if key in _announced or compilation.expected_seconds < MIN_ANNOUNCED:
        return False
    _announced.add(key)
    return True


def update_machine_factor(seconds: float, typical: float) -> None:
    """Update the machine factor with a measured compilation.

    Args:
        seconds: duration of the compilation.
        typical: the function's `typical_seconds`.
    """
    _Progress.measured_seconds += seconds
    _Progress.typical_seconds += typical


def typical_seconds(code_bytes: int) -> float:
    """Return the typical compilation time of a function, from the size of all code it reaches.

    Fitted to 43 functions of six games (stepping, searches, agents), of 0.2 to 17 kB of bytecode,
    on one core of a Xeon server, in CPU time: half of them took 0.74 to 1.2 times the estimate.

    Args:
        code_bytes: size of the function's Python bytecode, kernels included.
    """
    return 0.4 + 0.27e-3 * code_bytes


def machine_factor() -> float:
    """Return the ratio of compilation times on this machine to the typical ones.

    It is 1 until this process has compiled something.
    """
    if _Progress.typical_seconds == 0:
        return 1.0
    return _Progress.measured_seconds / _Progress.typical_seconds

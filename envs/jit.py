"""Compilation: the only module that knows how Numba compiles and caches.

A *kernel* is a plain Python function that compiled code may call. A *factory* closes over the
kernels of one game (and one policy, ...) and returns one compiled function, cached on disk.
"""

import hashlib
import inspect
import os
import secrets
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeVar

import numpy as np
from numba import config, njit
from numba.core.bytecode import FunctionIdentity
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import register_jitable

# Kernels never divide by zero, and must not carry the code to raise about it.
OPTIONS = {"nogil": True, "error_model": "numpy"}
# Numba tells compiled functions apart by counters that start anew in every process. So two cached
# functions that were compiled by two processes may bring different code for a kernel under one
# name (for `hex(5)` and `hex(7)`, say), and a process that loads both silently runs one of the two
# for both (numba issue 10486). Random numbers in place of the counter keep the names apart.
_random_ids: Any = iter(lambda: secrets.randbits(64), None)
FunctionIdentity._unique_ids = _random_ids
# LLVM can turn alike operations on several numbers (Othello's eight directions, say) into vector
# instructions, which Numba leaves off unless asked to. It is asked for the whole process, as there
# is no narrower way, unless the user has said otherwise.
if "NUMBA_SLP_VECTORIZE" not in os.environ:
    config.SLP_VECTORIZE = 1  # type: ignore[attr-defined]
F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Let compiled code call `function`; from Python it stays the plain function it is.

    Nothing calls it by way of C, and making that possible is a tenth of the time of compilation.
    """
    register_jitable(no_cfunc_wrapper=True)(function)
    return function


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function built by a factory and cache it on disk.

    Numba's cache watches only the file that defines the outermost function, so an edit to a kernel
    in another file would silently load stale machine code. The name under which `function` is
    cached therefore carries a digest of every source and constant it can reach.
    """
    return _compile(function, OPTIONS)


def compiled_without_allocation(function: Callable[..., Any]) -> Any:
    """Compile a function that makes no arrays, lists or other objects, as `compiled` does.

    Without a memory manager nobody counts references to the arrays that are passed in, which in the
    drivers of small games takes as long as the rules do.
    """
    return _compile(function, OPTIONS | {"_nrt": False})


def _compile(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    # Numba's cache does not tell options apart, so they belong to the name, too.
    told = repr((options, config.SLP_VECTORIZE))  # type: ignore[attr-defined]
    name = f"{function.__name__}-{source_digest(function, told)}"
    function.__name__ = function.__qualname__ = name
    made = njit(cache=True, **options)(function)
    made.compile = _timed(made.compile)
    return made


class _Compiling:
    """Seconds spent on compiling and loading, and how many compilations the present one is in."""

    seconds, depth, since = 0.0, 0, 0.0


def _timed(compile_signature: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with its time counted, once where it calls itself."""

    def timed(signature: Any) -> Any:
        with global_compiler_lock:
            if _Compiling.depth == 0:
                _Compiling.since = time.perf_counter()
            _Compiling.depth += 1
            try:
                return compile_signature(signature)
            finally:
                _Compiling.depth -= 1
                if _Compiling.depth == 0:
                    _Compiling.seconds += time.perf_counter() - _Compiling.since

    return timed


def compile_seconds() -> float:
    """Return how many seconds this process has spent on compiling and loading compiled code."""
    running = time.perf_counter() - _Compiling.since if _Compiling.depth else 0.0
    return _Compiling.seconds + running


def source_digest(function: Callable[..., Any], *more: str) -> str:
    """Digest the files of all functions that `function` can call, their constants, and `more`.

    Raises:
        TypeError: if it depends on an object that is not the same in every process.
    """
    parts = {_source(__file__) or b"", *map(_constant, more)}
    seen: set[int] = set()
    todo: list[Any] = [function]
    while todo:
        thing = todo.pop()
        if not isinstance(thing, FunctionType):
            if not inspect.ismodule(thing) and not inspect.isbuiltin(thing):
                parts.add(_constant(thing))
        elif id(thing) not in seen and not thing.__module__.startswith(("numpy", "numba")):
            seen.add(id(thing))
            parts.add(_source(thing.__code__.co_filename) or thing.__code__.co_code)
            todo += [cell.cell_contents for cell in thing.__closure__ or ()]
            names = set(_global_names(thing.__code__))
            todo += [thing.__globals__[name] for name in names if name in thing.__globals__]
    return hashlib.sha256(b"".join(sorted(parts))).hexdigest()[:12]


def _global_names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _constant(value: Any) -> bytes:
    data = value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
    if b" at 0x" in data:
        raise TypeError(f"compiled code must not depend on {value!r}: it could not be cached")
    return hashlib.sha256(data).digest()


@cache
def _source(file: str) -> bytes | None:
    path = Path(file)
    return hashlib.sha256(path.read_bytes()).digest() if path.is_file() else None  # a notebook cell

"""Compilation: the only module that knows how Numba compiles and caches.

A *kernel* is a plain Python function that compiled code may call. A *factory* closes over the
kernels of one game (and one policy, ...) and returns one compiled function, cached on disk.
"""

import hashlib
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeVar

import numpy as np
from numba import njit
from numba.extending import register_jitable

# Kernels never divide by zero, and must not carry the code to raise about it.
OPTIONS = {"nogil": True, "error_model": "numpy"}
F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Let compiled code call `function`; from Python it stays the plain function it is."""
    register_jitable(function)
    return function


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function built by a factory and cache it on disk.

    Numba's cache watches only the file that defines the outermost function, so an edit to a kernel
    in another file would silently load stale machine code. The name under which `function` is
    cached therefore carries a digest of every source and constant it can reach.
    """
    name = f"{function.__name__}-{source_digest(function)}"
    function.__name__ = function.__qualname__ = name
    return njit(cache=True, **OPTIONS)(function)


def source_digest(function: Callable[..., Any]) -> str:
    """Digest the files of all functions that `function` can call, and the constants they read."""
    parts = {_constant(OPTIONS)}  # Numba's cache does not tell options apart
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
    return hashlib.sha256(data).digest()


@cache
def _source(file: str) -> bytes | None:
    path = Path(file)
    return hashlib.sha256(path.read_bytes()).digest() if path.is_file() else None  # a notebook cell

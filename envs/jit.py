"""Compilation of functions by Numba: caching, pickling, messages.

A *kernel* is a plain Python function that compiled code may call. A *factory* closes over the
kernels of a game (and of a policy, ...) and returns compiled functions, whose machine code is
cached on disk. All compilation holds one lock, so any thread may call factories and compiled
functions. Both can be pickled. See `compilation`, `factories` and `code_cache`.
"""

import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numba import config
from numba.core.bytecode import FunctionIdentity
from numba.core.registry import CPUDispatcher
from numba.extending import register_jitable

from ludoteca.envs import compilation
from ludoteca.envs.code_cache import CodeCache
from ludoteca.envs.compilation import (
    LOCK,
    announce_compilation,
    compilation_listener,
    compile_seconds,
)
from ludoteca.envs.factories import ORIGIN, Origin, factory, find_product, running_build
from ludoteca.envs.interpreted import is_interpreted, with_attributes
from ludoteca.envs.sources import code_size, source_digest

__all__ = [
    "announce_compilation",
    "compilation_listener",
    "compile_seconds",
    "compiled",
    "compiled_without_allocation",
    "factory",
    "kernel",
    "source_digest",
]

# nogil: other threads run meanwhile. Kernels never divide by zero, so NumPy's error model is used:
# Numba's default one compiles a check into each division.
OPTIONS = {"nogil": True, "error_model": "numpy"}
# LLVM can turn equal operations on several numbers (Othello's eight directions, say) into vector
# instructions (SLP), which Numba enables only by a setting of the whole process.
SLP_VECTORIZE = int(os.environ.get("NUMBA_SLP_VECTORIZE", 1))
# Numba distinguishes compiled functions by a counter that starts anew in every process. So two
# cached functions that were compiled by two processes may contain different code for a kernel under
# one name (for `hex(5)` and `hex(7)`, say), and a process that loads both silently runs one of the
# two for both (numba issue 10486). Random numbers instead of the counter keep the names apart.
_random_ids: Any = iter(lambda: secrets.randbits(64), None)
F = TypeVar("F", bound=Callable[..., Any])


class CompiledFunction(CPUDispatcher):
    """Function that is compiled at the first call with each combination of argument types.

    It is pickled as its factory and the factory's arguments.
    """

    origin: Origin | None = None
    _cache: Any

    def compile(self, sig: Any) -> Any:
        """Compile or load the code of a signature; one thread at a time."""
        with compilation.compiling(), _numba_settings():
            return super().compile(sig)

    def __reduce__(self) -> Any:
        if self.origin is None:
            return super().__reduce__()
        return find_product, self.origin.reference()

    def __deepcopy__(self, memo: Any) -> "CompiledFunction":
        return self


class InterpretedFunction:
    """Function that runs as plain Python, with the interface of a compiled function.

    Attributes:
        py_func: the plain function.
    """

    origin: Origin | None = None

    def __init__(self, function: Callable[..., Any]):
        self.py_func = function

    def __call__(self, *args: Any) -> Any:
        with np.errstate(all="ignore"):  # as in compiled code, which checks nothing
            return self.py_func(*map(with_attributes, args))

    def __reduce__(self) -> Any:
        if self.origin is None:
            return InterpretedFunction, (self.py_func,)
        return find_product, self.origin.reference()

    def __deepcopy__(self, memo: Any) -> "InterpretedFunction":
        return self


class _AnnouncedCache(CodeCache):
    """Disk cache that announces the compilation of each function that it lacks."""

    def __init__(self, function: Any, digest: str, typical: float):
        """Make the cache; `typical` is the function's typical compilation time in seconds."""
        super().__init__(function, digest)
        self.typical, self._build, self._start_time = typical, running_build(), 0.0

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        overload = super().load_overload(sig, target_context)
        if overload is None:
            compilation.announce(*self._description())
            self._start_time = time.perf_counter()
        return overload

    def save_overload(self, sig: Any, data: Any) -> None:
        compilation.update_machine_factor(time.perf_counter() - self._start_time, self.typical)
        super().save_overload(sig, data)

    def _description(self) -> tuple[str, str, float]:
        """Return the arguments of `compilation.announce`: game, purpose, typical seconds."""
        build = self._build
        if build is None:
            return "", "", self.typical
        caches = [build.products[name]._cache for name in build.used_together]
        total = sum(cache.typical for cache in caches) if self in caches else self.typical
        return _subject(build.args), build.purpose, total


def _subject(args: tuple[Any, ...]) -> str:
    """Return the name and board size of the game among a factory's arguments: `"hex 11x11"`."""
    for game in args:
        layout = getattr(game, "layout", None)
        if layout is not None:
            return f"{game.name} {layout.rows}x{layout.columns}"
    return ""


@contextmanager
def _numba_settings() -> Iterator[None]:
    """Set process-wide settings of Numba while code of this package compiles; under the lock."""
    previous = config.SLP_VECTORIZE, FunctionIdentity._unique_ids  # type: ignore[attr-defined]
    config.SLP_VECTORIZE = SLP_VECTORIZE  # type: ignore[attr-defined]
    FunctionIdentity._unique_ids = _random_ids
    try:
        yield
    finally:
        config.SLP_VECTORIZE, FunctionIdentity._unique_ids = previous  # type: ignore[attr-defined]


class _Registration:
    """Marker of a kernel; unpickling it, with a kernel pickled by value, registers it in Numba."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function

    def __reduce__(self) -> Any:
        return _register, (self.function,)


def _register(function: Any) -> _Registration:
    """Make a function callable from compiled code, and return its marker."""
    register_jitable(no_cfunc_wrapper=True)(function)
    return _Registration(function)


def kernel(function: F) -> F:
    """Let compiled code call `function`; in Python it remains a plain function.

    Numba makes no C wrapper of it: that would take a tenth of the compilation time for nothing.
    """
    with LOCK:
        function.__dict__["__kernel__"] = _register(function)
        build = running_build()
        if build is not None:
            function.__dict__[ORIGIN] = build.add(function.__name__, function)
    return function


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function made by a factory and cache it on disk.

    Numba's cache checks only the file of the outermost function, so after an edit of a kernel in
    another file it would load stale machine code. Here the name of the cached function contains a
    digest of all sources and constants that it depends on.
    """
    return _compile(function, OPTIONS)


def compiled_without_allocation(function: Callable[..., Any]) -> Any:
    """Compile a function that allocates nothing, as `compiled` does.

    Without Numba's runtime (NRT), references to the arrays in the arguments are not counted;
    counting takes as long as the rules of a small game.
    """
    return _compile(function, OPTIONS | {"_nrt": False})


def _compile(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    with LOCK:
        name, build = function.__name__, running_build()
        if is_interpreted() or config.DISABLE_JIT:  # type: ignore[attr-defined]
            interpreted = InterpretedFunction(function)
            if build is not None:
                interpreted.origin = build.add(name, interpreted)
            return interpreted
        # The machine code also depends on the options and on this module.
        digest = source_digest(function, repr((options, SLP_VECTORIZE)), _module_source())
        typical = compilation.typical_seconds(code_size(function))
        function.__name__ = function.__qualname__ = f"{name}-{digest}"
        result = CompiledFunction(function, targetoptions={"nopython": True, **options})
        result._cache = _AnnouncedCache(function, digest, typical)
        if build is not None:
            result.origin = build.add(name, result)
        return result


@cache
def _module_source() -> str:
    """Return the source of this module, which determines how functions are compiled."""
    return Path(__file__).read_text(encoding="utf-8")

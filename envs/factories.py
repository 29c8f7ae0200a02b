"""Factories: functions that close over the kernels of a game and return compiled functions.

Results of a factory are cached by its arguments. Compiled functions and kernels are pickled as the
factory, its arguments and their name among its results; another process builds them anew, or loads
them from the disk cache.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, wraps
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from ludoteca.envs.compilation import LOCK
from ludoteca.envs.interpreted import is_interpreted

P = ParamSpec("P")
R = TypeVar("R")
ORIGIN = "__made_in__"  # the attribute of a kernel that holds its `Origin`


@dataclass(eq=False)
class Build:
    """One call of a factory.

    Attributes:
        factory: the factory.
        args: its arguments.
        kwargs: its keyword arguments.
        purpose: what its code is for, such as `"search"`.
        needed: names of the compiled functions that are always used together.
        made: compiled functions and kernels, by name.
        result: what it returned.
    """

    factory: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    purpose: str = ""
    needed: tuple[str, ...] = ()
    made: dict[str, Any] = field(default_factory=dict)
    result: Any = None

    def add(self, name: str, thing: Any) -> "Origin":
        """Register a compiled function or kernel; a name that is taken gets a number."""
        number, free = 1, name
        while free in self.made:
            number += 1
            free = f"{name}#{number}"
        self.made[free] = thing
        return Origin(self, free)


@dataclass(frozen=True, eq=False)
class Origin:
    """Origin of a compiled function or kernel: the factory call, and its name there."""

    build: Build
    name: str

    def __reduce__(self) -> tuple[Any, ...]:
        return _find_origin, self.reference()

    def reference(self) -> tuple[Any, ...]:
        """Return the arguments of `find_made`."""
        build = self.build
        args = tuple(by_reference(arg) for arg in build.args)
        kwargs = {key: by_reference(arg) for key, arg in build.kwargs.items()}
        return build.factory, args, kwargs, self.name


class ByReference:
    """Kernel that is pickled by reference, and unpickled as itself."""

    def __init__(self, kernel: Any):
        self.kernel = kernel

    def __reduce__(self) -> tuple[Any, ...]:
        return find_made, getattr(self.kernel, ORIGIN).reference()


_running: list[Build] = []  # factory calls, from the outermost to the innermost; under `LOCK`


def factory(
    purpose: str = "", needed: tuple[str, ...] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that makes a function a factory of compiled functions or kernels.

    It is called once for each combination of (hashable) arguments, in any number of threads.

    Args:
        purpose: what its code is for, in messages about compilation, such as `"search"`.
        needed: names of its compiled functions that are always used together: the first of them
            announces the time of all. By default each is announced alone.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def make(*args: P.args, **kwargs: P.kwargs) -> R:
            build: Any = _build
            result: R = build(make, is_interpreted(), *args, **kwargs).result
            return result

        _about[make] = purpose, needed
        return make

    return decorate


_about: dict[Callable[..., Any], tuple[str, tuple[str, ...]]] = {}
_builds: dict[Any, Build] = {}


@cache  # faster than a dictionary, but two threads may build the same
def _build(make: Callable[..., Any], interpreted: bool, *args: Any, **kwargs: Any) -> Build:
    with LOCK:
        key = (make, interpreted, args, tuple(kwargs.items()))
        if key not in _builds:
            build = Build(make, args, kwargs, *_about.get(make, ("", ())))
            _running.append(build)
            try:
                build.result = make.__wrapped__(*args, **kwargs)  # type: ignore[attr-defined]
            finally:
                _running.pop()
            _builds[key] = build
        return _builds[key]


def running_build() -> Build | None:
    """Return the innermost running factory call of this thread, if any."""
    with LOCK:
        return _running[-1] if _running else None


def find_made(
    make: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> Any:
    """Return what a factory made under a name, called with these arguments."""
    make(*args, **kwargs)
    return _origin_build(make, args, kwargs).made[name]


def _find_origin(
    make: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> Origin:
    make(*args, **kwargs)
    return Origin(_origin_build(make, args, kwargs), name)


def _origin_build(make: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Build:
    with LOCK:
        return _builds[make, is_interpreted(), args, tuple(kwargs.items())]


def by_reference(thing: Any) -> Any:
    """Return a picklable form of a factory's kernel, and anything else unchanged."""
    if isinstance(thing, FunctionType) and hasattr(thing, ORIGIN):
        return ByReference(thing)
    return thing


def resolved(thing: Any) -> Any:
    """Return the kernel in a `ByReference`, and anything else unchanged."""
    return thing.kernel if isinstance(thing, ByReference) else thing

"""Factories: functions that close over the kernels of a game and return compiled functions.

A kernel is a Python function that compiled code may call. Results of a factory are cached by its
arguments. A compiled function or kernel is pickled as a reference: the factory, its arguments, and
the name of the function among the products (the functions that this call has made). Another
process calls the factory, and compiles the function or loads its code from the disk cache.
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
ORIGIN = "__origin__"  # name of the attribute of a kernel that holds its `Origin`


@dataclass(eq=False)
class Build:
    """One call of a factory.

    Attributes:
        factory: the factory.
        args: its arguments.
        kwargs: its keyword arguments.
        purpose: part of the package that needs its code, such as `"search"`.
        used_together: names of the compiled functions that are always used together.
        products: compiled functions and kernels that the call made, by name.
        result: its return value.
    """

    factory: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    purpose: str = ""
    used_together: tuple[str, ...] = ()
    products: dict[str, Any] = field(default_factory=dict)
    result: Any = None

    def add(self, name: str, function: Any) -> "Origin":
        """Add a compiled function or kernel to the products; a second `name` becomes `name#2`."""
        number, free_name = 1, name
        while free_name in self.products:
            number += 1
            free_name = f"{name}#{number}"
        self.products[free_name] = function
        return Origin(self, free_name)


@dataclass(frozen=True, eq=False)
class Origin:
    """Origin of a compiled function or kernel: a factory call, and its name among the products."""

    build: Build
    name: str

    def __reduce__(self) -> tuple[Any, ...]:
        return _find_origin, self.reference()

    def reference(self) -> tuple[Any, ...]:
        """Return the arguments with which `find_product` returns this function."""
        build = self.build
        args = tuple(by_reference(arg) for arg in build.args)
        kwargs = {key: by_reference(arg) for key, arg in build.kwargs.items()}
        return build.factory, args, kwargs, self.name


class ByReference:
    """Wrapper of a kernel that is pickled as a reference and unpickled as the kernel itself."""

    def __init__(self, kernel: Any):
        self.kernel = kernel

    def __reduce__(self) -> tuple[Any, ...]:
        return find_product, getattr(self.kernel, ORIGIN).reference()


_running: list[Build] = []  # factory calls, from the outermost to the innermost; under `LOCK`


def factory(
    purpose: str = "", used_together: tuple[str, ...] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that makes a function a factory of compiled functions or kernels.

    The factory is called once for each combination of (hashable) arguments, however many threads
    call it.

    Args:
        purpose: part of the package that needs its code, such as `"search"`, for messages about
            compilation.
        used_together: names of its compiled functions that are always used together; a message
            about one of them states the compilation time of all.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def make(*args: P.args, **kwargs: P.kwargs) -> R:
            build: Any = _build
            result: R = build(make, is_interpreted(), *args, **kwargs).result
            return result

        _factory_options[make] = purpose, used_together
        return make

    return decorate


# `purpose` and `used_together` of each factory.
_factory_options: dict[Callable[..., Any], tuple[str, tuple[str, ...]]] = {}
# Finished factory calls by (factory, whether interpreted, arguments); under `LOCK`.
_builds: dict[Any, Build] = {}


@cache  # faster than `_builds`, but two threads may both miss it
def _build(make: Callable[..., Any], interpreted: bool, *args: Any, **kwargs: Any) -> Build:
    with LOCK:
        key = (make, interpreted, args, tuple(kwargs.items()))
        if key not in _builds:
            build = Build(make, args, kwargs, *_factory_options.get(make, ("", ())))
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


def find_product(
    make: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> Any:
    """Return the compiled function or kernel `name` that a factory makes with these arguments."""
    make(*args, **kwargs)
    return _find_build(make, args, kwargs).products[name]


def _find_origin(
    make: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> Origin:
    make(*args, **kwargs)
    return Origin(_find_build(make, args, kwargs), name)


def _find_build(make: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Build:
    with LOCK:
        return _builds[make, is_interpreted(), args, tuple(kwargs.items())]


def by_reference(value: Any) -> Any:
    """Return a kernel that a factory made as a `ByReference`, other values unchanged."""
    if isinstance(value, FunctionType) and hasattr(value, ORIGIN):
        return ByReference(value)
    return value


def unwrap_reference(value: Any) -> Any:
    """Return the kernel in a `ByReference`, other values unchanged."""
    return value.kernel if isinstance(value, ByReference) else value

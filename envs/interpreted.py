"""Interpreted mode: kernels and the functions that call them run as plain Python.

For debuggers, print statements and coverage in the rules of a game or in a search, and for tests of
code around them: nothing is compiled, each step is hundreds of times slower, and the results are
the same.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ludoteca.envs.record_views import view_record, view_records

P = ParamSpec("P")
R = TypeVar("R")
_interpreted = os.environ.get("LUDOTECA_INTERPRETED", "0") not in ("", "0")


def is_interpreted() -> bool:
    """Return whether functions that are made now are interpreted."""
    return _interpreted


@contextmanager
def interpreting(on: bool = True) -> Iterator[None]:
    """Interpret, or compile, all functions that are made in the block.

    The environment variable `LUDOTECA_INTERPRETED=1` does so for a whole process.
    """
    global _interpreted
    before, _interpreted = _interpreted, on
    try:
        yield
    finally:
        _interpreted = before


def cache_by_mode(function: Callable[P, R]) -> Callable[P, R]:
    """Cache results by the arguments and by whether functions are interpreted now."""

    @cache
    def cached(interpreted: bool, *args: Any, **kwargs: Any) -> R:
        return function(*args, **kwargs)

    @wraps(function)
    def find(*args: P.args, **kwargs: P.kwargs) -> R:
        call: Any = cached
        result: R = call(_interpreted, *args, **kwargs)
        return result

    return find


def with_attributes(value: Any) -> Any:
    """Return a view of records whose fields are attributes, as they are in compiled code."""
    if isinstance(value, tuple):
        views = [with_attributes(item) for item in value]
        return type(value)(*views) if hasattr(value, "_fields") else tuple(views)
    if isinstance(value, np.ndarray) and value.dtype.names is not None:
        return view_records(value)
    if isinstance(value, np.void) and value.dtype.names is not None:
        return view_record(value)
    return value

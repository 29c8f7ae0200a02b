"""Interpreted mode, in which kernels and the functions that call them run as plain Python.

A kernel is a function that compiled code may call. The mode is for debugging the rules of a game or
a search, for measuring test coverage, and for tests without compilation. Results are the same, but
a step takes hundreds of times longer.
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
    """Return whether factories now make interpreted functions."""
    return _interpreted


@contextmanager
def interpreting(enabled: bool = True) -> Iterator[None]:
    """Let factories make interpreted functions in the block, or compiled ones if not `enabled`.

    The environment variable `LUDOTECA_INTERPRETED=1` turns the mode on for a whole process.
    """
    global _interpreted
    previous, _interpreted = _interpreted, enabled
    try:
        yield
    finally:
        _interpreted = previous


def cache_by_mode(function: Callable[P, R]) -> Callable[P, R]:
    """Cache the results of a function by its arguments and `is_interpreted()`."""

    @cache
    def cached(interpreted: bool, *args: Any, **kwargs: Any) -> R:
        return function(*args, **kwargs)

    @wraps(function)
    def call_cached(*args: P.args, **kwargs: P.kwargs) -> R:
        call: Any = cached
        result: R = call(_interpreted, *args, **kwargs)
        return result

    return call_cached


def with_attributes(value: Any) -> Any:
    """Return a view of an array of records, or of one, whose fields are attributes.

    Compiled code reads fields as attributes. Tuples are converted item by item; other values are
    returned unchanged.
    """
    if isinstance(value, tuple):
        views = [with_attributes(item) for item in value]
        return type(value)(*views) if hasattr(value, "_fields") else tuple(views)
    if isinstance(value, np.ndarray) and value.dtype.names is not None:
        return view_records(value)
    if isinstance(value, np.void) and value.dtype.names is not None:
        return view_record(value)
    return value

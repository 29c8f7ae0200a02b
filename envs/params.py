"""Checks of game parameters, shared by the games' factories."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ludoteca.envs.names import did_you_mean


def integer(name: str, value: Any, low: int, high: int) -> int:
    """Return `value` if it is an integer in [low, high].

    Raises:
        ValueError: otherwise.
    """
    integral = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not integral or not low <= value <= high:
        raise ValueError(f"{name} must be an integer from {low} to {high}, got {value!r}")
    return int(value)


def choice(name: str, value: Any, options: Sequence[Any]) -> Any:
    """Return `value` if it is one of `options`.

    Raises:
        ValueError: otherwise.
    """
    for option in options:
        if type(value) is type(option) and value == option:
            return value
    expected = ", ".join(repr(option) for option in options)
    texts = [option for option in options if isinstance(option, str) and option]
    near = did_you_mean(value, texts) if isinstance(value, str) else ""
    raise ValueError(f"{name} must be one of {expected}, got {value!r}{near}")


def real(name: str, value: Any, low: float, high: float) -> float:
    """Return `value` as a float if it is a number in [low, high].

    Raises:
        ValueError: otherwise.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError(f"{name} must be a number from {low:g} to {high:g}, got {value!r}")
    return float(value)

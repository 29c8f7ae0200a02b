"""Validation of parameters: integers, numbers and choices.

The argument `name` is the parameter's name in error messages.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ludoteca.envs.names import did_you_mean


class UnknownParameter(TypeError, ValueError):  # noqa: N818
    """Error for an unexpected keyword argument, both a `TypeError` and a `ValueError`.

    Some libraries pass a keyword, and try without it after an error with the text of Python's
    `TypeError`.

    Attributes:
        owner: the name of the game that has no such parameter.
        parameter: the unexpected keyword.
        known: the parameters of the game.
    """

    owner: str = ""
    parameter: str = ""
    known: tuple[str, ...] = ()


def unknown_parameter(
    owner: str, parameter: str, known: Iterable[str], options: Iterable[str] = ()
) -> UnknownParameter:
    """Return the error for a keyword argument that neither a game nor its environment accepts.

    Args:
        owner: the name of the game.
        parameter: the unexpected keyword.
        known: the parameters of the game.
        options: the keyword arguments of the environment.
    """
    known, options = tuple(known), tuple(options)
    suggestion = did_you_mean(parameter, (*known, *options))
    game_has = ", ".join(known) if known else "no parameters"
    environment_has = f"; the environment has {', '.join(options)}" if options else ""
    error = UnknownParameter(
        f"{owner} got an unexpected keyword argument {parameter!r}{suggestion}; "
        f"it has {game_has}{environment_has}"
    )
    error.owner, error.parameter, error.known = owner, parameter, known
    return error


def keyword_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the keyword-only arguments of a function or class."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(
        parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY
    )


def check_integer(name: str, value: Any, low: int, high: int) -> int:
    """Return `value` if it is an integer in [low, high].

    Raises:
        ValueError: otherwise.
    """
    integral = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not integral or not low <= value <= high:
        raise ValueError(f"{name} must be an integer from {low} to {high}, got {value!r}")
    return int(value)


def check_choice(name: str, value: Any, options: Sequence[Any]) -> Any:
    """Return `value` if it equals one of `options` and has its type.

    Raises:
        ValueError: otherwise.
    """
    for option in options:
        if type(value) is type(option) and value == option:
            return value
    expected = ", ".join(repr(option) for option in options)
    texts = [option for option in options if isinstance(option, str) and option]
    suggestion = did_you_mean(value, texts) if isinstance(value, str) else ""
    raise ValueError(f"{name} must be one of {expected}, got {value!r}{suggestion}")


def check_real(name: str, value: Any, low: float, high: float) -> float:
    """Return `value` as a float if it is a number in [low, high].

    Raises:
        ValueError: otherwise.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError(f"{name} must be a number from {low:g} to {high:g}, got {value!r}")
    return float(value)

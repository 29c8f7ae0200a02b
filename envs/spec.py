"""Spec strings: names of games and agents with parameters, such as `"hex:board_size=5"`."""

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, get_args

T = TypeVar("T")

MAX_LENGTH = 4000  # characters of a spec string; longer strings are mistakes and not shown whole
# Types of parameters, by which values are parsed, and their names in messages.
TYPES = {int: "an integer", float: "a number", bool: "True or False", NoneType: "None"}


def parse_spec(
    spec: str,
    first: str | None = None,
    known: Mapping[str, inspect.Parameter] | None = None,
) -> tuple[str, dict[str, Any]]:
    """Split `"name:key=value,key=value"` into the name and the parameters.

    Values have the types that `known` annotates; others become integers, floats, `True`/`False` or
    `None` where they look like one. A value may contain colons and equal signs, not commas.

    Args:
        spec: the spec string.
        first: the parameter whose value may stand first without its key, as in `"dqn:hex5"`.
        known: the parameters of what is made from the spec, by name.

    Raises:
        TypeError: if `spec` is not a string.
        ValueError: if a parameter has no `=` or comes twice.
    """
    return parse_name(spec), parse_params(spec, spec.partition(":")[2], first, known)


def parse_params(
    spec: str,
    text: str,
    first: str | None = None,
    known: Mapping[str, inspect.Parameter] | None = None,
) -> dict[str, Any]:
    """Return the parameters in the part `text` of a spec string, such as `"rows=2,columns=3"`.

    See `parse_spec`.

    Raises:
        ValueError: if a parameter has no `=` or comes twice.
    """
    params: dict[str, Any] = {}
    for position, item in enumerate(filter(None, text.split(","))):
        key, equals, value = item.partition("=")
        if position == 0 and not equals and first is not None:
            key, equals, value = first, "=", item
        if not equals or not key.isidentifier():
            raise ValueError(f"expected key=value after the colon of {spec!r}, got {item!r}")
        if key in params:
            raise ValueError(f"{key!r} comes twice in {spec!r}")
        annotation = known[key].annotation if known and key in known else Any
        params[key] = typed_value(value, annotation)
    return params


def typed_value(text: str, annotation: Any) -> Any:
    """Read a value as its parameter is annotated: text stays text where text is wanted."""
    value = parse_value(text)
    kinds = get_args(annotation) or (annotation,)
    wants_text = str in kinds or Path in kinds or all(isinstance(kind, str) for kind in kinds)
    if wants_text and not (value is None and NoneType in kinds):
        return text
    return value


def call_checked(
    spec: str,
    make: Callable[..., T],
    params: Mapping[str, Any],
    known: Mapping[str, inspect.Parameter],
) -> T:
    """Call what makes a game or an agent, and check the types of its parameters.

    Its own checks come first: they know ranges.

    Raises:
        ValueError: as `make`, or if a parameter is not of the type that is annotated.
    """
    try:
        made = make(**params)
    except TypeError:
        check_types(spec, params, known)
        raise
    check_types(spec, params, known)
    return made


def check_types(
    spec: str, params: Mapping[str, Any], known: Mapping[str, inspect.Parameter]
) -> None:
    """Compare parameters with their annotations.

    Raises:
        ValueError: if one is not of its type.
    """
    for key, value in params.items():
        annotation = known[key].annotation
        kinds = get_args(annotation) or (annotation,)
        fits = type(value) in kinds or (type(value) is int and float in kinds)
        if not fits and all(kind in TYPES for kind in kinds):
            expected = " or ".join(TYPES[kind] for kind in kinds)
            raise ValueError(f"{key} must be {expected}, got {value!r} in {spec!r:.200}")


def parse_name(spec: str) -> str:
    """Return the name in front of the parameters.

    Raises:
        TypeError: if `spec` is not a string.
        ValueError: if it is longer than any that makes sense.
    """
    if not isinstance(spec, str):
        raise TypeError(f"expected a spec string such as 'hex:board_size=5', got {spec!r:.80}")
    if len(spec) > MAX_LENGTH:
        raise ValueError(f"a spec string of {len(spec)} characters, {spec!r:.80}..., is too long")
    return spec.partition(":")[0].strip()


def parse_value(text: str) -> Any:
    """Read an integer, a float, `True`, `False` or `None`; anything else is text."""
    if text.lower() in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[text.lower()]
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        return float(text)
    return text

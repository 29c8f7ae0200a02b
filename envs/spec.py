"""Spec strings: how games and agents are named with parameters, e.g. `"hex:board_size=5"`."""

import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

# Types of parameters by which values are read, and what they are called in messages.
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
        ValueError: if a parameter has no `=`, comes twice, or is not of its type.
    """
    name = parse_name(spec)
    rest = spec.partition(":")[2]
    params: dict[str, Any] = {}
    for position, item in enumerate(filter(None, rest.split(","))):
        key, equals, value = item.partition("=")
        if position == 0 and not equals and first is not None:
            key, equals, value = first, "=", item
        if not equals or not key.isidentifier():
            raise ValueError(f"expected key=value after the colon of {spec!r}, got {item!r}")
        if key in params:
            raise ValueError(f"{key!r} comes twice in {spec!r}")
        annotation = known[key].annotation if known and key in known else Any
        params[key] = typed_value(spec, key, value, annotation)
    return name, params


def typed_value(spec: str, key: str, text: str, annotation: Any) -> Any:
    """Read a value as the annotation of its parameter says; text stays text where text is wanted.

    Raises:
        ValueError: if it is not of that type.
    """
    value = parse_value(text)
    kinds = get_args(annotation) or (annotation,)
    if value is None and NoneType in kinds:
        return None
    if str in kinds or Path in kinds:
        return text
    if get_origin(annotation) is Literal:  # its constructor lists the choices
        return text if all(isinstance(kind, str) for kind in kinds) else value
    if not any(kind in TYPES for kind in kinds):
        return value
    if type(value) in kinds or (type(value) is int and float in kinds):
        return value
    expected = " or ".join(TYPES[kind] for kind in kinds if kind in TYPES)
    raise ValueError(f"{key} must be {expected}, got {text!r} in {spec!r}")


def parse_name(spec: str) -> str:
    """Return the name in front of the parameters.

    Raises:
        TypeError: if `spec` is not a string.
    """
    if not isinstance(spec, str):
        raise TypeError(f"expected a spec string such as 'hex:board_size=5', got {spec!r:.80}")
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

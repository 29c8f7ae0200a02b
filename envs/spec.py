"""Spec strings: how games and agents are named with parameters, e.g. `"hex:board_size=5"`."""

import re
from typing import Any


def parse_spec(spec: str, first: str | None = None) -> tuple[str, dict[str, Any]]:
    """Split `"name:key=value,key=value"` into the name and the parameters.

    Values become integers, floats, `True`/`False` or `None` where they look like one. A value may
    contain colons and equal signs, not commas.

    Args:
        spec: the spec string.
        first: the parameter whose value may stand first without its key, as in `"dqn:hex5"`.

    Raises:
        ValueError: if a parameter has no `=` or comes twice.
    """
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
        params[key] = parse_value(value)
    return parse_name(spec), params


def parse_name(spec: str) -> str:
    """Return the name in front of the parameters."""
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

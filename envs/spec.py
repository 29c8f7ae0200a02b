"""Spec strings: how games and agents are named with parameters, e.g. `"hex:board_size=5"`."""

import re
from typing import Any


def parse_spec(spec: str) -> tuple[str, dict[str, Any]]:
    """Split `"name:key=value,key=value"` into the name and the parameters.

    Values become integers, floats, `True`/`False` or `None` where they look like one. A value may
    contain colons and equal signs, not commas.

    Raises:
        ValueError: if a parameter has no `=` or comes twice.
    """
    name, _, rest = spec.partition(":")
    params: dict[str, Any] = {}
    for item in filter(None, rest.split(",")):
        key, equals, value = item.partition("=")
        if not equals or not key.isidentifier():
            raise ValueError(f"expected key=value after the colon of {spec!r}, got {item!r}")
        if key in params:
            raise ValueError(f"{key!r} comes twice in {spec!r}")
        params[key] = parse_value(value)
    return name.strip(), params


def parse_value(text: str) -> Any:
    """Read an integer, a float, `True`, `False` or `None`; anything else is text."""
    if text.lower() in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[text.lower()]
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        return float(text)
    return text

"""Spec strings: the name of a game or agent with its parameters, such as `"hex:board_size=5"`."""

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, get_args

T = TypeVar("T")

MAX_LENGTH = 4000  # characters of a spec string; a longer string must be a mistake
# Types of parameters that are checked, and their names in messages.
TYPES = {int: "an integer", float: "a number", bool: "True or False", NoneType: "None"}


def parse_spec(
    spec: str,
    first: str | None = None,
    known: Mapping[str, inspect.Parameter] | None = None,
) -> tuple[str, dict[str, Any]]:
    """Split `"name:key=value,key=value"` into the name and the parameters.

    Values become integers, floats, `True`/`False` or `None` if they look like one, unless `known`
    annotates the parameter as text. A value may contain colons and equal signs, but no commas.

    Args:
        spec: the spec string.
        first: the parameter whose value may come first, without its key, as in `"dqn:hex5"`; None:
            all parameters need their keys.
        known: the parameters of the factory that the spec string names, by name.

    Raises:
        TypeError: if `spec` is not a string.
        ValueError: if a parameter has no `=` or comes twice, or `spec` exceeds `MAX_LENGTH`.
    """
    return parse_name(spec), parse_params(spec, spec.partition(":")[2], first, known)


def parse_params(
    spec: str,
    text: str,
    first: str | None = None,
    known: Mapping[str, inspect.Parameter] | None = None,
) -> dict[str, Any]:
    """Return the parameters in the part `text` of a spec string, such as `"rows=2,columns=3"`.

    A key with a dot belongs to a nested spec string: `policy=ucb_v,policy.zeta=2` is the parameter
    `policy` with the value `"ucb_v:zeta=2"`.

    Args:
        spec: the whole spec string, for messages.
        text: the part with the parameters.
        first: the parameter whose value may come first, without its key; None: there is none.
        known: the parameters of the factory that the spec string names, by name.

    Raises:
        ValueError: if a parameter has no `=` or comes twice.
    """
    params: dict[str, Any] = {}
    nested: dict[str, dict[str, str]] = {}
    for position, item in enumerate(filter(None, text.split(","))):
        key, equals, value = item.partition("=")
        # The path of a file or folder may contain an equal sign.
        if position == 0 and first is not None and (not equals or "/" in key):
            key, equals, value = first, "=", item
        option, dot, inner = key.partition(".")
        if not equals or not option.isidentifier() or (dot and not inner.isidentifier()):
            raise ValueError(f"expected key=value after the colon of {spec!r}, got {item!r}")
        if key in params or inner in nested.get(option, {}):
            raise ValueError(f"{key!r} comes twice in {spec!r}")
        if dot:
            nested.setdefault(option, {})[inner] = value
            continue
        annotation = known[key].annotation if known and key in known else Any
        params[key] = typed_value(value, annotation)
    for option, items in nested.items():
        inner_text = ",".join(f"{key}={value}" for key, value in items.items())
        params[option] = f"{params.get(option, '')}:{inner_text}"
    return params


def typed_value(text: str, annotation: Any) -> Any:
    """Return a parsed value, or `text` itself if the annotation is `str`, `Path` or a `Literal`.

    If the annotation also allows None, the text `none` becomes None.
    """
    value = parse_value(text)
    types = get_args(annotation) or (annotation,)  # for a `Literal`, its strings
    is_text = str in types or Path in types or all(isinstance(type_, str) for type_ in types)
    if is_text and not (value is None and NoneType in types):
        return text
    return value


def call_checked(
    spec: str,
    factory: Callable[..., T],
    params: Mapping[str, Any],
    known: Mapping[str, inspect.Parameter],
) -> T:
    """Call the factory of a game or agent, and check the types of its parameters.

    Errors that the factory raises, except `TypeError`, take precedence: it also checks ranges.

    Args:
        spec: the spec string, for messages.
        factory: the factory.
        params: its keyword arguments.
        known: its parameters, with their annotations, by name.

    Raises:
        ValueError: as `factory`, or if a parameter does not have the annotated type.
    """
    try:
        made = factory(**params)
    except TypeError:
        check_types(spec, params, known)
        raise
    check_types(spec, params, known)
    return made


def check_types(
    spec: str, params: Mapping[str, Any], known: Mapping[str, inspect.Parameter]
) -> None:
    """Check that parameters have their annotated types; the arguments are those of `call_checked`.

    Raises:
        ValueError: if a parameter does not have its annotated type.
    """
    for key, value in params.items():
        annotation = known[key].annotation
        types = get_args(annotation) or (annotation,)
        matches = type(value) in types or (type(value) is int and float in types)
        if not matches and all(type_ in TYPES for type_ in types):
            expected = " or ".join(TYPES[type_] for type_ in types)
            raise ValueError(f"{key} must be {expected}, got {value!r} in {spec!r:.200}")


def parse_name(spec: str) -> str:
    """Return the name, the part of a spec string before the parameters.

    Raises:
        TypeError: if `spec` is not a string.
        ValueError: if it is longer than `MAX_LENGTH`.
    """
    if not isinstance(spec, str):
        raise TypeError(f"expected a spec string such as 'hex:board_size=5', got {spec!r:.80}")
    if len(spec) > MAX_LENGTH:
        raise ValueError(f"a spec string of {len(spec)} characters, {spec!r:.80}..., is too long")
    return spec.partition(":")[0].strip()


def parse_value(text: str) -> Any:
    """Return the integer, float, `True`, `False` or `None` that a text denotes, else the text."""
    if text.lower() in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[text.lower()]
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        return float(text)
    return text

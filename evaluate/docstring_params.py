"""Descriptions of parameters, read from docstrings."""

import inspect
import re
from collections.abc import Callable
from typing import Any


def describe_params(factory: Callable[..., Any], markup: bool = False) -> dict[str, str]:
    """Return the description of each parameter of a function, from `Args:` in its docstring.

    Args:
        factory: a function or class.
        markup: whether to keep the backquotes around code.
    """
    section = re.search(
        r"^Args:\n(.*?)(?=^\S|\Z)", inspect.getdoc(factory) or "", flags=re.DOTALL | re.MULTILINE
    )
    descriptions: dict[str, str] = {}
    for entry in re.split(r"\n(?=    \w)", section.group(1)) if section else ():
        name, _, text = entry.strip().partition(":")
        description = " ".join(text.split())
        descriptions[name] = description if markup else description.replace("`", "")
    return descriptions

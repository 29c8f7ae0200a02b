"""Validation of agent makers: subclasses of `Agent`, or functions that return agents."""

import inspect
from collections.abc import Callable
from typing import Any

from ludoteca.agents.agent import Agent

POSITIONAL_KINDS = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
NAMED_KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def check_maker(maker: Any, label: str) -> Callable[..., Agent]:
    """Validate the signature of an agent maker, without calling the maker; return the maker.

    Args:
        maker: the class or function, which will be called with a game and parameters by name.
        label: name of the maker in error messages, such as `"mymodule:MyAgent"`.

    Raises:
        TypeError: if it is neither a subclass of `Agent` nor a function.
        ValueError: if its signature is not a game and parameters by name.
    """
    if isinstance(maker, type):
        if not issubclass(maker, Agent):
            raise TypeError(f"the class {label} must be a subclass of ludoteca.agents.Agent")
        if inspect.isabstract(maker):
            missing = ", ".join(sorted(maker.__abstractmethods__))
            raise TypeError(f"the class {label} must implement {missing}")
    elif not callable(maker):
        raise TypeError(
            f"{label} must be a subclass of Agent, or a function that returns an agent, "
            f"got {maker!r:.80}"
        )
    parameters = list(inspect.signature(maker).parameters.values())
    if not parameters or parameters[0].kind not in POSITIONAL_KINDS:
        raise ValueError(f"{label} must take the game as its first argument")
    for parameter in parameters[1:]:
        if parameter.kind not in NAMED_KINDS:
            raise ValueError(
                f"{label} must take all parameters after the game by name, got {parameter}"
            )
    checked: Callable[..., Agent] = maker
    return checked

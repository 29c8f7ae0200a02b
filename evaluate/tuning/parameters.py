"""Parameters to tune: ranges or choices of values, and their keys in spec strings of agents.

An optimizer of d parameters sees points of the unit cube `[0, 1]^d`. The coordinate of a parameter
is its position; `TunedParameter.value` maps it to the value in the agent's spec string.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, isfinite, log

from ludoteca.agents.registry import split_agent_spec

FLAGS = ("log", "int")  # what may follow a range
DIGITS = 4  # significant digits of a value


@dataclass(frozen=True)
class TunedParameter:
    """Tuned parameter of an agent: a range of values, or choices.

    Attributes:
        name: key in the agent's spec string, such as `"policy.alpha"`.
        low: lowest value of the range.
        high: highest value of the range.
        is_log: whether positions are uniform in the logarithm of the value.
        is_integer: whether values are rounded to integers.
        choices: the values of a parameter without a range.
    """

    name: str
    low: float = 0.0
    high: float = 1.0
    is_log: bool = False
    is_integer: bool = False
    choices: tuple[str, ...] = ()

    def value(self, position: float) -> str:
        """Return the value at a position in [0, 1], as text for a spec string."""
        if self.choices:
            return self.choices[min(int(position * len(self.choices)), len(self.choices) - 1)]
        if self.is_log:
            value = exp(log(self.low) + position * (log(self.high) - log(self.low)))
        else:
            value = self.low + position * (self.high - self.low)
        value = min(max(value, self.low), self.high)
        return str(round(value)) if self.is_integer else f"{value:.{DIGITS}g}"

    def position(self, text: str) -> float:
        """Return the position in [0, 1] of a value; for a choice, the middle of its interval.

        Raises:
            ValueError: if the text is not a value of the parameter.
        """
        if self.choices:
            if text not in self.choices:
                raise ValueError(
                    f"the agent's {self.name}={text} is not among the choices "
                    f"{'|'.join(self.choices)}: start with one of them"
                )
            return (self.choices.index(text) + 0.5) / len(self.choices)
        value = _number(text, f"the agent's {self.name}")
        if not self.low <= value <= self.high:
            raise ValueError(
                f"the agent's {self.name}={text} is outside of its range {self.low:g}:{self.high:g}"
            )
        if self.is_log:
            return (log(value) - log(self.low)) / (log(self.high) - log(self.low))
        return (value - self.low) / (self.high - self.low)

    def levels(self, count: int) -> list[float]:
        """Return up to `count` evenly spaced positions with different values.

        A parameter with choices has one position for each choice instead.
        """
        if self.choices:
            return [(k + 0.5) / len(self.choices) for k in range(len(self.choices))]
        positions = [k / (count - 1) for k in range(count)]
        return list({self.value(position): position for position in positions}.values())


def parse_parameter(text: str) -> TunedParameter:
    """Parse a parameter from a text such as `"policy.alpha=0.01:2:log"`.

    `NAME=LOW:HIGH` is a range; `:int` and `:log` may follow. `NAME=A|B|C` are choices.

    Raises:
        ValueError: if the text is neither a range nor choices.
    """
    name, equals, values = text.partition("=")
    expected = (
        "expected NAME=LOW:HIGH, optionally followed by :int or :log, or NAME=A|B|C, such as "
        f"policy.alpha=0.01:2:log, got {text!r}"
    )
    if not equals or not all(part.isidentifier() for part in name.split(".")):
        raise ValueError(expected)
    if "|" in values:
        choices = tuple(values.split("|"))
        if len(set(choices)) < len(choices) or "," in values:
            raise ValueError(f"the choices of {name} must be different, without commas: {values!r}")
        return TunedParameter(name, choices=choices)
    low_text, _, high_and_flags = values.partition(":")
    high_text, *flags = high_and_flags.split(":")
    if ":" not in values or len(set(flags)) < len(flags) or set(flags) - set(FLAGS):
        raise ValueError(expected)
    low, high = _number(low_text, f"LOW of {name}"), _number(high_text, f"HIGH of {name}")
    is_log, is_integer = "log" in flags, "int" in flags
    if not low < high:
        raise ValueError(f"LOW of {name} must be less than HIGH, got {values!r}")
    if is_log and low <= 0:
        raise ValueError(f"LOW of a range with :log must be positive, got {text!r}")
    if is_integer and (low % 1 or high % 1):
        raise ValueError(f"LOW and HIGH of a range with :int must be integers, got {text!r}")
    return TunedParameter(name, low, high, is_log, is_integer)


def parse_parameters(texts: Sequence[str]) -> tuple[TunedParameter, ...]:
    """Parse parameters from several texts, see `parse_parameter`.

    Raises:
        ValueError: if there are no texts, one is invalid, or a name is repeated.
    """
    parameters = tuple(map(parse_parameter, texts))
    names = [parameter.name for parameter in parameters]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"expected parameters with different names, got {', '.join(texts)!r}")
    return parameters


def start_positions(spec: str, parameters: Sequence[TunedParameter]) -> list[float]:
    """Return the positions of the parameters in an agent's spec string; 0.5 for missing ones.

    Raises:
        ValueError: if a value is outside of its range or choices.
    """
    spec_values = dict(item.partition("=")[::2] for item in split_agent_spec(spec)[1].split(","))
    return [
        parameter.position(spec_values[parameter.name]) if parameter.name in spec_values else 0.5
        for parameter in parameters
    ]


def with_values(spec: str, values: Mapping[str, str]) -> str:
    """Return an agent's spec string with `values` of some parameters, replaced or added."""
    text = split_agent_spec(spec)[1]
    name = spec.removesuffix(text).removesuffix(":")
    items = dict.fromkeys(filter(None, text.split(",")))
    other_items = [item for item in items if item.partition("=")[0] not in values]
    return (
        f"{name}:{','.join([*other_items, *(f'{key}={value}' for key, value in values.items())])}"
    )


def values_at(parameters: Sequence[TunedParameter], point: Sequence[float]) -> dict[str, str]:
    """Return the values of the parameters at a point of the unit cube, by parameter name."""
    return {
        parameter.name: parameter.value(position)
        for parameter, position in zip(parameters, point, strict=True)
    }


def _number(text: str, name: str) -> float:
    """Return a text as a finite number; `name` names it in the error."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {text!r}")
    return value

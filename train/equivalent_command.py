"""Conversion of settings to command-line options and from `name=value` arguments."""

import difflib
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import tyro

Config = TypeVar("Config")


def equivalent_command(module: str, config: Any, defaults: Any) -> str:
    """Return the command that runs a module with these settings.

    Args:
        module: such as `"ludoteca.train.dqn"`.
        config: settings, a dataclass.
        defaults: default settings, which are omitted.
    """
    return shlex.join(["python", "-m", module, *differing(config, defaults)])


def differing(config: Any, defaults: Any) -> list[str]:
    """Return the options that change `defaults` to `config`, of the same dataclass."""
    default_values = dict(_flat(defaults))
    options = []
    for name, value in _flat(config):
        if value == default_values[name]:
            continue
        option = name.replace("_", "-")
        if isinstance(value, bool):  # --network.flag or --network.no-flag
            head, _, last = option.rpartition(".")
            last = last if value else f"no-{last}"
            options.append(f"--{head}.{last}" if head else f"--{last}")
        else:
            values = value if isinstance(value, tuple) else (value,)
            options += [f"--{option}", *map(str, values)]
    return options


def with_settings(config: Config, settings: Sequence[str], prog: str) -> Config:
    """Return settings with changes given as `name=value`.

    Args:
        config: settings, a dataclass. Those of a nested dataclass are named like `network.blocks`.
        settings: changes such as `"learning_rate=0.01"`; several values are separated by spaces.
        prog: name of the program in error messages.

    Raises:
        ValueError: if a setting is unknown, or has no value.
        SystemExit: if a value is of the wrong type.
    """
    current = dict(_flat(config))
    arguments: list[str] = []
    for setting in settings:
        name, equals, value = setting.partition("=")
        name = name.strip().lstrip("-").replace("-", "_")
        if not equals:
            raise ValueError(f"a setting is given as NAME=VALUE, got {setting!r}")
        if name not in current:
            matches = difflib.get_close_matches(name, current, 1)
            hint = f" (did you mean {matches[0]!r}?)" if matches else ""
            raise ValueError(f"unknown setting {name!r}{hint}; all of them: {prog} --help")
        option = name.replace("_", "-")
        if isinstance(current[name], bool):
            if value not in ("True", "False", "true", "false"):
                raise ValueError(f"{name} must be True or False, got {value!r}")
            head, _, last = option.rpartition(".")
            last = last if value in ("True", "true") else f"no-{last}"
            arguments.append(f"--{head}.{last}" if head else f"--{last}")
        else:
            arguments += [f"--{option}", *value.split()]
    if not arguments:
        return config
    return tyro.cli(type(config), default=config, args=arguments, prog=prog)


def _flat(config: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield name and value of each setting; names of nested settings have dots.

    Args:
        config: settings, a dataclass.
        prefix: names of the enclosing settings, each followed by a dot.
    """
    for field in fields(config):
        value = getattr(config, field.name)
        if is_dataclass(value):
            yield from _flat(value, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name, value

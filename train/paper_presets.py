"""Presets of papers: settings of training commands, read from the studies of the papers.

A study's `presets.toml` has a table `[COMMAND.PRESET]` for each preset: its `description`, the
`settings` that differ from the defaults, and the `algorithm`, unless it is that of the command.
"""

import tomllib
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ludoteca.train.algorithms import find_algorithm

Presets = dict[str, tuple[str, Any]]


def load_presets(command: str, default: Any) -> Presets:
    """Return description and settings of each paper's preset of a command, by name.

    Args:
        command: name of the training command, such as `"dqn"`.
        default: default settings of the command.
    """
    presets = {}
    for name, table in _tables().get(command, {}).items():
        base = default
        if "algorithm" in table:
            base = find_algorithm(table["algorithm"]).config_class()
        presets[name] = (table["description"], _with_values(base, table["settings"]))
    return presets


@cache
def _tables() -> dict[str, dict[str, Any]]:
    """Return the tables of all studies, by command and name."""
    spec = find_spec("ludoteca.evaluate")
    tables: dict[str, dict[str, Any]] = {}
    folders = (spec.submodule_search_locations if spec is not None else None) or []
    files = (file for folder in folders for file in Path(folder).glob("studies/*/presets.toml"))
    for file in sorted(files):
        for command, presets in tomllib.loads(file.read_text("utf-8")).items():
            tables.setdefault(command, {}).update(presets)
    return tables


def _with_values(config: Any, settings: dict[str, Any]) -> Any:
    """Return settings with values from TOML: lists are tuples, tables are nested settings."""
    values: dict[str, Any] = {}
    for name, value in settings.items():
        current = getattr(config, name)
        if isinstance(value, dict):
            values[name] = _with_values(current, value)
        elif isinstance(current, Path):
            values[name] = Path(value)
        else:
            values[name] = tuple(value) if isinstance(value, list) else value
    return replace(config, **values)

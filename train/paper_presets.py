"""Presets of papers: settings of training commands in files beside the studies of the papers.

A study's `presets.toml` has a table `[COMMAND.PRESET]` with a `description`, the changed
`settings`, and, if it is not the command's, the `algorithm`.
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
        command: such as `"dqn"`.
        default: default settings of the command.
    """
    presets = {}
    for name, table in _tables().get(command, {}).items():
        begun = default
        if "algorithm" in table:
            begun = find_algorithm(table["algorithm"]).config_class()
        presets[name] = (table["description"], _changed(begun, table["settings"]))
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


def _changed(config: Any, settings: dict[str, Any]) -> Any:
    """Return settings with values from TOML: lists are tuples, tables are nested settings."""
    values: dict[str, Any] = {}
    for name, value in settings.items():
        before = getattr(config, name)
        if isinstance(value, dict):
            values[name] = _changed(before, value)
        elif isinstance(before, Path):
            values[name] = Path(value)
        else:
            values[name] = tuple(value) if isinstance(value, list) else value
    return replace(config, **values)

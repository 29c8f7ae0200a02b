"""Declarations of studies: the file `study.toml` of a study, which lists its tasks.

Its tables are:

- `parts`: names of the parts; `processes` and `single_threaded`: see `Study`; `needs`: shipped
  networks without which a part cannot run, by part, such as `"az:othello"`.
- `constants` and `tables`: values for placeholders and for the report's template.
- `placeholders`: placeholders of `winners` and `pace`, see below, which are replaced when a task
  runs.
- `kinds`: entries of all tasks of a kind, such as the module of all matches.
- `tasks`: a list of entries, each for one or several tasks.

An entry of `tasks` has the fields of `Task`, and:

- `part`: name of the part.
- `each`: lists, or names of tables, by variable. The entry makes a task for each combination.
- `settings`: options of the command that the record keeps; `options`: its other options;
  `recorded`: further settings in the record. Each is a table, or a list of tables that are merged.
  An option whose value is `""` is omitted.
- `record`: names of the results that the record keeps; `false` if there is no record.
- `may_diverge`: whether the report has the error instead of results if the training diverges.
- `data`: name of the task whose games the command learns from.
- `winners`: placeholders for the best agents of matches, by placeholder.
- `pace`: the `match` that measured a time per move, and the `factor` for the placeholder `seconds`.
- `shipped`: shipped networks in the command. Their fingerprints are part of the settings and of the
  folder's name, so that a task with a retrained network is run anew.
- `longest_first`: whether the tasks are sorted by their number of games.

Settings of training runs are described, with their units, in `ludoteca.train.settings.RLConfig` and
its subclasses: intervals are numbers of games; evaluation games are for each opponent and seat.

In text, `{name}` or `{row.column}` is replaced by a variable, a constant or an option of the
study's command; a text that is only a placeholder may become a value of any type. In fast runs, a
field `fast_NAME` replaces the field `NAME`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from ludoteca.evaluate.studies.data import read_data
from ludoteca.evaluate.studies.study import (
    GAMES_FILE,
    RESULTS_FILE,
    BestAgent,
    SecondsPerMove,
    Study,
    Task,
    Tasks,
    fingerprints,
    is_shipped,
)

Table = dict[str, Any]
PLACEHOLDER = re.compile(r"\{([a-z]\w*(?:\.\w+)*)\}")
MERGED = ("settings", "options", "recorded")  # fields of tables, or lists of tables to merge
FIELDS = {
    "name", "part", "each", "kind", "module", "arguments", "requires", "label", "artifact",
    "record", "may_diverge", "data", "winners", "pace", "shipped", "longest_first", "summarize",
    *MERGED,
}  # fmt: skip
Summarize = Callable[[Path], dict[str, Any]]


class Declaration:
    """Declaration of a study, for a fast run or a full one.

    Attributes:
        study: name of the study.
        fast: whether the run is a fast one.
        content: content of the file, without the values for other runs.
        names: values of placeholders: constants, tables, and options of the study's command.
    """

    def __init__(
        self,
        study: str,
        fast: bool = False,
        options: Mapping[str, Any] | None = None,
        summaries: Mapping[str, Summarize] | None = None,
    ):
        """Read the file of a study.

        Args:
            study: name of the study.
            fast: whether the run is a fast one.
            options: options of the study's command, by name.
            summaries: functions for the field `summarize` of tasks, by name.
        """
        self.study, self.fast, self._summaries = study, fast, summaries or {}
        self.content: Table = _chosen(read_data(f"{study}/study.toml"), fast)
        named = (self.content.get("constants"), self.content.get("tables"), options)
        self.names = {name: value for names in named for name, value in (names or {}).items()}

    def make_study(self, **fields: Any) -> Study:
        """Return the study; the names are also those of the report's template.

        Args:
            **fields: further fields of the study.
        """
        content, names = self.content, self.resolve(self.names, self.names)
        lacking = {
            part: f"part {part} needs the network {spec}, which this package lacks"
            for part, spec in content.get("needs", {}).items()
            if not is_shipped(spec)
        }
        fields["unavailable"] = fields.get("unavailable", {}) | lacking
        fields["template_names"] = names | fields.get("template_names", {})
        declared = {key: content[key] for key in ("processes", "single_threaded") if key in content}
        return Study(self.study, self.parts(), fast=self.fast, **declared, **fields)

    def parts(self) -> dict[str, Tasks]:
        """Return the tasks by part and name, in the order of the file.

        Raises:
            ValueError: if an entry has an unknown field, part or placeholder.
        """
        parts: dict[str, Tasks] = {part: {} for part in self.content["parts"]}
        made: Tasks = {}
        for entry in self.content["tasks"]:
            if unknown := entry.keys() - FIELDS:
                raise ValueError(f"{self.study}: a task has the unknown fields {sorted(unknown)}")
            tasks = [self.make_task(entry, names, made) for names in self.combinations(entry)]
            if entry.get("longest_first"):
                tasks.sort(key=lambda task: -int(task.options["games"]))
            if entry["part"] not in parts:
                raise ValueError(f"{self.study}: {entry['part']!r} is not one of {list(parts)}")
            parts[entry["part"]] |= {task.name: task for task in tasks}
            made |= parts[entry["part"]]
        return parts

    def combinations(self, entry: Table) -> Iterator[Table]:
        """Yield the values of all placeholders for each task of an entry."""
        each = entry.get("each", {})
        for values in product(*map(self.items, each.values())):
            yield self.names | dict(zip(each, values, strict=True))

    def items(self, values: str | list[Any]) -> list[Any]:
        """Return the items of a list or of the table with a name; placeholders are for tables."""
        if isinstance(values, str):
            return self.items(self.names[values.strip("{}")])
        return [
            item
            for each in values
            for item in (self.items(each) if PLACEHOLDER.fullmatch(str(each)) else [each])
        ]

    def make_task(self, entry: Table, names: Table, made: Tasks) -> Task:
        """Return a task.

        Args:
            entry: its entry in `tasks`.
            names: values of the placeholders.
            made: the tasks before this one, by name.
        """
        kind = self.content.get("kinds", {}).get(entry.get("kind"), {})
        others = {**kind, **entry, "each": {}, **dict.fromkeys(MERGED, "")}
        each = self.resolve(others, names)
        names = names | {"name": each["name"]}
        settings, options, recorded = (
            merge(self.resolve([table.get(key, {}) for table in (kind, entry)], names))
            for key in MERGED
        )
        winners = each.get("winners", {})
        placeholders: Table = {key: BestAgent(match) for key, match in winners.items()}
        requires = [name for name in each.get("requires", ()) if name]
        if winners:
            recorded["winners"] = winners
        if "pace" in each:
            pace = SecondsPerMove(each["pace"]["match"], each["pace"]["factor"])
            placeholders["seconds"] = pace
            recorded |= {"pace": pace.match, "times": pace.factor}
        if "data" in each:
            data = made[each["data"]]
            requires.append(data.name)
            options["data"] = f"{{folder}}/{data.name}/{GAMES_FILE}"
            recorded["data"] = data.settings
        networks = fingerprints(each.get("shipped", ()))
        if networks:
            recorded["networks"] = networks
        record = each.get("record", ())
        return Task(
            each["name"], each["module"], settings | options, settings | recorded,
            tuple(each.get("arguments", ())), tuple(requires), placeholders, each.get("kind", ""),
            each.get("label", ""), each.get("artifact", RESULTS_FILE),
            "-".join((each["name"], *networks.values())), tuple(record or ()), record is not False,
            each.get("may_diverge", False),
            self._summaries[each["summarize"]] if "summarize" in each else None,
        )  # fmt: skip

    def resolve(self, value: Any, names: Table) -> Any:
        """Return a value with its placeholders replaced, except those for tasks that run.

        Args:
            value: text, or tables and lists of text and other values.
            names: values of the placeholders.

        Raises:
            ValueError: if a placeholder is unknown.
        """
        if isinstance(value, dict):
            return {key: self.resolve(each, names) for key, each in value.items()}
        if isinstance(value, list | tuple):
            found = [(each, self.resolve(each, names)) for each in value]
            # A placeholder for a list stands for its items.
            return [
                item
                for each, one in found
                for item in (one if isinstance(each, str) and isinstance(one, list) else [one])
            ]
        if not isinstance(value, str):
            return value

        def lookup(match: re.Match[str]) -> Any:
            """Return the value of a placeholder, itself without placeholders."""
            first, *rest = match[1].split(".")
            if first in ("folder", "artifact", *self.content.get("placeholders", ())):
                return match[0]
            try:
                found = names[first]
                for key in rest:
                    found = found[key]
            except KeyError:
                raise ValueError(f"{self.study}: unknown placeholder in {value!r}") from None
            return self.resolve(found, names)

        if match := PLACEHOLDER.fullmatch(value):
            return lookup(match)
        return PLACEHOLDER.sub(lambda match: str(lookup(match)), value)


def merge(tables: Any) -> Table:
    """Return one table with the entries of a table or of a list of them, without those of `""`.

    Lists in the entries become tuples, which `Task` requires.
    """
    if isinstance(tables, list):
        return {key: value for table in tables for key, value in merge(table).items()}
    tuples = {k: tuple(v) if isinstance(v, list) else v for k, v in tables.items()}
    return {key: value for key, value in tuples.items() if value != ""}


def _chosen(value: Any, fast: bool) -> Any:
    """Return a value in which each field `fast_NAME` replaces `NAME` if `fast`, else is omitted."""
    if isinstance(value, list):
        return [_chosen(each, fast) for each in value]
    if not isinstance(value, dict):
        return value
    full = {k: _chosen(v, fast) for k, v in value.items() if not k.startswith("fast_")}
    others = {k: _chosen(v, fast) for k, v in value.items() if k.startswith("fast_")}
    return full | ({k.removeprefix("fast_"): v for k, v in others.items()} if fast else {})

"""Reproduction study of a paper: its tasks, and the records of finished tasks.

A task is a command that writes an artifact, such as a file of results. Its record is the part of
the artifact that the report's `results.json` keeps. Each task has a folder for its artifact, all in
one folder per study: "the folder of all tasks".
"""

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ludoteca.agents.networks.weights import fingerprint, shipped_weights
from ludoteca.files import read_json

Records = Mapping[str, dict[str, Any]]  # records of finished tasks, by name
RecordsByPart = dict[str, dict[str, dict[str, Any]]]  # the same by part of the study and name
# File name of the artifact of most tasks, and of the file with all records beside a report.
RESULTS_FILE = "results.json"
GAMES_FILE = "games.npz"  # file name of the artifact of tasks that generate or convert games


@dataclass(frozen=True)
class Task:
    """Task: one command, `python -m MODULE`, and the artifact that it writes.

    In the values of options, `{folder}` is replaced by the folder of all tasks, `{artifact}` by the
    file that the command writes, and names in `placeholders` by the values of their functions. An
    option whose value is a tuple, or text with spaces, is given several values.
    """

    name: str
    module: str  # module that is run as the command
    options: Mapping[str, Any]  # options of the command, by name
    settings: Mapping[str, Any] | None = None  # settings in the task's record; default: options
    positional_arguments: tuple[str, ...] = ()  # positional arguments of the command
    requires: tuple[str, ...] = ()  # names of the tasks whose artifacts the command reads
    # Functions from the folder of all tasks to the replacement, by placeholder.
    placeholders: Mapping[str, Callable[[Path], str]] = field(default_factory=dict)
    kind: str = ""  # type of the task within its study, such as "match", "network" or "games"
    label: str = ""  # name in the report
    artifact_name: str = RESULTS_FILE  # file name of the artifact in the task's folder
    directory: str = ""  # name of the task's folder; by default `name`
    record_keys: tuple[str, ...] = ()  # keys of the artifact that the record keeps; default: all
    has_record: bool = True  # whether the task has a record
    may_diverge: bool = False  # whether divergence is a result: the artifact has its message
    # Function that returns further entries of the record, given the task's folder.
    summarize: Callable[[Path], dict[str, Any]] | None = None

    def artifact(self, folder: Path) -> Path:
        """Return the path of the artifact, which exists if and only if the task is finished."""
        return folder / (self.directory or self.name) / self.artifact_name

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`; the required artifacts must exist."""
        names = {"folder": str(folder), "artifact": str(self.artifact(folder))}
        names |= {name: value(folder) for name, value in self.placeholders.items()}
        command = ["-P", "-m", self.module, *self.positional_arguments]
        for key, value in self.options.items():
            option = key.replace("_", "-")
            if isinstance(value, bool):
                command.append(f"--{option}" if value else f"--no-{option}")
            else:
                values = value if isinstance(value, tuple) else str(value).split(" ")
                command += [f"--{option}", *(str(text).format(**names) for text in values)]
        return command


Tasks = dict[str, Task]


@dataclass(frozen=True)
class BestAgent:
    """Placeholder for the agent with the most points in a finished match."""

    match: str  # name of the match's task

    def __call__(self, folder: Path) -> str:
        """Return the agent's spec string."""
        agents = read_json(folder / self.match / RESULTS_FILE)["agents"]
        return str(max(agents, key=lambda agent: float(agent["total"]["points"]))["agent"])


@dataclass(frozen=True)
class SecondsPerMove:
    """Placeholder for a multiple of the time per move of the first agent of a finished match."""

    match: str  # name of the match's task
    factor: float  # factor of the time

    def __call__(self, folder: Path) -> str:
        """Return the seconds per move."""
        first = read_json(folder / self.match / RESULTS_FILE)["agents"][0]
        return f"{self.factor * first['seconds_per_move']:.5f}"


def shipped_file(spec: str) -> Path | None:
    """Return the file of a shipped network, or None if the package lacks it.

    Args:
        spec: spec string of the network's agent, such as `"ac:geese"`.
    """
    kind, _, name = spec.partition(":")
    return shipped_weights(kind).get(name)


def is_shipped(spec: str) -> bool:
    """Return whether the package comes with a network, see `shipped_file`."""
    return shipped_file(spec) is not None


def fingerprints(specs: Iterable[str]) -> dict[str, str]:
    """Return the fingerprints of the shipped networks among `specs`, by spec string."""
    files = {spec: shipped_file(spec) for spec in specs}
    return {spec: fingerprint(file) for spec, file in files.items() if file is not None}


@dataclass(frozen=True)
class Study:
    """Declaration of a study: its tasks and its report."""

    name: str  # name of the study's folders: in this package, in `runs` and in docs/results
    parts: Mapping[str, Tasks]  # tasks by part and name; a task comes after its required tasks
    template_names: Mapping[str, Any]  # values and functions that the report's template uses
    # Function of all records and the folder of all tasks; returns figures as PNG files, by name.
    draw: Callable[[Records, Path], dict[str, bytes]] | None = None
    fast: bool = False  # whether the tasks are reduced to a test of the software
    unavailable: Mapping[str, str] = field(default_factory=dict)  # reasons why parts cannot run
    optional_parts: frozenset[str] = frozenset()  # parts that only run if they are named
    skipped_tasks: frozenset[str] = frozenset()  # names of tasks that cannot run
    # Number of concurrent tasks by part, which replaces the `processes` of `run_study`.
    processes: Mapping[str, int] = field(default_factory=dict)
    single_threaded: bool = True  # whether numeric libraries use one thread in each process
    # Function that returns whether an earlier record is valid for a task; by default it is if the
    # settings are equal.
    is_valid_record: Callable[[Mapping[str, Any], Task], bool] | None = None
    # Functions that are called with the folder of all tasks before a part's tasks run, by part.
    prepare: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)

    @property
    def tasks(self) -> Tasks:
        """The tasks of all parts, by name."""
        return {name: task for tasks in self.parts.values() for name, task in tasks.items()}


def make_record(task: Task, folder: Path) -> dict[str, Any] | None:
    """Return the record of a finished task, or None for a task that has none.

    Args:
        task: the task.
        folder: folder of all tasks.
    """
    if not task.has_record:
        return None
    artifact = task.artifact(folder)
    content = read_json(artifact)
    if "diverged" in content:
        return {"settings": settings_of(task), **content}
    selected = {key: content[key] for key in task.record_keys or content}
    summary = task.summarize(artifact.parent) if task.summarize else {}
    return {"settings": settings_of(task), **selected, **summary}


def settings_of(task: Any) -> Any:
    """Return the settings of a task, converted to the types of JSON for comparisons."""
    settings = getattr(task, "settings", None)
    return json.loads(json.dumps(task.options if settings is None else settings))


def read_records(
    out: Path,
    parts: Mapping[str, Tasks],
    is_valid: Callable[[Mapping[str, Any], Task], bool] | None = None,
) -> RecordsByPart:
    """Return the valid records beside a report, by part and name.

    Omitted are records of unknown tasks, invalid records, and records of tasks that require a task
    whose record is omitted.

    Args:
        out: folder of the report.
        parts: the tasks, by part and name.
        is_valid: function that returns whether a record is valid for a task; by default it is if
            the settings are equal.
    """
    content = read_json(out / RESULTS_FILE) if (out / RESULTS_FILE).exists() else {}
    tasks = {name: task for part_tasks in parts.values() for name, task in part_tasks.items()}
    valid_names = set[str]()
    for part, part_tasks in parts.items():
        for name, task in part_tasks.items():
            record = content.get(part, {}).get(name)
            required = {k for k in task.requires if k in tasks and tasks[k].has_record}
            if record and required <= valid_names:
                is_equal = is_valid is None and record["settings"] == settings_of(task)
                if is_equal or (is_valid is not None and is_valid(record, task)):
                    valid_names.add(name)
    return {
        part: {k: record for k, record in content.get(part, {}).items() if k in valid_names}
        for part in parts
    }


def read_metrics(folder: Path, column: str) -> list[dict[str, str]]:
    """Return the rows of a training run's `metrics.csv` in which a column is not empty.

    Args:
        folder: folder of the training run.
        column: name of the column.
    """
    with (folder / "metrics.csv").open() as file:
        return [row for row in csv.DictReader(file) if row[column]]

"""Study of a paper: tasks, which are commands that leave an artifact, and their records."""

import csv
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ludoteca.files import read_json

Records = Mapping[str, dict[str, Any]]  # records of finished tasks, by name
RecordsByPart = dict[str, dict[str, dict[str, Any]]]
RESULTS = "results.json"  # artifact of most tasks, and the records beside a report
GAMES = "games.npz"  # artifact of tasks that generate or convert games


@dataclass(frozen=True)
class Task:
    """One command, `python -m MODULE`, and the artifact that it leaves.

    In the texts of options, `{folder}` stands for the folder of all tasks, `{artifact}` for the
    file that the command writes, and further names for `placeholders`. A text with spaces, or a
    tuple, stands for several values.
    """

    name: str
    module: str  # the command
    options: Mapping[str, Any]  # options of the command, by name
    settings: Mapping[str, Any] | None = None  # settings in the artifact's record; default: options
    words: tuple[str, ...] = ()  # positional arguments of the command
    requires: tuple[str, ...] = ()  # names of the tasks whose artifacts the command reads
    placeholders: Mapping[str, Callable[[Path], str]] = field(default_factory=dict)
    kind: str = ""  # "match", "network", "games" or what else the study distinguishes
    label: str = ""  # name in the report
    product: str = RESULTS  # name of the artifact, a file in the task's folder
    directory: str = ""  # name of the task's folder, if not that of the task
    kept: tuple[str, ...] = ()  # keys of the artifact that its record keeps; all by default
    recorded: bool = True  # whether a record is kept at all
    # Function that returns further entries of the record, given the task's folder.
    summarize: Callable[[Path], dict[str, Any]] | None = None

    def artifact(self, folder: Path) -> Path:
        """Return the file that exists as soon as the task is finished."""
        return folder / (self.directory or self.name) / self.product

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`; the required artifacts must exist."""
        names = {"folder": str(folder), "artifact": str(self.artifact(folder))}
        names |= {name: value(folder) for name, value in self.placeholders.items()}
        line = ["-P", "-m", self.module, *self.words]
        for key, value in self.options.items():
            option = key.replace("_", "-")
            if isinstance(value, bool):
                line.append(f"--{option}" if value else f"--no-{option}")
            else:
                values = value if isinstance(value, tuple) else str(value).split(" ")
                line += [f"--{option}", *(str(one).format(**names) for one in values)]
        return line


Tasks = dict[str, Task]


@dataclass(frozen=True)
class BestAgent:
    """Placeholder: the agent with the most points in a finished match."""

    match: str

    def __call__(self, folder: Path) -> str:
        """Return the agent's spec string."""
        agents = read_json(folder / self.match / RESULTS)["agents"]
        return str(max(agents, key=lambda agent: float(agent["total"]["points"]))["agent"])


@dataclass(frozen=True)
class SecondsPerMove:
    """Placeholder: a multiple of the time per move of the first agent of a finished match."""

    match: str
    times: float

    def __call__(self, folder: Path) -> str:
        """Return the seconds per move."""
        first = read_json(folder / self.match / RESULTS)["agents"][0]
        return f"{self.times * first['seconds_per_move']:.5f}"


def match_task(
    name: str,
    agents: tuple[str, ...],
    games: int,
    requires: tuple[str, ...] = (),
    options: Mapping[str, Any] | None = None,
    pace: SecondsPerMove | None = None,
    winners: Mapping[str, str] | None = None,
    networks: Mapping[str, str] | None = None,
    module: str = "ludoteca.evaluate.timed_match",
) -> Task:
    """Return a match of two agents or more.

    Args:
        name: name of the task.
        agents: their spec strings.
        games: number of games.
        requires: names of the tasks whose artifacts play or are read.
        options: further options of the match.
        pace: `{seconds}` in the spec strings.
        winners: placeholder in the spec strings -> match whose best agent plays.
        networks: fingerprints of shipped networks that play, by their spec strings: with another
            network it is a separate match, with its own folder.
        module: module that plays the match.
    """
    played = {"agents": agents, "games": games, "seed": 1, **(options or {})}
    named = {"pace": pace.match, "times": pace.times} if pace else {}
    named |= {"winners": dict(winners)} if winners else {}
    named |= {"networks": dict(networks)} if networks else {}
    return Task(
        name, module, played | {"out": "{artifact}"}, played | named, requires=requires,
        placeholders={key: BestAgent(match) for key, match in (winners or {}).items()}
        | ({"seconds": pace} if pace else {}),
        kind="match", directory="-".join((name, *(networks or {}).values())),
    )  # fmt: skip


@dataclass(frozen=True)
class Study:
    """Declaration of a study."""

    name: str  # name of its folders: here, in `runs` and in docs/results
    parts: Mapping[str, Tasks]  # tasks by part and name; a task comes after its required tasks
    names: Mapping[str, Any]  # values and functions that the template of the report uses
    # Function of all records and the folder of the tasks; returns figures as PNG files, by name.
    draw: Callable[[Records, Path], dict[str, bytes]] | None = None
    fast: bool = False  # whether the tasks are too small for any conclusion
    unavailable: Mapping[str, str] = field(default_factory=dict)  # reasons, by part
    left_out: frozenset[str] = frozenset()  # names of tasks that cannot run now
    # Number of tasks that run at a time, in parts where it is limited.
    processes: Mapping[str, int] = field(default_factory=dict)
    one_thread: bool = True  # whether libraries use one thread in each process
    # Whether an earlier record is valid for a task; by default, if the settings are equal.
    fits: Callable[[Mapping[str, Any], Task], bool] | None = None
    # Functions called with the folder of all tasks before the tasks of a part run, by part.
    prepare: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)

    @property
    def tasks(self) -> Tasks:
        """All tasks, by name."""
        return {name: task for tasks in self.parts.values() for name, task in tasks.items()}


def record(task: Task, folder: Path) -> dict[str, Any] | None:
    """Return the record of a finished task, or None for a task without a record.

    Args:
        task: the task.
        folder: folder of all tasks.
    """
    if not task.recorded:
        return None
    artifact = task.artifact(folder)
    content = read_json(artifact)
    kept = {key: content[key] for key in task.kept or content}
    more = task.summarize(artifact.parent) if task.summarize else {}
    return {"settings": settings_of(task), **kept, **more}


def settings_of(task: Any) -> Any:
    """Return the settings of a task as JSON holds them."""
    settings = getattr(task, "settings", None)
    return json.loads(json.dumps(task.options if settings is None else settings))


def read_records(
    out: Path,
    parts: Mapping[str, Tasks],
    fits: Callable[[Mapping[str, Any], Task], bool] | None = None,
) -> RecordsByPart:
    """Return the records beside a report, by part and name.

    Records of unknown tasks and records that do not fit are omitted, as are records of tasks
    that require one whose record is left out.

    Args:
        out: folder of the report.
        parts: the tasks, by part and name.
        fits: whether a record is valid for a task; by default, if the settings are equal.
    """
    content = read_json(out / RESULTS) if (out / RESULTS).exists() else {}
    tasks = {name: task for of_part in parts.values() for name, task in of_part.items()}
    valid = set[str]()
    for part, of_part in parts.items():
        for name, task in of_part.items():
            earlier = content.get(part, {}).get(name)
            needed = {k for k in task.requires if k in tasks and tasks[k].recorded}
            if earlier and needed <= valid:
                same = fits(earlier, task) if fits else earlier["settings"] == settings_of(task)
                valid |= {name} if same else set()
    return {part: {k: v for k, v in content.get(part, {}).items() if k in valid} for part in parts}


def read_metrics(folder: Path, column: str) -> list[dict[str, str]]:
    """Return the rows of a training's `metrics.csv` in which a column has a value."""
    with (folder / "metrics.csv").open() as file:
        return [row for row in csv.DictReader(file) if row[column]]

"""Studies whose tasks are made by commands of their own: side by side, and recorded one by one."""

import csv
import json
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from ludoteca.child_processes import ChildProcesses
from ludoteca.executor import LOCAL, make_executor
from ludoteca.files import read_json, write_whole
from ludoteca.local_executor import ONE_THREAD
from ludoteca.lock import lock_folder
from ludoteca.provenance import package_versions, run_info

Records = Mapping[str, dict[str, Any]]
RESULTS = "results.json"  # what a finished run has in its folder, and a report in its own
SETTINGS = "settings.json"  # beside it: those of the task


class Task(Protocol):
    """What one command makes."""

    @property
    def name(self) -> str:
        """What it is called, and its folder."""

    @property
    def requires(self) -> tuple[str, ...]:
        """Names of the tasks that it needs."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What it depends on, as JSON can hold it."""

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`, when all it needs has been made in `folder`."""

    def artifact(self, folder: Path) -> Path:
        """Return the file that is there as soon as it is finished."""


class FolderTask:
    """A task that is finished as soon as there are results in its folder."""

    name: str
    made: ClassVar[str] = RESULTS  # the file that is there then

    def artifact(self, folder: Path) -> Path:
        """Return the file that is there as soon as it is finished."""
        return folder / self.name / self.made


class GamesTask(FolderTask):
    """A task that is finished as soon as there are games to learn from in its folder."""

    made = "games.npz"


P = TypeVar("P", bound=Task)


def run_part(
    part: str,
    wanted: Mapping[str, P],
    folder: Path,
    processes: int,
    tell: Callable[[str], None],
    known: Collection[str] = (),
    available: Mapping[str, P] | None = None,
    one_thread: bool = False,
    executor: str = LOCAL,
) -> None:
    """Make the tasks of a part of a study that are not known yet, and what these need.

    Args:
        part: what it is called.
        wanted: its tasks, by name.
        folder: where each has a folder.
        processes: how many are made side by side.
        tell: called with the name of each task that is finished.
        known: names of those that are left out.
        available: all tasks that some may need, by name, these before those; by default `wanted`.
        one_thread: whether libraries are told to use one thread in each process.
        executor: where they are made, see `ludoteca.executor.make_executor`.
    """
    available = wanted if available is None else available
    needed = {name for name in wanted if name not in known}
    print(f"{part}: {len(needed)} of {len(wanted)} runs", file=sys.stderr)
    for name in reversed(list(available)):
        if name in needed and not is_finished(available[name], folder):
            needed |= available.keys() & set(available[name].requires)
    ordered = {name: task for name, task in available.items() if name in needed}
    run_tasks(ordered, folder, processes, sys.stderr.isatty(), tell, one_thread, executor)


def run_tasks(
    tasks: Mapping[str, P],
    folder: Path,
    processes: int,
    show: bool,
    tell: Callable[[str], None] = lambda name: None,
    one_thread: bool = False,
    executor: str = LOCAL,
) -> None:
    """Make those that have not been made, `processes` at a time.

    Their processes end with this one, however that ends; after Ctrl-C they first save their work.

    Args:
        tasks: by name; each begins when those it needs are finished, as far as they are among
            these.
        folder: where each has a folder.
        processes: how many are made side by side.
        show: whether to show a progress bar.
        tell: called with the name of each task that is finished, also of those that were before.
        one_thread: whether libraries are told to use one thread in each process.
        executor: where they are made, see `ludoteca.executor.make_executor`. A worker of a cluster
            begins a task anew if its process or machine dies.

    Raises:
        RuntimeError: if a command fails, with the end of what it printed.
        ValueError: if a task lies there that was made with other settings, or another process
            makes tasks in this folder.
    """
    waiting = {name: task for name, task in tasks.items() if not is_finished(task, folder)}
    for name in tasks.keys() - waiting.keys():
        tell(name)
    if not waiting:
        return
    folder.mkdir(parents=True, exist_ok=True)
    _lock = lock_folder(folder)  # until this function returns
    added = dict.fromkeys(ONE_THREAD, "1") if one_thread else {}
    begun = len(tasks) - len(waiting)
    if executor != LOCAL:
        from ludoteca.evaluate.studies.remote import run_on_workers  # which imports this module

        with (
            _progress(len(tasks), begun, show) as advance,
            make_executor(executor, processes, len(waiting)) as workers,
        ):
            for name in run_on_workers(tasks, list(waiting), folder, workers, added):
                _write_settings(tasks[name], folder)
                tell(name)
                advance(name)
        return
    environment = os.environ | added
    with (
        _progress(len(tasks), begun, show) as advance,
        ThreadPoolExecutor(processes) as pool,
        ChildProcesses() as children,
    ):
        running: dict[Future[None], str] = {}
        while waiting or running:
            unfinished = waiting.keys() | set(running.values())
            ready = [n for n, task in waiting.items() if unfinished.isdisjoint(task.requires)]
            for name in ready[: processes - len(running)]:
                task = waiting.pop(name)
                running[pool.submit(_make, task, folder, environment, children)] = name
            if not running:
                raise RuntimeError(f"these wait for each other: {', '.join(waiting)}")
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                done.result()
                name = running.pop(done)
                tell(name)
                advance(name)


def is_finished(task: Task, folder: Path) -> bool:
    """Tell whether a task is finished.

    Raises:
        ValueError: if it was made with other settings.
    """
    product = task.artifact(folder)
    if not product.exists():
        return False
    file = product.parent / SETTINGS
    if file.exists() and read_json(file) != as_json(task):
        raise ValueError(
            f"{product.parent} holds {task.name} made with other settings: {file.read_text()}, "
            f"not {json.dumps(as_json(task))}; remove it, or give another folder with --runs"
        )
    return True


def command_line(module: str, words: tuple[str, ...], options: Mapping[str, Any]) -> list[str]:
    """Return what stands after `python` to run a module.

    Args:
        module: its name.
        words: what comes before the options.
        options: by name; a text with spaces stands for several values, as does a tuple.
    """
    line = ["-P", "-m", module, *words]
    for key, value in options.items():
        option = key.replace("_", "-")
        if isinstance(value, bool):
            line.append(f"--{option}" if value else f"--no-{option}")
        else:
            values = value if isinstance(value, tuple) else str(value).split(" ")
            line += [f"--{option}", *map(str, values)]
    return line


def read_records(
    out: Path, planned: Mapping[str, Mapping[str, P]], fits: Callable[[dict[str, Any], P], bool]
) -> dict[str, dict[str, Any]]:
    """Return the records of a report that was written before, by part and name.

    Args:
        out: folder of the report.
        planned: what belongs there now, by part and name; records of anything else are left out.
        fits: whether a record is of such a task.
    """
    path = out / RESULTS
    content = read_json(path) if path.exists() else {}
    return {
        part: {
            name: found
            for name, found in content.get(part, {}).items()
            if name in tasks and fits(found, tasks[name])
        }
        for part, tasks in planned.items()
    }


def read_records_with_settings(
    out: Path,
    planned: Mapping[str, Mapping[str, P]],
    is_recorded: Callable[[P], bool] = lambda task: True,
) -> dict[str, dict[str, Any]]:
    """Return the records of a report that was written before, by part and name.

    Args:
        out: folder of the report.
        planned: what belongs there now, by part and name. Records of anything else, or with other
            `"settings"`, are left out, and those of tasks that need one whose record is.
        is_recorded: whether there are records of such a task.
    """
    records = read_records(out, planned, lambda found, task: found["settings"] == as_json(task))
    kept = {name for part in records.values() for name in part}
    every = {name: task for tasks in planned.values() for name, task in tasks.items()}
    for name, task in every.items():  # in their order: what a task needs comes before it
        needed = [other for other in task.requires if other in every and is_recorded(every[other])]
        if not kept.issuperset(needed):
            kept.discard(name)
    return {
        part: {name: found for name, found in content.items() if name in kept}
        for part, content in records.items()
    }


def measured(folder: Path, name: str) -> list[dict[str, str]]:
    """Return the rows of a training's `metrics.csv` in which something was measured.

    Args:
        folder: of the training.
        name: what; its column.
    """
    with (folder / "metrics.csv").open() as file:
        return [row for row in csv.DictReader(file) if row[name]]


def as_json(task: Task) -> Any:
    """Return the settings of a task as they are when they have been written and read."""
    return json.loads(json.dumps(task.settings))


def provenance(out: Path, records: Mapping[str, Records]) -> dict[str, Any]:
    """Return `"about"` and `"versions"` of a report: those of this run, or of an earlier one.

    A report that is written again from the records that it holds already was not made by this run.

    Args:
        out: folder of the report.
        records: what is kept of the tasks, by part and name.
    """
    path = out / RESULTS
    if path.exists():
        content = json.loads(path.read_text())
        if {part: content.get(part) for part in records} == json.loads(json.dumps(records)):
            return {key: content[key] for key in ("about", "versions")}
    return {"about": run_info(), "versions": package_versions()}


def provenance_lines(records: Mapping[str, Records], versions: Mapping[str, str]) -> str:
    """Return, as lines of a list, when and where the tasks of a study were finished.

    Args:
        records: what is kept of the tasks, by part and name.
        versions: of the packages, for tasks whose records do not hold theirs.
    """
    about = [one["about"] for part in records.values() for one in part.values()]
    dates = sorted(one["date"][:16] for one in about)
    machines = {f"{one['cpu']}, {one['cores']} cores" for one in about}
    used = [dict(versions)]
    used += [
        one["versions"] for part in records.values() for one in part.values() if "versions" in one
    ]
    texts = {", ".join(f"{name} {number}" for name, number in each.items()): None for each in used}
    return f"""- Finished from {dates[0]} to {dates[-1]} (UTC); versions: {"; ".join(texts)}
- Machine: {"; ".join(sorted(machines))}"""


def write_study(
    out: Path, text: str, records: Mapping[str, Records], made: Mapping[str, Any]
) -> None:
    """Write `report.md` and `results.json`.

    Args:
        out: folder of the report.
        text: the report.
        records: what is kept of the tasks, by part and name.
        made: see `provenance`.
    """
    content = {**made, **records}
    write_whole(out / RESULTS, json.dumps(content, indent=1) + "\n")
    write_whole(out / "report.md", text)


def _make(
    task: Task, folder: Path, environment: Mapping[str, str], children: ChildProcesses
) -> None:
    command = [sys.executable, *task.arguments(folder)]
    done = children.run(command, environment)
    if done.returncode != 0:
        raise RuntimeError(f"{task.name} failed: {' '.join(command)}\n{done.stderr[-2000:]}")
    _write_settings(task, folder)


def _write_settings(task: Task, folder: Path) -> None:
    write_whole(task.artifact(folder).parent / SETTINGS, json.dumps(as_json(task)) + "\n")


@contextmanager
def _progress(total: int, done: int, show: bool) -> Iterator[Any]:
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    columns = (*Progress.get_default_columns(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not show) as progress:
        task = progress.add_task("", total=total, completed=done)
        yield lambda name: progress.update(task, advance=1, description=name)

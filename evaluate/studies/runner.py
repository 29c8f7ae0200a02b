"""Runner of studies: tasks at a time, each when those that it requires are finished."""

import json
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ludoteca.child_processes import ChildProcesses
from ludoteca.envs.params import choice, integer
from ludoteca.evaluate.studies.report import write_report
from ludoteca.evaluate.studies.study import Study, read_records, record, same_settings, settings_of
from ludoteca.executor import LOCAL, make_executor
from ludoteca.files import read_json, write_whole
from ludoteca.local_executor import THREAD_VARIABLES, cores
from ludoteca.lock import lock_folder

SETTINGS = "settings.json"  # beside an artifact: the settings of its task


class Runnable(Protocol):
    """What the runner needs of a task, see `Task`."""

    @property
    def name(self) -> str:
        """Name of the task."""

    @property
    def requires(self) -> tuple[str, ...]:
        """Names of the tasks that must be finished before."""

    @property
    def settings(self) -> Mapping[str, Any] | None:
        """What the artifact depends on, as JSON can hold it."""

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line after `python`."""

    def artifact(self, folder: Path) -> Path:
        """Return the file that exists as soon as the task is finished."""


T = TypeVar("T", bound=Runnable)


def run_study(
    study: Study,
    out: Path | None,
    runs: Path,
    part: str = "all",
    processes: int | None = None,
    executor: str = LOCAL,
    keep: bool = False,
    rewrite: bool = False,
) -> None:
    """Run the tasks of a study that are not finished, and write its report after each.

    Args:
        study: the study.
        out: folder of the report; by default docs/results/NAME, and for fast runs a folder in
            `runs`.
        runs: folder of the folders of studies.
        part: name of the part to run, or `"all"`.
        processes: number of tasks that run at a time; one for each core by default.
        executor: where they run, see `ludoteca.executor.make_executor`.
        keep: leave out tasks whose records the report has already.
        rewrite: run nothing: write the report from its records, and from tasks that are finished.

    Raises:
        ValueError: if an option is unknown, or the part cannot run now.
    """
    choice("part", part, ("all", *study.parts))
    processes = integer("processes", cores() if processes is None else processes, 1, 1024)
    if part in study.unavailable and not rewrite:
        raise ValueError(study.unavailable[part])
    folder = runs / (f"{study.name}_fast" if study.fast else study.name)
    default = folder / "report" if study.fast else Path("docs/results") / study.name
    out = default if out is None else out
    records, tasks = read_records(out, study.parts, study.fits or same_settings), study.tasks
    part_of = {name: of for of, named in study.parts.items() for name in named}

    def add_record(name: str) -> None:
        new, home = record(tasks[name], folder), records[part_of[name]]
        if new is not None and new != home.get(name):
            home[name] = new
            write_report(study, records, out, folder)

    if rewrite:
        for name, task in tasks.items():
            if name not in records[part_of[name]] and is_finished(task, folder):
                add_record(name)
    for name, named in study.parts.items():
        if rewrite or part not in ("all", name) or name in study.unavailable:
            continue
        wanted = {k: t for k, t in named.items() if t.recorded and k not in study.left_out}
        known = set(records[name]) if keep else set[str]()
        at_a_time = study.processes.get(name, processes)
        run_part(
            name, wanted, folder, at_a_time, add_record, known, tasks, study.one_thread, executor
        )
    write_report(study, records, out, folder)
    print(f"report: {out / 'report.md'}")


def run_part(
    part: str,
    wanted: Mapping[str, T],
    folder: Path,
    processes: int,
    on_finish: Callable[[str], None],
    known: Collection[str] = (),
    available: Mapping[str, T] | None = None,
    one_thread: bool = False,
    executor: str = LOCAL,
) -> None:
    """Run the tasks of a part of a study that are not known yet, and what these require.

    Args:
        part: its name.
        wanted: its tasks, by name.
        folder: of all tasks.
        processes: number of tasks that run at a time.
        on_finish: called with the name of each task that is finished.
        known: names of tasks to leave out.
        available: all tasks that some may require, by name, required ones first; by default
            `wanted`.
        one_thread: whether libraries use one thread in each process.
        executor: where they run, see `ludoteca.executor.make_executor`.
    """
    available = wanted if available is None else available
    needed = {name for name in wanted if name not in known}
    print(f"{part}: {len(needed)} of {len(wanted)} runs", file=sys.stderr)
    for name in reversed(list(available)):
        if name in needed and not is_finished(available[name], folder):
            needed |= available.keys() & set(available[name].requires)
    ordered = {name: task for name, task in available.items() if name in needed}
    run_tasks(ordered, folder, processes, sys.stderr.isatty(), on_finish, one_thread, executor)


def run_tasks(
    tasks: Mapping[str, T],
    folder: Path,
    processes: int,
    show: bool,
    on_finish: Callable[[str], None] = lambda name: None,
    one_thread: bool = False,
    executor: str = LOCAL,
) -> None:
    """Run the tasks that are not finished, `processes` at a time.

    Their processes end with this one, however it ends; after Ctrl-C they first save their work.

    Args:
        tasks: by name; each begins when those of them that it requires are finished.
        folder: of all tasks.
        processes: number of tasks that run at a time.
        show: whether to show a progress bar.
        on_finish: called with the name of each finished task, also of those finished before.
        one_thread: whether libraries use one thread in each process.
        executor: where they run, see `ludoteca.executor.make_executor`. A worker of a cluster
            restarts a task if its process or machine dies.

    Raises:
        RuntimeError: if a command fails, with the end of its error output.
        ValueError: if an artifact was made with other settings, or another process runs tasks in
            this folder.
    """
    waiting = {name: task for name, task in tasks.items() if not is_finished(task, folder)}
    for name in tasks.keys() - waiting.keys():
        on_finish(name)
    if not waiting:
        return
    folder.mkdir(parents=True, exist_ok=True)
    _lock = lock_folder(folder)  # until this function returns
    added = dict.fromkeys(THREAD_VARIABLES, "1") if one_thread else {}
    finished = len(tasks) - len(waiting)
    if executor != LOCAL:
        from ludoteca.evaluate.studies.remote import run_on_workers  # which imports this module

        with (
            _progress(len(tasks), finished, show) as advance,
            make_executor(executor, processes, len(waiting)) as workers,
        ):
            for name in run_on_workers(tasks, list(waiting), folder, workers, added):
                _write_settings(tasks[name], folder)
                on_finish(name)
                advance(name)
        return
    environment = os.environ | added
    with (
        _progress(len(tasks), finished, show) as advance,
        ThreadPoolExecutor(processes) as pool,
        ChildProcesses() as children,
    ):
        running: dict[Future[None], str] = {}
        while waiting or running:
            unfinished = waiting.keys() | set(running.values())
            ready = [n for n, task in waiting.items() if unfinished.isdisjoint(task.requires)]
            for name in ready[: processes - len(running)]:
                task = waiting.pop(name)
                running[pool.submit(_run, task, folder, environment, children)] = name
            if not running:
                raise RuntimeError(f"these wait for each other: {', '.join(waiting)}")
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                done.result()
                name = running.pop(done)
                on_finish(name)
                advance(name)


def is_finished(task: Runnable, folder: Path) -> bool:
    """Return whether a task's artifact exists.

    Raises:
        ValueError: if it was made with other settings.
    """
    artifact = task.artifact(folder)
    if not artifact.exists():
        return False
    file = artifact.parent / SETTINGS
    if file.exists() and read_json(file) != settings_of(task):
        raise ValueError(
            f"{artifact.parent} holds {task.name} made with other settings: {file.read_text()}, "
            f"not {json.dumps(settings_of(task))}; remove it, or give another folder with --runs"
        )
    return True


def _run(
    task: Runnable, folder: Path, environment: Mapping[str, str], children: ChildProcesses
) -> None:
    command = [sys.executable, *task.arguments(folder)]
    done = children.run(command, environment)
    if done.returncode != 0:
        raise RuntimeError(f"{task.name} failed: {' '.join(command)}\n{done.stderr[-2000:]}")
    _write_settings(task, folder)


def _write_settings(task: Runnable, folder: Path) -> None:
    write_whole(task.artifact(folder).parent / SETTINGS, json.dumps(settings_of(task)) + "\n")


@contextmanager
def _progress(total: int, finished: int, show: bool) -> Iterator[Any]:
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    columns = (*Progress.get_default_columns(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not show) as progress:
        bar = progress.add_task("", total=total, completed=finished)
        yield lambda name: progress.update(bar, advance=1, description=name)

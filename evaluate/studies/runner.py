"""Runner of studies: the tasks that are not finished, the report after each, and the command."""

import json
import os
import sys
from collections.abc import Callable, Collection
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from inspect import Signature, getdoc, signature
from pathlib import Path
from typing import Any

from ludoteca.child_processes import ChildProcesses
from ludoteca.envs.params import choice, integer
from ludoteca.evaluate.studies.execution import TaskQueue, run_command, run_on_workers
from ludoteca.evaluate.studies.report import write_report
from ludoteca.evaluate.studies.study import Study, Task, Tasks, read_records, record, settings_of
from ludoteca.executor import LOCAL, make_executor
from ludoteca.files import read_json, write_atomically
from ludoteca.local_executor import THREAD_VARIABLES, cores
from ludoteca.lock import lock_folder
from ludoteca.progress import progress_bar

SETTINGS = "settings.json"  # file with the settings of a task, in the folder of its artifact
RUNS = Path("runs/reproduce")
RESUMES = """Interrupted or killed, it resumes when the same command is given again. The report is
written after each task: it has the sections whose tasks are all finished."""


def study_command(make: Callable[..., Study], summary: str) -> Callable[..., None]:
    """Return the command of a study; its options are the parameters of `run_study` and of `make`.

    Args:
        make: function that returns the study; the `Args:` of its docstring are help texts.
        summary: help of the command.
    """
    own = signature(make).parameters
    out, runs, *rest = [p for p in signature(run_study).parameters.values() if p.name != "study"]
    parameters = [out, runs, *own.values(), *rest]

    def reproduce(*args: Any, **options: Any) -> None:
        bound = Signature(parameters).bind(*args, **options)
        bound.apply_defaults()
        chosen = {name: bound.arguments.pop(name) for name in own}
        if "precision" in chosen:
            choice("precision", chosen["precision"], ("auto", "float32", "bfloat16"))
        run_study(make(**chosen), **bound.arguments)

    help_texts = [(getdoc(each) or "").partition("Args:\n")[2] for each in (make, run_study)]
    lines = "\n".join(text.partition("\n\n")[0] for text in help_texts)
    reproduce.__doc__ = f"{summary}\n\n{RESUMES}\n\nArgs:\n{lines}"
    reproduce.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    reproduce.__annotations__ = {p.name: p.annotation for p in parameters}
    return reproduce


def run_study(
    study: Study,
    out: Path | None = None,
    runs: Path = RUNS,
    part: str = "all",
    processes: int | None = None,
    executor: str = LOCAL,
    keep: bool = False,
    rewrite: bool = False,
) -> None:
    """Run the tasks of a study that are not finished, and write its report after each.

    Args:
        study: the study.
        out: folder for the report; by default docs/results/NAME, and for fast runs a folder in
            `runs`.
        runs: folder for games, networks and matches, with a folder for each study.
        part: name of the part of the study to run, or "all". The report keeps its records of the
            other parts.
        processes: number of concurrent commands, except in parts whose commands use all cores;
            one for each core by default.
        executor: executor of the commands: local, or a Ray cluster: ray (this machine), ray:auto,
            ray:HOST:PORT; see docs/distributed.md.
        keep: leave out tasks that the report has records of, even if `runs` is empty.
        rewrite: run nothing: write the report again from its results.json and from the tasks that
            are finished in `runs`.

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
    records, tasks = read_records(out, study.parts, study.fits), study.tasks
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
    chosen = [] if rewrite else [name for name in study.parts if part in ("all", name)]
    for name in chosen:
        if name in study.prepare:
            study.prepare[name](folder)
    for name in chosen:
        if name not in study.unavailable:
            named = study.parts[name]
            wanted = [k for k, t in named.items() if t.recorded and k not in study.left_out]
            at_a_time = study.processes.get(name, processes)
            run = partial(
                run_tasks, folder=folder, processes=at_a_time, show=sys.stderr.isatty(),
                on_finish=add_record, one_thread=study.one_thread, executor=executor,
            )  # fmt: skip
            run_part(name, wanted, records[name] if keep else (), tasks, folder, run)
    write_report(study, records, out, folder)
    print(f"report: {out / 'report.md'}")


def run_part(
    part: str,
    wanted: Collection[str],
    known: Collection[str],
    tasks: Tasks,
    folder: Path,
    run: Callable[[Tasks], None],
) -> None:
    """Run the tasks of a part of a study that are not known yet, and what these require.

    Args:
        part: its name.
        wanted: names of its tasks.
        known: names of tasks to leave out.
        tasks: all tasks by name, required ones first.
        folder: folder of all tasks.
        run: function that runs tasks in their order.
    """
    needed = {name for name in wanted if name not in known}
    print(f"{part}: {len(needed)} of {len(wanted)} runs", file=sys.stderr)
    for name in reversed(list(tasks)):
        if name in needed and not is_finished(tasks[name], folder):
            needed |= tasks.keys() & set(tasks[name].requires)
    run({name: task for name, task in tasks.items() if name in needed})


def run_tasks(
    tasks: Tasks,
    folder: Path,
    processes: int,
    show: bool,
    on_finish: Callable[[str], None] = lambda name: None,
    one_thread: bool = False,
    executor: str = LOCAL,
) -> None:
    """Run the tasks that are not finished, `processes` at a time.

    Their processes end with this process; after Ctrl-C they first save their work.

    Args:
        tasks: tasks by name; a task starts when its required tasks are finished.
        folder: folder of all tasks.
        processes: number of tasks that run at a time.
        show: whether to show a progress bar.
        on_finish: called with the name of each finished task, also of those finished before.
        one_thread: whether libraries use one thread in each process.
        executor: executor of the commands, see `ludoteca.executor.make_executor`. A worker of a
            cluster restarts a task if its process or machine dies.

    Raises:
        RuntimeError: if a command fails, with the end of its error output.
        ValueError: if an artifact was made with other settings, or another process runs tasks in
            this folder.
    """
    waiting = [name for name, task in tasks.items() if not is_finished(task, folder)]
    for name in tasks.keys() - set(waiting):
        on_finish(name)
    if not waiting:
        return
    folder.mkdir(parents=True, exist_ok=True)
    _lock = lock_folder(folder)  # until this function returns
    added = dict.fromkeys(THREAD_VARIABLES, "1") if one_thread else {}
    with progress_bar(len(tasks), show, "tasks", done=len(tasks) - len(waiting)) as advance:

        def finish(name: str) -> None:
            place = tasks[name].artifact(folder).parent
            write_atomically(place / SETTINGS, json.dumps(settings_of(tasks[name])) + "\n")
            on_finish(name)
            advance(1)

        if executor != LOCAL:
            with make_executor(executor, processes, len(waiting)) as workers:
                for name in run_on_workers(tasks, waiting, folder, workers, added):
                    finish(name)
            return
        queue, running = TaskQueue(tasks, waiting), dict[Future[None], str]()
        with ThreadPoolExecutor(processes) as pool, ChildProcesses() as children:
            run = partial(children.run, env=os.environ | added)
            while queue.waiting or running:
                while len(running) < processes and (taken := queue.take()) is not None:
                    running[pool.submit(run_command, tasks[taken], folder, run)] = taken
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    done.result()
                    queue.running.discard(running[done])
                    finish(running.pop(done))


def is_finished(task: Task, folder: Path) -> bool:
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

"""Runner of studies: runs unfinished tasks, and writes the report after each of them.

A study has parts, a part has tasks, and a task is a command that writes an artifact. See
`ludoteca.evaluate.studies.study`.
"""

import json
import os
import sys
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from inspect import Signature, getdoc, signature
from pathlib import Path
from typing import Any

from ludoteca.child_processes import ChildProcesses
from ludoteca.envs.params import check_choice, check_integer
from ludoteca.evaluate.studies.execution import TaskQueue, run_command, run_on_workers
from ludoteca.evaluate.studies.report import write_report
from ludoteca.evaluate.studies.study import (
    RESULTS_FILE,
    Records,
    Study,
    Task,
    Tasks,
    make_record,
    read_records,
    settings_of,
)
from ludoteca.executor import LOCAL, make_executor
from ludoteca.files import read_json, write_atomically
from ludoteca.local_executor import THREAD_VARIABLES, cores
from ludoteca.lock import lock_folder
from ludoteca.progress import progress_bar

SETTINGS_FILE = "settings.json"  # file with the settings of a task, in the folder of its artifact
RUNS = Path("runs/reproduce")  # default folder of the artifacts of all studies
HELP_ON_RESUMING = """An interrupted or killed run resumes when the same command is given again. The
report is written after each task: it has the sections whose tasks are all finished."""


def study_command(make: Callable[..., Study], summary: str) -> Callable[..., None]:
    """Return the command of a study; its options are the parameters of `run_study` and of `make`.

    Args:
        make: function that returns the study; the `Args:` of its docstring are help texts, and its
            parameters have defaults.
        summary: help text of the command.
    """
    make_parameters = signature(make).parameters
    out, runs, *others = [p for p in signature(run_study).parameters.values() if p.name != "study"]
    parameters = [out, runs, *make_parameters.values(), *others]

    def reproduce(*args: Any, **options: Any) -> None:
        bound = Signature(parameters).bind(*args, **options)
        bound.apply_defaults()
        make_options = {name: bound.arguments.pop(name) for name in make_parameters}
        if "precision" in make_options:
            check_choice("precision", make_options["precision"], ("auto", "float32", "bfloat16"))
        run_study(make(**make_options), **bound.arguments)

    # The help texts of the options are the `Args:` of both docstrings.
    help_texts = [(getdoc(each) or "").partition("Args:\n")[2] for each in (make, run_study)]
    lines = "\n".join(text.partition("\n\n")[0] for text in help_texts)
    text = f"{summary}\n\n{parts_text(make())}\n\n{HELP_ON_RESUMING}"
    reproduce.__doc__ = f"{text}\n\nArgs:\n{lines}"
    reproduce.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    reproduce.__annotations__ = {p.name: p.annotation for p in parameters}
    return reproduce


def parts_text(study: Study) -> str:
    """Return the names of a study's parts, and which of them `--part all` leaves out."""
    text = f"Parts: {', '.join(study.parts)}."
    if study.optional_parts:
        names = ", ".join(part for part in study.parts if part in study.optional_parts)
        text += f" `--part all` leaves out {names}, which takes very long."
    return text


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
    """Run the unfinished tasks of a study, and write its report after each.

    Args:
        study: the study.
        out: folder for the report; by default docs/results/NAME, and for fast runs a folder in
            `runs`.
        runs: folder for games, networks and matches, with a folder for each study.
        part: part of the study to run, or "all". The report keeps its results of the other parts.
        processes: number of concurrent tasks, except in parts whose tasks use all cores; one for
            each core by default.
        executor: executor of the tasks: local, or a Ray cluster: ray (this machine), ray:auto,
            ray:HOST:PORT; see docs/distributed.md.
        keep: skip tasks whose results are in the report, even if `runs` is empty.
        rewrite: run nothing: write the report again from its results.json and from the tasks that
            are finished in `runs`.

    Raises:
        ValueError: if an option is invalid, or the part cannot run.
    """
    check_choice("part", part, ("all", *study.parts))
    processes = check_integer("processes", cores() if processes is None else processes, 1, 1024)
    if part in study.unavailable and not rewrite:
        raise ValueError(study.unavailable[part])
    folder = runs / (f"{study.name}_fast" if study.fast else study.name)
    default_out = folder / "report" if study.fast else Path("docs/results") / study.name
    out = default_out if out is None else out
    records, tasks = read_records(out, study.parts, study.is_valid_record), study.tasks
    part_by_task = {
        name: part_name for part_name, part_tasks in study.parts.items() for name in part_tasks
    }

    def add_record(name: str) -> None:
        """Write the report with the record of a finished task, unless it has that record."""
        record, part_records = make_record(tasks[name], folder), records[part_by_task[name]]
        if record is not None and record != part_records.get(name):
            part_records[name] = record
            write_report(study, records, out, folder)

    if rewrite:
        for name, task in tasks.items():
            if name not in records[part_by_task[name]] and is_finished(task, folder):
                add_record(name)
    chosen = study.parts.keys() - study.optional_parts if part == "all" else {part}
    parts = [] if rewrite else [name for name in study.parts if name in chosen]
    for name in parts:
        if name in study.prepare:
            study.prepare[name](folder)
    for name in parts:
        if name not in study.unavailable:
            task_names = [
                task_name
                for task_name, task in study.parts[name].items()
                if task.has_record and task_name not in study.skipped_tasks
            ]
            run = partial(
                run_tasks, folder=folder, processes=study.processes.get(name, processes),
                show_progress=sys.stderr.isatty(), on_finish=add_record,
                single_threaded=study.single_threaded, executor=executor,
            )  # fmt: skip
            kept = {k: v for of_part in records.values() for k, v in of_part.items()}
            run_part(name, task_names, kept if keep else {}, tasks, folder, run)
    write_report(study, records, out, folder)
    print(f"report: {out / 'report.md'}")


def run_part(
    part: str,
    task_names: Collection[str],
    kept: Records,
    tasks: Tasks,
    folder: Path,
    run: Callable[[Tasks], None],
) -> None:
    """Run tasks of a part of a study, and the unfinished tasks that they require.

    Artifacts of required tasks are written again from their records where these have all of them.

    Args:
        part: name of the part.
        task_names: names of the part's tasks.
        kept: records of tasks that are skipped.
        tasks: all tasks by name, required ones first.
        folder: folder of all tasks.
        run: function that runs tasks in their order.
    """
    # `tasks` in reverse order, so that the tasks required by required tasks are selected, too.
    selected = {name for name in task_names if name not in kept}
    print(f"{part}: {len(selected)} of {len(task_names)} tasks", file=sys.stderr)
    for name in reversed(list(tasks)):
        if name in selected and not is_finished(tasks[name], folder):
            for required in tasks.keys() & set(tasks[name].requires):
                if required in kept and not is_finished(tasks[required], folder):
                    restore_artifact(tasks[required], kept[required], folder)
                selected.add(required)
    run({name: task for name, task in tasks.items() if name in selected})


def restore_artifact(task: Task, record: Mapping[str, Any], folder: Path) -> None:
    """Write the artifact of a task from its record, if that has the entire artifact.

    Args:
        task: the task.
        record: its record.
        folder: folder of all tasks.
    """
    artifact = task.artifact(folder)
    if artifact.name == RESULTS_FILE and not task.record_keys:
        artifact.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(artifact.parent / SETTINGS_FILE, json.dumps(settings_of(task)) + "\n")
        write_atomically(artifact, json.dumps(record) + "\n")


def run_tasks(
    tasks: Tasks,
    folder: Path,
    processes: int,
    show_progress: bool,
    on_finish: Callable[[str], None] = lambda name: None,
    single_threaded: bool = False,
    executor: str = LOCAL,
) -> None:
    """Run the unfinished tasks, `processes` at a time.

    If this process ends, so do the tasks' processes; after Ctrl-C they first save their work.

    Args:
        tasks: tasks by name; a task starts when its required tasks are finished.
        folder: folder of all tasks.
        processes: number of tasks that run at a time.
        show_progress: whether to show a progress bar.
        on_finish: function that is called with the name of each finished task; tasks that were
            finished before come first.
        single_threaded: whether numeric libraries use one thread in each process.
        executor: executor of the commands, see `ludoteca.executor.make_executor`. A worker of a
            cluster restarts a task if its process or machine dies.

    Raises:
        RuntimeError: if a command fails; the message has the end of its error output.
        ValueError: if an artifact was made with other settings, or another process runs tasks in
            the folder.
    """
    unfinished = [name for name, task in tasks.items() if not is_finished(task, folder)]
    for name in tasks.keys() - set(unfinished):
        on_finish(name)
    if not unfinished:
        return
    folder.mkdir(parents=True, exist_ok=True)
    _lock = lock_folder(folder)  # held until this function returns
    variables = dict.fromkeys(THREAD_VARIABLES, "1") if single_threaded else {}
    num_finished = len(tasks) - len(unfinished)
    with progress_bar(len(tasks), show_progress, "tasks", done=num_finished) as advance:

        def finish(name: str) -> None:
            """Write the settings beside a new artifact, and report the finished task."""
            task_folder = tasks[name].artifact(folder).parent
            write_atomically(
                task_folder / SETTINGS_FILE, json.dumps(settings_of(tasks[name])) + "\n"
            )
            on_finish(name)
            advance(1)

        if executor != LOCAL:
            with make_executor(executor, processes, len(unfinished)) as workers:
                for name in run_on_workers(tasks, unfinished, folder, workers, variables):
                    finish(name)
            return
        queue, running = TaskQueue(tasks, unfinished), dict[Future[None], str]()
        with ThreadPoolExecutor(processes) as pool, ChildProcesses() as children:
            run = partial(children.run, env=os.environ | variables)
            while queue.waiting or running:
                while len(running) < processes and (next_name := queue.take()) is not None:
                    running[pool.submit(run_command, tasks[next_name], folder, run)] = next_name
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    future.result()  # raises the error of a failed command
                    queue.running.discard(running[future])
                    finish(running.pop(future))


def is_finished(task: Task, folder: Path) -> bool:
    """Return whether a task's artifact exists.

    Raises:
        ValueError: if it was made with other settings.
    """
    artifact = task.artifact(folder)
    if not artifact.exists():
        return False
    file = artifact.parent / SETTINGS_FILE
    if file.exists() and read_json(file) != settings_of(task):
        raise ValueError(
            f"{artifact.parent} has results of the task {task.name} with other settings: expected "
            f"{json.dumps(settings_of(task))}, got {file.read_text()}; remove the folder, or "
            "choose another one for all tasks with --runs"
        )
    return True

"""Execution of the tasks of a study, in local processes or on the workers of an executor.

A task is a command that writes an artifact, such as a file of results. A worker may be on another
machine without the study's folder, so it runs a task in a temporary folder: the artifacts that the
task requires are sent to the worker, and the folder of the task's artifact is sent back.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ludoteca.child_processes import run_child
from ludoteca.divergence import DIVERGED
from ludoteca.evaluate.studies.study import Task, Tasks
from ludoteca.executor import WAIT, Executor, _Wait
from ludoteca.executor import Task as WorkerTask
from ludoteca.files import pack, unpack, write_atomically
from ludoteca.provenance import run_provenance
from ludoteca.shared import Shared


class TaskQueue:
    """Queue of tasks, each of which starts after the tasks that it requires.

    Attributes:
        waiting: names of the tasks that have not started, in order.
        running: names of the tasks that have started; the caller removes finished ones.
    """

    def __init__(self, tasks: Tasks, waiting: Iterable[str]):
        """Make the queue.

        Args:
            tasks: tasks by name.
            waiting: names of the tasks to run, in order.
        """
        self._tasks, self.waiting, self.running = tasks, list(waiting), set[str]()

    def take(self) -> str | None:
        """Move the first task whose required tasks are finished to `running`; return its name.

        None if no task is waiting, or all waiting tasks require unfinished ones.

        Raises:
            RuntimeError: if the tasks require each other.
        """
        unfinished = self.running.union(self.waiting)
        ready = (k for k in self.waiting if unfinished.isdisjoint(self._tasks[k].requires))
        name = next(ready, None)
        if name is None:
            if self.waiting and not self.running:
                raise RuntimeError(f"these tasks require each other: {', '.join(self.waiting)}")
            return None
        self.waiting.remove(name)
        self.running.add(name)
        return name


def run_on_workers(
    tasks: Tasks,
    waiting: Iterable[str],
    folder: Path,
    workers: Executor,
    variables: Mapping[str, str],
) -> Iterator[str]:
    """Run tasks on workers; yield the name of each finished task.

    Args:
        tasks: tasks by name.
        waiting: names of the tasks to run, in order.
        folder: folder of all tasks.
        workers: executor whose workers run the tasks.
        variables: default environment variables of the tasks' processes.
    """
    queue, names = TaskQueue(tasks, waiting), list[str]()
    archives: dict[str, Shared[bytes]] = {}

    def required_archives(task: Task) -> dict[str, Shared[bytes]]:
        """Return the archives of the required folders; each is sent to the workers once."""
        for name in task.requires:
            required = tasks[name].artifact(folder).parent if name in tasks else folder / name
            if name not in archives and required.is_dir():
                archives[name] = workers.put(pack(folder, required))
        return {name: archives[name] for name in task.requires if name in archives}

    def next_task(worker: int) -> WorkerTask[bytes] | _Wait | None:
        """Return a task that can start; `WAIT` if a running one must end first; None at the end."""
        name = queue.take()
        if name is None:
            return WAIT if queue.waiting else None
        names.append(name)
        task = tasks[name]
        return partial(run_task, task, required_archives(task), variables, str(folder))

    with workers.stream(next_task) as stream:
        for number, archive in stream:
            unpack(archive, folder)
            queue.running.discard(names[number])
            yield names[number]


def run_task(
    task: Task,
    archives: Mapping[str, Shared[bytes]],
    variables: Mapping[str, str],
    study_folder: str,
) -> bytes:
    """Run a task in a temporary folder, and return the folder of its artifact as an archive.

    Args:
        task: the task.
        archives: archives of the folders of the required tasks, by task.
        variables: default environment variables of the task's process.
        study_folder: folder of all tasks; paths in the results refer to it.
    """
    pipe, off, environment = subprocess.PIPE, subprocess.DEVNULL, {**variables, **os.environ}
    run = partial(run_child, stdin=off, stdout=off, stderr=pipe, text=True, env=environment)
    with TemporaryDirectory(prefix="ludoteca-") as temporary:
        folder = Path(temporary)
        for archive in archives.values():
            unpack(archive.get(), folder)
        run_command(task, folder, run)
        task_folder = task.artifact(folder).parent
        for file in task_folder.glob("*.json"):
            # In JSON text, paths are escaped; [1:-1] removes the quotes.
            old_path, new_path = (json.dumps(path)[1:-1] for path in (temporary, study_folder))
            file.write_text(file.read_text().replace(old_path, new_path))
        return pack(folder, task_folder)


def run_command(
    task: Task, folder: Path, run: Callable[[list[str]], "subprocess.CompletedProcess[Any]"]
) -> None:
    """Run the command of a task; if the training of a task that `may_diverge` diverges, write that.

    Args:
        task: the task.
        folder: folder of all tasks.
        run: function that runs a command and returns the completed process.

    Raises:
        RuntimeError: if the command fails; the message has the end of its error output.
    """
    command = [sys.executable, *task.arguments(folder)]
    completed = run(command)
    if completed.returncode == DIVERGED and task.may_diverge:
        diverged = {"diverged": completed.stderr.splitlines()[-1], **run_provenance("torch")}
        write_atomically(task.artifact(folder), json.dumps(diverged) + "\n")
    elif completed.returncode != 0:
        raise RuntimeError(f"{task.name} failed: {' '.join(command)}\n{completed.stderr[-2000:]}")

"""Execution of the tasks of a study, in processes here or on the workers of an executor.

A worker may be on another machine, without the study's folder. So it runs a task in a temporary
folder: the artifacts that the task requires are sent there, and the task's own folder is sent back.
"""

import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

from ludoteca.child_processes import run_child
from ludoteca.evaluate.studies.study import Task, Tasks
from ludoteca.executor import WAIT, Executor, _Wait
from ludoteca.executor import Task as WorkerTask
from ludoteca.shared import Shared


class TaskQueue:
    """Names of tasks that are `waiting`, in order, and `running`, until the caller removes them."""

    def __init__(self, tasks: Tasks, waiting: Iterable[str]):
        """Fill the queue with some of the tasks."""
        self._tasks, self.waiting, self.running = tasks, list(waiting), set[str]()

    def take(self) -> str | None:
        """Return a task whose required tasks are finished, marked as running, or None.

        Raises:
            RuntimeError: if the tasks wait for each other.
        """
        unfinished = self.running.union(self.waiting)
        ready = (k for k in self.waiting if unfinished.isdisjoint(self._tasks[k].requires))
        name = next(ready, None)
        if name is None:
            if self.waiting and not self.running:
                raise RuntimeError(f"these wait for each other: {', '.join(self.waiting)}")
            return None
        self.waiting.remove(name)
        self.running.add(name)
        return name


def run_on_workers(
    tasks: Tasks, waiting: Iterable[str], folder: Path, workers: Executor, added: Mapping[str, str]
) -> Iterator[str]:
    """Run tasks on workers; yield the name of each finished task.

    Args:
        tasks: tasks by name.
        waiting: names of the tasks to run, in order.
        folder: folder of all tasks.
        workers: workers of an executor.
        added: environment variables of the tasks' processes that are not set there.
    """
    queue, names = TaskQueue(tasks, waiting), list[str]()
    packed: dict[str, Shared[bytes]] = {}

    def needed(task: Task) -> dict[str, Shared[bytes]]:
        for name in task.requires:
            place = tasks[name].artifact(folder).parent if name in tasks else folder / name
            if name not in packed and place.is_dir():
                packed[name] = workers.put(pack(folder, place))
        return {name: packed[name] for name in task.requires if name in packed}

    def next_task(worker: int) -> WorkerTask[bytes] | _Wait | None:
        name = queue.take()
        if name is None:
            return WAIT if queue.waiting else None
        names.append(name)
        return partial(run_task, tasks[name], needed(tasks[name]), added, str(folder))

    with workers.stream(next_task) as stream:
        for number, archive in stream:
            unpack(archive, folder)
            queue.running.discard(names[number])
            yield names[number]


def run_task(
    task: Task, needed: Mapping[str, Shared[bytes]], added: Mapping[str, str], home: str
) -> bytes:
    """Run a task in a temporary folder, and return its own folder, packed.

    Args:
        task: the task.
        needed: the folders that it needs, packed.
        added: environment variables of its process that are not set here.
        home: the study's folder, which paths in the results refer to.
    """
    pipe, off, variables = subprocess.PIPE, subprocess.DEVNULL, {**added, **os.environ}
    run = partial(run_child, stdin=off, stdout=off, stderr=pipe, text=True, env=variables)
    with TemporaryDirectory(prefix="ludoteca-") as place:
        folder = Path(place)
        for archive in needed.values():
            unpack(archive.get(), folder)
        run_command(task, folder, run)
        task_folder = task.artifact(folder).parent
        for file in task_folder.glob("*.json"):
            renamed = file.read_text().replace(json.dumps(place)[1:-1], json.dumps(home)[1:-1])
            file.write_text(renamed)
        return pack(folder, task_folder)


def run_command(
    task: Task, folder: Path, run: Callable[[list[str]], "subprocess.CompletedProcess[Any]"]
) -> None:
    """Run the command of a task by `run`, in the folder of all tasks.

    Raises:
        RuntimeError: if the command fails, with the end of its error output.
    """
    command = [sys.executable, *task.arguments(folder)]
    done = run(command)
    if done.returncode != 0:
        raise RuntimeError(f"{task.name} failed: {' '.join(command)}\n{done.stderr[-2000:]}")


def pack(folder: Path, place: Path) -> bytes:
    """Return a folder within another one as an archive."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.add(place, place.relative_to(folder))
    return content.getvalue()


def unpack(content: bytes, folder: Path) -> None:
    """Write an archive of `pack` into another folder, all of it or nothing."""
    with (
        tarfile.open(fileobj=io.BytesIO(content)) as archive,
        TemporaryDirectory(prefix=".", dir=folder) as place,
    ):
        archive.extractall(place, filter="data")
        for unpacked in Path(place).iterdir():
            target = folder / unpacked.name
            if target.exists():  # of an unfinished task
                rmtree(target)
            unpacked.rename(target)

"""Tasks of a study on the workers of an executor.

A worker may be on another machine, without the study's folder. So it runs a task in a temporary
folder: the artifacts that the task requires are sent there, and the task's own folder is sent back.
"""

import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

from ludoteca.child_processes import run_child
from ludoteca.evaluate.studies.runner import Runnable
from ludoteca.executor import WAIT, Executor, _Wait
from ludoteca.executor import Task as WorkerTask
from ludoteca.shared import Shared


def run_on_workers(
    tasks: Mapping[str, Runnable],
    waiting: list[str],
    folder: Path,
    workers: Executor,
    environment: Mapping[str, str],
) -> Iterator[str]:
    """Run tasks of a study; yield the name of each that is finished.

    Args:
        tasks: by name.
        waiting: names of the tasks to run, in order; each begins when those that it requires are
            finished.
        folder: of all tasks.
        workers: of the executor.
        environment: variables of their processes that are not set there.

    Raises:
        RuntimeError: if a command fails, with the end of what it printed.
    """
    waiting, running, names = list(waiting), set[str](), list[str]()
    packed: dict[str, Shared[bytes]] = {}

    def needed(task: Runnable) -> dict[str, Shared[bytes]]:
        for name in task.requires:
            place = tasks[name].artifact(folder).parent if name in tasks else folder / name
            if name not in packed and place.is_dir():
                packed[name] = workers.put(pack(folder, place))
        return {name: packed[name] for name in task.requires if name in packed}

    def next_task(worker: int) -> WorkerTask[bytes] | _Wait | None:
        if not waiting:
            return None
        unfinished = running | set(waiting)
        ready = (name for name in waiting if unfinished.isdisjoint(tasks[name].requires))
        name = next(ready, None)
        if name is None and not running:
            raise RuntimeError(f"these wait for each other: {', '.join(waiting)}")
        if name is None:
            return WAIT
        waiting.remove(name)
        running.add(name)
        names.append(name)
        task = tasks[name]
        return partial(run_task, task, needed(task), environment, str(folder))

    with workers.stream(next_task) as stream:
        for number, made in stream:
            unpack(made, folder)
            running.discard(names[number])
            yield names[number]


def run_task(
    task: Runnable,
    needed: Mapping[str, Shared[bytes]],
    environment: Mapping[str, str],
    home: str,
) -> bytes:
    """Run a task in a temporary folder, and return its own folder, packed.

    Args:
        task: the task.
        needed: the folders that it needs, packed.
        environment: variables of its process that are not set here.
        home: the study's folder, which paths in the results refer to.
    """
    with TemporaryDirectory(prefix="ludoteca-") as place:
        folder = Path(place)
        for packed in needed.values():
            unpack(packed.get(), folder)
        command = [sys.executable, *task.arguments(folder)]
        pipe, off = subprocess.PIPE, subprocess.DEVNULL
        variables = {**environment, **os.environ}
        done = run_child(command, stdin=off, stdout=off, stderr=pipe, text=True, env=variables)
        if done.returncode != 0:
            raise RuntimeError(f"{task.name} failed: {' '.join(command)}\n{done.stderr[-2000:]}")
        made = task.artifact(folder).parent
        for file in made.glob("*.json"):
            renamed = file.read_text().replace(json.dumps(place)[1:-1], json.dumps(home)[1:-1])
            file.write_text(renamed)
        return pack(folder, made)


def pack(folder: Path, place: Path) -> bytes:
    """Return a folder within another one as an archive."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.add(place, place.relative_to(folder))
    return content.getvalue()


def unpack(content: bytes, folder: Path) -> None:
    """Write what `pack` returned into another folder, all of it or nothing."""
    with (
        tarfile.open(fileobj=io.BytesIO(content)) as archive,
        TemporaryDirectory(prefix=".", dir=folder) as place,
    ):
        archive.extractall(place, filter="data")
        for made in Path(place).iterdir():
            target = folder / made.name
            if target.exists():  # begun there, but not finished
                rmtree(target)
            made.rename(target)

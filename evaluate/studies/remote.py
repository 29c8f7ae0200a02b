"""Pieces of a study that are made on the workers of an executor.

A worker may be on another machine, without the study's folder. So it makes a piece in a temporary
folder: what the piece needs is sent there, and the piece's own folder is sent back.
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
from ludoteca.evaluate.studies.study import Piece
from ludoteca.executor import WAIT, Executor, Task, _Wait
from ludoteca.shared import Shared


def make_on_workers(
    pieces: Mapping[str, Piece],
    waiting: list[str],
    folder: Path,
    workers: Executor,
    environment: Mapping[str, str],
) -> Iterator[str]:
    """Make pieces of a study; yields the name of each that is finished.

    Args:
        pieces: by name.
        waiting: names of those to make, in the order in which they are wanted; each begins when
            those it needs are finished.
        folder: where each has a folder.
        workers: where they are made.
        environment: variables of their processes that are not set there.

    Raises:
        RuntimeError: if a command fails, with the end of what it printed.
    """
    waiting, running, names = list(waiting), set[str](), list[str]()
    packed: dict[str, Shared[bytes]] = {}

    def needed(piece: Piece) -> dict[str, Shared[bytes]]:
        for name in piece.after:
            place = pieces[name].product(folder).parent if name in pieces else folder / name
            if name not in packed and place.is_dir():
                packed[name] = workers.put(pack(folder, place))
        return {name: packed[name] for name in piece.after if name in packed}

    def next_task(worker: int) -> Task[bytes] | _Wait | None:
        if not waiting:
            return None
        unfinished = running | set(waiting)
        ready = (name for name in waiting if unfinished.isdisjoint(pieces[name].after))
        name = next(ready, None)
        if name is None and not running:
            raise RuntimeError(f"these wait for each other: {', '.join(waiting)}")
        if name is None:
            return WAIT
        waiting.remove(name)
        running.add(name)
        names.append(name)
        piece = pieces[name]
        return partial(make_piece, piece, needed(piece), environment, str(folder))

    with workers.stream(next_task) as stream:
        for number, made in stream:
            unpack(made, folder)
            running.discard(names[number])
            yield names[number]


def make_piece(
    piece: Piece,
    needed: Mapping[str, Shared[bytes]],
    environment: Mapping[str, str],
    home: str,
) -> bytes:
    """Make a piece in a temporary folder, and return its own folder, packed.

    Args:
        piece: the piece.
        needed: the folders that it needs, packed.
        environment: variables of its process that are not set here.
        home: the study's folder, by which the results call what they refer to.
    """
    with TemporaryDirectory(prefix="ludoteca-") as place:
        folder = Path(place)
        for packed in needed.values():
            unpack(packed.get(), folder)
        command = [sys.executable, *piece.arguments(folder)]
        pipe, off = subprocess.PIPE, subprocess.DEVNULL
        variables = {**environment, **os.environ}
        done = run_child(command, stdin=off, stdout=off, stderr=pipe, text=True, env=variables)
        if done.returncode != 0:
            raise RuntimeError(f"{piece.name} failed: {' '.join(command)}\n{done.stderr[-2000:]}")
        made = piece.product(folder).parent
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

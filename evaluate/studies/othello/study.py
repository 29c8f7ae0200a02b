"""The experiments that a document on Othello left blank (University of Seville), and AlphaZero."""

from pathlib import Path

from ludoteca.envs.params import choice, integer
from ludoteca.evaluate.studies.othello import report as othello_report
from ludoteca.evaluate.studies.othello.plan import (
    SHIPPED,
    Data,
    alphazero_tasks,
    document_tasks,
    is_shipped,
)
from ludoteca.evaluate.studies.othello.records import PARTS, read_records, record
from ludoteca.evaluate.studies.study import run_part
from ludoteca.local_executor import cores


def reproduce(
    out: Path | None = None,
    runs: Path = Path("runs/reproduce"),
    fast: bool = False,
    part: str = "all",
    precision: str = "auto",
    processes: int | None = None,
    executor: str = "local",
    keep: bool = False,
    rewrite: bool = False,
) -> None:
    """Generate games of UCT, let value networks learn from them, and play all matches.

    Interrupted or killed, it goes on where it was when the same command is given again. The report
    is written anew after each task: it has the sections whose tasks are all finished. Some
    matches are by the clock: nothing else should run on the same cores.

    Args:
        out: folder for the report; by default docs/results/othello, and for fast runs a folder in
            `runs`.
        runs: folder for games, networks and matches.
        fast: learn from a small part of the games and play few, in some minutes, to see that
            all of it runs.
        part: "document", its pipeline and the matches of its agents; "alphazero", those of the
            network that comes with the package; or "all". The report keeps what it has of the
            other part.
        precision: numbers of the networks: "float32", "bfloat16", which is several times faster on
            processors made for it, or "auto", the faster one.
        processes: how many commands run side by side; one for each core by default.
        executor: where they run: local, or a Ray cluster: ray (of this machine), ray:auto,
            ray:HOST:PORT; see docs/distributed.md.
        keep: leave out what the report has already, even if `runs` is empty.
        rewrite: write the report again from its results.json, and make nothing.

    Raises:
        ValueError: if an option is unknown, or `part` is "alphazero" and there is no such network.
    """
    choice("part", part, ("all", *PARTS))
    choice("precision", precision, ("auto", "float32", "bfloat16"))
    processes = integer("processes", cores() if processes is None else processes, 1, 1024)
    if part == "alphazero" and not is_shipped():
        raise ValueError(f"part alphazero needs the network az:{SHIPPED}, which is not there")
    folder = runs / ("othello_fast" if fast else "othello")
    out = (folder / "report" if fast else Path("docs/results/othello")) if out is None else out
    planned = {
        "document": document_tasks(fast, precision),
        "alphazero": alphazero_tasks(fast, precision),
    }
    every = planned["document"] | planned["alphazero"]
    part_of = {task: name for name, tasks in planned.items() for task in tasks}
    records = read_records(out, planned)

    def write(finished: str) -> None:
        found, home = record(every[finished], folder), records[part_of[finished]]
        if found is not None and found != home.get(finished):
            home[finished] = found
            othello_report.write(records, planned, out, fast=fast)

    for name, tasks in planned.items():
        if rewrite or part not in ("all", name) or (name == "alphazero" and not is_shipped()):
            continue
        wanted = {key: task for key, task in tasks.items() if not isinstance(task, Data)}
        known = set(records[name]) if keep else ()
        run_part(
            name,
            wanted,
            folder,
            processes,
            write,
            known,
            every,
            one_thread=True,
            executor=executor,
        )
    othello_report.write(records, planned, out, fast=fast)
    print(f"report: {out / 'report.md'}")

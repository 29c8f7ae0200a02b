"""The study of agents for Hungry Geese (Martín Miralles, UIB, 2021), and beyond it."""

import json
from pathlib import Path

from ludoteca.envs.params import choice, integer
from ludoteca.evaluate.studies.geese import report as geese_report
from ludoteca.evaluate.studies.geese.plan import (
    BANDS,
    SHIPPED,
    beyond_tasks,
    document_tasks,
    is_shipped,
    needing_episodes,
    real_tasks,
)
from ludoteca.evaluate.studies.geese.records import PARTS, is_recorded, read_records, record
from ludoteca.evaluate.studies.study import is_finished, run_part
from ludoteca.files import read_json, write_whole
from ludoteca.local_executor import cores


def reproduce(
    episodes: tuple[Path, ...] = (),
    bands: tuple[str, str, str, str] = BANDS,
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
    """Play all competitions of the thesis, and let its networks learn; then what goes beyond it.

    Interrupted or killed, it goes on where it was when the same command is given again. The report
    is written anew after each task: it has the sections whose tasks are all finished.

    Args:
        episodes: recorded games to learn from, see `python -m ludoteca.train.data convert`.
            Without any, whatever needs them is left out.
        bands: whose moves in them the four networks learn, the weakest first: names of agents,
            joined by `+`, or ratings as in the thesis, `900-1000 1001-1100 1101-1200 1201-inf`.
            The report only keeps what it has of the same bands.
        out: folder for the report; by default docs/results/geese, and for fast runs a folder in
            `runs`.
        runs: folder for games, networks and matches.
        fast: learn from few games and play few, in some minutes, to see that all of it runs.
        part: "document", flat Monte Carlo and the networks that it teaches; "real", those that
            recorded games teach, and the final; "beyond", self-play from nothing, and the network
            that learned by self-play and comes with the package; or "all". The report keeps what it
            has of the other parts.
        precision: numbers of the networks: "float32", "bfloat16", which is several times faster on
            processors made for it, or "auto", the faster one.
        processes: how many commands run side by side; one for each core by default.
        executor: where they run: local, or a Ray cluster: ray (of this machine), ray:auto,
            ray:HOST:PORT; see docs/distributed.md.
        keep: leave out what the report has already, even if `runs` is empty.
        rewrite: make nothing: write the report again from its results.json and from the tasks that
            are finished in `runs`.

    Raises:
        ValueError: if an option is unknown, or what a `part` needs is not there.
    """
    choice("part", part, ("all", *PARTS))
    choice("precision", precision, ("auto", "float32", "bfloat16"))
    processes = integer("processes", cores() if processes is None else processes, 1, 1024)
    for path in episodes:
        if not path.exists():
            raise FileNotFoundError(f"there is no {str(path)!r}")
    if part == "real" and not episodes and not rewrite:
        raise ValueError("part real needs recorded games: --episodes FILE ...")
    if part == "beyond" and not is_shipped():
        raise ValueError(f"part beyond needs the network ac:{SHIPPED}, which is not there")
    folder = runs / ("geese_fast" if fast else "geese")
    out = (folder / "report" if fast else Path("docs/results/geese")) if out is None else out
    if episodes and part in ("all", "real") and not rewrite:
        check_asked(folder / "asked.json", episodes, bands)
    planned = {
        "document": document_tasks(fast, precision),
        "real": real_tasks(episodes, bands, fast, precision),
        "beyond": beyond_tasks(fast, precision),
    }
    every = planned["document"] | planned["real"] | planned["beyond"]
    part_of = {task: name for name, tasks in planned.items() for task in tasks}
    records = read_records(out, planned)
    if rewrite:
        for name, task in every.items():
            found = record(task, folder) if is_finished(task, folder) else None
            if found is not None:
                records[part_of[name]].setdefault(name, found)
        geese_report.write(records, planned, out, fast=fast)
        print(f"report: {out / 'report.md'}")
        return

    def write(finished: str) -> None:
        found, home = record(every[finished], folder), records[part_of[finished]]
        if found is not None and found != home.get(finished):
            home[finished] = found
            geese_report.write(records, planned, out, fast=fast)

    impossible = set() if episodes else needing_episodes(every)
    for name, tasks in planned.items():
        if part not in ("all", name) or (name == "beyond" and not is_shipped()):
            continue
        wanted = {
            key: task for key, task in tasks.items() if is_recorded(task) and key not in impossible
        }
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
    geese_report.write(records, planned, out, fast=fast)
    print(f"report: {out / 'report.md'}")


def check_asked(file: Path, episodes: tuple[Path, ...], bands: tuple[str, ...]) -> None:
    """Keep what the networks in a folder learn from, so that no others are taken for them.

    Raises:
        ValueError: if it was something else before.
    """
    asked = {"episodes": sorted(path.name for path in episodes), "bands": list(bands)}
    if not file.exists():
        write_whole(file, json.dumps(asked, indent=1) + "\n")
        return
    before = read_json(file)
    if before != asked:
        raise ValueError(
            f"the networks in {file.parent} learn from {before}, not from {asked}: give another "
            "folder with --runs, or delete this one"
        )

"""The study of deep Q-learning in Hex (Tanaka, University of Sao Paulo, 2018), and beyond it."""

from pathlib import Path

from ludoteca.envs.params import choice, integer
from ludoteca.evaluate.studies.hex import report as hex_report
from ludoteca.evaluate.studies.hex.plan import beyond_runs, document_runs
from ludoteca.evaluate.studies.hex.records import PARTS, read_records, record
from ludoteca.evaluate.studies.study import run_part
from ludoteca.local_executor import cores

FAST = 1 / 75
FAST_BEYOND = 1 / 16


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
    """Train all networks of the document on Hex and ours, and compare with its tables.

    Interrupted or killed, it goes on where it was when the same command is given again. The report
    is written anew after each run: it has the sections whose runs are all finished.

    Args:
        out: folder for the report; by default docs/results/hex, and for fast runs a folder in
            `runs`.
        runs: folder for the training runs.
        fast: train for a small part of the games, in some minutes: nothing is learned so soon, but
            all of it runs.
        part: "document", the experiments of the document; "beyond", the networks that ought to do
            better; or "all". The report keeps what it has of the other part.
        precision: numbers of the networks: "float32", "bfloat16", which is several times faster on
            processors made for it, or "auto", the faster one.
        processes: how many runs of the document's go side by side; one for each core by default.
        executor: where they run: local, or a Ray cluster: ray (of this machine), ray:auto,
            ray:HOST:PORT; see docs/distributed.md.
        keep: leave out the runs that the report has already, even if `runs` is empty.
        rewrite: write the report again from its results.json, and make nothing.
    """
    choice("part", part, ("all", *PARTS))
    choice("precision", precision, ("auto", "float32", "bfloat16"))
    processes = integer("processes", cores() if processes is None else processes, 1, 1024)
    folder = runs / ("hex_fast" if fast else "hex")
    out = (folder / "report" if fast else Path("docs/results/hex")) if out is None else out
    planned = {
        "beyond": beyond_runs(FAST_BEYOND if fast else 1, precision),
        "document": document_runs(FAST if fast else 1, precision),
    }
    records = read_records(out, planned)
    if rewrite:
        hex_report.write(records, planned, folder, out, fast=fast)
        print(f"report: {out / 'report.md'}")
        return
    # Ours use two cores each, and one begins with another's network.
    for name, side_by_side in (("beyond", 1), ("document", processes)):
        if part not in ("all", name):
            continue
        known = set(records[name]) if keep else ()

        def write(finished: str, part: str = name) -> None:
            records[part][finished] = record(folder / finished)
            hex_report.write(records, planned, folder, out, fast=fast)

        run_part(name, planned[name], folder, side_by_side, write, known, executor=executor)
    print(f"report: {out / 'report.md'}")

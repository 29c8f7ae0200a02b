"""Comparison of rule sheets with Sancho and GGP-Base: `ludoteca bench gdl --peers`.

A network is here a propositional network: the logic circuit into which a rule sheet is compiled.
"""

import os
import subprocess
from collections.abc import Sequence
from json import dumps
from pathlib import Path
from typing import Any

from rich.console import Console

from ludoteca.evaluate.bench.gdl import format_rate
from ludoteca.evaluate.bench.gdl_peers import (
    BATCH,
    PROVER,
    SANCHO,
    SINGLE,
    SheetSpeed,
    find_java,
    measure_sheet,
)
from ludoteca.evaluate.gdl.sheet_files import select_sheets
from ludoteca.evaluate.markdown import table
from ludoteca.files import write_atomically
from ludoteca.provenance import load_average, run_provenance

TARGET = 10.0  # how many times Sancho's steps per second a batch should make
HEADINGS = (
    "sheet", "gates", "plies: ours", "Sancho", "GGP-Base", "batch", "single", "Sancho", "GGP-Base",
    "batch / Sancho", "single / Sancho", "batch / GGP-Base", "load, s", "Sancho loads, s",
)  # fmt: skip


def bench_gdl_peers(
    sheets: Path | None = None,
    json: Path | None = None,
    page: Path | None = None,
    seconds: float = 2.0,
    only: tuple[str, ...] = (),
) -> list[SheetSpeed]:
    """Measure random games of rule sheets here, in Sancho and in GGP-Base; print the rates.

    The files are written after each sheet, so that an interrupted run leaves its results.

    Args:
        sheets: folder of sheets, or one sheet; by default those of this package.
        json: file for all numbers; None: no file.
        page: file for the table in Markdown; None: no file.
        seconds: CPU seconds of each workload, all rounds together.
        only: names of sheets, exact, in the order of the table; by default all.

    Raises:
        ValueError: if the peers or a sheet are missing, or `seconds` is not positive.
        OSError: if a file cannot be written.
    """
    if not seconds > 0:
        raise ValueError(f"seconds must be positive, got {seconds}")
    files = select_sheets(sheets, only)
    find_java()  # raises if the peers are missing
    console = Console(highlight=False)
    java_options = os.environ.get("JDK_JAVA_OPTIONS", "")
    content = run_provenance(seconds_per_workload=seconds, java_options=java_options)
    content["versions"]["java"] = java_version()
    speeds: list[SheetSpeed] = []
    for name, file in files.items():
        speed = measure_sheet(name, file, seconds)
        speeds.append(speed)
        console.print(terminal_line(speed), soft_wrap=True)
        content["about"]["load_average_at_end"] = load_average()
        content["sheets"] = [each.to_json() for each in speeds]
        if json is not None:
            write_atomically(json, dumps(content, indent=1) + "\n")
        if page is not None:
            write_atomically(page, markdown_page(speeds, content))
    for written, content_name in ((json, "all numbers"), (page, "page")):
        if written is not None:
            console.print(f"{content_name}: {written}", soft_wrap=True)
    return speeds


def java_version() -> str:
    """Return the version of the installed Java runtime."""
    done = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("NOTE:")]
    return lines[0].strip() if lines else ""


def terminal_line(speed: SheetSpeed) -> str:
    """Return the rates and ratios of a sheet as a line."""
    parts = [f"{workload} {_rate(speed, workload)}" for workload in (BATCH, SINGLE, SANCHO, PROVER)]
    ratios = f"batch / Sancho {_ratio(speed, BATCH, SANCHO)}, / GGP-Base"
    parts.append(f"{ratios} {_ratio(speed, BATCH, PROVER)}")
    parts += [f"{peer}: {reason}" for peer, reason in speed.failures.items()]
    return f"{speed.name}: {'; '.join(parts)}"


def _rate(speed: SheetSpeed, workload: str) -> str:
    rate = speed.rate(workload)
    return "" if rate is None else format_rate(rate)


def _ratio(speed: SheetSpeed, workload: str, peer: str) -> str:
    ratio = speed.ratio(workload, peer)
    return "" if ratio is None else f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.1f}"


def table_row(speed: SheetSpeed) -> tuple[str, ...]:
    """Return the cells of a sheet in the table, as many as `HEADINGS`."""
    plies = [speed.mean_plies(workload) for workload in (BATCH, SANCHO, PROVER)]
    prepared = speed.peers.get(SANCHO, {}).get("prepare_seconds")
    return (
        speed.name,
        f"{speed.gates:,}" if speed.gates else "",
        *("" if length is None else f"{length:.1f}" for length in plies),
        *(_rate(speed, workload) for workload in (BATCH, SINGLE, SANCHO, PROVER)),
        _ratio(speed, BATCH, SANCHO),
        _ratio(speed, SINGLE, SANCHO),
        _ratio(speed, BATCH, PROVER),
        f"{speed.load_seconds:.2f}",
        "" if prepared is None else f"{prepared:.2f}",
    )


def summary(speeds: Sequence[SheetSpeed]) -> str:
    """Return which sheets reach `TARGET`, and what has no result, as sentences."""
    ratios = {speed.name: speed.ratio(BATCH, SANCHO) for speed in speeds}
    reached = [name for name, ratio in ratios.items() if ratio is not None and ratio >= TARGET]
    missed = [name for name, ratio in ratios.items() if ratio is not None and ratio < TARGET]
    text = (
        f"A batch makes at least {TARGET:g} times Sancho's steps per second on {len(reached)} of "
        f"{len(reached) + len(missed)} sheets"
    )
    text += f", but not on {', '.join(missed)}." if missed else "."
    for speed in speeds:
        for reason in speed.failures.values():  # it names the peer and the sheet
            text += f" No result: {' '.join(reason.split())[:300]}."
    return text


def markdown_page(speeds: Sequence[SheetSpeed], content: dict[str, Any]) -> str:
    """Return the page with the summary and the table of all sheets."""
    about = content["about"]
    return "\n".join(
        [
            "# Rule sheets: speed compared with Sancho and GGP-Base",
            "",
            f"Written by `{about['command']}` on {about['date'][:10]}, {about['cpu']}, load average"
            f" {about['load_average_at_start'][0]:.1f} at the start and"
            f" {about['load_average_at_end'][0]:.1f} at the end; {content['versions']['java']}"
            f"{' with ' + about['java_options'] if about['java_options'] else ''}.",
            "",
            summary(speeds),
            "",
            "Rates are joint moves per CPU second of one thread in random games, the median of "
            "rounds in which the implementations take turns. *gates*: size of our propositional "
            "network, the logic circuit into which the sheet is compiled. *batch*: our network, "
            "512 games at once. *single*: our network, one game after the other. *Sancho*: version "
            "1.61c with the settings of gdl-perf; its games are stepped from outside as there, or "
            "are playouts of its own search, whichever are faster. *GGP-Base*: its prover. The "
            "compilation of byte code and garbage collection of Java run in other threads, and are "
            "not counted. *plies*: mean length of the games. *load*: CPU seconds from the file to "
            "the network; for Sancho, of its main thread.",
            "",
            table(HEADINGS, [table_row(speed) for speed in speeds]),
            "",
        ]
    )

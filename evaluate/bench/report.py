"""Report of a benchmark: a table for the terminal, and JSON with all raw numbers."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from ludoteca.files import write_atomically
from ludoteca.provenance import load_average
from ludoteca.terminal_table import TerminalTable


@dataclass(frozen=True)
class Row:
    """Row of the table.

    Attributes:
        group: name of the group of workloads, whose raw numbers are in `Report.samples`.
        measure: name of the measure.
        unit: unit, such as `"steps/s"`, or `"s"` where less is better.
        ours: median rate or time of our workload over the rounds; None if there are no rounds.
        peer_name: name of the workload to compare with; `""` without one.
        peer: median over that workload's rounds; None if there are no rounds.
        ratio: our rate divided by the peer's; None without a peer or without its rounds. It is the
            ratio of the medians, or with an `interval` the geometric mean of the rounds' ratios.
        floor: minimum of the ratio, or of `ours` without a peer; for seconds, maximum of `ours`;
            None if the row has no target.
        verdict: `"pass"` or `"miss"`, by the floor; `"information"` without a floor; if the ratio,
            or `ours` without a peer, was not measured, the reason.
        noise: range of the rounds relative to their median, the larger of ours and the peer's.
        timed: descriptions of the timed work: ours, the peer's.
        interval: 95 % interval of the ratio, by the ratios of the rounds; None with few rounds.
    """

    group: str
    measure: str
    unit: str
    ours: float | None
    peer_name: str
    peer: float | None
    ratio: float | None
    floor: float | None
    verdict: str
    noise: float | None
    timed: tuple[str, str]
    interval: tuple[float, float] | None = None


@dataclass
class Report:
    """Results of a benchmark.

    Attributes:
        rows: rows of the table.
        samples: steps and seconds of each round, by group and workload.
        startup: wall-clock seconds of new processes, by game, type of environment (`"single"` or
            `"vector"`) and state of the compilation cache (`"cold"` or `"warm"`).
        about: command, date, machine and settings, see `ludoteca.provenance`.
        versions: versions of all packages involved.
        title: title of the table.
    """

    rows: list[Row] = field(default_factory=list)
    samples: dict[str, dict[str, list[dict[str, Any]]]] = field(default_factory=dict)
    startup: dict[str, dict[str, dict[str, list[float]]]] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    title: str = "environment speed, median of rounds"

    @property
    def missed(self) -> list[Row]:
        """The rows below their floor."""
        return [row for row in self.rows if row.verdict == "miss"]

    def table(self) -> TerminalTable:
        """Return the rows as a table for the terminal."""
        headings = ("measure", "ours", "peer", "ratio", "floor", "verdict")
        table = TerminalTable(headings, title=self.title, sentences=True)
        for row in self.rows:
            table.add(
                row.measure,
                format_amount(row.ours, row.unit),
                format_amount(row.peer, row.unit),
                _ratio(row),
                _floor(row),
                row.verdict,
            )
        return table

    def finish(self, console: Console, file: Path | None) -> None:
        """Add the load average at the end, print the table, and write `file` unless it is None."""
        self.about["load_average_at_end"] = load_average()
        console.print(self.table(), soft_wrap=True)
        if file is not None:
            self.write(file)
            console.print(f"all numbers: {file}", soft_wrap=True)

    def write(self, file: Path) -> None:
        """Write everything as JSON."""
        write_atomically(file, json.dumps(asdict(self), indent=2) + "\n")


def _ratio(row: Row) -> str:
    """Return the ratio of a row as text, with its interval if it has one."""
    if row.ratio is None:
        return ""
    if row.interval is None:
        return f"{row.ratio:.3g} x"
    return f"{row.ratio:.3g} x ({row.interval[0]:.3g} to {row.interval[1]:.3g})"


def _floor(row: Row) -> str:
    """Return the floor of a row as text: a ratio, a rate, or a time limit."""
    if row.floor is None:
        return ""
    if row.unit == "s":
        return f"< {row.floor:g} s"
    return f"{row.floor:g} x" if row.peer_name else format_amount(row.floor, row.unit)


def format_amount(value: float | None, unit: str) -> str:
    """Return a time in seconds or a rate as text."""
    if value is None:
        return ""
    if unit == "s":
        return f"{value:.2f} s"
    for factor, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {suffix}/s"
    return f"{value:.3g} /s"

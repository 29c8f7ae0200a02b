"""What a benchmark found: a table to read, and JSON with every raw number."""

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ludoteca.terminal_table import TerminalTable


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        group: where its raw numbers are found.
        measure: what is measured.
        unit: such as `"steps/s"`, or `"s"` where less is better.
        ours: median of our rounds; None if there are none.
        peer_name: whom we are compared with; `""` if nobody.
        peer: median of the peer's rounds; None if there are none.
        ratio: ours by the peer's.
        floor: what the ratio has to reach, or `ours` if there is no peer; for seconds, what `ours`
            has to stay below.
        verdict: `"pass"`, `"miss"`, `"information"`, or why there is none.
        noise: largest difference between rounds by their median, of either side.
        timed: what was timed, ours and the peer's.
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


@dataclass
class Report:
    """Everything a run of the benchmark found.

    Attributes:
        rows: the table.
        samples: the rounds of each side, by group and side.
        startup: wall-clock seconds of fresh processes, by game, way and state of the cache.
        about: command, date, machine and settings.
        versions: of all packages involved.
        title: what the table is called.
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
                _amount(row.ours, row.unit),
                _amount(row.peer, row.unit),
                "" if row.ratio is None else f"{row.ratio:.3g} x",
                _floor(row),
                row.verdict,
            )
        return table

    def write(self, file: Path) -> None:
        """Write everything as JSON, whole or not at all."""
        file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(self), indent=2) + "\n"
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "w") as out:
                out.write(text)
            os.replace(temporary, file)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def _floor(row: Row) -> str:
    if row.floor is None:
        return ""
    if row.unit == "s":
        return f"< {row.floor:g} s"
    return f"{row.floor:g} x" if row.peer_name else _amount(row.floor, row.unit)


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    if unit == "s":
        return f"{value:.2f} s"
    for factor, suffix in ((1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {suffix}/s"
    return f"{value:.3g} /s"

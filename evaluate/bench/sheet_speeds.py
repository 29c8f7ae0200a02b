"""Speeds of rule sheets, measured one sheet after the other; files are written after each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, asdict, dataclass, field
from json import dumps
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from rich.console import Console

from ludoteca.evaluate.gdl.sheet_files import select_sheets
from ludoteca.files import write_atomically
from ludoteca.provenance import load_average, run_provenance


class SheetSpeed(Protocol):
    """Speed of a sheet: a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


S = TypeVar("S", bound=SheetSpeed)


@dataclass(frozen=True)
class SpeedTable(Generic[S]):
    """Kind of table of speeds.

    Attributes:
        measure: `measure(name, file, seconds)` returns the speed of a sheet.
        headings: headings of the table, the name of the sheet first.
        row: returns the cells of a sheet, as many as `headings`.
        page: returns the page in Markdown from all speeds and the provenance of the run.
        settings: settings that the provenance of the run names.
    """

    measure: Callable[[str, Path, float], S]
    headings: tuple[str, ...]
    row: Callable[[S], tuple[str, ...]]
    page: Callable[[Sequence[S], dict[str, Any]], str]
    settings: Mapping[str, Any] = field(default_factory=dict)


def measure_speeds(
    speed_table: SpeedTable[S],
    sheets: Path | None,
    json: Path | None,
    page: Path | None,
    seconds: float,
    only: tuple[str, ...],
) -> list[S]:
    """Measure and print the speeds of sheets; write the files, also after each sheet.

    Args:
        speed_table: what is measured, and its table.
        sheets: folder of sheets, or one sheet; None: those of this package.
        json: file for all numbers; None: no file.
        page: file for the table in Markdown; None: no file.
        seconds: CPU seconds of each workload, all rounds together.
        only: names of sheets, exact, in the order of the table; empty: all.

    Raises:
        ValueError: if a sheet is missing or invalid, or `seconds` is not positive.
        OSError: if a file cannot be written.
    """
    if not seconds > 0:
        raise ValueError(f"seconds must be positive, got {seconds}")
    files = select_sheets(sheets, only)
    console = Console(highlight=False)
    content = run_provenance(seconds_per_workload=seconds, **speed_table.settings)
    speeds: list[S] = []
    for name, file in files.items():
        speed = speed_table.measure(name, file, seconds)
        speeds.append(speed)
        cells = zip(speed_table.headings[1:], speed_table.row(speed)[1:], strict=True)
        line = "; ".join(f"{what} {cell}" for what, cell in cells)
        console.print(f"{name}: {line}", soft_wrap=True)
        content["about"]["load_average_at_end"] = load_average()
        content["sheets"] = [asdict(each) for each in speeds]
        if json is not None:
            write_atomically(json, dumps(content, indent=1) + "\n")
        if page is not None:
            write_atomically(page, speed_table.page(speeds, content["about"]))
    return speeds

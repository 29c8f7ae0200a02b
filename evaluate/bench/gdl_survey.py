"""Survey of rule sheets, one result per sheet, with files that an interrupted run continues."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import Field, asdict, dataclass
from json import dumps
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from rich.console import Console

from ludoteca.evaluate.gdl.sheet_files import sheet_files
from ludoteca.files import read_json, write_atomically
from ludoteca.provenance import load_average, run_provenance

MAX_LOAD_SECONDS = 30.0  # CPU time within which a sheet should load


class SheetResult(Protocol):
    """Result of a sheet: a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def name(self) -> str:
        """Name of the sheet."""


R = TypeVar("R", bound=SheetResult)


@dataclass(frozen=True)
class Survey(Generic[R]):
    """Kind of survey.

    Attributes:
        measure: yields the results of sheets, see `ludoteca.evaluate.gdl.coverage.survey`.
        result: makes a result from its fields.
        headings: the main headings of the table as one line for the terminal.
        line: returns the main cells of a result.
        summary: returns the totals of all results as sentences.
        page: returns the page in Markdown from the results and the provenance of the runs that
            measured them, the last one at the end.
    """

    measure: Callable[..., Iterator[R]]
    result: Callable[..., R]
    headings: str
    line: Callable[[R], str]
    summary: Callable[[Sequence[R]], str]
    page: Callable[[Sequence[R], Sequence[dict[str, Any]]], str]


@dataclass(frozen=True)
class SurveyFiles:
    """Files of a survey; see `ludoteca.evaluate.bench.gdl.bench_gdl`."""

    sheets: Path
    traces: Path | None
    json: Path | None
    page: Path | None
    only: tuple[str, ...]
    keep: bool


def run_survey(survey: Survey[R], files: SurveyFiles, seconds: float) -> list[R]:
    """Measure the sheets, print and write the results; see `bench_gdl`."""
    sheets, json, page = files.sheets, files.json, files.page
    if not seconds > 0:
        raise ValueError(f"seconds must be positive, got {seconds}")
    for folder in (sheets, files.traces):
        if folder is not None and not folder.exists():
            raise ValueError(f"there is no file or folder {folder}")
    if files.keep and json is None:
        raise ValueError("results are kept in their file: --keep needs --json")
    console = Console(highlight=False)
    content: dict[str, Any] = run_provenance(seconds_per_sheet=seconds)
    order = [name for name, _ in sheet_files(sheets)]
    if not any(name.startswith(files.only or "") for name in order):
        raise ValueError(f"no sheet of {sheets} begins with {' or '.join(files.only)}")
    found: dict[str, R] = {}  # results by sheet
    runs: list[dict[str, Any]] = []  # provenance of the runs that measured them
    if files.keep and json is not None and json.exists():
        found, runs = read_results(json, survey.result)
        content["earlier_runs"] = runs
    results = [found[name] for name in order if name in found]
    if page is not None and results:  # the page is complete also if nothing is left to measure
        write_atomically(page, survey.page(results, runs))
    skip = () if files.only else tuple(found)
    console.print(survey.headings, soft_wrap=True)
    for result in survey.measure(
        sheets, files.traces, MAX_LOAD_SECONDS, seconds, files.only, skip=skip
    ):
        found[result.name] = result
        results = [found[name] for name in order if name in found]
        console.print(survey.line(result), soft_wrap=True)
        content["about"]["load_average_at_end"] = load_average()
        content["sheets"] = [asdict(each) for each in results]
        if json is not None:
            write_atomically(json, dumps(content, indent=1) + "\n")
        if page is not None:
            write_atomically(page, survey.page(results, [*runs, content["about"]]))
    console.print(survey.summary(results), soft_wrap=True)
    for file, content_name in ((json, "all numbers"), (page, "page")):
        if file is not None:
            console.print(f"{content_name}: {file}", soft_wrap=True)
    return results


def read_results(json: Path, result: Callable[..., R]) -> tuple[dict[str, R], list[dict[str, Any]]]:
    """Return the results in a file by sheet, and the provenance of the runs that wrote it.

    Raises:
        ValueError: if the file has not been written by a survey of this kind.
    """
    content = read_json(json)
    try:
        # Sequences are tuples, which JSON stores as lists.
        results = [
            result(**{name: tuple(x) if isinstance(x, list) else x for name, x in row.items()})
            for row in content["sheets"]
        ]
        runs = [*content.get("earlier_runs", ()), content["about"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{json} has no results of sheets: {error!r}") from None
    return {each.name: each for each in results}, runs


def written_by(runs: Sequence[dict[str, Any]]) -> str:
    """Return the commands of runs, their dates and machines as a sentence."""
    written = [f"`{run['command']}` on {run['date'][:10]}, {run['cpu']}" for run in runs]
    return f"Written by {', then '.join(written)}."

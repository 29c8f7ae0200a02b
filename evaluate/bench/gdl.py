"""Benchmark of GDL rule sheets: `ludoteca bench gdl`, which writes docs/results/gdl/README.md.

A rule sheet is a game in the Game Description Language (GDL). It is compared with GGP-Base, the
reference implementation of General Game Playing.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from ludoteca.envs.gdl.own_sheets import FOLDER
from ludoteca.evaluate.bench.gdl_compiled import KERNELS
from ludoteca.evaluate.bench.gdl_survey import (
    MAX_LOAD_SECONDS,
    Survey,
    SurveyFiles,
    run_survey,
    written_by,
)
from ludoteca.evaluate.gdl.coverage import MAX_REASON, SheetCoverage, survey
from ludoteca.evaluate.gdl.kernel_checks import KernelCheck
from ludoteca.evaluate.markdown import percent, table

COMPARED_GAMES = 10  # finished games of a sheet that make its comparison complete
HEADINGS = (
    "sheet", "dynamics", "roles", "fluents", "moves", "board", "symmetries", "gates", "load, s",
    "plies", "steps/s", "positions", "games", "conformance", "verdict",
)  # fmt: skip


def bench_gdl(
    sheets: Path | None = None,
    traces: Path | None = None,
    json: Path | None = None,
    page: Path | None = None,
    seconds: float = 2.0,
    only: tuple[str, ...] = (),
    conformance: str = "",
    keep: bool = False,
) -> list[SheetCoverage] | list[KernelCheck]:
    """Load rule sheets, play random games, compare with GGP-Base, and print the table.

    The files are written after each sheet: with `keep`, an interrupted run continues.

    Args:
        sheets: folder of sheets, or one sheet; by default those of this package.
        traces: folder of recorded games of these sheets, which GGP-Base played; see
            tests/oracles/record_gdl.py.
        json: file for all numbers; None: no file.
        page: file for the table in Markdown; None: no file.
        seconds: CPU seconds of random games of each compiled sheet; for an interpreted one,
            `coverage.INTERPRETED_SECONDS`.
        only: names of sheets, or their prefixes; by default all.
        conformance: `"interpreted"` or `"compiled"`: also check the conformance of each sheet, see
            `ludoteca.evaluate.gdl.conformance`, in this mode; `"kernels"`: instead check the
            compiled kernels of each sheet, see `ludoteca.evaluate.gdl.kernel_checks`; an empty
            string: do not.
        keep: keep the results in the file `json`, and measure the sheets that it lacks, or those in
            `only`.

    Returns:
        The results, including those that are kept, in the order of the sheets.

    Raises:
        ValueError: if there is no such sheet, `seconds` is not positive, or `keep` lacks `json`.
        OSError: if a file cannot be written.
    """
    files = SurveyFiles(sheets or FOLDER, traces, json, page, only, keep)
    if conformance == "kernels":
        return run_survey(KERNELS, files, seconds)
    measure = partial(survey, conformance=conformance)
    return run_survey(replace(COVERAGE, measure=measure), files, seconds)


def terminal_line(cells: Sequence[str]) -> str:
    """Return the main cells of a table row as one line for the terminal."""
    name, dynamics, _, _, _, board, symmetries, gates, load, _, speed, _, _, conformance, end = (
        cells
    )
    size = f"{board:>7} {symmetries:>10} {gates:>7} {load:>7} {speed:>7}"
    result = "; ".join(filter(None, (end, conformance)))
    return f"{name:24} {dynamics:12} {size}  {result}".rstrip()


def table_row(coverage: SheetCoverage) -> tuple[str, ...]:
    """Return the cells of a sheet in the table, as many as `HEADINGS`."""
    if coverage.failure:
        return (coverage.name, *[""] * (len(HEADINGS) - 2), verdict(coverage))
    return (
        coverage.name,
        coverage.dynamics,
        str(coverage.roles),
        "" if coverage.limit else f"{coverage.fluents:,}",
        "" if coverage.limit else f"{coverage.moves:,}",
        coverage.board,
        str(coverage.symmetries) if coverage.board else "",
        "" if coverage.limit else f"{coverage.gates:,}",
        f"{coverage.load_seconds:.2f}",
        f"{coverage.mean_plies:g}" if coverage.games else "",
        format_rate(coverage.steps_per_second),
        f"{coverage.compared:,}" if coverage.compared else "",
        str(coverage.compared_games) if coverage.compared else "",
        conformance_cell(coverage),
        verdict(coverage),
    )


def verdict(coverage: SheetCoverage) -> str:
    """Return the verdict on a sheet: why it does not load, or whether it equals GGP-Base."""
    if coverage.failure:
        return f"fails: {' '.join(coverage.failure.split())[:MAX_REASON]}"
    parts = []
    if coverage.differences:
        parts.append(f"DIFFERS: {coverage.differences[0][:MAX_REASON]}")
    elif coverage.compared:
        parts.append("equal")
    else:
        parts.append("loads")
    if coverage.limit:
        parts.append(f"interpreted: {' '.join(coverage.limit.split())[:MAX_REASON]}")
    if coverage.oracle_error:
        parts.append(f"GGP-Base: {coverage.oracle_error[:MAX_REASON]}")
    if coverage.faults:
        parts.append(coverage.faults)
    return "; ".join(parts)


def conformance_cell(coverage: SheetCoverage) -> str:
    """Return whether a sheet conforms, or why not; an empty string if it was not checked."""
    if coverage.conformance in ("", "passed"):
        return coverage.conformance
    return f"failed: {' '.join(coverage.conformance.split())[:MAX_REASON]}"


def format_rate(per_second: float) -> str:
    """Return a rate per second with three significant digits, such as `"12.6 M"`."""
    for factor, suffix in ((1e6, " M"), (1e3, " k")):
        if per_second >= factor:
            return f"{per_second / factor:.3g}{suffix}"
    return f"{per_second:.3g}"


def summary(results: Sequence[SheetCoverage]) -> str:
    """Return the totals of all sheets as sentences."""
    loaded = [coverage for coverage in results if not coverage.failure]
    compiled = [coverage for coverage in loaded if not coverage.limit]
    compared = [coverage for coverage in loaded if coverage.compared]
    in_time = [coverage for coverage in compiled if coverage.load_seconds <= MAX_LOAD_SECONDS]
    text = (
        f"{len(in_time)} of {len(results)} sheets ({percent(len(in_time) / len(results))}) are "
        f"compiled within {MAX_LOAD_SECONDS:g} s of CPU time each."
    )
    if len(compiled) > len(in_time):
        text += f" {len(compiled) - len(in_time)} more are compiled, but take longer."
    if len(loaded) > len(compiled):
        text += f" {len(loaded) - len(compiled)} more exceed a limit and are interpreted."
    if compiled:
        rate = median(coverage.steps_per_second for coverage in compiled)
        text += (
            f" The median compiled sheet has {median(coverage.gates for coverage in compiled):,.0f}"
            f" gates and makes {format_rate(rate)} steps/s."
        )
    boards = [coverage for coverage in compiled if coverage.board]
    if boards:
        symmetric = sum(coverage.symmetries > 1 for coverage in boards)
        text += (
            f" {len(boards)} compiled sheets have a board, {symmetric} of them with verified "
            "symmetries."
        )
    if compared:
        positions = sum(coverage.compared for coverage in compared)
        differing = sum(bool(coverage.differences) for coverage in compared)
        text += (
            f" {positions:,} positions of {len(compared)} sheets were compared with those of "
            f"GGP-Base: {differing} sheets differ. {_whole(compared)} sheets have "
            f"{COMPARED_GAMES} finished games or more among them."
        )
    checked = [coverage for coverage in loaded if coverage.conformance]
    if checked:
        passed = sum(coverage.conformance == "passed" for coverage in checked)
        text += f" {passed} of {len(checked)} sheets pass the conformance checks."
    return text


def _whole(compared: Sequence[SheetCoverage]) -> int:
    """Return the number of sheets that were compared in enough finished games."""
    return sum(coverage.compared_games >= COMPARED_GAMES for coverage in compared)


def unfinished(results: Sequence[SheetCoverage]) -> str:
    """Return a sentence with the sheets that have too few finished games of GGP-Base, if any."""
    few = [
        f"{coverage.name} {coverage.compared_games}"
        for coverage in results
        if coverage.compared and coverage.compared_games < COMPARED_GAMES
    ]
    if not few:
        return ""
    return (
        f"Sheets with fewer than {COMPARED_GAMES} finished games of GGP-Base, with their number: "
        f"{', '.join(few)}. Positions of their unfinished games are compared, too."
    )


def markdown_page(results: Sequence[SheetCoverage], runs: Sequence[dict[str, Any]]) -> str:
    """Return the page with the totals and the table of all sheets.

    Args:
        results: results of the sheets.
        runs: provenance of the runs that measured them, the last one at the end.
    """
    few = unfinished(results)
    return "\n".join(
        [
            "# Coverage of rule sheets",
            "",
            written_by(runs),
            "",
            summary(results),
            *(["", few] if few else []),
            "",
            "*load*: CPU seconds from the file to the compiled propositional network, whose size "
            "is *gates*. *board*: rows x columns; *symmetries*: verified reflections and "
            "rotations, and the identity. *plies*: joint moves per random game. *steps/s*: joint "
            "moves per CPU second in random games, 512 games at once in one thread, or one game if "
            "the sheet is interpreted. *positions*: positions of random games of GGP-Base's prover "
            "that were compared: true fluents, legal moves of all roles, whether the game is over, "
            "goal values. *sequential*: in no state of the random games did two roles have more "
            "than one legal move. *games*: number of these games that were compared to their end. "
            "*conformance*: whether the sheet passes the checks of `ludoteca.testing`: the "
            "contract of games, and the suites of Gymnasium and PettingZoo, with warnings as "
            "errors.",
            "",
            table(HEADINGS, [table_row(coverage) for coverage in results], 2),
            "",
        ]
    )


COVERAGE = Survey(
    measure=survey,
    result=SheetCoverage,
    headings=terminal_line(HEADINGS),
    line=lambda coverage: terminal_line(table_row(coverage)),
    summary=summary,
    page=markdown_page,
)

"""Survey of the compiled kernels of rule sheets: `ludoteca bench gdl --conformance kernels`."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from ludoteca.evaluate.bench.gdl_survey import Survey, written_by
from ludoteca.evaluate.gdl.coverage import MAX_REASON
from ludoteca.evaluate.gdl.kernel_checks import NUM_GAMES, KernelCheck, check_all_kernels
from ludoteca.evaluate.markdown import table

HEADINGS = (
    "sheet", "gates", "evaluation", "together", "compile, s", "positions", "games",
    "GGP-Base: positions", "games", "verdict",
)  # fmt: skip


def table_row(check: KernelCheck) -> tuple[str, ...]:
    """Return the cells of a sheet in the table, as many as `HEADINGS`."""
    if check.failure or check.limit:
        return (check.name, *[""] * (len(HEADINGS) - 2), verdict(check))
    return (
        check.name,
        f"{check.gates:,}",
        check.evaluation,
        "yes" if check.has_many else "no",
        f"{check.compile_seconds:.1f}",
        f"{check.positions:,}",
        f"{check.games:,}",
        f"{check.replayed:,}" if check.replayed else "",
        f"{check.replayed_games:,}" if check.replayed else "",
        verdict(check),
    )


def verdict(check: KernelCheck) -> str:
    """Return the verdict on a sheet: equal, the first difference, or why it was not checked."""
    if check.failure:
        return f"fails: {_shorten(check.failure)}"
    if check.limit:
        return f"interpreted: {_shorten(check.limit)}"
    differences = (*filter(None, [check.difference]), *check.replay_differences)
    return f"DIFFERS: {_shorten(differences[0])}" if differences else "equal"


def _shorten(reason: str) -> str:
    return " ".join(reason.split())[:MAX_REASON]


def terminal_line(cells: Sequence[str]) -> str:
    """Return the cells of a table row as one line for the terminal."""
    name, gates, evaluation, _, seconds, positions, games, replayed, replayed_games, end = cells
    numbers = f"{seconds:>10} {positions:>9} {games:>5} {replayed:>19} {replayed_games:>5}"
    return f"{name:24} {gates:>7} {evaluation:16} {numbers}  {end}".rstrip()


def summary(checks: Sequence[KernelCheck]) -> str:
    """Return the totals of all sheets as sentences."""
    compared = [check for check in checks if check.positions]
    interpreted = sum(bool(check.limit) for check in checks)
    text = (
        f"The compiled kernels of {len(compared)} of {len(checks)} sheets were compared: "
        f"{sum(check.passed for check in compared)} are equal, "
        f"{sum(not check.passed for check in compared)} differ."
    )
    if interpreted:
        text += f" {interpreted} sheets are interpreted, and have no compiled network."
    if failed := sum(bool(check.failure) for check in checks):
        text += f" {failed} checks have no result."
    if compared:
        positions, games = (
            sum(getattr(check, name) for check in compared) for name in ("positions", "games")
        )
        seconds = median(check.compile_seconds for check in compared)
        text += (
            f" {positions:,} positions of random games were compared, {games:,} games to their "
            f"end. The compilation took {seconds:.1f} s of CPU time in the median."
        )
    if replays := [check for check in compared if check.replayed]:
        positions, games = (
            sum(getattr(check, name) for check in replays)
            for name in ("replayed", "replayed_games")
        )
        text += (
            f" {positions:,} positions of {games:,} games of GGP-Base were replayed, of "
            f"{len(replays)} sheets."
        )
    return text


def markdown_page(checks: Sequence[KernelCheck], runs: Sequence[dict[str, Any]]) -> str:
    """Return the page with the totals and the table of all sheets; see `Survey.page`."""
    return "\n".join(
        [
            "# Compiled kernels of rule sheets",
            "",
            written_by(runs),
            "",
            summary(checks),
            "",
            "Environments, searches and agents run the compiled kernels of a game: one state at a "
            "time, or many games *together*, one bit per game (`Game.many`). Both play the same "
            f"random games, {NUM_GAMES[0]} and then {NUM_GAMES[1]} at once, to their end or for a "
            "limited CPU time. In every position, true fluents, legal moves of all roles, goals "
            "and the end are compared with the evaluation of the network that "
            "[the survey](README.md) compares with GGP-Base; so are legal actions, returns and the "
            "player to move. All fields of the states are compared between single steps and games "
            "together.",
            "",
            "*evaluation*: the code for one state, `straight` for machine code without loops, "
            "`events` for loops over gates or events, and both if the phases of the rules differ. "
            "*compile*: CPU seconds of the compilation, less if the machine code was in the disk "
            "cache. *positions*, *games*: positions of random games that were compared, and games "
            "that were compared to their end. *GGP-Base*: the same numbers for games of GGP-Base's "
            "prover, replayed by single steps and together, except on sheets with chance, whose "
            "moves are drawn.",
            "",
            table(HEADINGS, [table_row(check) for check in checks], 3),
            "",
        ]
    )


KERNELS = Survey(
    measure=check_all_kernels,
    result=KernelCheck,
    headings=terminal_line(HEADINGS),
    line=lambda check: terminal_line(table_row(check)),
    summary=summary,
    page=markdown_page,
)

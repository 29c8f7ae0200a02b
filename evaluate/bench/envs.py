"""Benchmark of environments, optionally with peers (other packages): `ludoteca bench envs`."""

from pathlib import Path
from statistics import median

from rich.console import Console

from ludoteca.evaluate.bench.measures import game_names, groups
from ludoteca.evaluate.bench.report import Report, Row
from ludoteca.evaluate.bench.rounds import ROUNDS, measure_group, noise, select_names
from ludoteca.evaluate.bench.startup import measure_startup
from ludoteca.provenance import package_versions, run_info

# A startup below this time passes; by the state of Numba's compilation cache.
MAX_STARTUP_SECONDS = {"warm": 1.5, "cold": 10.0}


def bench_envs(
    peers: bool,
    json: Path | None,
    seconds: float = 2.0,
    only: tuple[str, ...] = (),
) -> Report:
    """Run the benchmark, print the table, and write all numbers as JSON.

    Args:
        peers: measure the installed peers (other packages), too.
        json: file for the results; None: no file.
        seconds: time per workload, all rounds together; in the report as `seconds_per_side`, as
            each side of a comparison, ours or the peer's, is one workload.
        only: names of groups of workloads, or their prefixes (`"threads"`); all by default.

    Raises:
        ValueError: if there is no such group, or `seconds` is not positive.
    """
    if not seconds > 0:
        raise ValueError(f"seconds must be positive, got {seconds}")
    selected = choose_groups(only)
    console = Console()
    report = Report(
        about=run_info(rounds=ROUNDS, seconds_per_side=seconds, peers=peers),
        versions=package_versions(),
    )
    group_makers = groups()
    for name in selected:
        with console.status(f"measuring {name}"):
            if name in group_makers:
                measure_group(report, name, group_makers[name](), peers, seconds / ROUNDS)
            else:
                measure_startup_of(report, name.removeprefix("startup_"))
    report.finish(console, json)
    return report


def choose_groups(only: tuple[str, ...]) -> list[str]:
    """Return the names of the groups that begin with one of `only`; all names if `only` is empty.

    Raises:
        ValueError: if an element of `only` is not the prefix of a name.
    """
    return select_names([*groups(), *(f"startup_{game}" for game in game_names())], only)


def measure_startup_of(report: Report, game: str) -> None:
    """Time new processes up to their first environment step, and add the rows to the report."""
    startup = report.startup[game] = measure_startup(game)
    for variant, by_cache in startup.items():
        for cache, times in by_cache.items():
            report.rows.append(
                Row(
                    group=f"startup_{game}",
                    measure=f"{game}: import and first step, {variant}, {cache} cache",
                    unit="s",
                    ours=median(times),
                    peer_name="",
                    peer=None,
                    ratio=None,
                    floor=MAX_STARTUP_SECONDS[cache],
                    verdict="pass" if median(times) < MAX_STARTUP_SECONDS[cache] else "miss",
                    noise=noise(times),
                    timed=("wall-clock time of a process from start to end", ""),
                )
            )

"""`ludoteca bench envs`: our environments beside those of other packages.

All sides of a group take turns, round by round, so that a change in what else the machine does
meets them alike.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

from rich.console import Console

from ludoteca.evaluate.bench.measures import Comparison, Group, game_names, groups
from ludoteca.evaluate.bench.report import Report, Row, about_this_run, load_average, our_versions
from ludoteca.evaluate.bench.sides import (
    PeerFailedError,
    PeerMissingError,
    PeerSide,
    Sample,
    Side,
)
from ludoteca.evaluate.bench.startup import measure_startup

ROUNDS = 5
STARTUP = {"warm": 1.5, "cold": 10.0}  # seconds


def bench_envs(
    peers: bool,
    json: Path | None,
    seconds: float = 2.0,
    only: tuple[str, ...] = (),
) -> Report:
    """Measure, print the table, and write all numbers as JSON.

    Args:
        peers: measure the installed peers too.
        json: where to write; None: nowhere.
        seconds: per side of each comparison, all rounds together.
        only: names of groups, or their beginnings (`"threads"`); all by default.

    Raises:
        ValueError: if there is no such group, or the time is not positive.
    """
    if not seconds > 0:
        raise ValueError(f"seconds must be positive, got {seconds}")
    chosen = choose_groups(only)
    console = Console()
    report = Report(
        about=about_this_run(rounds=ROUNDS, seconds_per_side=seconds, peers=peers),
        versions=our_versions(),
    )
    makers = groups()
    for name in chosen:
        with console.status(f"measuring {name}"):
            if name in makers:
                measure_group(report, name, makers[name](), peers, seconds / ROUNDS)
            else:
                measure_startup_of(report, name.removeprefix("startup_"))
    report.about["load_average_at_end"] = load_average()
    console.print(report.table())
    if json is not None:
        report.write(json)
        console.print(f"all numbers: {json}", soft_wrap=True)
    return report


def choose_groups(only: tuple[str, ...]) -> list[str]:
    """Return the names of the groups that begin with one of `only`, or all.

    Raises:
        ValueError: if nothing begins so.
    """
    names = [*groups(), *(f"startup_{game}" for game in game_names())]
    for wanted in only:
        if not any(name.startswith(wanted) for name in names):
            raise ValueError(f"unknown measure {wanted!r}; there are {', '.join(names)}")
    return [name for name in names if not only or name.startswith(only)]


def measure_group(report: Report, name: str, group: Group, peers: bool, seconds: float) -> None:
    """Play the rounds of a group, and add its rows and samples to the report."""
    makers = dict(group.ours) | (dict(group.peers) if peers else {})
    excuses = {} if peers else dict.fromkeys(group.peers, "peers were not asked for")
    samples = play_rounds(makers, excuses, seconds, report.versions)
    report.samples[name] = {
        side: [sample._asdict() for sample in rounds] for side, rounds in samples.items()
    }
    for comparison in group.comparisons:
        report.rows.append(compare(name, comparison, samples, excuses))


def play_rounds(
    makers: Mapping[str, Callable[[], Side]],
    excuses: dict[str, str],
    seconds: float,
    versions: dict[str, str],
) -> dict[str, list[Sample]]:
    """Let the sides take turns; those that cannot play leave a reason in `excuses`."""
    sides: dict[str, Side] = {}
    samples: dict[str, list[Sample]] = {}
    try:
        for name, make in makers.items():
            try:
                sides[name] = side = make()
            except (PeerMissingError, PeerFailedError) as error:
                excuses[name] = str(error)
                continue
            if isinstance(side, PeerSide):
                versions |= side.versions
            samples[name] = []
        for _ in range(ROUNDS):
            for name, side in tuple(sides.items()):
                try:
                    samples[name].append(side(seconds))
                except PeerFailedError as error:
                    excuses[name] = str(error)
                    del sides[name], samples[name]
    finally:
        for side in sides.values():
            side.close()
    return samples


def compare(
    group: str,
    comparison: Comparison,
    samples: Mapping[str, list[Sample]],
    excuses: Mapping[str, str],
) -> Row:
    """Return the row of one comparison."""
    ours = rates(samples.get(comparison.ours, []), comparison.inside[0])
    peer = rates(samples.get(comparison.peer, []), comparison.inside[1])
    ratio = median(ours) / median(peer) if ours and peer else None
    if ratio is None:
        verdict = excuses.get(comparison.peer, "not measured")
    elif comparison.floor is None:
        verdict = "information"
    else:
        verdict = "pass" if ratio >= comparison.floor else "miss"
    return Row(
        group=group,
        measure=comparison.measure,
        unit="steps/s",
        ours=median(ours) if ours else None,
        peer_name=comparison.peer,
        peer=median(peer) if peer else None,
        ratio=ratio,
        floor=comparison.floor,
        verdict=verdict,
        noise=max((noise(side) for side in (ours, peer) if side), default=None),
        timed=comparison.timed,
    )


def rates(rounds: list[Sample], inside: bool) -> list[float]:
    """Return steps per second, round by round; within `step` only if `inside`."""
    return [
        sample.steps / (sample.inside if inside and sample.inside else sample.seconds)
        for sample in rounds
    ]


def noise(values: list[float]) -> float:
    """Return how far apart the values are, relative to their median."""
    return (max(values) - min(values)) / median(values)


def measure_startup_of(report: Report, game: str) -> None:
    """Time fresh processes that play a first step, and add the rows to the report."""
    found = report.startup[game] = measure_startup(game)
    for way, by_cache in found.items():
        for cache, times in by_cache.items():
            report.rows.append(
                Row(
                    group=f"startup_{game}",
                    measure=f"{game}: import and first step, {way}, {cache} cache",
                    unit="s",
                    ours=median(times),
                    peer_name="",
                    peer=None,
                    ratio=None,
                    floor=STARTUP[cache],
                    verdict="pass" if median(times) < STARTUP[cache] else "miss",
                    noise=noise(times),
                    timed=("wall-clock time of a whole process", ""),
                )
            )

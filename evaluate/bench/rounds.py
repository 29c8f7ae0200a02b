"""Rounds of measurements of a group of workloads, and the comparison of their rates.

The workloads of a group alternate, round by round, so that other load of the machine affects all of
them. The ratio of two workloads is that of their medians; with `PAIRED_ROUNDS` rounds or more it is
the geometric mean of the ratios of the rounds, with a confidence interval.
"""

from collections.abc import Callable, Mapping, Sequence
from math import exp, log
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from ludoteca.envs.names import did_you_mean
from ludoteca.evaluate.bench.measures import Comparison, Group
from ludoteca.evaluate.bench.report import Report, Row
from ludoteca.evaluate.bench.workloads import (
    PeerFailedError,
    PeerMissingError,
    PeerWorkload,
    Sample,
    Workload,
)
from ludoteca.evaluate.statistics.differences import mean_interval
from ludoteca.provenance import run_provenance

ROUNDS = 5  # number of samples of each workload, unless a benchmark says otherwise
PAIRED_ROUNDS = 10  # smallest number of rounds whose ratios give an interval


def select_names(names: Sequence[str], only: tuple[str, ...]) -> list[str]:
    """Return the names that begin with one of `only`; all names if `only` is empty.

    Raises:
        ValueError: if an element of `only` is not the prefix of a name.
    """
    for prefix in only:
        if not any(name.startswith(prefix) for name in names):
            hint = did_you_mean(prefix, names)
            raise ValueError(f"unknown measure {prefix!r}{hint}; there are {', '.join(names)}")
    return [name for name in names if not only or name.startswith(only)]


def measure_groups(
    groups: Mapping[str, Callable[[], Group]],
    title: str,
    json: Path | None,
    seconds: float,
    only: tuple[str, ...] = (),
    *,
    rounds: int = ROUNDS,
    peers: bool = False,
    packages: tuple[str, ...] = (),
    **settings: Any,
) -> Report:
    """Measure groups, print the table, and write all numbers as JSON.

    Args:
        groups: makers of the groups, by name, in the order of the report.
        title: title of the table.
        json: file for the results; None: no file.
        seconds: time per workload, all rounds together; in the report as `seconds_per_side`, as
            each side of a comparison, ours or the peer's, is one workload.
        only: names of groups, or their prefixes; all by default.
        rounds: number of samples of each workload.
        peers: measure the peers' workloads, too.
        packages: distributions that are measured, whose versions belong to the report.
        settings: further settings for the report.

    Raises:
        ValueError: if there is no such group, or `seconds` is not positive.
    """
    if not seconds > 0:
        raise ValueError(f"seconds must be positive, got {seconds}")
    selected, console = select_names(list(groups), only), Console()
    settings = {"rounds": rounds, "seconds_per_side": seconds, "peers": peers, **settings}
    report = Report(**run_provenance(*packages, **settings), title=f"{title}, median of rounds")
    for name in selected:
        with console.status(f"measuring {name}"):
            measure_group(report, name, groups[name](), peers, seconds / rounds, rounds)
    report.finish(console, json)
    return report


def measure_group(
    report: Report, name: str, group: Group, peers: bool, seconds: float, rounds: int = ROUNDS
) -> None:
    """Measure all rounds of a group, and add its rows and samples to the report.

    Args:
        report: the report, which is changed.
        name: name of the group.
        group: the group.
        peers: measure the peers' workloads, too.
        seconds: time of each workload in each round.
        rounds: number of samples of each workload.
    """
    makers = dict(group.ours) | (dict(group.peers) if peers else {})
    skip_reasons = {} if peers else dict.fromkeys(group.peers, "peers were not requested")
    samples = measure_rounds(makers, skip_reasons, seconds, report.versions, rounds)
    report.samples[name] = {
        workload: [sample._asdict() for sample in each] for workload, each in samples.items()
    }
    for comparison in group.comparisons:
        report.rows.append(compare(name, comparison, samples, skip_reasons))


def measure_rounds(
    makers: Mapping[str, Callable[[], Workload]],
    skip_reasons: dict[str, str],
    seconds: float,
    versions: dict[str, str],
    rounds: int = ROUNDS,
) -> dict[str, list[Sample]]:
    """Run the workloads in turns, and return their samples by name, one for each round.

    Args:
        makers: makers of the workloads, by name.
        skip_reasons: filled with the reasons of missing samples, by workload.
        seconds: time of each workload in each round.
        versions: filled with the versions of the peers' packages.
        rounds: number of samples of each workload.
    """
    workloads: dict[str, Workload] = {}
    samples: dict[str, list[Sample]] = {}
    try:
        for name, make in makers.items():
            try:
                workloads[name] = workload = make()
            except (PeerMissingError, PeerFailedError) as error:
                skip_reasons[name] = str(error)
                continue
            if isinstance(workload, PeerWorkload):
                versions |= workload.versions
            samples[name] = []
        for _ in range(rounds):
            for name, workload in tuple(workloads.items()):
                try:
                    samples[name].append(workload(seconds))
                except PeerFailedError as error:
                    skip_reasons[name] = str(error)
                    del workloads[name], samples[name]
    finally:
        for workload in workloads.values():
            workload.close()
    return samples


def compare(
    group: str,
    comparison: Comparison,
    samples: Mapping[str, list[Sample]],
    skip_reasons: Mapping[str, str],
) -> Row:
    """Return the row of one comparison.

    Args:
        group: name of the group.
        comparison: the comparison.
        samples: the samples of all rounds, by workload.
        skip_reasons: the reasons of missing samples, by workload.
    """
    names = (comparison.ours,) if isinstance(comparison.ours, str) else comparison.ours
    inside, peer_inside = comparison.inside
    ours = max((rates(samples.get(name, []), inside) for name in names), key=_median)
    peer = rates(samples.get(comparison.peer, []), peer_inside)
    ratio = median(ours) / median(peer) if ours and peer else None
    interval = None
    if min(len(ours), len(peer)) >= PAIRED_ROUNDS:
        ratio, low, high = paired_ratio(ours, peer)
        interval = (low, high)
    measured = ratio if comparison.peer else median(ours) if ours else None
    if measured is None:
        verdict = skip_reasons.get(comparison.peer, "not measured")
    elif comparison.floor is None:
        verdict = "information"
    else:
        verdict = "pass" if measured >= comparison.floor else "miss"
    return Row(
        group=group,
        measure=comparison.measure,
        unit=comparison.unit,
        ours=median(ours) if ours else None,
        peer_name=comparison.peer,
        peer=median(peer) if peer else None,
        ratio=ratio,
        interval=interval,
        floor=comparison.floor,
        verdict=verdict,
        noise=max((noise(values) for values in (ours, peer) if values), default=None),
        timed=comparison.timed,
    )


def _median(values: list[float]) -> float:
    return median(values) if values else 0.0


def rates(rounds: list[Sample], inside: bool) -> list[float]:
    """Return the steps per second of each round.

    Args:
        rounds: the samples of a workload.
        inside: divide by the time within the environment's `step`, where it was measured.
    """
    return [
        sample.steps / (sample.inside if inside and sample.inside else sample.seconds)
        for sample in rounds
    ]


def paired_ratio(ours: Sequence[float], peer: Sequence[float]) -> tuple[float, float, float]:
    """Return the ratio of two rates, and its 95 % interval, by the ratios of the rounds.

    The ratio is the geometric mean. Its interval is that of the mean logarithm by Student's t. The
    two sides of a round are measured one after the other, so slow changes of the machine's speed
    affect both.

    Args:
        ours: our rate in each round, positive.
        peer: the other rate in each round, positive.

    Raises:
        ValueError: if the numbers of rounds differ, or there are fewer than two.
    """
    mean, low, high = mean_interval([log(a / b) for a, b in zip(ours, peer, strict=True)])
    return exp(mean), exp(low), exp(high)


def noise(values: list[float]) -> float:
    """Return the range of the values relative to their median."""
    return (max(values) - min(values)) / median(values)

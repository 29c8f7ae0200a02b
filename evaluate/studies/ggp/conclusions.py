"""Conclusions of the thesis in General Game Playing, and whether they hold in our numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.ranks import friedman, nemenyi, ranks
from ludoteca.evaluate.statistics.wilcoxon import all_pairs, holm
from ludoteca.evaluate.studies import verdicts
from ludoteca.evaluate.studies.ggp import uaemex2021 as thesis
from ludoteca.evaluate.studies.report import render
from ludoteca.evaluate.studies.verdicts import by_interval

UCB, ETC, TUNED, ALPHA1, ALPHA2 = range(5)
OLD, OURS = (UCB, ETC, TUNED), (ALPHA1, ALPHA2)
Z = 1.959963984540054  # quantile of a 95 % interval of the normal distribution
RESAMPLES = 4_000
ALIKE = {"Suicide", "Sheep and Wolf", "Tic-Tac-Toe Large"}
Wins = NDArray[np.float64]


@dataclass(frozen=True)
class Conclusion:
    """A conclusion of the thesis."""

    simulations: str  # a move, in the games it is about; "both" if about 100 and 1000
    claim: str  # statement of the thesis
    verdict: str  # whether it is so in the numbers at hand, see `verdicts`
    evidence: str  # the numbers that decide it


def conclusions(wins: Mapping[int, Wins], played: int = thesis.PLAYED) -> list[Conclusion]:
    """Check the thesis' conclusions, which are in `conclusions.md.j2`.

    Args:
        wins: by simulations a move, 100 and 1000: wins per game and policy, in the thesis' order,
            of `PLAYED` games. Shape `[8, 5]`.
        played: games of each kind that each policy did play, to which intervals belong.
    """
    checked: list[Conclusion] = []

    def conclude(simulations: Any, claim: str, verdict: str, caller: Callable[[], str]) -> str:
        evidence = " ".join(caller().split())
        checked.append(Conclusion(str(simulations), claim, verdict, evidence))
        return ""

    def change(first: Wins, second: Wins, met: bool = True) -> tuple[float, float]:
        return difference(first, second, played, met)

    names = {
        **vars(thesis),
        **vars(verdicts),
        "verdicts_of": lambda intervals: [by_interval(*interval) for interval in intervals],
        **{key: value for key, value in globals().items() if key.isupper()},
        "conclude": conclude,
        "difference": change,
        "wins": wins,
        "statistics": {s: statistics(table, played) for s, table in wins.items()},
        "alike": most_alike(wins[100]).tolist(),
        "share_alike": share_alike(wins[100], played),
    }
    render("ggp/conclusions.md.j2", names)
    return checked


def difference(first: Wins, second: Wins, played: int, met: bool = True) -> tuple[float, float]:
    """Return a 95 % interval of the difference of two policies' wins of `PLAYED` games.

    It is a normal one, and at least as wide as it should be: games of two policies against each
    other count for one and against the other, where their variance is the largest there is.

    Args:
        first: wins of one policy, by game.
        second: wins of the other policy.
        played: games of each kind that each did play.
        met: whether they are policies of the same tournament.
    """
    pairs = played / (len(thesis.POLICIES) - 1) if met else 0
    shares = np.stack([np.atleast_1d(first), np.atleast_1d(second)]) / thesis.PLAYED
    variance = (played * shares * (1 - shares)).sum() + 2 * pairs / 4 * shares.shape[1]
    reach = Z * float(np.sqrt(variance)) * thesis.PLAYED / played
    middle = thesis.PLAYED * float((shares[0] - shares[1]).sum())
    return middle - reach, middle + reach


def statistics(wins: Wins, played: int) -> dict[str, Any]:
    """Return the leads of the new policies over the old ones, and the tests of their differences.

    With eight games and ten pairs no p of Wilcoxon's can be below 0.05 after Holm's correction.
    """
    means, critical = ranks(wins).mean(0), nemenyi(wins).critical_difference
    gaps = [means[ALPHA1] - means[ALPHA2], *(means[old] - means[ALPHA1] for old in OLD)]
    tests = {(a, b): test for a, b, test in all_pairs(wins)}
    leads = {(a, b): difference(wins[:, a], wins[:, b], played) for a in OURS for b in OLD}
    # One of the two is among the first two if at most one other policy is ahead of the better one.
    first_two = []
    for game, row in enumerate(wins):
        best, second = max(OURS, key=row.__getitem__), sorted(OLD, key=row.__getitem__)[-2]
        verdict = by_interval(*difference(row[best], row[second], played))
        first_two.append((verdict, game, best, second))
    return {
        "leads": leads,
        "least": min(leads, key=lambda pair: (wins[:, pair[0]] - wins[:, pair[1]]).sum()),
        "friedman": friedman(wins),
        "means": means,
        "critical": critical,
        "order": [by_interval(gap - critical, gap + critical) for gap in gaps],
        "first_two": first_two,
        "tests": tests,
        "holm": dict(zip(tests, holm([test.p for test in tests.values()]), strict=True)),
    }


def most_alike(wins: NDArray[Any]) -> NDArray[np.int64]:
    """Return the three games in which the wins of all policies are most alike. Shape `[..., 3]`."""
    spread = np.ptp(wins, axis=-1) / wins.mean(-1)
    order: NDArray[np.int64] = np.argsort(spread, axis=-1, kind="stable")[..., :3]
    return order


def share_alike(wins: Wins, played: int) -> float:
    """Return how often the thesis' three games are most alike, in games drawn by our shares."""
    sampled = np.random.default_rng(0).binomial(
        played, wins / thesis.PLAYED, (RESAMPLES, *wins.shape)
    )
    wanted = sorted(thesis.GAME_NAMES.index(name) for name in ALIKE)
    return float((np.sort(most_alike(sampled)) == wanted).all(1).mean())

"""Conclusions of the thesis in General Game Playing, and whether they hold in our numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.markdown import p_text
from ludoteca.evaluate.statistics.ranks import friedman, nemenyi, ranks
from ludoteca.evaluate.statistics.wilcoxon import all_pairs, holm
from ludoteca.evaluate.studies.ggp.uaemex2021 import (
    GAME_NAMES,
    GAMES,
    PLAYED,
    POLICIES,
    POLICY_NAMES,
)
from ludoteca.evaluate.studies.verdicts import (
    FAILS,
    HOLDS,
    LEVEL,
    OPEN,
    all_of,
    by_interval,
    by_test,
    no_difference,
)

UCB, ETC, TUNED, ALPHA1, ALPHA2 = range(5)
OLD, OURS = (UCB, ETC, TUNED), (ALPHA1, ALPHA2)
Z = 1.959963984540054  # of a normal interval of 95 %
RESAMPLES = 4_000
ALIKE = {"Suicide", "Sheep and Wolf", "Tic-Tac-Toe Large"}
NOT_BACK = {"Atari Go", "Suicide", "Knight-Through"}
Wins = NDArray[np.float64]
Checked = tuple[str, str, str]  # claim, verdict, evidence


@dataclass(frozen=True)
class Conclusion:
    """A conclusion of the thesis.

    Attributes:
        simulations: a move, in the games it is about; `"both"` if about 100 and 1000.
        claim: what the thesis says.
        verdict: whether it is so in the numbers at hand, see `verdicts`.
        evidence: the numbers that decide it.
    """

    simulations: str
    claim: str
    verdict: str
    evidence: str


def conclusions(wins: Mapping[int, Wins], played: int = PLAYED) -> list[Conclusion]:
    """Check the thesis' conclusions.

    Args:
        wins: by simulations a move, 100 and 1000: wins per game and policy, in the thesis' order,
            of `PLAYED` games. Shape `[8, 5]`.
        played: games of each kind that each policy did play, to which intervals belong.
    """
    found: list[Conclusion] = []
    for simulations, table in wins.items():
        found += [
            Conclusion(str(simulations), *checked)
            for checked in (*_in_general(table, played), *_by_wilcoxon(table, simulations))
        ]
    found += [Conclusion("100", *checked) for checked in _at_100(wins[100], played)]
    found += [Conclusion("both", *checked) for checked in _compared(wins[100], wins[1000], played)]
    return found


def difference(first: Wins, second: Wins, played: int, met: bool = True) -> tuple[float, float]:
    """Return a 95 % interval of the difference of two policies' wins of `PLAYED` games.

    It is a normal one, and at least as wide as it should be: games of two policies against each
    other count for one and against the other, where their variance is the largest there is.

    Args:
        first: wins of one policy, by game.
        second: of the other.
        played: games of each kind that each did play.
        met: whether they are policies of the same tournament.
    """
    pairs = played / (len(POLICIES) - 1) if met else 0
    shares = np.stack([np.atleast_1d(first), np.atleast_1d(second)]) / PLAYED
    variance = (played * shares * (1 - shares)).sum() + 2 * pairs / 4 * shares.shape[1]
    reach = Z * float(np.sqrt(variance)) * PLAYED / played
    middle = PLAYED * float((shares[0] - shares[1]).sum())
    return middle - reach, middle + reach


def _in_general(wins: Wins, played: int) -> Iterator[Checked]:
    totals = wins.sum(0)
    ahead = {
        (ours, theirs): difference(wins[:, ours], wins[:, theirs], played)
        for ours in OURS
        for theirs in OLD
    }
    ours, theirs = min(ahead, key=lambda pair: totals[pair[0]] - totals[pair[1]])
    low, high = ahead[ours, theirs]
    yield (
        "alpha1 and alpha2 win the most games in total",
        all_of(by_interval(*interval) for interval in ahead.values()),
        f"{_listed(totals)}; least of all {POLICY_NAMES[ours]} is ahead of "
        f"{POLICY_NAMES[theirs]}, by {totals[ours] - totals[theirs]:+.0f} ({low:+.0f} to "
        f"{high:+.0f})",
    )
    test, means = friedman(wins), ranks(wins).mean(0)
    yield (
        "the policies differ (Friedman)",
        HOLDS if test.p < LEVEL else OPEN,
        f"chi-squared {test.statistic:.3f}, {p_text(test.p)}",
    )
    critical = nemenyi(wins).critical_difference
    gaps = [means[ALPHA1] - means[ALPHA2], *(means[one] - means[ALPHA1] for one in OLD)]
    yield (
        "alpha2 has the best mean rank, then alpha1",
        all_of(by_interval(gap - critical, gap + critical) for gap in gaps),
        f"{_listed(means, 2)}; ranks differ significantly if {critical:.2f} apart (Nemenyi)",
    )
    # One of both is among the first two if no more than one of the others is ahead of the better.
    verdicts, near = [], []
    for g, row in enumerate(wins):
        best = max(OURS, key=lambda one: row[one])
        second = sorted(OLD, key=lambda one: row[one])[-2]
        found = by_interval(*difference(row[best], row[second], played))
        verdicts.append(found)
        if found != HOLDS:
            near.append(
                f"{GAME_NAMES[g]} ({POLICY_NAMES[best]} {row[best]:.0f}, second of the others "
                f"{POLICY_NAMES[second]} {row[second]:.0f})"
            )
    yield (
        "in every game alpha1 or alpha2 is among the first two",
        all_of(verdicts),
        f"beyond chance in all but {', '.join(near)}" if near else "beyond chance in all 8 games",
    )


def _by_wilcoxon(wins: Wins, simulations: int) -> Iterator[Checked]:
    """Check the claims that the thesis bases on Wilcoxon's tests, uncorrected for their number.

    With eight games and ten pairs no p can be below 0.05 after Holm's correction.
    """
    tests = {(a, b): test for a, b, test in all_pairs(wins)}
    corrected = dict(zip(tests, holm([test.p for test in tests.values()]), strict=True))
    for ours in OURS:
        for theirs in OLD:
            test, after = tests[theirs, ours], corrected[theirs, ours]
            better = test.minus > test.plus  # of the pair, the second one is ours
            exception = (simulations, ours, theirs) == (100, ALPHA1, UCB)
            names = f"{POLICY_NAMES[ours]} {{}} better than {POLICY_NAMES[theirs]} (Wilcoxon)"
            yield (
                names.format("is not significantly" if exception else "is significantly"),
                no_difference(test.p if better else 1.0, after if better else 1.0)
                if exception
                else by_test(test.p, after, better),
                f"{p_text(test.p)}, after Holm's correction {p_text(after)}; ranks {test.minus:g} "
                f"for and {test.plus:g} against",
            )
    test, after = tests[ALPHA1, ALPHA2], corrected[ALPHA1, ALPHA2]
    yield (
        "alpha1 and alpha2 do not differ significantly (Wilcoxon)",
        no_difference(test.p, after),
        f"{p_text(test.p)}, after Holm's correction {p_text(after)}",
    )


def _at_100(wins: Wins, played: int) -> Iterator[Checked]:
    for title, game in (
        ("Suicide", "breakthrough_suicide"),
        ("Tic-Tac-Toe Large", "tictactoe_large"),
    ):
        row = wins[GAMES.index(game)]
        low, high = difference(row[UCB], row[ALPHA1], played)
        yield (
            f"{title} is an exception: alpha1 wins no more than UCB",
            by_interval(low, high),
            f"{_listed(row)}; alpha1 wins {row[ALPHA1] - row[UCB]:+.0f} ({-high:+.0f} to "
            f"{-low:+.0f}) more than UCB",
        )
    rng = np.random.default_rng(0)
    drawn = rng.binomial(played, wins / PLAYED, (RESAMPLES, *wins.shape))
    wanted = sorted(GAME_NAMES.index(name) for name in ALIKE)
    share = float((np.sort(_most_alike(drawn)) == wanted).all(1).mean())
    yield (
        "policies matter least in Suicide, Sheep and Wolf, and Tic-Tac-Toe Large",
        HOLDS if share >= 1 - LEVEL else FAILS if share <= LEVEL else OPEN,
        f"most alike in {', '.join(GAME_NAMES[g] for g in _most_alike(wins))}; of games drawn "
        f"again by these shares, {100 * share:.1f} % have the thesis' three",
    )


def _most_alike(wins: NDArray[Any]) -> NDArray[np.int64]:
    """Return the three games in which the wins of all policies are most alike. Shape `[..., 3]`."""
    spread = np.ptp(wins, axis=-1) / wins.mean(-1)
    order: NDArray[np.int64] = np.argsort(spread, axis=-1, kind="stable")[..., :3]
    return order


def _compared(few: Wins, many: Wins, played: int) -> Iterator[Checked]:
    """Check what changes from 100 (`few`) to 1000 simulations (`many`)."""
    before, after, old = few.sum(0), many.sum(0), list(OLD)
    yield (
        "ETC wins the most of the three old policies at 100 and the fewest at 1000 simulations",
        all_of(
            by_interval(*difference(*pair, played))
            for other in (UCB, TUNED)
            for pair in ((few[:, ETC], few[:, other]), (many[:, other], many[:, ETC]))
        ),
        f"at 100 {_listed(before[old], 0, old)}; at 1000 {_listed(after[old], 0, old)}",
    )
    gains = {k: difference(many[:, k], few[:, k], played, met=False) for k in OURS}
    evidence = ", ".join(
        f"{POLICY_NAMES[k]} {before[k]:.0f} and {after[k]:.0f} ({low:+.0f} to {high:+.0f})"
        for k, (low, high) in gains.items()
    )
    yield (
        "alpha1 and alpha2 win more at 1000 simulations than at 100",
        all_of(by_interval(*interval) for interval in gains.values()),
        evidence,
    )
    verdicts, back = [], []
    for name, x, y in zip(GAME_NAMES, few[:, ETC], many[:, ETC], strict=True):
        low, high = difference(x, y, played, met=False)  # how far ETC falls back
        if low > 0:
            back.append(name)
        verdicts.append(by_interval(-high, -low) if name in NOT_BACK else by_interval(low, high))
    yield (
        "from 100 to 1000, ETC falls back in all but Atari Go, Suicide and Knight-Through",
        all_of(verdicts),
        f"falls back beyond chance in {', '.join(back) or 'none'}",
    )


def _listed(values: Wins, digits: int = 0, which: list[int] | None = None) -> str:
    names = [POLICY_NAMES[k] for k in which] if which else POLICY_NAMES
    return ", ".join(f"{name} {x:.{digits}f}" for name, x in zip(names, values, strict=True))

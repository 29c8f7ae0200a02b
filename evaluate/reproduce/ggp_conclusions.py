"""What the thesis in General Game Playing concludes, and whether it holds in other numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.markdown import p_text
from ludoteca.evaluate.reproduce.thesis_ggp import GAME_NAMES, GAMES, POLICY_NAMES
from ludoteca.evaluate.statistics.ranks import friedman, ranks
from ludoteca.evaluate.statistics.wilcoxon import signed_rank

UCB, ETC, TUNED, ALPHA1, ALPHA2 = range(5)
LEVEL = 0.05


@dataclass(frozen=True)
class Conclusion:
    """A conclusion of the thesis.

    Attributes:
        simulations: a move, in the games it is about; `"both"` if about 100 and 1000.
        claim: what the thesis says.
        holds: whether it is so in the numbers at hand.
        evidence: the numbers that decide it.
    """

    simulations: str
    claim: str
    holds: bool
    evidence: str


def conclusions(wins: Mapping[int, NDArray[np.float64]]) -> list[Conclusion]:
    """Check the thesis' conclusions.

    Args:
        wins: by simulations a move, 100 and 1000: wins per game and policy, in the thesis' order.
            Shape `[8, 5]`.
    """
    found: list[Conclusion] = []
    for simulations, table in wins.items():
        found += [
            Conclusion(str(simulations), *checked)
            for checked in (*_in_general(table), *_by_wilcoxon(table, simulations))
        ]
    found += [Conclusion("100", *checked) for checked in _at_100(wins[100])]
    found += [Conclusion("both", *checked) for checked in _compared(wins[100], wins[1000])]
    return found


def _in_general(wins: NDArray[np.float64]) -> Iterator[tuple[str, bool, str]]:
    totals = wins.sum(0)
    yield (
        "alpha1 and alpha2 win the most games in total",
        bool(min(totals[ALPHA1], totals[ALPHA2]) > totals[:ALPHA1].max()),
        _listed(totals),
    )
    test, means = friedman(wins), ranks(wins).mean(0)
    yield (
        "the policies differ (Friedman)",
        test.p < LEVEL,
        f"chi-squared {test.statistic:.3f}, {p_text(test.p)}",
    )
    yield (
        "alpha2 has the best mean rank, then alpha1",
        bool(means[ALPHA2] < means[ALPHA1] < means[:ALPHA1].min()),
        _listed(means, 2),
    )
    places = ranks(wins)
    worst = places[:, [ALPHA1, ALPHA2]].min(1)
    behind = [name for name, place in zip(GAME_NAMES, worst, strict=True) if place > 2]
    yield (
        "in every game alpha1 or alpha2 is among the first two",
        not behind,
        f"not in {', '.join(behind)}" if behind else "in all 8 games",
    )


def _by_wilcoxon(wins: NDArray[np.float64], simulations: int) -> Iterator[tuple[str, bool, str]]:
    for ours in (ALPHA1, ALPHA2):
        for theirs in (UCB, ETC, TUNED):
            test = signed_rank(wins[:, ours], wins[:, theirs])
            better = test.plus > test.minus
            exception = (simulations, ours, theirs) == (100, ALPHA1, UCB)
            names = f"{POLICY_NAMES[ours]} {{}} better than {POLICY_NAMES[theirs]} (Wilcoxon)"
            said = "is not significantly" if exception else "is significantly"
            significant = test.p < LEVEL and better
            yield (
                names.format(said),
                significant != exception,
                f"{p_text(test.p)}, ranks {test.plus:g} for and {test.minus:g} against",
            )
    test = signed_rank(wins[:, ALPHA1], wins[:, ALPHA2])
    yield (
        "alpha1 and alpha2 do not differ significantly (Wilcoxon)",
        test.p >= LEVEL,
        f"{p_text(test.p)}",
    )


def _at_100(wins: NDArray[np.float64]) -> Iterator[tuple[str, bool, str]]:
    suicide = wins[GAMES.index("breakthrough_suicide")]
    yield (
        "Suicide is an exception: alpha1 wins no more than UCB",
        bool(suicide[ALPHA1] <= suicide[UCB]),
        _listed(suicide),
    )
    tictactoe = wins[GAMES.index("tictactoe_large")]
    yield (
        "Tic-Tac-Toe Large is an exception: alpha1 wins no more than UCB",
        bool(tictactoe[ALPHA1] <= tictactoe[UCB]),
        _listed(tictactoe),
    )
    spread = np.ptp(wins, axis=1) / wins.mean(1)
    order = [GAME_NAMES[g] for g in np.argsort(spread, kind="stable")[:3]]
    yield (
        "policies matter least in Suicide, Sheep and Wolf, and Tic-Tac-Toe Large",
        set(order) == {"Suicide", "Sheep and Wolf", "Tic-Tac-Toe Large"},
        "most alike in " + ", ".join(order),
    )


def _compared(
    few: NDArray[np.float64], many: NDArray[np.float64]
) -> Iterator[tuple[str, bool, str]]:
    """Check what changes from 100 (`few`) to 1000 simulations (`many`)."""
    before, after = few.sum(0), many.sum(0)
    old = [UCB, ETC, TUNED]
    yield (
        "ETC wins the most of the three old policies at 100 and the fewest at 1000 simulations",
        bool(before[ETC] == before[old].max() and after[ETC] == after[old].min()),
        f"at 100 {_listed(before[old], 0, old)}; at 1000 {_listed(after[old], 0, old)}",
    )
    yield (
        "alpha1 and alpha2 win more at 1000 simulations than at 100",
        bool((after[[ALPHA1, ALPHA2]] > before[[ALPHA1, ALPHA2]]).all()),
        f"alpha1 {before[ALPHA1]:.0f} and {after[ALPHA1]:.0f}, "
        f"alpha2 {before[ALPHA2]:.0f} and {after[ALPHA2]:.0f}",
    )
    worse = [
        name for name, x, y in zip(GAME_NAMES, few[:, ETC], many[:, ETC], strict=True) if y < x
    ]
    better = [name for name in GAME_NAMES if name not in worse]
    yield (
        "from 100 to 1000, ETC falls back in all but Atari Go, Suicide and Knight-Through",
        set(better) == {"Atari Go", "Suicide", "Knight-Through"},
        f"falls back in {', '.join(worse) or 'none'}",
    )


def _listed(values: NDArray[np.float64], digits: int = 0, which: list[int] | None = None) -> str:
    names = [POLICY_NAMES[k] for k in which] if which else POLICY_NAMES
    return ", ".join(f"{name} {x:.{digits}f}" for name, x in zip(names, values, strict=True))

"""Conclusions of Valencia's thesis (UAEMex, 2021), and verdicts on them by our results."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.differences import wins_difference
from ludoteca.evaluate.statistics.equivalence import MeanScore
from ludoteca.evaluate.statistics.ranks import friedman, nemenyi, ranks
from ludoteca.evaluate.statistics.verdicts import verdict_by_interval
from ludoteca.evaluate.statistics.wilcoxon import all_pairs, holm
from ludoteca.evaluate.studies.conclusions import Conclusion, conclusions_of
from ludoteca.evaluate.studies.ggp import uaemex2021 as thesis

UCB, ETC, TUNED, ALPHA1, ALPHA2 = range(5)  # indices of the policies in `thesis.POLICIES`
OLD_POLICIES, NEW_POLICIES = (UCB, ETC, TUNED), (ALPHA1, ALPHA2)
RESAMPLES = 4_000  # number of bootstrap samples
# The games in which policies matter least, according to the thesis.
ALIKE_GAMES = {"Suicide", "Sheep and Wolf", "Tic-Tac-Toe Large"}
# Largest difference of the score from one half that counts as equivalent, as in the study
# `equivalence`; chosen after the games of this study were played.
MARGIN = 0.05
Wins = NDArray[np.float64]  # wins by game and policy, `[8, 5]`, scaled to `thesis.PLAYED` games


def conclusions(
    wins: Mapping[int, Wins],
    played: int = thesis.PLAYED,
    scores: Mapping[int, MeanScore] | None = None,
) -> list[Conclusion]:
    """Return the thesis' conclusions, which are in `conclusions.md.j2`, with their verdicts.

    Args:
        wins: wins by the number of simulations per move, 100 and 1000.
        played: number of games that each policy actually played of each game, which sets the
            widths of the intervals.
        scores: mean score of alpha1 against alpha2 over the games, by the number of simulations;
            without it there is no test of their equivalence.
    """
    scores = scores or {}
    p_equivalent = holm([score.p_equivalent(MARGIN) for score in scores.values()])
    names = {
        **vars(thesis),
        **{key: value for key, value in globals().items() if key.isupper()},
        "difference": partial(difference, played=played),
        "wins": wins,
        "scores": scores,
        "p_equivalent": dict(zip(scores, p_equivalent, strict=True)),
        "statistics": {s: statistics(table, played) for s, table in wins.items()},
        "alike": most_alike(wins[100]).tolist(),
        "share_alike": share_alike(wins[100], played),
    }
    return conclusions_of("ggp/conclusions.md.j2", names)


def difference(
    first: Wins, second: Wins, played: int, same_tournament: bool = True
) -> tuple[float, float]:
    """Return the interval of `wins_difference` for two policies, in wins of `PLAYED` games.

    Args:
        first: wins of one policy, by game, scaled to `PLAYED` games. Shape `[games]` or scalar.
        second: wins of the other policy, like `first`.
        played: number of games that each policy actually played of each game.
        same_tournament: whether the policies played against each other.
    """
    games_between = played / (len(thesis.POLICIES) - 1) if same_tournament else 0
    ours, theirs = (np.atleast_1d(wins) / thesis.PLAYED for wins in (first, second))
    low, high = wins_difference(ours, theirs, played, games_between)
    return thesis.PLAYED * low, thesis.PLAYED * high


def statistics(wins: Wins, played: int) -> dict[str, Any]:
    """Return the leads of the new policies over the old ones, and the tests of all differences.

    With eight games and ten pairs of policies, no p-value of a Wilcoxon test can be below 0.05
    after Holm's correction.

    Args:
        wins: wins by game and policy.
        played: number of games that each policy actually played of each game.

    Returns:
        `"leads"`: interval of the difference of wins, by pair of a new and an old policy;
        `"least"`: the pair with the smallest difference; `"friedman"`: Friedman's test; `"means"`:
        mean ranks; `"critical"`: Nemenyi's critical difference; `"order"`: verdicts by mean ranks
        on alpha2 before alpha1, and on alpha1 before each old policy; `"first_two"`: for each game
        the verdict on a new policy among the first two, the game, and the two compared policies;
        `"tests"` and `"holm"`: Wilcoxon's tests and their corrected p-values, by pair.
    """
    means, critical = ranks(wins).mean(0), nemenyi(wins).critical_difference
    # By how much alpha2 has the better mean rank than alpha1, and alpha1 than each old policy.
    gaps = [means[ALPHA1] - means[ALPHA2], *(means[old] - means[ALPHA1] for old in OLD_POLICIES)]
    tests = {(a, b): test for a, b, test in all_pairs(wins)}
    leads = {
        (a, b): difference(wins[:, a], wins[:, b], played)
        for a in NEW_POLICIES
        for b in OLD_POLICIES
    }
    # A new policy is among the first two in a game if the better new policy beats the second best
    # old one there.
    first_two = []
    for game, row in enumerate(wins):
        best = max(NEW_POLICIES, key=row.__getitem__)
        second = sorted(OLD_POLICIES, key=row.__getitem__)[-2]
        verdict = verdict_by_interval(*difference(row[best], row[second], played))
        first_two.append((verdict, game, best, second))
    return {
        "leads": leads,
        "least": min(leads, key=lambda pair: (wins[:, pair[0]] - wins[:, pair[1]]).sum()),
        "friedman": friedman(wins),
        "means": means,
        "critical": critical,
        "order": [verdict_by_interval(gap - critical, gap + critical) for gap in gaps],
        "first_two": first_two,
        "tests": tests,
        "holm": dict(zip(tests, holm([test.p for test in tests.values()]), strict=True)),
    }


def most_alike(wins: NDArray[Any]) -> NDArray[np.int64]:
    """Return the indices of the three games in which policies matter least, `[..., 3]`.

    These have the smallest range of the policies' wins, relative to their mean.

    Args:
        wins: wins. Shape `[..., games, policies]`.
    """
    spread = np.ptp(wins, axis=-1) / wins.mean(-1)
    order: NDArray[np.int64] = np.argsort(spread, axis=-1, kind="stable")[..., :3]
    return order


def share_alike(wins: Wins, played: int) -> float:
    """Return the probability that policies matter least in `ALIKE_GAMES`.

    It is estimated by a parametric bootstrap: wins are sampled with our win rates.
    """
    shape = (RESAMPLES, *wins.shape)
    sampled = np.random.default_rng(0).binomial(played, wins / thesis.PLAYED, shape)
    wanted = sorted(thesis.GAME_NAMES.index(name) for name in ALIKE_GAMES)
    return float((np.sort(most_alike(sampled)) == wanted).all(1).mean())

"""The thesis' constants of UCB1 and their regrets: Valencia (UAEMex, 2021), section 4.2.1."""

import math
from collections.abc import Sequence
from statistics import NormalDist

from ludoteca.evaluate.bandits.experiment import Constants, intervals
from ludoteca.evaluate.statistics.wilcoxon import holm
from ludoteca.evaluate.studies.data import Row, read_data

THESIS = read_data("bandits/uaemex2021.toml")
BEST = {row["arms"]: row for row in THESIS["best"]}  # the thesis' best alphas, by K
# The thesis' mean regrets by alpha and K, and its second grids by K.
REGRETS = {
    row["alpha"]: dict(zip(THESIS["arms"], row["regrets"], strict=True))
    for row in THESIS["regrets"]
}
SECOND_GRIDS = {row["arms"]: row for row in THESIS["second_grids"]}


def thesis_constants() -> Constants:
    """Return all alphas of tables 4.18 to 4.20 by number of arms, in ascending order."""
    constants = {}
    for arms, best in BEST.items():
        grid = SECOND_GRIDS[arms]
        second = intervals(grid["high"], grid["low"], len(grid["regrets"]))
        constants[arms] = sorted({*REGRETS, *second, best["intervals"], best["annealing"]})
    return constants


def differing_regrets(regrets: Sequence[Row]) -> tuple[int, int, int]:
    """Return how many of our mean regrets have one in table 4.18, and how many differ from it.

    The thesis gives no standard errors, so those of its means are assumed to be as large as ours.

    Args:
        regrets: rows with `"regret"`, `"standard_error"` and the thesis' regret, `"thesis"`.

    Returns:
        Three numbers: of regrets in both tables, of significant differences at the 5 % level, and
        of those that remain with Holm's correction.
    """
    p = [
        2 * NormalDist().cdf(-abs(row["regret"] - row["thesis"]) / error)
        for row in regrets
        if row.get("thesis") is not None and (error := math.sqrt(2) * row["standard_error"]) > 0
    ]
    return len(p), sum(x < 0.05 for x in p), sum(x < 0.05 for x in holm(p))

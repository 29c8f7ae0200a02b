"""Networks of several training seeds in the report on Hungry Geese."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ludoteca.evaluate.markdown import mean_text
from ludoteca.evaluate.statistics.differences import mean_interval
from ludoteca.evaluate.statistics.outcomes import read_outcomes
from ludoteca.evaluate.statistics.verdicts import verdict_by_interval
from ludoteca.evaluate.studies.seeds import by_seed
from ludoteca.evaluate.studies.study import Records

# In place of a verdict on a way of training, which needs several training runs with their seeds.
ONE_RUN = "no verdict"
MIN_SEEDS = 3  # for a verdict


class SeedMean(NamedTuple):
    """Mean of a difference over training seeds, with Student's 95 % interval.

    With a single seed the interval is that of its games.

    Attributes:
        mean: the mean.
        low: lower end of the interval.
        high: upper end of the interval.
        seeds: number of seeds.
    """

    mean: float
    low: float
    high: float
    seeds: int

    @property
    def verdict(self) -> str:
        """Verdict on the claim that the difference is positive; `ONE_RUN` with too few seeds."""
        return ONE_RUN if self.seeds < MIN_SEEDS else verdict_by_interval(self.low, self.high)


def mean_contrast(records: Records, name: str, weights: Sequence[float]) -> SeedMean:
    """Return the mean over the seeds of a weighted sum of the agents' scores in a competition.

    Args:
        records: records of all tasks.
        name: task of the competition with seed 0.
        weights: weights of the agents.
    """
    matches = by_seed(records, name).values()
    contrasts = [read_outcomes(match["outcomes"]).score_contrast(weights) for match in matches]
    if len(contrasts) == 1:
        return SeedMean(*contrasts[0], 1)
    return SeedMean(*mean_interval([one.mean for one in contrasts]), len(contrasts))


def cells_by_seed(
    records: Records, name: str, percentage: Callable[[Mapping[str, Any]], float]
) -> str:
    """Return two cells of a table: the percentages of the seeds, and their mean.

    Args:
        records: records of all tasks.
        name: task with seed 0.
        percentage: function of a record.
    """
    values = [percentage(record) for record in by_seed(records, name).values()]
    return f"{', '.join(f'{value:.1f}' for value in values)} | {mean_text(values)}"


def predicted(network: Mapping[str, Any]) -> float:
    """Return the percentage of moves that a network predicts in validation games."""
    return 100 * float(network["training"]["best"]["accuracy"])


def share_of(measure: str, agent: int) -> Callable[[Mapping[str, Any]], float]:
    """Return the function of a competition that returns a percentage of its games.

    Args:
        measure: `"wins"` or `"deaths"`.
        agent: number of the agent.
    """

    def percentage(match: Mapping[str, Any]) -> float:
        lives = match["agents"][agent]["lives"]
        return float(100 * lives[measure] / lives["geese"])

    return percentage


def points(match: Mapping[str, Any]) -> float:
    """Return the percentage of points of the first agent of a match of two; a draw is half one."""
    total = match["agents"][0]["total"]
    return float(100 * (total["wins"] + total["draws"] / 2) / total["games"])

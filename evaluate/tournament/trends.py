"""Trends over the games of a tournament: relations of results to a property of each game.

A property is a number for each game, such as its branching factor. Intervals are those of a
bootstrap that samples the results of each pair of agents anew, see `resampled_points`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.figures import Panel, Series, panels_png
from ludoteca.evaluate.statistics.rank_correlation import exact_p, rank_correlation
from ludoteca.evaluate.tournament.resampling import resampled_points
from ludoteca.evaluate.tournament.results import Results

SAMPLES = 4_000  # number of bootstrap samples
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Trend:
    """Rank correlation of a quantity and a property over the games.

    Attributes:
        correlation: Spearman's rank correlation.
        low: lower end of its 95 % interval. The interval has the random errors of the games'
            results only, and is biased towards zero, since sampling anew adds errors.
        high: upper end.
        p: exact p value over all orders of the games.
    """

    correlation: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class Quantity:
    """Quantity that results determine in each game, with its bootstrap samples.

    Attributes:
        values: values in the games. Shape `[games]`.
        samples: values in the bootstrap samples. Shape `[samples, games]`.
    """

    values: Array
    samples: Array

    @cached_property
    def bounds(self) -> Array:
        """Ends of the 95 % intervals of the values. Shape `[2, games]`."""
        bounds: Array = np.percentile(self.samples, (2.5, 97.5), axis=0)
        return bounds

    def trend(self, properties: Sequence[float]) -> Trend:
        """Return the correlation with a property of the games."""
        low, high = np.percentile(rank_correlation(properties, self.samples), (2.5, 97.5))
        correlation = float(rank_correlation(properties, self.values))
        return Trend(correlation, float(low), float(high), exact_p(properties, self.values))


class ResampledResults:
    """Results of a tournament with bootstrap samples of the points."""

    def __init__(self, results: Results):
        self._tournament, self._played = results.tournament, results.games_per_agent
        self._points = results.points().astype(np.float64), resampled_points(results, SAMPLES)

    def best_parameter(self, parameters: Mapping[str, float]) -> Quantity:
        """Return the parameter of the agent with the most points among some agents.

        Args:
            parameters: parameters of these agents by name.
        """
        agents = [self._tournament.names.index(name) for name in parameters]
        numbers = np.array(list(parameters.values()))
        return Quantity(*(numbers[points[..., agents].argmax(-1)] for points in self._points))

    def lead(self, first: str, second: str) -> Quantity:
        """Return the points of an agent minus those of another, in percent of their games."""
        a, b = map(self._tournament.names.index, (first, second))
        leads = (100 * (points[..., a] - points[..., b]) / self._played for points in self._points)
        return Quantity(*leads)

    def places(self) -> dict[str, Quantity]:
        """Return the rank of each agent's points in each game, 1 for the fewest, by name."""
        from scipy.stats import rankdata

        values, samples = (rankdata(points, axis=-1) for points in self._points)
        return {
            name: Quantity(values[:, a], samples[..., a])
            for a, name in enumerate(self._tournament.names)
        }

    def chances_of_best(self) -> Array:
        """Return the share of samples in which an agent has the most points, `[games, agents]`.

        Agents with equally many points share the sample.
        """
        best = self._points[1] == self._points[1].max(-1, keepdims=True)
        chances: Array = (best / best.sum(-1, keepdims=True)).mean(0)
        return chances


def trend_plots(
    quantities: Mapping[str, Quantity],
    properties: Sequence[float],
    label: str,
    games: Sequence[str],
    ticks: Sequence[float],
    log_ticks: Mapping[str, Sequence[float]] = MappingProxyType({}),
) -> bytes:
    """Draw quantities with their intervals by a property of the games, as a PNG file.

    Args:
        quantities: quantities by label.
        properties: property of each game, on a logarithmic axis. Games whose properties differ by
            less than 3 % are drawn beside each other.
        label: label of the property.
        games: titles of the games.
        ticks: ticks of the property's axis.
        log_ticks: ticks of the quantities with logarithmic axes, by label.
    """
    values = np.asarray(properties)
    near = np.tril(np.abs(np.log(values[:, None] / values)) < 0.03, -1).sum(1)
    positions = (values * 1.04**near).tolist()
    panels = []
    for name, quantity in quantities.items():
        series = [
            Series([x], [y], "o", bounds[:, None], {"label": game, "capsize": 3})
            for x, y, bounds, game in zip(
                positions, quantity.values, quantity.bounds.T, games, strict=True
            )
        ]
        axes: dict[str, Any] = {"xscale": "log", "xlabel": label, "ylabel": name}
        if name in log_ticks:
            labels = [f"{y:g}" for y in log_ticks[name]]
            axes |= {"yscale": "log", "yticks": log_ticks[name], "yticklabels": labels}
        panels.append(Panel(series, axes, xticks={x: f"{x:g}" for x in ticks}))
    size, legend = (5.2 * len(panels), 4.8), {"loc": "outside lower center", "ncols": 4}
    return panels_png(panels, size, columns=len(panels), colors=96, legend=legend)

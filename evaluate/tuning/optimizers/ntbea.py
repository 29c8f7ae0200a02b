"""NTBEA: N-tuple bandit evolutionary algorithm.

Lucas, Liu and Perez-Liebana, "The N-tuple bandit evolutionary algorithm for game agent
optimisation", IEEE Congress on Evolutionary Computation 2018. Each parameter has discrete levels. A
model keeps the mean score of each level, each pair of levels and each point that was evaluated. Of
the mutations of the current point, the one with the highest upper confidence bound is evaluated
next.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.params import check_integer, check_real
from ludoteca.evaluate.tuning.optimizers.optimizer import Points
from ludoteca.evaluate.tuning.parameters import TunedParameter

EPSILON = 0.5  # added to the number of evaluations of a combination of levels, in equation 2
Indices = tuple[int, ...]  # of axes, or of levels on them


class NTBEA:
    """NTBEA optimizer, which recommends the evaluated point with the highest mean in its model."""

    plays_pairs = False  # each point is scored by itself, against opponents; see `Optimizer`

    def __init__(
        self,
        parameters: Sequence[TunedParameter],
        start: Sequence[float],
        evaluations: int,
        seed: int,
        levels: int = 10,
        exploration: float = 0.5,
        neighbors: int = 50,
    ):
        """Make the optimizer; see `OptimizerFactory`.

        Args:
            parameters: the parameters.
            start: starting position of each parameter, rounded to the nearest level.
            evaluations: maximum number of points that are evaluated.
            seed: seed of the mutations.
            levels: number of levels of each range.
            exploration: factor of the confidence bound, `k` in the paper.
            neighbors: number of mutations from which the next point is chosen.
        """
        count = check_integer("levels", levels, 2, 10**4)
        self._levels = [np.array(parameter.levels(count)) for parameter in parameters]
        self._exploration = check_real("exploration", exploration, 0, 1e6)
        self._neighbors = check_integer("neighbors", neighbors, 1, 10**6)
        self._rng = np.random.default_rng(seed)
        self._point = tuple(
            int(np.abs(positions - position).argmin())
            for positions, position in zip(self._levels, start, strict=True)
        )
        d = len(parameters)
        sizes = sorted({1, min(2, d), d})
        # The model's combinations of axes: single ones, pairs, and all.
        self._tuples = [axes for size in sizes for axes in combinations(range(d), size)]
        # Number and sum of the scores by combination of levels, see `_keys`.
        self._counts: defaultdict[tuple[Indices, Indices], int] = defaultdict(int)
        self._sums: defaultdict[tuple[Indices, Indices], float] = defaultdict(float)
        self._evaluated: dict[Indices, None] = {}  # the evaluated points, in order
        self._total = 0  # number of evaluations

    def ask(self) -> Points:
        """Return the current point. Shape `[1, d]`."""
        return np.array([self._positions(self._point)])

    def tell(self, scores: NDArray[np.float64]) -> None:
        """Add the score to the model, and choose the next point."""
        self._total += 1
        self._evaluated[self._point] = None
        for key in self._keys(self._point):
            self._counts[key] += 1
            self._sums[key] += float(scores[0])
        mutations = [self._mutation() for _ in range(self._neighbors)]
        self._point = max(dict.fromkeys(mutations), key=self._bound)

    def best(self) -> NDArray[np.float64]:
        """Return the evaluated point with the highest mean in the model."""
        points = list(self._evaluated) or [self._point]
        return self._positions(max(points, key=self._mean))

    def _positions(self, point: Indices) -> NDArray[np.float64]:
        """Return the positions of a point, given as its level in each dimension. `[d]`."""
        return np.array([levels[k] for levels, k in zip(self._levels, point, strict=True)])

    def _keys(self, point: Indices) -> list[tuple[Indices, Indices]]:
        """Return the combinations of levels in a point, as pairs of the axes and their levels."""
        return [(axes, tuple(point[axis] for axis in axes)) for axes in self._tuples]

    def _mutation(self) -> Indices:
        """Return the current point with one level mutated, others with probability 1/d each."""
        d = len(self._point)
        changed = self._rng.random(d) < 1 / d
        changed[self._rng.integers(d)] = True
        return tuple(
            int(self._rng.integers(len(levels))) if mutates else level
            for levels, level, mutates in zip(self._levels, self._point, changed, strict=True)
        )

    def _mean(self, point: Indices) -> float:
        """Return the mean score of a point in the model, over its combinations of levels."""
        means = [
            self._sums[key] / self._counts[key] for key in self._keys(point) if self._counts[key]
        ]
        return sum(means) / len(means) if means else 0.0

    def _bound(self, point: Indices) -> float:
        """Return the upper confidence bound of a point, equation 2."""
        total = 0.0
        for key in self._keys(point):
            count = self._counts.get(key, 0)
            mean = self._sums[key] / count if count else 0.0
            total += mean + self._exploration * sqrt(log(1 + self._total) / (count + EPSILON))
        return total / len(self._tuples)

"""Grid search: all combinations of levels, evaluated repeatedly until the games are used up.

The levels of a parameter are evenly spaced positions, or its choices.
"""

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.params import check_integer
from ludoteca.evaluate.tuning.optimizers.optimizer import Points
from ludoteca.evaluate.tuning.parameters import TunedParameter


class Grid:
    """Grid search, which recommends the point with the highest mean score."""

    plays_pairs = False  # each point is scored by itself, against opponents; see `Optimizer`

    def __init__(
        self,
        parameters: Sequence[TunedParameter],
        start: Sequence[float],
        evaluations: int,
        seed: int,
        levels: int = 8,
    ):
        """Make the optimizer; see `OptimizerFactory`.

        Args:
            parameters: the parameters.
            start: ignored, as the grid has no first point.
            evaluations: maximum number of points that are evaluated.
            seed: ignored, as the grid is not random.
            levels: number of levels of each range.

        Raises:
            ValueError: if `evaluations` is less than the number of points of the grid.
        """
        levels = check_integer("levels", levels, 2, 10**4)
        axes = [parameter.levels(levels) for parameter in parameters]
        if (size := prod(map(len, axes))) > evaluations:
            raise ValueError(
                f"the grid has {size:,} points, but the games suffice for {evaluations:,} "
                "evaluations: use more games, smaller batches, or fewer levels"
            )
        self._points = np.array(list(product(*axes)))
        self._sums = np.zeros(size)

    def ask(self) -> Points:
        """Return all points of the grid."""
        return self._points

    def tell(self, scores: NDArray[np.float64]) -> None:
        """Add the scores of all points."""
        self._sums += scores

    def best(self) -> NDArray[np.float64]:
        """Return the point with the highest mean score."""
        point: NDArray[np.float64] = self._points[self._sums.argmax()]
        return point

"""SPSA: simultaneous perturbation stochastic approximation.

Spall, "Implementation of the simultaneous perturbation algorithm for stochastic optimization", IEEE
Transactions on Aerospace and Electronic Systems 34, 1998: the scores of two points on opposite
sides of the iterate estimate the gradient in all dimensions. As is usual for game engines, the
scores come from games of the two points against each other.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.params import check_real
from ludoteca.evaluate.tuning.optimizers.optimizer import Points, check_ranges
from ludoteca.evaluate.tuning.parameters import TunedParameter

ALPHA, GAMMA = 0.602, 0.101  # decay of step size and perturbation, section III.B
STABILITY_FRACTION = 0.1  # constant A as a fraction of the iterations, section III.B
AVERAGED_FRACTION = 0.5  # fraction of the iterates, the last ones, whose mean is recommended


class SPSA:
    """SPSA optimizer, which recommends the mean of the last half of its iterates."""

    plays_pairs = True  # the two points of a pair play each other; see `Optimizer`

    def __init__(
        self,
        parameters: Sequence[TunedParameter],
        start: Sequence[float],
        evaluations: int,
        seed: int,
        perturbation: float = 0.15,
        learning_rate: float = 0.15,
    ):
        """Make the optimizer; see `OptimizerFactory`.

        Args:
            parameters: the parameters, all with ranges.
            start: starting position of each parameter.
            evaluations: maximum number of points that are evaluated.
            seed: seed of the directions.
            perturbation: initial distance from the iterate to each of its two points in the unit
                cube, along each axis; `c` in the paper.
            learning_rate: initial step size per unit of gradient; `a / (A + 1)^alpha` in the paper.
        """
        check_ranges("spsa", parameters)
        self._perturbation = check_real("perturbation", perturbation, 1e-6, 0.5)
        self._learning_rate = check_real("learning_rate", learning_rate, 0, 1e6)
        self._iterations = max(evaluations // 2, 1)
        self._rng = np.random.default_rng(seed)
        self._iterates = [np.array(start, np.float64)]
        self._points = np.zeros((2, len(start)))

    def ask(self) -> Points:
        """Return two points on opposite sides of the iterate. Shape `[2, d]`."""
        k, iterate = len(self._iterates) - 1, self._iterates[-1]
        distance = self._perturbation / (k + 1) ** GAMMA
        direction = self._rng.choice([-1.0, 1.0], size=len(iterate))
        self._points = np.clip(
            [iterate + distance * direction, iterate - distance * direction], 0, 1
        )
        return self._points

    def tell(self, scores: NDArray[np.float64]) -> None:
        """Step along the estimated gradient."""
        k, offset = len(self._iterates) - 1, STABILITY_FRACTION * self._iterations  # k and A
        rate = self._learning_rate * ((offset + 1) / (offset + k + 1)) ** ALPHA
        gradient = (scores[0] - scores[1]) / (self._points[0] - self._points[1])
        self._iterates.append(np.clip(self._iterates[-1] + rate * gradient, 0, 1))

    def best(self) -> NDArray[np.float64]:
        """Return the mean of the last half of the iterates."""
        count = max(round(AVERAGED_FRACTION * len(self._iterates)), 1)
        mean: NDArray[np.float64] = np.mean(self._iterates[-count:], 0)
        return mean

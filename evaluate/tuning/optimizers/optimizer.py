"""Interface of optimizers: `ask` returns points of the unit cube, whose scores are passed back."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.tuning.parameters import TunedParameter

Points = NDArray[np.float64]  # n points of the unit cube, `[n, d]`


class Optimizer(Protocol):
    """Optimizer of noisy scores over the unit cube.

    The same seed and the same scores lead to the same points, so passing the logged scores to a new
    optimizer resumes a run.

    Attributes:
        plays_pairs: whether `ask` returns pairs of points that play each other, unless there are
            opponents. If not, each point is scored by itself, against the opponents or, without
            any, against the agent with its parameters before tuning.
    """

    plays_pairs: bool

    def ask(self) -> Points:
        """Return the points to evaluate next. Shape `[n, d]`."""

    def tell(self, scores: NDArray[np.float64]) -> None:
        """Update the optimizer with the mean scores of the points, in [0, 1]. Shape `[n]`."""

    def best(self) -> NDArray[np.float64]:
        """Return the recommended point. Shape `[d]`."""


class OptimizerFactory(Protocol):
    """Class of an optimizer; its settings are keyword arguments of its constructor.

    Attributes:
        plays_pairs: see `Optimizer`.
    """

    plays_pairs: bool

    def __call__(
        self,
        parameters: Sequence[TunedParameter],
        start: Sequence[float],
        evaluations: int,
        seed: int,
        **settings: Any,
    ) -> Optimizer:
        """Make an optimizer.

        Args:
            parameters: the parameters to tune, d of them.
            start: starting position of each parameter, in [0, 1].
            evaluations: maximum number of points that are evaluated.
            seed: seed of the optimizer's random numbers.
            **settings: settings of the optimizer.

        Raises:
            ValueError: if a setting is out of range, or the optimizer does not support the
                parameters.
        """


def check_ranges(name: str, parameters: Sequence[TunedParameter]) -> None:
    """Raise a `ValueError` if a parameter has choices, which the optimizer `name` cannot tune."""
    for parameter in parameters:
        if parameter.choices:
            raise ValueError(
                f"{name} tunes only ranges, but {parameter.name} has choices: use grid, ntbea or "
                "optuna"
            )

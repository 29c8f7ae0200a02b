"""Interface of optimizers."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.tuning.parameters import TunedParameter

Points = NDArray[np.float64]  # positions in [0, 1]; shape `[n, d]`


class Optimizer(Protocol):
    """Optimizer of noisy scores, which is asked for points and gets their scores.

    The same seed and the same scores lead to the same points, so that a run is resumed by passing
    it the recorded scores again.
    """

    # Whether the two points of a pair play each other, unless opponents are given.
    plays_pairs: bool

    def ask(self) -> Points:
        """Return the points to evaluate next. Shape `[n, d]`."""

    def tell(self, scores: NDArray[np.float64]) -> None:
        """Take the mean scores of the points, in [0, 1]. Shape `[n]`."""

    def best(self) -> NDArray[np.float64]:
        """Return the recommended point. Shape `[d]`."""


class Maker(Protocol):
    """Class of an optimizer; further keywords of its constructor are its settings."""

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
            start: position of each at the beginning.
            evaluations: number of points that will be evaluated, a little fewer at the end.
            seed: seed of the optimizer's random numbers.
            **settings: settings of this kind of optimizer.

        Raises:
            ValueError: if a setting is out of range, or the parameters do not suit the optimizer.
        """


def check_ranges(name: str, parameters: Sequence[TunedParameter]) -> None:
    """Raise `ValueError` if a parameter has choices, of which an optimizer cannot make steps."""
    for parameter in parameters:
        if parameter.choices:
            raise ValueError(
                f"{name} tunes ranges, and {parameter.name} has choices: use grid, ntbea or optuna"
            )

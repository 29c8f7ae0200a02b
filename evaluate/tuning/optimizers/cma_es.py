"""CMA-ES, from the package `cmaes`.

Hansen, "The CMA evolution strategy: a tutorial", arXiv:1604.00772. For noisy scores, its learning
rates adapt as in Nomura, Akimoto and Ono, "CMA-ES with learning rate adaptation", GECCO 2023.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.evaluate.tuning.optimizers.optimizer import Points, check_ranges
from ludoteca.evaluate.tuning.parameters import TunedParameter


class CMAES:
    """CMA-ES optimizer, which recommends the mean of its distribution."""

    plays_pairs = False  # each point is scored by itself, against opponents; see `Optimizer`

    def __init__(
        self,
        parameters: Sequence[TunedParameter],
        start: Sequence[float],
        evaluations: int,
        seed: int,
        sigma: float = 0.25,
        population: int = 0,
        lr_adapt: bool = True,
    ):
        """Make the optimizer; see `OptimizerFactory`.

        Args:
            parameters: the parameters, all with ranges.
            start: mean of the first distribution.
            evaluations: maximum number of points that are evaluated.
            seed: seed of the samples.
            sigma: standard deviation of the first distribution, in the unit cube.
            population: number of points of a generation, at least 2, or 5 with `lr_adapt`; 0 means
                the default, `4 + floor(3 ln d)`.
            lr_adapt: whether learning rates adapt to the noise.

        Raises:
            ModuleNotFoundError: if `cmaes` is not installed.
            ValueError: if a setting is out of range.
        """
        from cmaes import CMA

        check_ranges("cma_es", parameters)
        self._dimensions = len(start)
        # `cmaes` needs two dimensions: a single parameter gets a second one without effect.
        mean = np.array([*start, 0.5][: max(len(start), 2)])
        adapts = check_choice("lr_adapt", lr_adapt, (True, False))
        size = check_integer("population", population, 0, 10**4)
        minimum = 5 if adapts else 2
        if 0 < size < minimum:
            raise ValueError(
                f"population must be 0 or at least {minimum} with lr_adapt={adapts}, got {size}"
            )
        self._cma = CMA(
            mean=mean,
            sigma=check_real("sigma", sigma, 1e-6, 1),
            bounds=np.tile([0.0, 1.0], (len(mean), 1)),
            seed=seed % 2**32,  # the seeds of `cmaes` have 32 bits
            population_size=size or None,
            lr_adapt=adapts,
        )
        self._generation: list[NDArray[np.float64]] = []

    def ask(self) -> Points:
        """Return the points of a generation."""
        self._generation = [self._cma.ask() for _ in range(self._cma.population_size)]
        return np.array(self._generation)[:, : self._dimensions]

    def tell(self, scores: NDArray[np.float64]) -> None:
        """Update the distribution."""
        # `cmaes` minimizes.
        self._cma.tell([(x, -score) for x, score in zip(self._generation, scores, strict=True)])

    def best(self) -> NDArray[np.float64]:
        """Return the mean of the distribution."""
        mean: NDArray[np.float64] = np.clip(self._cma.mean[: self._dimensions], 0, 1)
        return mean

"""Optimizers of the package `optuna`: the tree-structured Parzen estimator, or random search."""

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.evaluate.tuning.optimizers.optimizer import Points
from ludoteca.evaluate.tuning.parameters import TunedParameter


class Optuna:
    """Optimizer of the package `optuna`.

    The highest of many noisy scores is biased upward. So the last evaluations are new ones of the
    points with the highest scores, the finalists. The finalist with the highest mean of its new
    scores is recommended.
    """

    plays_pairs = False  # each point is scored by itself, against opponents; see `Optimizer`

    def __init__(
        self,
        parameters: Sequence[TunedParameter],
        start: Sequence[float],
        evaluations: int,
        seed: int,
        sampler: str = "tpe",
        finalists: int = 8,
        final_fraction: float = 0.25,
    ):
        """Make the optimizer; see `OptimizerFactory`.

        Args:
            parameters: the parameters.
            start: the first point.
            evaluations: maximum number of points that are evaluated.
            seed: seed of the samples.
            sampler: tpe, the tree-structured Parzen estimator (Bergstra et al., "Algorithms for
                hyper-parameter optimization", NeurIPS 2011), or random.
            finalists: number of points that are evaluated again.
            final_fraction: fraction of all evaluations that is used for the finalists.

        Raises:
            ModuleNotFoundError: if `optuna` is not installed.
        """
        import optuna

        check_choice("sampler", sampler, ("tpe", "random"))
        check_integer("finalists", finalists, 1, 10**4)
        check_real("final_fraction", final_fraction, 0.01, 0.9)
        samplers = optuna.samplers
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._study = optuna.create_study(
            direction="maximize",
            sampler=samplers.TPESampler(seed=seed % 2**32)
            if sampler == "tpe"
            else samplers.RandomSampler(seed=seed % 2**32),
        )
        self._parameters = parameters
        self._distributions: dict[str, optuna.distributions.BaseDistribution] = {}
        for parameter in parameters:
            self._distributions[parameter.name] = (
                optuna.distributions.CategoricalDistribution(parameter.choices)
                if parameter.choices
                else optuna.distributions.FloatDistribution(0, 1)
            )
        self._study.enqueue_trial(
            {
                parameter.name: parameter.value(position) if parameter.choices else position
                for parameter, position in zip(parameters, start, strict=True)
            }
        )
        self._num_search_points = max(evaluations - ceil(final_fraction * evaluations), 1)
        self._num_finalists = finalists
        self._trial: Any = None
        self._points: list[NDArray[np.float64]] = []
        self._scores: list[float] = []
        self._finalists = np.zeros((0, len(start)))
        self._sums = np.zeros(0)

    def ask(self) -> Points:
        """Return a new point, or all finalists. Shape `[1, d]` or `[n, d]`."""
        if len(self._points) >= self._num_search_points:
            if not len(self._finalists):
                self._finalists = self._highest()
                self._sums = np.zeros(len(self._finalists))
            return self._finalists
        self._trial = self._study.ask(self._distributions)
        values = self._trial.params
        point = [
            parameter.position(values[parameter.name])
            if parameter.choices
            else float(values[parameter.name])
            for parameter in self._parameters
        ]
        self._points.append(np.array(point))
        return np.array([point])

    def tell(self, scores: NDArray[np.float64]) -> None:
        """Record the score of the new point, or add the scores to those of the finalists."""
        if len(self._finalists):
            self._sums += scores
            return
        self._scores.append(float(scores[0]))
        self._study.tell(self._trial, float(scores[0]))

    def best(self) -> NDArray[np.float64]:
        """Return the finalist with the highest mean score; before, the point with the highest."""
        points = self._finalists if self._sums.any() else self._highest()
        point: NDArray[np.float64] = points[self._sums.argmax() if self._sums.any() else 0]
        return point

    def _highest(self) -> NDArray[np.float64]:
        """Return the points with the highest scores. Shape `[n, d]`."""
        order = sorted(range(len(self._scores)), key=lambda k: -self._scores[k])
        return np.array([self._points[k] for k in order[: self._num_finalists]])

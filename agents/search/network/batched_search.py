"""Batched network-guided search: trees of a batch of positions, and simulations in them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.network.selection import NetworkSearchConfig
from ludoteca.agents.search.network.simulation import make_simulation
from ludoteca.agents.search.network.trees import ILLEGAL, SearchTrees, make_trees
from ludoteca.agents.search.simultaneous.tree import ROOT
from ludoteca.envs.game import Game

# Positions [K] and observing players [K] -> priors of the players' actions, float32 [K, A], and
# values for the players in [-1, 1], float32 [K]. Priors of illegal actions, and of actions that the
# evaluator excludes (masked ones), are `ILLEGAL`, or 0 for `DecoupledNetworkGuidedSearch.run`.
SeatEvaluator = Callable[
    [NDArray[np.void], NDArray[np.int64]], tuple[NDArray[np.float32], NDArray[np.float32]]
]


class BatchedSearch:
    """Trees of a batch of positions of one game, and simulations in them.

    Attributes:
        game: the game.
        trees: the trees of the last search.
    """

    def __init__(
        self, game: Game, count: int, simulations: int, config: NetworkSearchConfig, leaf_batch: int
    ):
        """Allocate the trees.

        Args:
            game: the game.
            count: maximum number of positions in a batch.
            simulations: maximum number of simulations per search.
            config: policy and parameters of the search.
            leaf_batch: maximum number of leaves of one search that are evaluated together.
        """
        self.game, self._params, self._leaf_batch = game, config.params, leaf_batch
        self._max_simulations = simulations
        self._all = make_trees(game, count, simulations + 1, leaf_batch)
        self.trees: SearchTrees = self._all
        self._compiled = make_simulation(game, config.policy, config.decisive)

    def _reset(
        self,
        states: NDArray[np.void],
        streams: NDArray[np.uint64] | None,
        simulations: int,
        evaluate: SeatEvaluator,
    ) -> SearchTrees:
        """Reset the trees to the positions and evaluate the roots.

        Args:
            states: positions of the roots. Shape `[K]`.
            streams: random streams, `[K, 1]`; None: zeros.
            simulations: maximum number of simulations of the searches.
            evaluate: the network.

        Raises:
            ValueError: if there are more positions or simulations than the workspace holds.
        """
        count = len(states)
        if count > len(self._all.size) or simulations > self._max_simulations:
            raise ValueError(
                f"the workspace is for {len(self._all.size)} searches of "
                f"{self._max_simulations} simulations, got {count} of up to {simulations}"
            )
        trees = self.trees = self._all.first(count)
        trees.states[:] = states
        trees.streams[:] = 0 if streams is None else streams
        self._compiled.reset(trees)
        self._expand(trees, evaluate)
        return trees

    def _is_over(self, finished: int, elapsed: float, seconds: float | None) -> bool:
        """Return whether the next simulations would exceed the time limit at the speed so far.

        Args:
            finished: simulations of each search so far, above 0.
            elapsed: seconds since the start of the searches.
            seconds: time limit, or None.
        """
        return seconds is not None and elapsed * (1 + self._leaf_batch / finished) > seconds

    def _simulate(
        self,
        trees: SearchTrees,
        counts: NDArray[np.int64],
        first: NDArray[np.int64],
        evaluate: SeatEvaluator,
    ) -> None:
        """Run `counts` simulations per tree, at most `leaf_batch`.

        For `counts` `[K]` and `first` `[K]` see `Simulation.descend`.
        """
        self._compiled.descend(trees, counts, first, self._params)
        self._expand(trees, evaluate)

    def _expand(self, trees: SearchTrees, evaluate: SeatEvaluator) -> None:
        """Evaluate the pending leaves by the network, and back up all simulations."""
        simulations, pending = trees.simulations, trees.simulations["pending"]
        states, seats = trees.leaf_states[pending], simulations["seats"][pending]
        if self.game.simultaneous or len(states) == 0:
            values = simulations["values"][pending]
            active = seats >= 0  # inactive (eliminated) players keep the values of `Game.returns`
            priors = np.full((*seats.shape, self.game.num_actions), ILLEGAL, np.float32)
            if active.any():
                priors[active], expected = evaluate(states[active.nonzero()[0]], seats[active])
                values[active] = 0.5 + 0.5 * expected  # trees hold values in [0, 1]
        else:
            priors, expected = evaluate(states, seats[:, 0])
            priors, values = priors[:, None], (0.5 + 0.5 * expected[:, None]).astype(np.float64)
        self._compiled.expand(trees, priors, values)


def check_shapes(
    outputs: str, count: int, game: Game, policies: NDArray[Any], values: NDArray[Any]
) -> None:
    """Check the shapes of a network's outputs for `count` positions.

    Args:
        outputs: name of the per-action outputs in error messages, such as `"logits"`.
        count: number of positions, K.
        game: the game.
        policies: per-action outputs; expected shape `[K, num_actions]`.
        values: values; expected shape `[K]`.

    Raises:
        ValueError: if they are wrong.
    """
    expected = (count, game.num_actions)
    if policies.shape != expected or values.shape != expected[:1]:
        raise ValueError(
            f"the network must return {outputs} {expected} and values {expected[:1]}, got "
            f"{policies.shape} and {values.shape}"
        )


def root_statistics(trees: SearchTrees) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return visit counts and mean values in [-1, 1], NaN without visits, of the roots' actions.

    Shapes `[B, R, A]`, for B trees, R rows of arms (see `SearchTrees`) and A actions.
    """
    arms = trees.arms[:, ROOT]
    visits = arms["visits"].copy()
    means = np.where(visits > 0, arms["value"] / np.maximum(visits, 1), np.nan)
    return visits, 2 * means - 1

"""B searches side by side where all move at once, whose leaves a network evaluates together."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.guided.decoupled_trees import (
    HIDDEN,
    DecoupledTrees,
    first_decoupled_trees,
    make_decoupled_simulation,
    make_decoupled_trees,
)
from ludoteca.agents.mcts.tree import ROOT
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game

# Positions [K] and seats [K] -> policies, float32 [K, A], 0 for actions that are not to be tried,
# and values in [-1, 1], float32 [K].
SeatEvaluator = Callable[
    [NDArray[np.void], NDArray[np.int64]], tuple[NDArray[np.float32], NDArray[np.float32]]
]


@dataclass(frozen=True)
class DecoupledSearchResult:
    """What B searches found at their roots, for each of P players.

    Attributes:
        visit_counts: simulations through each action. Shape `[B, P, A]`.
        action_values: mean value of the actions for who plays them, in [-1, 1], NaN without visits.
            Shape `[B, P, A]`.
        priors: what the network said. Shape `[B, P, A]`.
    """

    visit_counts: NDArray[np.int32]
    action_values: NDArray[np.float32]
    priors: NDArray[np.float32]


class DecoupledNetworkGuidedSearch:
    """Searches many positions of one game at once.

    Attributes:
        trees: the memory, after a search with all that was found.
    """

    def __init__(self, game: Game, count: int, simulations: int, leaf_batch: int = 1):
        """Make the memory.

        Args:
            game: in which all move at once.
            count: B, how many positions are searched at once, at most.
            simulations: of each search, at most.
            leaf_batch: of each search that the network sees at once; simulations under way count as
                lost to others.
        """
        self.game, self._most, self._leaf_batch = game, simulations, leaf_batch
        self._all = make_decoupled_trees(game, count, simulations + 1, leaf_batch)
        self.trees: DecoupledTrees = self._all
        self._compiled = make_decoupled_simulation(game)

    def run(
        self,
        states: NDArray[np.void],
        evaluate: SeatEvaluator,
        simulations: int,
        streams: NDArray[np.uint64],
        c_puct: float = 1.0,
        fpu_reduction: float = 0.1,
        seconds: float | None = None,
        uniform_fraction: float = 0.0,
    ) -> DecoupledSearchResult:
        """Search positions in which the game goes on.

        Args:
            states: the positions. Shape `[B]`.
            evaluate: the network.
            simulations: how many each search makes.
            streams: one random stream for each position, advanced in place. Shape `[B, 1]`.
            c_puct: PUCT's constant; values are in [0, 1].
            fpu_reduction: how much less than its node an action without visits is worth.
            seconds: stop after this time, if there are simulations left, but not before the first
                ones.
            uniform_fraction: share of the uniform policy in the players' policies at the root,
                while searching.

        Raises:
            ValueError: if there are more positions or simulations than the memory was made for.
        """
        count = len(states)
        if count > len(self._all.size) or simulations > self._most:
            raise ValueError(
                f"the memory is for {len(self._all.size)} searches of {self._most} simulations, "
                f"got {count} of {simulations}"
            )
        start = clock()
        trees = self.trees = first_decoupled_trees(self._all, count)
        trees.states[:] = states
        trees.streams[:] = streams
        self._compiled.begin(trees)
        self._evaluate(trees, evaluate)
        arms = trees.arms[:, ROOT]
        policies = np.maximum(arms["prior"], 0)
        if uniform_fraction > 0:
            tried = arms["prior"] >= 0
            uniform = tried / np.maximum(tried.sum(2, keepdims=True), 1)
            arms["prior"] = np.where(
                tried, (1 - uniform_fraction) * policies + uniform_fraction * uniform, HIDDEN
            )
        for k in range(0, simulations, self._leaf_batch):
            # The first simulations are made in any case: without visits nothing was found.
            if k > 0 and seconds is not None and clock() - start > seconds:
                break
            self._compiled.descend(
                trees, min(self._leaf_batch, simulations - k), c_puct, fpu_reduction
            )
            self._evaluate(trees, evaluate)
        streams[:] = trees.streams
        visits = arms["visits"].copy()
        with np.errstate(invalid="ignore"):
            means = np.where(visits > 0, arms["value"] / np.maximum(visits, 1), np.nan)
        values = (2 * means - 1).astype(np.float32)
        return DecoupledSearchResult(visits, values, policies)

    def _evaluate(self, trees: DecoupledTrees, evaluate: SeatEvaluator) -> None:
        """Let the network see the new leaves, each from the seats of all who can act."""
        game = self.game
        states = trees.leaf_states[trees.leaves >= 0]
        active = np.zeros((len(states), game.num_players), np.bool_)
        results = np.zeros(active.shape)
        self._compiled.outline(trees, active, results)
        rows, seats = np.nonzero(active)
        priors = np.full((*active.shape, game.num_actions), HIDDEN, np.float32)
        values = 0.5 + 0.5 * results
        if len(rows) > 0:
            policies, expected = evaluate(states[rows], seats)
            wanted = (len(rows), game.num_actions)
            if policies.shape != wanted or expected.shape != wanted[:1]:
                raise ValueError(
                    f"the network must return policies {wanted} and values {wanted[:1]}, got "
                    f"{policies.shape} and {expected.shape}"
                )
            priors[rows, seats] = np.where(policies > 0, policies, HIDDEN)
            values[rows, seats] = 0.5 + 0.5 * expected
        self._compiled.back_up_all(trees, priors, values)

"""B searches side by side where all move at once, whose leaves a network evaluates together."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.guided.joint_trees import (
    HIDDEN,
    JointTrees,
    first_joint_trees,
    make_joint_simulation,
    make_joint_trees,
)
from ludoteca.agents.mcts.tree import ROOT
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game

# Positions [K] and seats [K] -> policies, float32 [K, A], 0 for actions that are not to be tried,
# and values in [-1, 1], float32 [K].
Judge = Callable[
    [NDArray[np.void], NDArray[np.int64]], tuple[NDArray[np.float32], NDArray[np.float32]]
]


@dataclass(frozen=True)
class JointFound:
    """What B searches found at their roots, for each of P players.

    Attributes:
        visits: simulations through each action. Shape `[B, P, A]`.
        values: mean value of the actions for who plays them, in [-1, 1], NaN without visits. Shape
            `[B, P, A]`.
        policies: what the network said. Shape `[B, P, A]`.
    """

    visits: NDArray[np.int32]
    values: NDArray[np.float32]
    policies: NDArray[np.float32]


class JointSearch:
    """Searches many positions of one game at once.

    Attributes:
        trees: the memory, after a search with all that was found.
    """

    def __init__(self, game: Game, count: int, simulations: int, leaves: int = 1):
        """Make the memory.

        Args:
            game: in which all move at once.
            count: B, how many positions are searched at once, at most.
            simulations: of each search, at most.
            leaves: of each search that the network sees at once; simulations under way count as
                lost to others.
        """
        self.game, self._most, self._leaves = game, simulations, leaves
        self._all = make_joint_trees(game, count, simulations + 1, leaves)
        self.trees: JointTrees = self._all
        self._compiled = make_joint_simulation(game)

    def run(
        self,
        states: NDArray[np.void],
        judge: Judge,
        simulations: int,
        streams: NDArray[np.uint64],
        c: float = 1.0,
        fpu: float = 0.1,
        seconds: float | None = None,
        explore: float = 0.0,
    ) -> JointFound:
        """Search positions in which the game goes on.

        Args:
            states: the positions. Shape `[B]`.
            judge: the network.
            simulations: how many each search makes.
            streams: one random stream for each position, advanced in place. Shape `[B, 1]`.
            c: PUCT's constant; values are in [0, 1].
            fpu: how much less than its node an action without visits is worth.
            seconds: stop after this time, if there are simulations left, but not before the first
                ones.
            explore: share of the uniform policy in the players' policies at the root, while
                searching.

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
        trees = self.trees = first_joint_trees(self._all, count)
        trees.states[:] = states
        trees.streams[:] = streams
        self._compiled.begin(trees)
        self._judge(trees, judge)
        arms = trees.arms[:, ROOT]
        policies = np.maximum(arms["prior"], 0)
        if explore > 0:
            tried = arms["prior"] >= 0
            uniform = tried / np.maximum(tried.sum(2, keepdims=True), 1)
            arms["prior"] = np.where(tried, (1 - explore) * policies + explore * uniform, HIDDEN)
        for k in range(0, simulations, self._leaves):
            # The first simulations are made in any case: without visits nothing was found.
            if k > 0 and seconds is not None and clock() - start > seconds:
                break
            self._compiled.descend(trees, min(self._leaves, simulations - k), c, fpu)
            self._judge(trees, judge)
        streams[:] = trees.streams
        visits = arms["visits"].copy()
        with np.errstate(invalid="ignore"):
            means = np.where(visits > 0, arms["value"] / np.maximum(visits, 1), np.nan)
        values = (2 * means - 1).astype(np.float32)
        return JointFound(visits, values, policies)

    def _judge(self, trees: JointTrees, judge: Judge) -> None:
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
            policies, expected = judge(states[rows], seats)
            wanted = (len(rows), game.num_actions)
            if policies.shape != wanted or expected.shape != wanted[:1]:
                raise ValueError(
                    f"the network must return policies {wanted} and values {wanted[:1]}, got "
                    f"{policies.shape} and {expected.shape}"
                )
            priors[rows, seats] = np.where(policies > 0, policies, HIDDEN)
            values[rows, seats] = 0.5 + 0.5 * expected
        self._compiled.back_up_all(trees, priors, values)

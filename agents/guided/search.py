"""B searches side by side, whose leaves a network evaluates together."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.guided.gumbel import Halving
from ludoteca.agents.guided.selection import Rule, completed, scaled
from ludoteca.agents.guided.simulate import make_simulation
from ludoteca.agents.guided.trees import (
    BY_RULE,
    ROOT,
    Trees,
    first_trees,
    make_trees,
)
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory

# Planes [K, ...] -> logits of all actions, float32 [K, A], and values in [-1, 1], float32 [K].
Evaluate = Callable[[NDArray[np.int8]], tuple[NDArray[np.float32], NDArray[np.float32]]]


class Sight(Protocol):
    """What the network sees, and what its actions stand for; see `networks.encoder.Encoder`."""

    game: Game

    def encode(
        self, states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Return the planes, and the legal actions, of positions `[K]`."""

    def translate_policy(
        self, values: NDArray[np.float32], seats: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return in the game's order what the network says of each action. Shape `[K, A]`."""


@dataclass(frozen=True)
class Found:
    """What B searches found at their roots.

    Attributes:
        visits: simulations through each action. Shape `[B, A]`.
        policy: the improved policy: shares of visits, or Gumbel's. Shape `[B, A]`.
        values: mean value of the actions for the mover, NaN without visits. Shape `[B, A]`.
        value: of the position for the mover, who plays the improved policy. Shape `[B]`.
        best: the action that the search would play. Shape `[B]`.
    """

    visits: NDArray[np.int32]
    policy: NDArray[np.float32]
    values: NDArray[np.float32]
    value: NDArray[np.float32]
    best: NDArray[np.int64]


class GuidedSearch:
    """Searches many positions of one game at once.

    Attributes:
        trees: the memory, after a search with all that was found.
    """

    def __init__(
        self,
        encoder: Sight,
        count: int,
        simulations: int,
        rule: Rule | None = None,
        considered: int = 16,
        leaves: int = 1,
    ):
        """Make the memory.

        Args:
            encoder: of the game.
            count: B, how many positions are searched at once, at most.
            simulations: of each search, at most.
            rule: settings of the selection; by default PUCT's.
            considered: Gumbel: how many actions of a root are tried at most.
            leaves: of each search that the network sees at once; more than one are faster where
                few positions are searched, and choose a little less well. Not for Gumbel.

        Raises:
            ValueError: if Gumbel's search is to have more than one leaf.
        """
        self._encoder, self._rule, self._considered = encoder, rule or Rule(), considered
        self._most, self._leaves = simulations, leaves
        if self._rule.gumbel and leaves > 1:
            raise ValueError(f"the rule gumbel needs leaves=1, got {leaves}")
        # A node more than the trees can have: its state is working memory.
        self._all = make_trees(encoder.game, count, simulations + 2, leaves)
        self.trees: Trees = self._all
        self._compiled = make_simulation(
            encoder.game, self._rule.gumbel, self._rule.uct, self._rule.decisive
        )
        actions = encoder.game.num_actions
        self._memory = (np.zeros(actions, np.float32), np.zeros(2))
        self._legal = np.zeros(actions, np.int16)

    def run(
        self,
        states: NDArray[np.void],
        evaluate: Evaluate,
        simulations: NDArray[np.int64] | int,
        rng: np.random.Generator | None = None,
        noise: float = 0.0,
        concentration: float = 0.3,
        streams: NDArray[np.uint64] | None = None,
        seconds: float | None = None,
    ) -> Found:
        """Search positions in which the game goes on.

        Args:
            states: the positions. Shape `[B]`.
            evaluate: the network.
            simulations: how many each search makes: one number or one for each. Shape `[B]`.
            rng: draws the noise at the roots; None for none.
            noise: PUCT: share of Dirichlet noise in the roots' priors. Gumbel: scale of its noise.
            concentration: of the Dirichlet distribution.
            streams: UCT: one random stream for each position, advanced in place. Shape `[B, 1]`.
            seconds: stop after this time, if there are simulations left, but not before the first
                ones.

        Raises:
            ValueError: if there are more positions or simulations than the memory was made for.
        """
        count = len(states)
        budget = np.broadcast_to(np.asarray(simulations, np.int64), (count,))
        longest = int(budget.max(initial=0))
        if count > len(self._all.size) or longest > self._most:
            raise ValueError(
                f"the memory is for {len(self._all.size)} searches of {self._most} simulations, "
                f"got {count} of up to {longest}"
            )
        start = clock()
        trees = self.trees = first_trees(self._all, count)
        trees.states[:, ROOT] = states
        trees.streams[:] = 0 if streams is None else streams
        self._compiled.begin(trees)
        self._expand(trees, evaluate)
        priors = trees.priors[:, ROOT]
        legal = priors >= 0
        halving = None
        if self._rule.gumbel:
            halving = self._halving(priors, legal, budget, rng, noise)
        elif rng is not None and noise > 0:
            drawn = np.where(legal, rng.gamma(concentration, size=legal.shape), 0)
            drawn /= np.maximum(drawn.sum(1, keepdims=True), 1e-30)
            trees.priors[:, ROOT] = np.where(legal, (1 - noise) * priors + noise * drawn, priors)
        first = np.full(count, BY_RULE)
        for k in range(0, longest, self._leaves):
            # The first simulations are made in any case: without visits there is no best action.
            if k > 0 and seconds is not None and clock() - start > seconds:
                break
            if halving is not None:
                first = halving.choose(k, trees.visits[:, ROOT], self._sigma(trees))
            now = np.clip(budget - k, 0, self._leaves)
            self._compiled.descend(trees, now, first, self._rule, *self._memory)
            self._expand(trees, evaluate)
        if streams is not None:
            streams[:] = trees.streams
        return self._found(trees, halving)

    def _expand(self, trees: Trees, evaluate: Evaluate) -> None:
        """Let the network evaluate the new leaves, and back up all simulations under way."""
        chosen, slots = np.divmod(np.flatnonzero(trees.fresh), self._leaves)
        leaves = trees.leaves[chosen, slots]
        seats = trees.mover[chosen, leaves].astype(np.int64)
        logits = np.zeros((0, self._encoder.game.num_actions), np.float32)
        values = np.zeros(0, np.float32)
        if len(chosen) > 0:
            planes, _ = self._encoder.encode(trees.states[chosen, leaves], seats)
            logits, values = evaluate(planes)
            wanted = (len(chosen), self._encoder.game.num_actions)
            if logits.shape != wanted or values.shape != wanted[:1]:
                raise ValueError(
                    f"the network must return logits {wanted} and values {wanted[:1]}, got "
                    f"{logits.shape} and {values.shape}"
                )
            logits = self._encoder.translate_policy(logits, seats)
        self._compiled.expand(trees, chosen, slots, logits, values, self._legal, self._memory[1])

    def _halving(
        self,
        priors: NDArray[np.float32],
        legal: NDArray[np.bool_],
        budget: NDArray[np.int64],
        rng: np.random.Generator | None,
        noise: float,
    ) -> Halving:
        noisy = np.log(np.where(legal, np.maximum(priors, 1e-9), 1))
        if rng is not None and noise > 0:
            noisy = noisy + noise * rng.gumbel(size=noisy.shape)
        return Halving(noisy, legal, self._considered, budget)

    def _sigma(self, trees: Trees) -> NDArray[np.float64]:
        """Return `sigma(q)` of the roots' actions, 0 of those without visits."""
        visits, totals = trees.visits[:, ROOT], trees.totals[:, ROOT]
        q = totals / np.maximum(visits, 1)
        return np.where(visits > 0, scaled(q, visits.max(1, keepdims=True), self._rule), 0.0)

    def _found(self, trees: Trees, halving: Halving | None) -> Found:
        visits, totals = trees.visits[:, ROOT].copy(), trees.totals[:, ROOT]
        counts = np.maximum(visits.sum(1), 1)
        with np.errstate(invalid="ignore"):
            values = np.where(visits > 0, totals / np.maximum(visits, 1), np.nan)
        policy = (visits / counts[:, None]).astype(np.float32)
        best = visits.argmax(1)
        if halving is not None:
            make_write_policies()(trees, self._rule, policy)
            best = halving.best(visits, self._sigma(trees))
        elif self._rule.uct:  # the highest mean; of equal ones, the most visited
            means = np.where(visits > 0, values, -np.inf)
            best = np.where(means == means.max(1, keepdims=True), visits, -1).argmax(1)
        elif (visits.sum(1) == 0).any():  # no simulation: the priors are all there is
            unsearched = visits.sum(1) == 0
            policy[unsearched] = np.maximum(trees.priors[unsearched, ROOT], 0)
            best = np.where(unsearched, policy.argmax(1), best)
        # What is expected when the improved policy chooses, of the actions that were tried.
        weights = np.where(visits > 0, policy, 0)
        value = (weights * np.nan_to_num(values)).sum(1) / np.maximum(weights.sum(1), 1e-9)
        return Found(visits, policy, values.astype(np.float32), value.astype(np.float32), best)


@factory()
def make_write_policies() -> Any:
    """Return `write_policies(trees, rule, policy)`, which fills `policy`, float32 `[B, A]`."""

    @compiled_without_allocation
    def write_policies(trees: Any, rule: Any, policy: Any) -> None:
        for b in range(len(policy)):
            completed(trees, b, ROOT, rule, policy[b])

    return write_policies

"""Compiled halves of a simulation: selection down to a leaf, expansion and backup."""

import math
from typing import Any, NamedTuple

import numpy as np

from ludoteca.agents.search.network.selection import gumbel_interior, puct, uct
from ludoteca.agents.search.network.trees import BY_POLICY, ILLEGAL, LOSS, NO_NODE, ROOT
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel


class Simulation(NamedTuple):
    """Compiled functions over B searches.

    Attributes:
        begin: `begin(trees)` makes each root, whose position is in `states[:, 0]`, the leaf to be
            evaluated.
        descend: `descend(trees, counts, first, params, policy, scores)` selects the leaves of
            `counts` simulations, int64 `[B]`. `first`, int64 `[B]`, are the roots' actions, or
            `BY_POLICY`. Simulations that end in terminal positions are backed up at once.
            `policy`, float32 `[A]`, and `scores`, float64 `[2]`, are scratch space.
        expand: `expand(trees, chosen, slots, logits, values, legal, scores)` gives the leaf of
            simulation `slots` of search `chosen`, both int64 `[K]`, its priors, softmax of
            `logits`, float32 `[K, A]`, and its value for the player to move, float32 `[K]`; then it
            backs up all pending simulations. `legal`, int16 `[A]`, and `scores` are scratch space.
    """

    begin: Any
    descend: Any
    expand: Any


@factory("search")
def make_simulation(game: Game, gumbel: bool, by_uct: bool, decisive: bool) -> Simulation:
    """Return the compiled functions for a game and an interior selection, by default PUCT.

    Args:
        game: the game.
        gumbel: whether interior selection is Gumbel AlphaZero's.
        by_uct: whether it is UCT.
        decisive: whether leaves with a winning move count as won, whatever the network's value
            (decisive moves: Teytaud and Teytaud, "On the huge benefit of decisive moves in
            Monte-Carlo tree search algorithms", 2010).
    """
    step, is_terminal, returns = game.step, game.is_terminal, game.returns
    legal_actions, num_actions = game.legal_actions, game.num_actions
    player: Any = game.player

    @kernel
    def back_up(trees: Any, b: int, i: int, value: Any) -> None:
        """Add a simulation's value for player 0 along its path, in place of its virtual loss."""
        for k in range(trees.steps[b, i]):
            node, action = trees.path[b, i, k, 0], trees.path[b, i, k, 1]
            own = value if trees.mover[b, node] == 0 else -value
            trees.arms[b, node, action].value += own - LOSS

    @kernel
    def open_node(trees: Any, b: int, node: int, action: int, scores: Any) -> int:
        """Create the child of a node by an action; return its index."""
        child = trees.size[b]
        trees.size[b] += 1
        trees.arms[b, node, action].child = child
        for w in range(trees.words.shape[2]):
            trees.words[b, child, w] = trees.words[b, node, w]
        s = trees.states[b, child]
        step(s, action)
        trees.ended[b, child] = is_terminal(s)
        if trees.ended[b, child]:
            returns(s, scores)
            trees.value[b, child] = scores[0]
        else:
            trees.value[b, child] = np.nan
            trees.mover[b, child] = player(s)
        return child

    @kernel
    def go_down(
        trees: Any, b: int, i: int, first: int, params: Any, policy: Any, scores: Any
    ) -> None:
        """Select the leaf of simulation `i` of a search."""
        node = ROOT
        while True:
            if node == ROOT and first != BY_POLICY:
                action = first
            elif gumbel:
                action = gumbel_interior(trees, b, node, params, policy)
            elif by_uct:
                action = uct(trees, b, node, params)
            else:
                action = puct(trees, b, node, params)
            trees.path[b, i, trees.steps[b, i], 0] = node
            trees.path[b, i, trees.steps[b, i], 1] = action
            trees.steps[b, i] += 1
            trees.arms[b, node, action].visits += 1
            trees.arms[b, node, action].value += LOSS
            child = trees.arms[b, node, action].child
            opened = child == NO_NODE
            if opened:
                child = open_node(trees, b, node, action, scores)
            if trees.ended[b, child]:
                back_up(trees, b, i, trees.value[b, child])
                return
            # A node that another simulation has just created is still to be evaluated.
            waits = math.isnan(trees.value[b, child])
            if waits or trees.steps[b, i] == params.max_depth:
                trees.leaves[b, i] = child
                trees.fresh[b, i] = opened
                return
            node = child

    @compiled_without_allocation
    def begin(trees: Any) -> None:
        for b in range(len(trees.size)):
            trees.size[b] = 1
            trees.steps[b] = 0
            trees.leaves[b] = NO_NODE
            trees.leaves[b, 0] = ROOT
            trees.fresh[b] = False
            trees.fresh[b, 0] = True
            trees.ended[b, ROOT] = False
            trees.mover[b, ROOT] = player(trees.states[b, ROOT])

    @compiled_without_allocation
    def descend(trees: Any, counts: Any, first: Any, params: Any, policy: Any, scores: Any) -> None:
        for b in range(len(trees.size)):
            trees.steps[b] = 0
            trees.leaves[b] = NO_NODE
            trees.fresh[b] = False
            for i in range(counts[b]):
                go_down(trees, b, i, first[b], params, policy, scores)

    @kernel
    def winning(trees: Any, b: int, node: int, legal: Any, n: int, scores: Any) -> int:
        """Return a winning action, or -1; the last node's position is scratch space."""
        spare = trees.states.shape[1] - 1
        for i in range(n):
            for w in range(trees.words.shape[2]):
                trees.words[b, spare, w] = trees.words[b, node, w]
            s = trees.states[b, spare]
            step(s, legal[i])
            if is_terminal(s):
                returns(s, scores)
                if scores[trees.mover[b, node]] >= 1:
                    return int(legal[i])
        return -1

    @compiled_without_allocation
    def expand(
        trees: Any, chosen: Any, slots: Any, logits: Any, values: Any, legal: Any, scores: Any
    ) -> None:
        for k in range(len(chosen)):
            b = chosen[k]
            node = trees.leaves[b, slots[k]]
            arms = trees.arms[b, node]
            for a in range(num_actions):
                arms[a].prior, arms[a].visits, arms[a].value = ILLEGAL, 0, 0.0
                arms[a].child = NO_NODE
            n = legal_actions(trees.states[b, node], legal)
            largest = -np.inf
            for i in range(n):
                largest = max(largest, logits[k, legal[i]])
            total = 0.0
            for i in range(n):
                total += math.exp(logits[k, legal[i]] - largest)
            for i in range(n):
                arms[legal[i]].prior = math.exp(logits[k, legal[i]] - largest) / total
            trees.value[b, node] = values[k] if trees.mover[b, node] == 0 else -values[k]
            if decisive:
                won = winning(trees, b, node, legal, n, scores)
                if won >= 0:
                    for i in range(n):
                        arms[legal[i]].prior = 0.0
                    arms[won].prior = 1.0
                    trees.value[b, node] = 1.0 if trees.mover[b, node] == 0 else -1.0
        for b in range(len(trees.size)):
            for i in range(trees.leaves.shape[1]):
                if trees.leaves[b, i] != NO_NODE:
                    back_up(trees, b, i, trees.value[b, trees.leaves[b, i]])

    return Simulation(begin, descend, expand)

"""The compiled halves of a simulation: down to a leaf, and back with what the network said."""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ludoteca.agents.guided.selection import gumbel_interior, puct
from ludoteca.agents.guided.trees import BY_RULE, ILLEGAL, NO_NODE, REST, ROOT
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, kernel


class Simulation(NamedTuple):
    """Compiled functions over B searches.

    Attributes:
        begin: `begin(trees)` makes each root, whose position is in `states[:, 0]`, the leaf that
            waits for the network.
        descend: `descend(trees, first, rule, policy, scores)` goes from each root down to a leaf.
            `first`, int64 `[B]`, are the roots' actions, `BY_RULE`, or `REST` for no simulation.
            Simulations that end in a finished game are backed up at once. `policy`, float32 `[A]`,
            and `scores`, float64 `[2]`, are working memory.
        expand: `expand(trees, chosen, logits, values, legal)` gives the leaf of each search in
            `chosen`, int64 `[K]`, its priors, softmax of `logits`, float32 `[K, A]`, and its value
            to its mover, float32 `[K]`, and backs that up. `legal`, int16 `[A]`, is memory.
    """

    begin: Any
    descend: Any
    expand: Any


@cache
def make_simulation(game: Game, gumbel: bool) -> Simulation:
    """Return the compiled functions for a game and one of the two rules below the root."""
    step, is_terminal, returns = game.step, game.is_terminal, game.returns
    player, legal_actions, num_actions = game.player, game.legal_actions, game.num_actions

    @kernel
    def back_up(trees, b, value):
        """Add what a simulation was worth to player 0 to all it went through."""
        for k in range(trees.steps[b]):
            node, action = trees.path[b, k, 0], trees.path[b, k, 1]
            trees.visits[b, node, action] += 1
            trees.totals[b, node, action] += value if trees.mover[b, node] == 0 else -value

    @kernel
    def open_node(trees, b, node, action, scores):
        """Make the node that an action leads to; return its number."""
        child = trees.size[b]
        trees.size[b] += 1
        trees.children[b, node, action] = child
        for w in range(trees.words.shape[2]):
            trees.words[b, child, w] = trees.words[b, node, w]
        s = trees.states[b, child]
        step(s, action)
        trees.ended[b, child] = is_terminal(s)
        if trees.ended[b, child]:
            returns(s, scores)
            trees.value[b, child] = scores[0]
        else:
            trees.mover[b, child] = player(s)
        return child

    @compiled_without_allocation
    def begin(trees):
        for b in range(len(trees.size)):
            trees.size[b] = 1
            trees.steps[b] = 0
            trees.leaves[b] = ROOT
            trees.ended[b, ROOT] = False
            trees.mover[b, ROOT] = player(trees.states[b, ROOT])

    @compiled_without_allocation
    def descend(trees, first, rule, policy, scores):
        for b in range(len(trees.size)):
            node = ROOT
            trees.steps[b] = 0
            trees.leaves[b] = NO_NODE
            while first[b] != REST:
                if node == ROOT and first[b] != BY_RULE:
                    action = first[b]
                elif gumbel:
                    action = gumbel_interior(trees, b, node, rule, policy)
                else:
                    action = puct(trees, b, node, rule)
                trees.path[b, trees.steps[b], 0] = node
                trees.path[b, trees.steps[b], 1] = action
                trees.steps[b] += 1
                child = trees.children[b, node, action]
                opened = child == NO_NODE
                if opened:
                    child = open_node(trees, b, node, action, scores)
                if trees.ended[b, child]:
                    back_up(trees, b, trees.value[b, child])
                    break
                if opened:
                    trees.leaves[b] = child
                    break
                node = child

    @compiled_without_allocation
    def expand(trees, chosen, logits, values, legal):
        for k in range(len(chosen)):
            b = chosen[k]
            node = trees.leaves[b]
            priors = trees.priors[b, node]
            for a in range(num_actions):
                priors[a] = ILLEGAL
                trees.visits[b, node, a] = 0
                trees.totals[b, node, a] = 0
                trees.children[b, node, a] = NO_NODE
            n = legal_actions(trees.states[b, node], legal)
            largest = -np.inf
            for i in range(n):
                largest = max(largest, logits[k, legal[i]])
            total = 0.0
            for i in range(n):
                total += math.exp(logits[k, legal[i]] - largest)
            for i in range(n):
                priors[legal[i]] = math.exp(logits[k, legal[i]] - largest) / total
            trees.value[b, node] = values[k] if trees.mover[b, node] == 0 else -values[k]
            back_up(trees, b, trees.value[b, node])

    return Simulation(begin, descend, expand)

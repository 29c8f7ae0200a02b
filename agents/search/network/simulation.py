"""Compiled parts of a simulation: selection down to a leaf; expansion and backup.

In every node each player to move selects by their own priors and values: in sequential games one
player, in simultaneous games all of them, independently of each other (Tak, Lanctot and
Winands, "Monte Carlo tree search variants for simultaneous move games", 2014, section III.A).
Chance is open-loop: a node stands for the actions that led there.

In kernels, b is the index of a tree, `slot` of a simulation of the leaf batch, r of a row of arms
(see `SearchTrees`), p of a player, and d of a ply.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ludoteca.agents.search.network.selection import make_interior_selection
from ludoteca.agents.search.network.trees import ILLEGAL, NO_LEAF
from ludoteca.agents.search.simultaneous.selection import NO_ACTION
from ludoteca.agents.search.simultaneous.tree import FULL, ROOT, make_table
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.rng import next_u64

BY_POLICY = -1  # instead of a root's action: the interior selection selects one


class Simulation(NamedTuple):
    """Compiled functions over `trees`, a `SearchTrees` of B trees with R rows of arms per node.

    Attributes:
        reset: `reset(trees)` resets the trees to their roots, which are the first leaves. A
            simulation whose leaf the network has to evaluate is `pending`.
        descend: `descend(trees, counts, first, params)` selects the leaves of `counts[b]`
            simulations in each tree b. In sequential games they begin with the action `first[b]` at
            the root; it is `BY_POLICY` if the selection policy chooses. `counts` and `first` are
            int64 `[B]`, `params` are `SelectionParams`. Simulations that end in terminal positions
            are backed up at once.
        write_priors: `write_priors(states, logits, work, priors)` writes the softmax of `logits`
            over legal actions, float32 `[K, A]`; sequential games only. `work` is scratch space.
        expand: `expand(trees, priors, values)` expands the leaves of the K pending simulations with
            the network's `priors`, float32 `[K, R, A]`, and `values` in [0, 1], `[K, R]`, and backs
            up all simulations.
    """

    reset: Any
    descend: Any
    write_priors: Any
    expand: Any


@factory("search")
def make_simulation(game: Game, policy: str, decisive: bool) -> Simulation:
    """Return the compiled functions for a game; see `NetworkSearchConfig` for the options."""
    step, is_terminal, returns = game.step, game.is_terminal, game.returns
    legal_actions, num_actions = game.legal_actions, game.num_actions
    player: Any = game.player
    is_active: Any = game.is_active
    simultaneous, players = game.simultaneous, game.num_players
    rows = players if simultaneous else 1
    has_chance = simultaneous and game.has_chance
    reset_tree, find_or_add_child = make_table(None)  # None: arms of a network-guided search
    select = make_interior_selection(policy, simultaneous)

    @kernel
    def select_joint_action(
        trees: Any, b: int, node: int, actions: Any, s: Any, first: int, params: Any
    ) -> int:
        """Select the actions of the players to move in a node; return the joint action's index.

        It writes them to `actions`, `[R]`, and increments their visits. Until its score is added, a
        visit counts as a loss (virtual loss, see `statistics.py`).
        """
        work, joint = trees.work[0], 0
        for r in range(rows):
            n, action = num_actions, NO_ACTION
            if simultaneous:
                n = legal_actions(s, r, work.legal)
            if n > 0:
                action = first
                if node != ROOT or first == BY_POLICY:
                    arms, value = trees.arms[b, node, r], trees.nodes[b, node].values[r]
                    action = select(
                        arms, work.legal, n, value, params, work.policy, trees.streams[b]
                    )
                    if simultaneous:
                        action = int(work.legal[action])
                trees.arms[b, node, r, action].visits += 1
            actions[r] = action
            work.joint[r] = max(action, 0)
            joint = joint * num_actions + max(action, 0)
        return joint

    @kernel
    def simulate(trees: Any, b: int, slot: int, first: int, params: Any) -> None:
        """Select the leaf of simulation `slot` of the leaf batch; back up terminal positions."""
        trees.leaf_states[b, slot] = trees.states[b]
        s, simulation, nodes = (
            trees.leaf_states[b, slot],
            trees.simulations[b, slot],
            trees.nodes[b],
        )
        if has_chance:
            s.rng[0] = next_u64(trees.streams[b])
        node, depth, is_new, over = ROOT, 0, False, is_terminal(s)
        while not over and nodes[node].evaluated:
            if depth > 0 and depth == params.max_depth:  # a maximum of 0 is no limit
                break
            simulation.path[depth] = node
            nodes[node].visits += 1
            joint = select_joint_action(trees, b, node, simulation.actions[depth], s, first, params)
            if simultaneous:
                step(s, trees.work[0].joint)
            else:
                step(s, joint)
            depth += 1
            over = is_terminal(s)
            child = find_or_add_child(
                nodes, trees.arms[b], trees.table[b], trees.size[b], node, joint
            )
            is_new = child == trees.size[b] or child == FULL
            if child == FULL:
                break
            if is_new:
                trees.size[b] += 1
                reset_node(nodes[child], s)
            node = child
        simulation.depth = depth
        if over:
            returns(s, trees.work[0].scores)
            for p in range(players):
                trees.work[0].scores[p] = 0.5 + 0.5 * trees.work[0].scores[p]
            back_up(trees, b, simulation)
        else:
            # A leaf shared by several simulations is evaluated once, unless chance events differ.
            add_leaf(trees, s, simulation, node, is_new or has_chance or params.reevaluate)

    @kernel
    def reset_node(node: Any, s: Any) -> None:
        """Reset a node, whose position is `s`, to one without an evaluation."""
        node.evaluated = False
        if not simultaneous:
            node.mover = player(s)

    @kernel
    def add_leaf(trees: Any, s: Any, simulation: Any, leaf: int, pending: bool) -> None:
        """Make position `s` of node `leaf` a simulation's leaf; for `pending` see `Simulation`."""
        simulation.leaf, simulation.pending = leaf, pending
        if simultaneous:
            returns(s, trees.work[0].scores)  # the values of inactive (eliminated) players
            for p in range(players):
                simulation.seats[p] = p if is_active(s, p) else -1
                simulation.values[p] = 0.5 + 0.5 * trees.work[0].scores[p]
        else:
            simulation.seats[0] = player(s)

    @kernel
    def back_up(trees: Any, b: int, simulation: Any) -> None:
        """Add the players' scores in [0, 1], `work.scores`, along the path."""
        for d in range(simulation.depth):
            node = simulation.path[d]
            for r in range(rows):
                action = simulation.actions[d, r]
                if action != NO_ACTION:
                    p = r if simultaneous else trees.nodes[b, node].mover
                    trees.arms[b, node, r, action].value += trees.work[0].scores[p]

    @kernel
    def remove_leaves(simulations: Any) -> None:
        """Mark the simulations of one tree as not run."""
        for slot in range(len(simulations)):
            simulations[slot].leaf, simulations[slot].pending = NO_LEAF, False

    @compiled_without_allocation
    def reset(trees: Any) -> None:
        for b in range(len(trees.states)):
            reset_tree(trees.nodes[b], trees.arms[b])
            reset_node(trees.nodes[b, ROOT], trees.states[b])
            trees.size[b] = 1
            remove_leaves(trees.simulations[b])
            trees.leaf_states[b, 0] = trees.states[b]
            trees.simulations[b, 0].depth = 0
            add_leaf(trees, trees.states[b], trees.simulations[b, 0], ROOT, True)

    @compiled_without_allocation
    def descend(trees: Any, counts: Any, first: Any, params: Any) -> None:
        for b in range(len(trees.states)):
            remove_leaves(trees.simulations[b])
            for slot in range(counts[b]):
                simulate(trees, b, slot, first[b], params)

    @compiled_without_allocation
    def write_priors(states: Any, logits: Any, work: Any, priors: Any) -> None:
        legal = work[0].legal
        for k in range(len(states)):
            priors[k] = ILLEGAL
            n = legal_actions(states[k], legal)
            largest, total = -np.inf, 0.0
            for i in range(n):
                largest = max(largest, logits[k, legal[i]])
            for i in range(n):
                total += math.exp(logits[k, legal[i]] - largest)
            for i in range(n):
                priors[k, legal[i]] = math.exp(logits[k, legal[i]] - largest) / total

    @kernel
    def play_decisive_move(trees: Any, leaf_state: Any, mover: int, arms: Any, values: Any) -> None:
        """Count a leaf with a winning move as won, and give that move all prior probability."""
        for action in range(num_actions):
            if arms[action].prior >= 0:
                trees.spare[0] = leaf_state
                step(trees.spare[0], action)
                if is_terminal(trees.spare[0]):
                    returns(trees.spare[0], trees.work[0].scores)
                    if trees.work[0].scores[mover] >= 1:  # a win
                        for other in range(num_actions):
                            if arms[other].prior >= 0:
                                arms[other].prior = 0.0
                        arms[action].prior, values[0] = 1.0, 1.0
                        return

    @compiled_without_allocation
    def expand(trees: Any, priors: Any, values: Any) -> None:
        k, scores = 0, trees.work[0].scores  # k counts pending simulations
        for b in range(len(trees.states)):
            for slot in range(trees.simulations.shape[1]):
                simulation = trees.simulations[b, slot]
                if simulation.leaf == NO_LEAF:
                    continue
                leaf, arms = trees.nodes[b, simulation.leaf], trees.arms[b, simulation.leaf]
                if simulation.pending and not leaf.evaluated:
                    leaf.evaluated = True
                    for r in range(rows):
                        for action in range(num_actions):
                            arms[r, action].prior = priors[k, r, action]
                    if decisive:
                        state = trees.leaf_states[b, slot]
                        play_decisive_move(trees, state, leaf.mover, arms[0], values[k])
                    for r in range(rows):
                        leaf.values[r] = values[k, r]
                for r in range(rows):
                    scores[r] = values[k, r] if simulation.pending else leaf.values[r]
                if not simultaneous:
                    value = scores[0]
                    scores[leaf.mover], scores[1 - leaf.mover] = value, 1 - value
                back_up(trees, b, simulation)
                k += int(simulation.pending)

    return Simulation(reset, descend, write_priors, expand)

"""Compiled halves of a simulation: selection down to a leaf, expansion and backup.

In every node each player who moves there chooses by their own priors and values: in sequential
games one player, in simultaneous games all of them, independently of the others (Tak, Lanctot and
Winands, "Monte Carlo tree search variants for simultaneous move games", 2014, section III.A).
Chance is open-loop: a node stands for the actions that led there.
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

BY_POLICY = -1  # instead of a root's action: chosen by the interior selection


class Simulation(NamedTuple):
    """Compiled functions over trees.

    Attributes:
        begin: `begin(trees)` resets the trees to their roots, which are the first leaves.
            Simulations that the network has to evaluate are `pending`.
        descend: `descend(trees, counts, first, params)` selects the leaves of `counts` simulations,
            int64 `[B]`. `first`, int64 `[B]`, are the roots' actions in sequential games, or
            `BY_POLICY`. Simulations that end in terminal positions are backed up at once.
        write_priors: `write_priors(states, logits, work, priors)` writes the softmax of `logits`
            over legal actions, float32 `[K, A]`; sequential games only. `work` is scratch space.
        expand: `expand(trees, priors, values)` expands the pending leaves with the network's
            `priors`, float32 `[K, R, A]`, and `values`, `[K, R]`, and backs up all simulations.
    """

    begin: Any
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
    has_chance = simultaneous and "rng" in (game.state.names or ())
    start_tree, find_child = make_table(None)
    select = make_interior_selection(policy, simultaneous)

    @kernel
    def choose_all(t: Any, b: int, node: int, chosen: Any, s: Any, first: int, params: Any) -> int:
        """Select the players' actions and count the visits; return the joint action's index.

        Until its score is added, the visit counts as a loss (virtual loss, see `statistics.py`).
        """
        work, joint = t.work[0], 0
        for r in range(rows):
            n, action = num_actions, NO_ACTION
            if simultaneous:
                n = legal_actions(s, r, work.legal)
            if n > 0:
                action = first
                if node != ROOT or first == BY_POLICY:
                    arms, value = t.arms[b, node, r], t.nodes[b, node].values[r]
                    action = select(arms, work.legal, n, value, params, work.policy, t.streams[b])
                    if simultaneous:
                        action = int(work.legal[action])
                t.arms[b, node, r, action].visits += 1
            chosen[r] = action
            work.joint[r] = max(action, 0)
            joint = joint * num_actions + max(action, 0)
        return joint

    @kernel
    def simulate(t: Any, b: int, slot: int, first: int, params: Any) -> None:
        """Select the leaf of a simulation; back it up if the game is over there."""
        t.leaf_states[b, slot] = t.states[b]
        s, simulation, nodes = t.leaf_states[b, slot], t.simulations[b, slot], t.nodes[b]
        if has_chance:
            s.rng[0] = next_u64(t.streams[b])
        node, depth, is_new, over = ROOT, 0, False, is_terminal(s)
        while not over and nodes[node].evaluated:
            if depth > 0 and depth == params.max_depth:
                break
            simulation.path[depth] = node
            nodes[node].visits += 1
            joint = choose_all(t, b, node, simulation.chosen[depth], s, first, params)
            if simultaneous:
                step(s, t.work[0].joint)
            else:
                step(s, joint)
            depth += 1
            over = is_terminal(s)
            child = find_child(nodes, t.arms[b], t.table[b], t.size[b], node, joint)
            is_new = child == t.size[b] or child == FULL
            if child == FULL:
                break
            if is_new:
                t.size[b] += 1
                start_node(nodes[child], s)
            node = child
        simulation.depth = depth
        if over:
            returns(s, t.work[0].scores)
            for p in range(players):
                t.work[0].scores[p] = 0.5 + 0.5 * t.work[0].scores[p]
            back_up(t, b, simulation)
        else:
            # A leaf that another simulation has created is evaluated once, unless chance differs.
            add_leaf(t, s, simulation, node, is_new or has_chance)

    @kernel
    def start_node(node: Any, s: Any) -> None:
        node.evaluated = False
        if not simultaneous:
            node.mover = player(s)

    @kernel
    def add_leaf(t: Any, s: Any, simulation: Any, leaf: int, pending: bool) -> None:
        """Make a position, of the node `leaf`, the end of a simulation."""
        simulation.leaf, simulation.pending = leaf, pending
        if simultaneous:
            returns(s, t.work[0].scores)  # so far, and final for inactive players
            for p in range(players):
                simulation.seats[p] = p if is_active(s, p) else -1
                simulation.values[p] = 0.5 + 0.5 * t.work[0].scores[p]
        else:
            simulation.seats[0] = player(s)

    @kernel
    def back_up(t: Any, b: int, simulation: Any) -> None:
        """Add the players' scores, `work.scores`, along the path."""
        for d in range(simulation.depth):
            node = simulation.path[d]
            for r in range(rows):
                action = simulation.chosen[d, r]
                if action != NO_ACTION:
                    p = r if simultaneous else t.nodes[b, node].mover
                    t.arms[b, node, r, action].value += t.work[0].scores[p]

    @kernel
    def remove_leaves(simulations: Any) -> None:
        for slot in range(len(simulations)):
            simulations[slot].leaf, simulations[slot].pending = NO_LEAF, False

    @compiled_without_allocation
    def begin(t: Any) -> None:
        for b in range(len(t.states)):
            start_tree(t.nodes[b], t.arms[b])
            start_node(t.nodes[b, ROOT], t.states[b])
            t.size[b] = 1
            remove_leaves(t.simulations[b])
            t.leaf_states[b, 0] = t.states[b]
            t.simulations[b, 0].depth = 0
            add_leaf(t, t.states[b], t.simulations[b, 0], ROOT, True)

    @compiled_without_allocation
    def descend(t: Any, counts: Any, first: Any, params: Any) -> None:
        for b in range(len(t.states)):
            remove_leaves(t.simulations[b])
            for slot in range(counts[b]):
                simulate(t, b, slot, first[b], params)

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
    def play_decisive_move(t: Any, leaf_state: Any, mover: int, arms: Any, values: Any) -> None:
        """Count a leaf with a winning move as won, and give that move all prior probability."""
        for action in range(num_actions):
            if arms[action].prior >= 0:
                t.spare[0] = leaf_state
                step(t.spare[0], action)
                if is_terminal(t.spare[0]):
                    returns(t.spare[0], t.work[0].scores)
                    if t.work[0].scores[mover] >= 1:
                        for other in range(num_actions):
                            if arms[other].prior >= 0:
                                arms[other].prior = 0.0
                        arms[action].prior, values[0] = 1.0, 1.0
                        return

    @compiled_without_allocation
    def expand(t: Any, priors: Any, values: Any) -> None:
        k, scores = 0, t.work[0].scores
        for b in range(len(t.states)):
            for slot in range(t.simulations.shape[1]):
                simulation = t.simulations[b, slot]
                if simulation.leaf == NO_LEAF:
                    continue
                leaf, arms = t.nodes[b, simulation.leaf], t.arms[b, simulation.leaf]
                if simulation.pending and not leaf.evaluated:
                    leaf.evaluated = True
                    for r in range(rows):
                        for action in range(num_actions):
                            arms[r, action].prior = priors[k, r, action]
                    if decisive:
                        state = t.leaf_states[b, slot]
                        play_decisive_move(t, state, leaf.mover, arms[0], values[k])
                    for r in range(rows):
                        leaf.values[r] = values[k, r]
                for r in range(rows):
                    scores[r] = values[k, r] if simulation.pending else leaf.values[r]
                if not simultaneous:
                    value = scores[0]
                    scores[leaf.mover], scores[1 - leaf.mover] = value, 1 - value
                back_up(t, b, simulation)
                k += int(simulation.pending)

    return Simulation(begin, descend, write_priors, expand)

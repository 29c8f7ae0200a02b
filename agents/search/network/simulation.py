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
        descend: `descend(trees, counts, first, params)` selects the leaves of `counts` simulations,
            int64 `[B]`. `first`, int64 `[B]`, are the roots' actions in sequential games, or
            `BY_POLICY`. Simulations that end in terminal positions are backed up at once.
        write_seats: `write_seats(trees, seats, values)` writes for the K pending leaves, in the
            order of `np.nonzero(pending)`, the players to evaluate, int64 `[K, R]`, -1 for inactive
            ones, and the values of the latter, float64 `[K, R]`.
        write_priors: `write_priors(states, logits, legal, priors)` writes the softmax of `logits`
            over legal actions, float32 `[K, A]`; sequential games only. `legal`, int16 `[A]`, is
            scratch space.
        expand: `expand(trees, priors, values)` expands the pending leaves with the network's
            `priors`, float32 `[K, R, A]`, and `values`, `[K, R]`, and backs up all simulations.
    """

    begin: Any
    descend: Any
    write_seats: Any
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
    def choose_all(
        t: Any, b: int, node: int, slot: int, depth: int, s: Any, first: int, params: Any
    ) -> int:
        """Select the players' actions and count the visits; return the joint action's index.

        Until its score is added, the visit counts as a loss (virtual loss, see `statistics.py`).
        """
        joint = 0
        for r in range(rows):
            n, action = num_actions, NO_ACTION
            if simultaneous:
                n = legal_actions(s, r, t.legal)
            if n > 0:
                action = first
                if node != ROOT or first == BY_POLICY:
                    arms, value = t.arms[b, node, r], t.values[b, node, r]
                    action = select(arms, t.legal, n, value, params, t.policy, t.streams[b])
                    if simultaneous:
                        action = int(t.legal[action])
                t.arms[b, node, r, action].visits += 1
            t.chosen[b, slot, depth, r] = action
            t.joint[r] = max(action, 0)
            joint = joint * num_actions + max(action, 0)
        return joint

    @kernel
    def simulate(t: Any, b: int, slot: int, first: int, params: Any) -> None:
        """Select the leaf of a simulation; back it up if the game is over there."""
        t.leaf_states[b, slot] = t.states[b]
        s = t.leaf_states[b, slot]
        if has_chance:
            s.rng[0] = next_u64(t.streams[b])
        node, depth, is_new, over = ROOT, 0, False, is_terminal(s)
        while not over and t.evaluated[b, node]:
            if depth > 0 and depth == params.max_depth:
                break
            t.path[b, slot, depth] = node
            t.nodes[b, node].visits += 1
            joint = choose_all(t, b, node, slot, depth, s, first, params)
            if simultaneous:
                step(s, t.joint)
            else:
                step(s, joint)
            depth += 1
            over = is_terminal(s)
            child = find_child(t.nodes[b], t.arms[b], t.table[b], t.size[b], node, joint)
            is_new = child == t.size[b] or child == FULL
            if child == FULL:
                break
            if is_new:
                t.size[b] += 1
                t.evaluated[b, child] = False
                if not simultaneous:
                    t.mover[b, child] = player(s)
            node = child
        t.depth[b, slot], t.leaves[b, slot] = depth, node
        # A leaf that another simulation has created is evaluated once, unless chance differs.
        t.pending[b, slot] = is_new or has_chance
        if over:
            t.leaves[b, slot], t.pending[b, slot] = NO_LEAF, False
            returns(s, t.returns)
            for p in range(players):
                t.returns[p] = 0.5 + 0.5 * t.returns[p]
            back_up(t, b, slot)

    @kernel
    def back_up(t: Any, b: int, slot: int) -> None:
        """Add the players' scores, `t.returns`, along the path."""
        for d in range(t.depth[b, slot]):
            node = t.path[b, slot, d]
            for r in range(rows):
                action = t.chosen[b, slot, d, r]
                if action != NO_ACTION:
                    p = r if simultaneous else t.mover[b, node]
                    t.arms[b, node, r, action].value += t.returns[p]

    @compiled_without_allocation
    def begin(t: Any) -> None:
        for b in range(len(t.states)):
            start_tree(t.nodes[b], t.arms[b])
            t.size[b], t.evaluated[b, ROOT] = 1, False
            for slot in range(t.leaves.shape[1]):
                t.leaves[b, slot], t.pending[b, slot] = NO_LEAF, False
            t.leaf_states[b, 0] = t.states[b]
            t.leaves[b, 0], t.pending[b, 0], t.depth[b, 0] = ROOT, True, 0
            if not simultaneous:
                t.mover[b, ROOT] = player(t.states[b])

    @compiled_without_allocation
    def descend(t: Any, counts: Any, first: Any, params: Any) -> None:
        for b in range(len(t.states)):
            for slot in range(t.leaves.shape[1]):
                t.leaves[b, slot], t.pending[b, slot] = NO_LEAF, False
                if slot < counts[b]:
                    simulate(t, b, slot, first[b], params)

    @compiled_without_allocation
    def write_seats(t: Any, seats: Any, values: Any) -> None:
        k = 0
        for b in range(len(t.states)):
            for slot in range(t.leaves.shape[1]):
                if t.pending[b, slot]:
                    s = t.leaf_states[b, slot]
                    if simultaneous:
                        returns(s, t.returns)  # so far, and final for inactive players
                        for p in range(players):
                            seats[k, p] = p if is_active(s, p) else -1
                            values[k, p] = 0.5 + 0.5 * t.returns[p]
                    else:
                        seats[k, 0] = player(s)
                    k += 1

    @compiled_without_allocation
    def write_priors(states: Any, logits: Any, legal: Any, priors: Any) -> None:
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
    def play_decisive_move(t: Any, b: int, slot: int, arms: Any, values: Any) -> None:
        """Count a leaf with a winning move as won, and give that move all prior probability."""
        mover = player(t.leaf_states[b, slot])
        for action in range(num_actions):
            if arms[action].prior >= 0:
                t.spare[0] = t.leaf_states[b, slot]
                s = t.spare[0]
                step(s, action)
                if is_terminal(s):
                    returns(s, t.returns)
                    if t.returns[mover] >= 1:
                        for other in range(num_actions):
                            if arms[other].prior >= 0:
                                arms[other].prior = 0.0
                        arms[action].prior, values[0] = 1.0, 1.0
                        return

    @compiled_without_allocation
    def expand(t: Any, priors: Any, values: Any) -> None:
        k = 0
        for b in range(len(t.states)):
            for slot in range(t.leaves.shape[1]):
                leaf = t.leaves[b, slot]
                if leaf == NO_LEAF:
                    continue
                pending = t.pending[b, slot]
                if pending and not t.evaluated[b, leaf]:
                    t.evaluated[b, leaf] = True
                    for r in range(rows):
                        for action in range(num_actions):
                            t.arms[b, leaf, r, action].prior = priors[k, r, action]
                    if decisive:
                        play_decisive_move(t, b, slot, t.arms[b, leaf, 0], values[k])
                    for r in range(rows):
                        t.values[b, leaf, r] = values[k, r]
                for r in range(rows):
                    t.returns[r] = values[k, r] if pending else t.values[b, leaf, r]
                if not simultaneous:
                    value = t.returns[0]
                    t.returns[0] = 1 - value
                    t.returns[1] = 1 - value
                    t.returns[t.mover[b, leaf]] = value
                back_up(t, b, slot)
                k += int(pending)

    return Simulation(begin, descend, write_seats, write_priors, expand)

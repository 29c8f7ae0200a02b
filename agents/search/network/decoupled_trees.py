"""Trees and compiled simulation of batched decoupled PUCT.

In every node each player chooses by their own priors and values, independently of the others (Tak,
Lanctot and Winands, "Monte Carlo tree search variants for simultaneous move games", 2014, section
III.A; the selection is that of Silver et al., "Mastering the game of Go without human knowledge",
2017). Chance is open-loop: a node stands for the actions that led there.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.select import make_select_by_prior
from ludoteca.agents.search.simultaneous.tree import (
    FULL,
    NODE,
    ROOT,
    check_joint_actions,
    make_table,
    table_size,
)
from ludoteca.agents.search.statistics import arm_dtype
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.rng import next_u64

HIDDEN = -1.0  # prior of a masked action
NO_ACTION = -1  # of an inactive player
ENDED = -1  # instead of a leaf: the game is over, nothing to evaluate


class DecoupledTrees(NamedTuple):
    """B trees of up to N nodes, for P players with A actions and L simultaneous simulations.

    Attributes:
        states: positions of the roots. Shape `[B]`.
        nodes: dtype `simultaneous.tree.NODE`. Shape `[B, N]`.
        arms: statistics of the players' actions, with values in [0, 1]. Dtype
            `statistics.arm_dtype`, shape `[B, N, P, A]`.
        table: children by joint action, int32. Shape `[B, table_size(N)]`.
        size: number of nodes. Shape `[B]`.
        seen: whether the network has evaluated a node. Shape `[B, N]`.
        values: value of a node for each player by the network or the game, in [0, 1]. Shape
            `[B, N, P]`.
        leaf_states: last position of each simulation. Shape `[B, L]`.
        leaves: its node, or `ENDED`. Shape `[B, L]`.
        path: nodes of the simulation. Shape `[B, L, D]`.
        chosen: actions in these nodes, or `NO_ACTION`. Shape `[B, L, D, P]`.
        depth: length of the path. Shape `[B, L]`.
        scores: scratch space. Shape `[P]`.
        joint: scratch space. Shape `[P]`.
        legal: scratch space. Shape `[A]`.
        streams: random streams. Shape `[B, 1]`.
    """

    states: NDArray[np.void]
    nodes: NDArray[np.void]
    arms: NDArray[np.void]
    table: NDArray[np.int32]
    size: NDArray[np.int32]
    seen: NDArray[np.bool_]
    values: NDArray[np.float32]
    leaf_states: NDArray[np.void]
    leaves: NDArray[np.int32]
    path: NDArray[np.int32]
    chosen: NDArray[np.int8]
    depth: NDArray[np.int32]
    scores: NDArray[np.float64]
    joint: NDArray[np.int64]
    legal: NDArray[np.int16]
    streams: NDArray[np.uint64]


def make_decoupled_trees(game: Game, count: int, nodes: int, leaf_batch: int) -> DecoupledTrees:
    """Return trees for `count` searches of up to `nodes` nodes.

    Raises:
        ValueError: if the game has too many joint actions.
    """
    check_joint_actions(game)
    players, actions = game.num_players, game.num_actions
    deepest = min(nodes, game.max_plies) + 1
    return DecoupledTrees(
        states=game.empty(count),
        nodes=np.zeros((count, nodes), NODE),
        arms=np.zeros((count, nodes, players, actions), arm_dtype("puct")),
        table=np.zeros((count, table_size(nodes)), np.int32),
        size=np.zeros(count, np.int32),
        seen=np.zeros((count, nodes), np.bool_),
        values=np.zeros((count, nodes, players), np.float32),
        leaf_states=game.empty(count * leaf_batch).reshape(count, leaf_batch),
        leaves=np.zeros((count, leaf_batch), np.int32),
        path=np.zeros((count, leaf_batch, deepest), np.int32),
        chosen=np.zeros((count, leaf_batch, deepest, players), np.int8),
        depth=np.zeros((count, leaf_batch), np.int32),
        scores=np.zeros(players),
        joint=np.zeros(players, np.int64),
        legal=np.zeros(actions, np.int16),
        streams=np.zeros((count, 1), np.uint64),
    )


def first_decoupled_trees(trees: DecoupledTrees, count: int) -> DecoupledTrees:
    """Return views of the first `count` trees."""
    shared = ("scores", "joint", "legal")
    parts = {
        name: array if name in shared else array[:count] for name, array in trees._asdict().items()
    }
    return DecoupledTrees(**parts)


class DecoupledSimulation(NamedTuple):
    """Compiled functions over trees.

    Attributes:
        begin: `begin(trees)` resets the trees to their roots, which are the first leaves.
        descend: `descend(trees, count, c, fpu)` selects the leaves of `count` simulations in each
            tree, at most L; simulations that end in terminal positions are backed up at once.
        outline: `outline(trees, active, results)` writes for the K other leaves, in the order of
            `np.nonzero(leaves >= 0)`, which players are active, bool `[K, P]`, and the players'
            returns so far, float64 `[K, P]`, which are final for inactive players.
        back_up_all: `back_up_all(trees, priors, values)` expands these leaves with the network's
            `priors` `[K, P, A]` (`HIDDEN` for masked actions) and backs up its `values` `[K, P]` in
            [0, 1].
    """

    begin: Any
    descend: Any
    outline: Any
    back_up_all: Any


@factory("search")
def make_decoupled_simulation(game: Game) -> DecoupledSimulation:
    """Return the compiled functions for a game."""
    step, is_terminal, returns = game.step, game.is_terminal, game.returns
    is_active: Any = game.is_active
    legal_actions, players, num_actions = game.legal_actions, game.num_players, game.num_actions
    has_chance = "rng" in (game.state.names or ())
    start_tree, find_child = make_table("puct")
    select = make_select_by_prior(simultaneous=True)

    @kernel
    def choose(t: Any, b: int, node: int, p: int, n: int, c: float, fpu: float) -> int:
        """Return a player's action among `t.legal[:n]` by PUCT."""
        visits = 0
        for k in range(n):
            visits += t.arms[b, node, p, t.legal[k]].visits
        unvisited = float(t.values[b, node, p]) - fpu
        return int(t.legal[select(t.arms[b, node, p], t.legal, n, visits, unvisited, c)])

    @kernel
    def back_up(t: Any, b: int, slot: int) -> None:
        """Add `t.scores` along the path, whose visits were counted before (virtual loss)."""
        for d in range(t.depth[b, slot]):
            for p in range(players):
                action = t.chosen[b, slot, d, p]
                if action != NO_ACTION:
                    t.arms[b, t.path[b, slot, d], p, action].value += t.scores[p]

    @kernel
    def simulate(t: Any, b: int, slot: int, c: float, fpu: float) -> None:
        t.leaf_states[b, slot] = t.states[b]
        s = t.leaf_states[b, slot]
        if has_chance:
            s.rng[0] = next_u64(t.streams[b])
        node, depth = ROOT, 0
        over = is_terminal(s)
        while not over and t.seen[b, node]:
            joint = 0
            for p in range(players):
                n = legal_actions(s, p, t.legal)
                action = NO_ACTION
                if n > 0:
                    action = choose(t, b, node, p, n, c, fpu)
                    t.arms[b, node, p, action].visits += 1
                t.chosen[b, slot, depth, p] = action
                t.joint[p] = max(action, 0)
                joint = joint * num_actions + max(action, 0)
            t.path[b, slot, depth] = node
            t.nodes[b, node].visits += 1
            depth += 1
            step(s, t.joint)
            over = is_terminal(s)
            child = find_child(t.nodes[b], t.arms[b], t.table[b], t.size[b], node, joint)
            if child == FULL:
                break
            if child == t.size[b]:
                t.size[b] += 1
                t.seen[b, child] = False
            node = child
        t.depth[b, slot] = depth
        t.leaves[b, slot] = node
        if over:
            t.leaves[b, slot] = ENDED
            returns(s, t.scores)
            for p in range(players):
                t.scores[p] = 0.5 + 0.5 * t.scores[p]
            back_up(t, b, slot)

    @compiled_without_allocation
    def begin(t: Any) -> None:
        for b in range(len(t.states)):
            start_tree(t.nodes[b], t.arms[b])
            t.size[b] = 1
            t.seen[b, ROOT] = False
            for slot in range(t.leaves.shape[1]):
                t.leaves[b, slot] = ENDED
            t.leaf_states[b, 0] = t.states[b]
            t.leaves[b, 0], t.depth[b, 0] = ROOT, 0

    @compiled_without_allocation
    def descend(t: Any, count: int, c: float, fpu: float) -> None:
        for b in range(len(t.states)):
            for slot in range(t.leaves.shape[1]):
                t.leaves[b, slot] = ENDED
                if slot < count:
                    simulate(t, b, slot, c, fpu)

    @compiled_without_allocation
    def outline(t: Any, active: Any, results: Any) -> None:
        k = 0
        for b in range(len(t.states)):
            for slot in range(t.leaves.shape[1]):
                if t.leaves[b, slot] >= 0:
                    s = t.leaf_states[b, slot]
                    returns(s, results[k])
                    for p in range(players):
                        active[k, p] = is_active(s, p)
                    k += 1

    @compiled_without_allocation
    def back_up_all(t: Any, priors: Any, values: Any) -> None:
        k = 0
        for b in range(len(t.states)):
            for slot in range(t.leaves.shape[1]):
                leaf = t.leaves[b, slot]
                if leaf < 0:
                    continue
                if not t.seen[b, leaf]:
                    t.seen[b, leaf] = True
                    for p in range(players):
                        t.values[b, leaf, p] = values[k, p]
                        for action in range(num_actions):
                            t.arms[b, leaf, p, action].prior = priors[k, p, action]
                for p in range(players):
                    t.scores[p] = values[k, p]
                back_up(t, b, slot)
                k += 1

    return DecoupledSimulation(begin, descend, outline, back_up_all)

"""Expansion of tree nodes, with decisive moves and a transposition table.

Arrays are those of `ludoteca.agents.search.sequential.search.search_kernel`; `words` are those of
one position, `s`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.position_hash import hash_of
from ludoteca.agents.search.select import UNKNOWN
from ludoteca.agents.search.sequential.groups import make_group_assignment
from ludoteca.agents.search.sequential.tree import (
    AGE,
    MAX_AGE,
    NO_PLAYER,
    ROOT,
    SIZE,
    SPARE,
    UNEXPANDED,
)
from ludoteca.agents.search.statistics import make_statistics
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel

PROBES = 8  # slots of the transposition table that a lookup probes (open addressing)


@factory()
def make_expansion(
    game: Game, config: SearchConfig
) -> tuple[Callable[..., None], Callable[..., None], Callable[..., bool]]:
    """Return the kernels of the tree's growth.

    `reset_tree(nodes, shared, table, work)` resets the tree to its root.

    `expand(nodes, node, shared, table, states, s, words, work)` creates the children of `node`,
    with position `s`, unless the tree is full. With transpositions or chance, a position that was
    expanded before has its existing children. With chance only the table leads to the children of a
    position: if it has no free entry for the position, `node` is not expanded either.

    `wins_immediately(states, s, action, work) -> bool` returns whether `action` wins in `s`.
    """
    legal_actions, step, is_terminal = game.legal_actions, game.step, game.is_terminal
    returns = game.returns
    player: Any = game.player
    decisive, anti = config.decisive != "", config.decisive == "both"
    has_chance = game.has_chance
    use_table = config.transpositions or has_chance
    reset_arm, _ = make_statistics(config.policy)
    assign_groups, grouped = make_group_assignment(game, config), config.groups != ""

    @kernel
    def reset_node(node: Any, prior: float, action: int, mover: int) -> None:
        """Reset a node to the unvisited child of an action."""
        reset_arm(node, prior)
        node.first_child, node.num_children, node.num_visited, node.block_visits = (
            UNEXPANDED,
            0,
            0,
            0,
        )
        node.action, node.mover, node.proven = action, mover, UNKNOWN

    @kernel
    def reset_tree(nodes: Any, shared: Any, table: Any, work: Any) -> None:
        reset_node(nodes[ROOT], 1.0, -1, NO_PLAYER)
        shared[SIZE] = 1
        if use_table:  # the next age clears the table
            shared[AGE] = shared[AGE] % MAX_AGE + 1
            if shared[AGE] == 1:  # ages begin again
                for i in range(len(table)):
                    table[i].age = 0
        work.simulation = 0
        work.last_seen[:] = 0
        work.mast_visits[:] = 0
        work.mast_value[:] = 0.0

    @kernel
    def wins_immediately(states: Any, s: Any, action: int, work: Any) -> bool:
        """Return whether `action` wins in `s`; overwrite `states[SPARE]`."""
        mover = player(s)
        states[SPARE] = s
        spare = states[SPARE]
        step(spare, action)
        if is_terminal(spare):
            returns(spare, work.scores)
            return work.scores[mover] > 0
        return False

    @kernel
    def allows_win(states: Any, s: Any, action: int, work: Any) -> bool:
        """Return whether the opponent could win immediately after `action` in `s`."""
        mover = player(s)
        states[SPARE] = s
        spare = states[SPARE]
        step(spare, action)
        if is_terminal(spare) or player(spare) == mover:
            return False
        n = legal_actions(spare, work.replies)
        for k in range(n):
            if k > 0:
                states[SPARE] = s
                step(spare, action)
            replier = player(spare)
            step(spare, work.replies[k])
            if is_terminal(spare):
                returns(spare, work.scores)
                if work.scores[replier] > 0:
                    return True
        return False

    @kernel
    def candidates(states: Any, s: Any, work: Any) -> int:
        """Write the actions to expand to `work.legal`; return their number.

        With decisive moves these are a winning action alone, or else, with anti-decisive moves, the
        legal actions after which the opponent cannot win immediately, if there are any.
        """
        n = legal_actions(s, work.legal)
        if decisive:
            for k in range(n):
                if wins_immediately(states, s, work.legal[k], work):
                    work.legal[0] = work.legal[k]
                    return 1
            if anti:
                kept = 0
                for k in range(n):
                    if not allows_win(states, s, work.legal[k], work):
                        work.legal[kept] = work.legal[k]
                        kept += 1
                return kept if kept > 0 else legal_actions(s, work.legal)
        return n

    @kernel
    def hash_position(s: Any, words: Any) -> Any:
        """Return the hash of position `s`, whatever the state of its random stream."""
        if has_chance:
            stream = s.rng[0]
            s.rng[0] = 0
            key = hash_of(words)
            s.rng[0] = stream
            return key
        return hash_of(words)

    @kernel
    def expand(
        nodes: Any, node: int, shared: Any, table: Any, states: Any, s: Any, words: Any, work: Any
    ) -> None:
        parent = nodes[node]
        entry = np.int64(-1)
        if use_table:
            key = hash_position(s, words)
            for probe in range(PROBES):
                i = np.int64((key + np.uint64(probe)) % np.uint64(len(table)))
                if table[i].age != shared[AGE]:
                    entry = i
                    break
                if table[i].key == key:
                    parent.first_child, parent.num_children = (
                        table[i].first_child,
                        table[i].num_children,
                    )
                    return
        if has_chance and entry < 0:
            return
        n = candidates(states, s, work)
        first = shared[SIZE]
        if first + n > len(nodes):
            return
        shared[SIZE] += n
        mover = player(s)
        for k in range(n):
            reset_node(nodes[first + k], 1.0 / n, work.legal[k], mover)
        parent.first_child, parent.num_children = first, n
        if grouped:
            assign_groups(nodes, first, n, s, work)
        # Nested: without a table Numba prunes the branch, in which `key` has no type.
        if use_table:  # noqa: SIM102
            if entry >= 0:
                new = table[entry]
                new.key, new.first_child, new.num_children, new.age = key, first, n, shared[AGE]

    return reset_tree, expand, wins_immediately

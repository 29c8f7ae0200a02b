"""Selection of a child: first-play urgency, selection policy, and reference node of GRAVE.

`nodes` and `work` are those of `search.search_kernel`, `params` is one record of its `params`.
"""

import math
from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.select import UNVISITED, make_select
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel
from ludoteca.envs.rng import below


@factory()
def make_selection(
    game: Game, config: SearchConfig
) -> tuple[Callable[..., int], Callable[..., None], Callable[..., None]]:
    """Return the kernels of selection.

    `choose(nodes, node, work, params) -> child` selects a child of an expanded node and writes the
    probability of that choice to `work.probability`.

    `set_reference(nodes, node, work)` copies the AMAF statistics of the reference node of GRAVE;
    `clear_reference(work)` removes them.
    """
    select = make_select(config.policy, config.amaf, config.solver)
    amaf, num_actions = config.amaf != "", game.num_actions

    @kernel
    def choose(nodes: Any, node: int, work: Any, params: Any) -> int:
        parent = nodes[node]
        block = nodes[parent.first_child]
        visited, unvisited = block.num_visited, parent.num_children - block.num_visited
        if visited > 0 and not (unvisited > 0 and params.fpu == math.inf):
            arms = nodes[parent.first_child : parent.first_child + visited]
            visits = max(block.block_visits, 1)
            k = select(
                arms, work.legal, visited, unvisited, visits, parent.num_children, params, work
            )
            if k != UNVISITED:
                return parent.first_child + k
            if unvisited == 0:  # all children are proven
                return parent.first_child + below(work.rng, visited)
        work.probability = 1.0
        return visit_new_child(nodes, node, work)

    @kernel
    def visit_new_child(nodes: Any, node: int, work: Any) -> int:
        """Choose an unvisited child at random, or the one of the highest AMAF mean if there is one.

        Swap it behind the visited children and count it as visited.
        """
        parent = nodes[node]
        block = nodes[parent.first_child]
        chosen = block.num_visited + below(work.rng, parent.num_children - block.num_visited)
        if amaf:
            best = -1.0
            for k in range(block.num_visited, parent.num_children):
                child = nodes[parent.first_child + k]
                if child.amaf_visits > 0 and child.amaf_value / child.amaf_visits > best:
                    best = child.amaf_value / child.amaf_visits
                    chosen = k
        at, last = parent.first_child + chosen, parent.first_child + block.num_visited
        if at != last:
            # Neither has visits or children, so only these fields differ.
            a, b = nodes[at], nodes[last]
            a.action, b.action = b.action, a.action
            a.prior, b.prior = b.prior, a.prior
            a.amaf_visits, b.amaf_visits = b.amaf_visits, a.amaf_visits
            a.amaf_value, b.amaf_value = b.amaf_value, a.amaf_value
        block.num_visited += 1
        return last

    @kernel
    def clear_reference(work: Any) -> None:
        for action in range(num_actions):
            work.reference_visits[action] = -1

    @kernel
    def set_reference(nodes: Any, node: int, work: Any) -> None:
        clear_reference(work)
        for k in range(nodes[node].first_child, nodes[node].first_child + nodes[node].num_children):
            work.reference_visits[nodes[k].action] = nodes[k].amaf_visits
            work.reference_value[nodes[k].action] = nodes[k].amaf_value

    return choose, clear_reference, set_reference

"""Selection of a child: first-play urgency, selection policy, and reference nodes of GRAVE.

`nodes` and `work` are those of `ludoteca.agents.search.sequential.search.search_kernel`, `params`
is one record of its `params`.
"""

import math
from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.exploration import make_exploration
from ludoteca.agents.search.select import UNVISITED, make_select
from ludoteca.agents.search.sequential.groups import ALL_PROVEN, make_group_selection
from ludoteca.agents.search.sequential.tree import ROOT
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel
from ludoteca.envs.rng import below

ANY_GROUP = -1  # instead of a move group
ANY_CHILD = -1  # instead of the number of a child
NO_NODE = -1  # instead of a reference node of GRAVE


@factory()
def make_selection(
    game: Game, config: SearchConfig
) -> tuple[Callable[..., int], Callable[..., None], Callable[..., None]]:
    """Return the kernels of selection.

    `choose(nodes, node, work, params) -> child` selects a child of an expanded node and writes the
    probability of that choice to `work.probability`.

    `set_reference(nodes, node, work)` copies the AMAF statistics of the children of `node`, which
    is the reference node of GRAVE, or `NO_NODE`. `clear_references(work)` removes them, and the
    reference nodes of all players.
    """
    select = make_select(
        config.policy,
        config.amaf,
        config.solver,
        scales_exploration=config.scales_exploration,
        amaf_fpu=config.amaf_fpu,
    )
    amaf_fpu, grave = config.amaf_fpu, config.amaf == "grave"
    amaf, num_actions, players = config.amaf != "", game.num_actions, game.num_players
    scales_exploration, uses_stdev = config.scales_exploration, config.exploration_stdev != ""
    _, _, scale_by_stdev = make_exploration(config)
    grouped = config.groups != ""
    choose_group, choose_member = make_group_selection(config)

    @kernel
    def choose(nodes: Any, node: int, work: Any, params: Any) -> int:
        parent = nodes[node]
        block = nodes[parent.first_child]
        visited, unvisited = block.num_visited, parent.num_children - block.num_visited
        if grouped:
            if scales_exploration and visited > 0:
                arms = nodes[parent.first_child : parent.first_child + visited]
                write_exploration(arms, visited, node == ROOT, work)
            return choose_in_group(nodes, node, work, params)
        urgency, new_child = params.fpu, ANY_CHILD
        if amaf_fpu and unvisited > 0:
            new_child = most_urgent_child(nodes, node, work, params)
            urgency = work.urgency
        if visited > 0 and not (unvisited > 0 and urgency == math.inf):
            arms = nodes[parent.first_child : parent.first_child + visited]
            visits = max(block.block_visits, 1)
            if scales_exploration:
                write_exploration(arms, visited, node == ROOT, work)
            k = select(
                arms, work.legal, visited, unvisited, visits, parent.num_children, params, work
            )
            if k != UNVISITED:
                return parent.first_child + k
            if unvisited == 0:  # all children are proven
                return parent.first_child + below(work.rng, visited)
        work.probability = 1.0
        if amaf_fpu:
            return visit_child(nodes, node, new_child)
        return visit_new_child(nodes, node, ANY_GROUP, work)

    @kernel
    def most_urgent_child(nodes: Any, node: int, work: Any, params: Any) -> int:
        """Return the unvisited child of the highest first-play urgency, a random one of equals.

        The urgency is the AMAF mean that the policy would use, or `params.fpu` without one. Write
        the highest urgency to `work.urgency`.
        """
        parent = nodes[node]
        best, chosen, ties = -math.inf, 0, 0
        for k in range(nodes[parent.first_child].num_visited, parent.num_children):
            child = nodes[parent.first_child + k]
            visits, value = child.amaf_visits, child.amaf_value
            if grave and work.reference_visits[child.action] >= 0:
                visits = work.reference_visits[child.action]
                value = work.reference_value[child.action]
            urgency = value / visits if visits > 0 else params.fpu
            if urgency > best:
                best, chosen, ties = urgency, k, 1
            elif urgency == best:
                ties += 1
                if below(work.rng, ties) == 0:  # reservoir sampling
                    chosen = k
        work.urgency = best
        return chosen

    @kernel
    def choose_in_group(nodes: Any, node: int, work: Any, params: Any) -> int:
        """Select a move group by the policy, then a child in it by the same policy."""
        parent = nodes[node]
        group = choose_group(nodes, node, work, params)
        if group == ALL_PROVEN:
            return parent.first_child + below(work.rng, parent.num_children)
        k = choose_member(nodes, node, group, work, params)
        work.probability = 1.0
        if k != UNVISITED:
            return parent.first_child + k
        return visit_new_child(nodes, node, group, work)

    @kernel
    def write_exploration(arms: Any, visited: int, is_root: bool, work: Any) -> None:
        """Write the exploration factor of a node to `work.exploration`."""
        visits, value, square = 0, 0.0, 0.0
        if uses_stdev:
            for k in range(visited):
                visits += arms[k].visits
                value += arms[k].value
                square += arms[k].square
        scale_by_stdev(visits, value, square, 0, is_root, work)

    @kernel
    def visit_new_child(nodes: Any, node: int, group: int, work: Any) -> int:
        """Choose an unvisited child at random, or the one of the highest AMAF mean if there is one.

        With move groups only the children of `group` are chosen from.
        """
        parent = nodes[node]
        block = nodes[parent.first_child]
        if grouped:
            chosen, members = -1, 0
            for k in range(block.num_visited, parent.num_children):
                if nodes[parent.first_child + k].group == group:
                    members += 1
                    if below(work.rng, members) == 0:  # reservoir sampling
                        chosen = k
        else:
            chosen = block.num_visited + below(work.rng, parent.num_children - block.num_visited)
        if amaf:
            best = -1.0
            for k in range(block.num_visited, parent.num_children):
                child = nodes[parent.first_child + k]
                if grouped and child.group != group:
                    continue
                if child.amaf_visits > 0 and child.amaf_value / child.amaf_visits > best:
                    best = child.amaf_value / child.amaf_visits
                    chosen = k
        return visit_child(nodes, node, chosen)

    @kernel
    def visit_child(nodes: Any, node: int, chosen: int) -> int:
        """Swap unvisited child number `chosen` behind the visited ones; count it as visited."""
        parent = nodes[node]
        block = nodes[parent.first_child]
        at, last = parent.first_child + chosen, parent.first_child + block.num_visited
        if at != last:
            # Neither has visits or children, so only these fields differ.
            a, b = nodes[at], nodes[last]
            a.action, b.action = b.action, a.action
            a.prior, b.prior = b.prior, a.prior
            a.amaf_visits, b.amaf_visits = b.amaf_visits, a.amaf_visits
            a.amaf_value, b.amaf_value = b.amaf_value, a.amaf_value
            if grouped:
                a.group, b.group = b.group, a.group
        block.num_visited += 1
        return last

    @kernel
    def clear_references(work: Any) -> None:
        for player in range(players):
            work.reference_nodes[player] = NO_NODE
        clear_statistics(work)

    @kernel
    def clear_statistics(work: Any) -> None:
        work.reference_node = NO_NODE
        for action in range(num_actions):
            work.reference_visits[action] = -1

    @kernel
    def set_reference(nodes: Any, node: int, work: Any) -> None:
        if node == work.reference_node:  # they are copied already
            return
        clear_statistics(work)
        if node == NO_NODE:
            return
        work.reference_node = node
        for k in range(nodes[node].first_child, nodes[node].first_child + nodes[node].num_children):
            work.reference_visits[nodes[k].action] = nodes[k].amaf_visits
            work.reference_value[nodes[k].action] = nodes[k].amaf_value

    return choose, clear_references, set_reference

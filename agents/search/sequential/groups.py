"""Move groups: a bandit selects a group of a node's actions, then another selects the action.

Childs, Brodeur and Kocsis, "Transpositions and move groups in Monte Carlo tree search" (CIG 2008),
section IV. Both bandits have the selection policy of the search. The statistics of a group are the
sums over its members that are not proven, as if it were a node between the node and its members.
Groups without visits come first, in random order, and so do members without visits, unless `fpu` is
finite. Partitions are those of `ludoteca.agents.move_groups`.

`nodes` and `work` are those of `ludoteca.agents.search.sequential.search.search_kernel`, `params`
is one record of its `params`.
"""

import math
from collections.abc import Callable
from typing import Any

from ludoteca.agents.move_groups import find_move_groups
from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.select import UNKNOWN, UNVISITED, make_select
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel
from ludoteca.envs.rng import below

ALL_PROVEN = -1  # instead of a group, if all children are proven


@kernel
def no_group(s: Any, action: int) -> int:
    """Return the same group for all actions."""
    return 0


@factory()
def make_group_assignment(game: Game, config: SearchConfig) -> Callable[..., None]:
    """Return the kernel `assign_groups(nodes, first, n, s, work)`.

    It writes the groups, numbered from 0, of the `n` nodes from `first` on, the children of a node
    with position `s`, and their priors: the probability of a child within its group.
    """
    group_of = find_move_groups(config.groups, game) if config.groups else no_group

    @kernel
    def assign_groups(nodes: Any, first: int, n: int, s: Any, work: Any) -> None:
        for k in range(first, first + n):
            work.group_index[group_of(s, nodes[k].action)] = -1
        num_groups = 0
        for k in range(first, first + n):
            part = group_of(s, nodes[k].action)
            if work.group_index[part] < 0:
                work.group_index[part], work.group_size[num_groups] = num_groups, 0
                num_groups += 1
            nodes[k].group = work.group_index[part]
            work.group_size[nodes[k].group] += 1
        for k in range(first, first + n):
            nodes[k].prior = 1.0 / work.group_size[nodes[k].group]

    return assign_groups


@factory()
def make_group_selection(config: SearchConfig) -> tuple[Callable[..., int], Callable[..., int]]:
    """Return two kernels.

    `choose_group(nodes, node, work, params) -> group` selects a group of an expanded node, or
    `ALL_PROVEN`, and writes the statistics of all groups to `work`.

    `choose_member(nodes, node, group, work, params) -> k` then selects a visited child of the
    group, the k-th of the node, or `UNVISITED`: the caller selects a child of the group without
    visits.
    """
    solver, scales = config.solver, config.scales_exploration
    # Groups have no statistics of all moves as first (AMAF).
    select_group = make_select(config.policy, scales_exploration=scales, arms_at="groups")
    select_member = make_select(
        config.policy, config.amaf, solver, scales_exploration=scales, arms_at="indexed"
    )

    @kernel
    def is_proven(child: Any) -> bool:
        if solver:
            return bool(child.proven != UNKNOWN)
        return False

    @kernel
    def sum_groups(nodes: Any, node: int, work: Any) -> int:
        """Write the statistics of all groups to `work`; return their number."""
        first, n = nodes[node].first_child, nodes[node].num_children
        num_visited = nodes[first].num_visited
        for group in range(n):
            work.group_value[group], work.group_square[group] = 0.0, 0.0
            work.group_visits[group], work.group_size[group] = 0, 0
            work.group_unvisited[group], work.group_open[group] = 0, 0
        num_groups = 0
        for k in range(n):
            child = nodes[first + k]
            group = child.group
            num_groups = max(num_groups, group + 1)
            work.group_size[group] += 1
            if k >= num_visited:
                work.group_unvisited[group] += 1
                work.group_open[group] += 1
            elif not is_proven(child):
                work.group_open[group] += 1
                work.group_visits[group] += child.visits
                work.group_value[group] += child.value
                work.group_square[group] += child.square
        return num_groups

    @kernel
    def choose_group(nodes: Any, node: int, work: Any, params: Any) -> int:
        num_groups = sum_groups(nodes, node, work)
        work.group_prior = 1.0 / num_groups
        groups, visited, unvisited, unvisited_group = work.legal, 0, 0, ALL_PROVEN
        for group in range(num_groups):
            if work.group_visits[group] > 0:
                groups[visited] = group
                visited += 1
            elif work.group_open[group] > 0:
                unvisited += 1
                if below(work.rng, unvisited) == 0:  # reservoir sampling
                    unvisited_group = group
        if visited > 0 and not (unvisited > 0 and params.fpu == math.inf):
            visits = max(nodes[nodes[node].first_child].block_visits, 1)
            k = select_group(work, groups, visited, unvisited, visits, num_groups, params, work)
            if k != UNVISITED:
                return int(groups[k])
        return int(unvisited_group)

    @kernel
    def choose_member(nodes: Any, node: int, group: int, work: Any, params: Any) -> int:
        first, members, visited = nodes[node].first_child, work.legal, 0
        num_visited = nodes[first].num_visited
        for k in range(num_visited):
            if nodes[first + k].group == group:
                members[visited] = k
                visited += 1
        unvisited = work.group_unvisited[group]
        if visited == 0 or (unvisited > 0 and params.fpu == math.inf):
            return UNVISITED
        visits = work.group_visits[group] + 1  # with this one, as `block_visits`
        arms = nodes[first : first + num_visited]
        k = select_member(
            arms, members, visited, unvisited, visits, work.group_size[group], params, work
        )
        if k == UNVISITED:
            return UNVISITED
        return int(members[k])

    return choose_group, choose_member

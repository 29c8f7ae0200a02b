"""Selection of a child: first-play urgency, the selection policy, and GRAVE's reference node."""

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
    """Return three kernels.

    `choose(nodes, node, work, params) -> child` selects a child of an expanded node and writes the
    probability of that choice to `work.probability`.

    `forget_reference(work)` and `set_reference(nodes, node, work)` make no node or `node` the
    reference node of GRAVE, whose AMAF statistics are used.
    """
    select = make_select(config.policy, config.amaf, config.solver)
    amaf, num_actions = config.amaf != "", game.num_actions

    @kernel
    def choose(nodes: Any, node: int, work: Any, params: Any) -> int:
        parent = nodes[node]
        block = nodes[parent.first]
        opened, unopened = block.opened, parent.count - block.opened
        if opened > 0 and not (unopened > 0 and params.fpu == math.inf):
            arms = nodes[parent.first : parent.first + opened]
            visits = max(block.selections, 1)
            k = select(arms, work.legal, opened, unopened, visits, parent.count, params, work)
            if k != UNVISITED:
                return parent.first + k
            if unopened == 0:
                return parent.first + below(work.rng, opened)
        work.probability = 1.0
        return open_child(nodes, node, work)

    @kernel
    def open_child(nodes: Any, node: int, work: Any) -> int:
        """Choose a child without visits at random and move it to the end of the opened ones.

        With AMAF statistics, the child of the highest AMAF mean is chosen.
        """
        parent = nodes[node]
        block = nodes[parent.first]
        chosen = block.opened + below(work.rng, parent.count - block.opened)
        if amaf:
            best = -1.0
            for k in range(block.opened, parent.count):
                child = nodes[parent.first + k]
                if child.amaf_visits > 0 and child.amaf_value / child.amaf_visits > best:
                    best = child.amaf_value / child.amaf_visits
                    chosen = k
        at, last = parent.first + chosen, parent.first + block.opened
        if at != last:
            # Neither has visits or children, so they differ in these fields only.
            a, b = nodes[at], nodes[last]
            a.action, b.action = b.action, a.action
            a.prior, b.prior = b.prior, a.prior
            a.amaf_visits, b.amaf_visits = b.amaf_visits, a.amaf_visits
            a.amaf_value, b.amaf_value = b.amaf_value, a.amaf_value
        block.opened += 1
        return last

    @kernel
    def forget_reference(work: Any) -> None:
        for action in range(num_actions):
            work.reference_visits[action] = -1

    @kernel
    def set_reference(nodes: Any, node: int, work: Any) -> None:
        forget_reference(work)
        for k in range(nodes[node].first, nodes[node].first + nodes[node].count):
            work.reference_visits[nodes[k].action] = nodes[k].amaf_visits
            work.reference_value[nodes[k].action] = nodes[k].amaf_value

    return choose, forget_reference, set_reference

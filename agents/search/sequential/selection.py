"""Selection of a child: the selection policy, AMAF, first-play urgency and sampling."""

import math
from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.policies import NO_BEST, POLICIES, leading, unit
from ludoteca.agents.search.sequential.tree import UNEXPANDED, UNKNOWN
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel
from ludoteca.envs.rng import below


@factory()
def make_selection(
    game: Game, config: SearchConfig
) -> tuple[Callable[..., int], Callable[..., None]]:
    """Return two kernels.

    `choose(nodes, node, reference, work, params) -> child` selects a child of an expanded node and
    writes the probability of that choice to `work.probability`.

    `remember_reference(nodes, node, work)` makes `node` the reference node of GRAVE, whose AMAF
    statistics are used; before that, `reference` is UNEXPANDED.
    """
    policy = POLICIES[config.policy]
    score, is_sampled, importance = (
        policy.score,
        policy.kind == "weights",
        policy.importance_weighted,
    )
    needs_best, solver = policy.needs_best, config.solver
    amaf, constant, grave = config.amaf != "", config.amaf == "amaf", config.amaf == "grave"
    num_actions = game.num_actions

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
    def mixed_mean(nodes: Any, child: Any, reference: Any, work: Any, params: Any) -> float:
        """Return the mean of a visited child, mixed with its AMAF mean.

        "amaf": alpha-AMAF, Helmbold and Parker-Wood, 2009. "rave": Gelly and Silver, 2011,
        section 4.3, with the weight of Silver's thesis, 2009, eq. 8.25. "grave": the same with an
        ancestor's statistics, Cazenave, "Generalized rapid action value estimation", 2015.
        """
        mean = child.value / child.visits
        visits, value = child.amaf_visits, child.amaf_value
        if grave and reference != UNEXPANDED:
            slot = work.reference[child.action]
            if slot >= 0:
                visits, value = nodes[slot].amaf_visits, nodes[slot].amaf_value
        if visits == 0:
            return mean
        if constant:
            weight = params.amaf_weight
        else:
            bias = params.amaf_weight
            weight = visits / (visits + child.visits + 4.0 * bias * bias * visits * child.visits)
        return (1 - weight) * mean + weight * value / visits

    @kernel
    def sample_child(
        parent: Any,
        opened: int,
        best: int,
        best_score: float,
        total: float,
        work: Any,
        params: Any,
    ) -> int:
        """Sample a child with probability proportional to its weight."""
        if importance:
            # The scores are exponents of EXP3's weights, shifted so that the largest weight is 1.
            total = 0.0
            for k in range(opened):
                work.weights[k] = math.exp(work.weights[k] - best_score)
                total += work.weights[k]
            mix = params.c[0]
            for k in range(opened):
                work.weights[k] = (1 - mix) * work.weights[k] / total + mix / opened
            total = 1.0
        if not total > 0.0:
            return best
        left = unit(work.rng) * total
        for k in range(opened):
            left -= work.weights[k]
            if left <= 0 and work.weights[k] > 0:
                work.probability = work.weights[k] / total
                return parent.first + k
        return best

    @kernel
    def choose(nodes: Any, node: int, reference: Any, work: Any, params: Any) -> int:
        """Return the child to visit; write its probability to `work.probability`."""
        parent = nodes[node]
        block = nodes[parent.first]
        opened = block.opened
        work.probability = 1.0
        unopened = opened < parent.count
        if unopened and (opened == 0 or params.fpu == math.inf):
            return open_child(nodes, node, work)
        t = max(block.selections, 1)
        log_t = math.log(t)
        top = NO_BEST
        if needs_best:
            for child_index in range(parent.first, parent.first + opened):
                child = nodes[child_index]
                mean = child.value / child.visits
                if amaf:
                    mean = mixed_mean(nodes, child, reference, work, params)
                top = leading(top, child, mean)
        best, best_score, total = -1, -math.inf, 0.0
        for child_index in range(parent.first, parent.first + opened):
            child = nodes[child_index]
            if solver and child.proven != UNKNOWN:
                # Proven children are not searched again (Cazenave and Saffidine, "Score bounded
                # Monte-Carlo tree search", 2010, section 4.2).
                work.weights[child_index - parent.first] = -math.inf if importance else 0.0
                continue
            mean = child.value / child.visits
            if amaf:
                mean = mixed_mean(nodes, child, reference, work, params)
            points = score(child, mean, t, log_t, parent.count, top, params.c, work.rng)
            if is_sampled:
                work.weights[child_index - parent.first] = points
                total += points
            if points > best_score:
                best, best_score = child_index, points
        if unopened and (best < 0 or params.fpu >= best_score):
            return open_child(nodes, node, work)
        if best < 0:
            return parent.first + below(work.rng, opened)
        if is_sampled:
            return sample_child(parent, opened, best, best_score, total, work, params)
        return best

    @kernel
    def remember_reference(nodes: Any, node: int, work: Any) -> None:
        """Index the children of the GRAVE reference node by action."""
        for action in range(num_actions):
            work.reference[action] = -1
        for k in range(nodes[node].first, nodes[node].first + nodes[node].count):
            work.reference[nodes[k].action] = k

    return choose, remember_reference

"""Selection of an action in a node: PUCT, UCT, and Gumbel AlphaZero's interior selection."""

import math
from typing import Any, NamedTuple

import numpy as np

from ludoteca.agents.search.policies import uct as uct_score
from ludoteca.agents.search.policy import NO_BEST, Parent
from ludoteca.agents.search.select import make_select_by_prior
from ludoteca.envs.jit import kernel
from ludoteca.envs.rng import below

select_by_prior = make_select_by_prior()


class SelectionParams(NamedTuple):
    """Parameters of the selection.

    Attributes:
        gumbel: whether selection is Gumbel AlphaZero's.
        uct: whether selection is UCT, without priors; PUCT if neither.
        c_init: PUCT's exploration constant (pb_c_init).
        c_base: base of its logarithmic growth with visits (pb_c_base).
        fpu_reduction: first-play urgency: the value of an action without visits is the parent's
            value minus this, times the square root of the visited actions' prior probability.
        c_visit: Gumbel: constant added to the maximum visit count (maxvisit_init).
        c_scale: Gumbel: weight of values relative to log priors (value_scale).
        decisive: whether a position with a winning move counts as won, whatever the network's
            value; see `simulate.make_simulation`.
        c_uct: UCT's exploration constant.
        max_depth: maximum depth of trees below their roots; 0: unlimited.
    """

    gumbel: bool = False
    uct: bool = False
    c_init: float = 1.25
    c_base: float = 19652.0
    fpu_reduction: float = 0.25
    c_visit: float = 50.0
    c_scale: float = 0.5
    decisive: bool = True
    c_uct: float = math.sqrt(2)
    max_depth: int = 0


@kernel
def puct(trees: Any, b: int, node: int, params: Any) -> int:
    """Return the action with the highest `Q + c P sqrt(N) / (1 + n)`; of equal ones, the first.

    Silver et al., "A general reinforcement learning algorithm that masters chess, shogi, and Go
    through self-play" (2018), supplementary materials, "Search".
    """
    arms = trees.arms[b, node]
    count, seen = 0, 0.0
    for a in range(len(arms)):
        if arms[a].visits > 0:
            count += arms[a].visits
            seen += arms[a].prior
    parent = trees.value[b, node] if trees.mover[b, node] == 0 else -trees.value[b, node]
    unvisited = parent - params.fpu_reduction * math.sqrt(seen)
    c = params.c_init + math.log((count + params.c_base + 1) / params.c_base)
    return select_by_prior(arms, arms, len(arms), count, unvisited, c)


@kernel
def uct(trees: Any, b: int, node: int, params: Any) -> int:
    """Return a random action without visits, or the action of the highest UCT value.

    `Q/N + C sqrt(2 ln N(parent) / N(child))`: Browne et al., "A survey of Monte Carlo tree search
    methods", 2012, algorithm 2. N(parent) counts the simulations that continued
    from there.
    """
    arms = trees.arms[b, node]
    count, left = 0, 0
    for a in range(len(arms)):
        if arms[a].prior >= 0:
            count += arms[a].visits
            left += int(arms[a].visits == 0)
    skip = below(trees.streams[b], left) if left > 0 else -1
    # Values are in [-1, 1], twice the range that the policy's constant is for.
    c = (2 * params.c_uct,)
    parent = Parent(count, math.log(max(count, 1)), len(arms), NO_BEST, c, 0)
    best, chosen = -np.inf, 0
    for a in range(len(arms)):
        arm = arms[a]
        if arm.prior < 0:
            continue
        if left > 0:
            if arm.visits == 0:
                if skip == 0:
                    return a
                skip -= 1
        else:
            score = uct_score(arm, arm.value / arm.visits, parent)
            if score > best:
                best, chosen = score, a
    return chosen


@kernel
def completed(trees: Any, b: int, node: int, params: Any, out: Any) -> None:
    """Write the improved policy: softmax of log priors and completed values.

    Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel" (2022),
    equation 11; actions without visits have the mixed value of equation 33.

    Args:
        trees: the trees.
        b: index of the search.
        node: index of the node.
        params: parameters of the selection.
        out: float32 `[A]`, 0 for illegal actions.
    """
    arms = trees.arms[b, node]
    value = trees.value[b, node] if trees.mover[b, node] == 0 else -trees.value[b, node]
    count, most, seen, weighted = 0, 0, 0.0, 0.0
    for a in range(len(arms)):
        if arms[a].visits > 0:
            count += arms[a].visits
            most = max(most, arms[a].visits)
            seen += arms[a].prior
            weighted += arms[a].prior * arms[a].value / arms[a].visits
    mixed = value
    if seen > 0:
        mixed = (value + count * weighted / seen) / (1 + count)
    largest = -np.inf
    for a in range(len(arms)):
        if arms[a].prior >= 0:
            q = arms[a].value / arms[a].visits if arms[a].visits > 0 else mixed
            out[a] = math.log(max(arms[a].prior, 1e-9)) + scaled(q, most, params)
            largest = max(largest, out[a])
    total = 0.0
    for a in range(len(arms)):
        if arms[a].prior >= 0:
            out[a] = math.exp(out[a] - largest)
            total += out[a]
        else:
            out[a] = 0.0
    for a in range(len(arms)):
        out[a] /= total


@kernel
def scaled(q: Any, most: Any, params: Any) -> Any:
    """Return sigma(q), `(c_visit + max visits) c_scale q` for q from 0 to 1 (equation 8).

    Takes numbers; when not compiled, also arrays.
    """
    return (params.c_visit + most) * params.c_scale * (q + 1) / 2


@kernel
def gumbel_interior(trees: Any, b: int, node: int, params: Any, policy: Any) -> int:
    """Return the action whose visit frequency is furthest below the improved policy.

    Danihelka et al. (2022), equation 14.
    """
    completed(trees, b, node, params, policy)
    arms = trees.arms[b, node]
    count = 0
    for a in range(len(arms)):
        count += arms[a].visits
    best, chosen = -np.inf, 0
    for a in range(len(arms)):
        if arms[a].prior >= 0:
            score = policy[a] - arms[a].visits / (1 + count)
            if score > best:
                best, chosen = score, a
    return chosen

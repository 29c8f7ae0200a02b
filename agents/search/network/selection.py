"""Interior selection of network-guided searches: PUCT, UCT and Gumbel AlphaZero.

A selection is a kernel `select(arms, actions, n, value, params, scratch, rng) -> k`, which selects
one of n arms. In simultaneous games arm k is `arms[actions[k]]`, in others `arms[k]`. Arms with a
negative prior are illegal, and not selected.

    arms     statistics of one player's actions in a node; values are in [0, 1]
    value    the network's value of the node for that player, in [0, 1]
    params   `SelectionParams`
    scratch  space for the improved policy, float32 `[A]`
    rng      random stream, uint64 `[1]`
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ludoteca.agents.search.policies import uct as uct_score
from ludoteca.agents.search.policy import NO_BEST, Parent
from ludoteca.agents.search.select import make_arm_at, make_select_by_prior
from ludoteca.envs.jit import factory, kernel
from ludoteca.envs.rng import below

POLICIES = ("puct", "gumbel", "uct")


class SelectionParams(NamedTuple):
    """Run-time parameters. `c_init`, `fpu_reduction` and `c_uct` are for values in [-1, 1].

    Names in parentheses are those of mctx.

    Attributes:
        c_init: PUCT's exploration constant (pb_c_init).
        c_base: base of its logarithmic growth with visits (pb_c_base); infinite: no growth.
        fpu_reduction: first-play urgency: the value of an action without visits is the node's value
            minus `fpu_reduction`.
        fpu_by_prior: whether `fpu_reduction` is multiplied by the square root of the total prior of
            the visited actions (as in KataGo).
        c_visit: Gumbel: constant added to the maximum visit count (maxvisit_init).
        c_scale: Gumbel: weight, relative to log priors, of values, which are in [0, 1]
            (value_scale).
        c_uct: UCT's exploration constant.
        max_depth: maximum depth of trees below their roots; 0: unlimited.
        reevaluate: whether each simulation evaluates its leaf, even if an earlier one did; for
            evaluators with random results.
    """

    c_init: float = 1.25
    c_base: float = 19652.0
    fpu_reduction: float = 0.25
    fpu_by_prior: bool = True
    c_visit: float = 50.0
    c_scale: float = 0.5
    c_uct: float = math.sqrt(2)
    max_depth: int = 0
    reevaluate: bool = False


class NetworkSearchConfig(NamedTuple):
    """Configuration of a network-guided search.

    Attributes:
        policy: one of `POLICIES`, compiled into the search.
        decisive: whether a leaf with a winning move counts as won, whatever the network's value
            (decisive moves: Teytaud and Teytaud, "On the huge benefit of decisive moves in
            Monte-Carlo tree search algorithms", 2010); compiled, sequential games only.
        params: run-time parameters.
    """

    policy: str = "puct"
    decisive: bool = True
    params: SelectionParams = SelectionParams()


@factory()
def make_interior_selection(policy: str, simultaneous: bool) -> Callable[..., int]:
    """Return the selection kernel of a policy; in simultaneous games only PUCT."""
    if policy == "puct":
        return make_puct(simultaneous)
    return {"gumbel": gumbel, "uct": uct}[policy]


@factory()
def make_puct(simultaneous: bool = False) -> Callable[..., int]:
    """Return the kernel that selects the highest PUCT score; ties go to the first arm.

    The score is `Q(a) + c P(a) sqrt(max(N, 1)) / (1 + N(a))`, where N is the sum of the visits
    N(a), and `c = c_init + log((1 + N + c_base) / c_base)`.

    Silver et al., "A general reinforcement learning algorithm that masters chess, shogi, and Go
    through self-play" (2018), supplementary materials, "Search".
    """
    select_by_prior = make_select_by_prior(simultaneous)
    arm_at = make_arm_at("indexed" if simultaneous else "block")

    @kernel
    def puct(
        arms: Any, actions: Any, n: int, value: float, params: Any, scratch: Any, rng: Any
    ) -> int:
        count, prior = 0, 0.0
        for k in range(n):
            arm = arm_at(arms, actions, k)
            if arm.visits > 0:
                count += arm.visits
                prior += arm.prior
        # Constants for values in [-1, 1] are halved for values in [0, 1].
        reduction = params.fpu_reduction / 2
        if params.fpu_by_prior:
            reduction *= math.sqrt(prior)
        c = (params.c_init + math.log1p((count + 1) / params.c_base)) / 2
        return int(select_by_prior(arms, actions, n, count, value - reduction, c))

    return puct


@kernel
def uct(arms: Any, actions: Any, n: int, value: float, params: Any, scratch: Any, rng: Any) -> int:
    """Select a random unvisited arm, or if there is none, the arm of the highest UCT score.

    Browne et al., "A survey of Monte Carlo tree search methods", 2012, algorithm 2. N(parent) is
    the sum of the children's visits.
    """
    count, unvisited = 0, 0
    for k in range(n):
        if arms[k].prior >= 0:
            count += arms[k].visits
            unvisited += int(arms[k].visits == 0)
    skip = below(rng, unvisited) if unvisited > 0 else -1  # unvisited arms before the chosen one
    # The score needs no random stream: 0.
    parent = Parent(count, math.log(max(count, 1)), n, NO_BEST, (params.c_uct,), 0)
    best, best_score = 0, -np.inf
    for k in range(n):
        arm = arms[k]
        if arm.prior < 0:
            continue
        if unvisited > 0:
            if arm.visits == 0:
                if skip == 0:
                    return k
                skip -= 1
        else:
            score = uct_score(arm, arm.value / arm.visits, parent)
            if score > best_score:
                best, best_score = k, score
    return best


@kernel
def gumbel(
    arms: Any, actions: Any, n: int, value: float, params: Any, scratch: Any, rng: Any
) -> int:
    """Select the arm whose visit frequency is furthest below its improved policy.

    Danihelka et al. (2022), equation 14.
    """
    write_improved_policy(arms, value, params, scratch)
    count = 0
    for k in range(n):
        count += arms[k].visits
    best, best_score = 0, -np.inf
    for k in range(n):
        if arms[k].prior >= 0:
            score = scratch[k] - arms[k].visits / (1 + count)
            if score > best_score:
                best, best_score = k, score
    return best


@kernel
def write_improved_policy(arms: Any, value: float, params: Any, out: Any) -> None:
    """Write the improved policy: softmax of log priors and completed values.

    Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel" (2022),
    equation 11; actions without visits have the mixed value of equation 33.

    Args:
        arms: statistics of all actions in a node. Shape `[A]`.
        value: the network's value of the node, in [0, 1].
        params: parameters of the selection.
        out: output, float32 `[A]`; 0 for illegal actions.
    """
    # `prior` and `weighted`: sums over visited actions of priors, and of priors times means.
    count, max_visits, prior, weighted = 0, 0, 0.0, 0.0
    for a in range(len(arms)):
        if arms[a].visits > 0:
            count += arms[a].visits
            max_visits = max(max_visits, arms[a].visits)
            prior += arms[a].prior
            weighted += arms[a].prior * arms[a].value / arms[a].visits
    mixed = value
    if prior > 0:
        mixed = (value + count * weighted / prior) / (1 + count)
    largest = -np.inf
    for a in range(len(arms)):
        if arms[a].prior >= 0:
            q = arms[a].value / arms[a].visits if arms[a].visits > 0 else mixed
            # Priors of 0, which have no logarithm, count as 1e-9.
            out[a] = math.log(max(arms[a].prior, 1e-9)) + sigma(q, max_visits, params)
            largest = max(largest, out[a])
    total = 0.0
    for a in range(len(arms)):
        out[a] = math.exp(out[a] - largest) if arms[a].prior >= 0 else 0.0
        total += out[a]
    for a in range(len(arms)):
        out[a] /= total


@kernel
def sigma(q: Any, max_visits: Any, params: Any) -> Any:
    """Return the transformed value `(c_visit + max_visits) c_scale q`, q in [0, 1] (equation 8).

    In calls from Python, q and max_visits may be arrays.
    """
    return (params.c_visit + max_visits) * params.c_scale * q

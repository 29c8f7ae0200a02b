"""Selection of an arm by a policy, and of the move to play, for all trees and bandits.

An arm is an action of one player in one node, see `statistics.py`.
"""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from ludoteca.agents.search.distributions import sample_uniform
from ludoteca.agents.search.policies import POLICIES, puct
from ludoteca.agents.search.policy import NO_BEST, Parent, update_best
from ludoteca.envs.jit import factory, kernel
from ludoteca.envs.rng import below

EXCLUDED = -math.inf  # weight of an arm that is not sampled
# Returned instead of an arm: the caller selects an arm without visits, or if there is none, any.
UNVISITED = -1
# Where the kernel of a policy finds arm k, see `make_arm_at`.
Arms = Literal["block", "indexed", "groups"]

# Proven result of an arm for its player (`proven`): a higher one is better, and WIN + LOSS - x is
# the result for the opponent.
UNKNOWN, LOSS, DRAW, WIN = range(4)

# Final move selection (Chaslot et al., "Progressive strategies for Monte-Carlo tree search", 2008,
# section 2.4): the arm with the highest sum of scores, with the most visits, with both (the search
# continues until there is one, at most twice as long), with the highest mean, or with the highest
# score by the selection policy.
ACTION_SELECTIONS = ("max", "robust", "max_robust", "mean", "policy")
MAX, ROBUST, MAX_ROBUST, MEAN, BY_POLICY = range(len(ACTION_SELECTIONS))


@factory()
def make_select(
    policy: str,
    amaf: str = "",
    solver: bool = False,
    simultaneous: bool = False,
    scales_exploration: bool = False,
    arms_at: Arms | None = None,
    amaf_fpu: bool = False,
) -> Callable[..., int]:
    """Return the kernel of a selection policy.

    `select(arms, actions, n, unvisited, visits, num_arms, params, work) -> k` selects one of n
    arms, or `UNVISITED`, and writes the probability of that choice to `work.probability`.

    In simultaneous games arm k is `arms[actions[k]]`, and ties are broken at random, so that the
    players' choices are not correlated. In other games it is `arms[k]`, unless `arms_at` is another
    name of `make_arm_at`, and ties go to the first.

    With `scales_exploration` the exploration term is multiplied by `work.exploration`.

    Args of the kernel:
        arms: records with the fields of `ludoteca.agents.search.statistics.arm_dtype`.
        actions: actions of the arms.
        n: number of arms to select from; in sequential games the visited ones.
        unvisited: number of arms without visits, whose score is `params.fpu`, or with `amaf_fpu`
            at most `work.urgency`.
        visits: visits of all arms together.
        num_arms: number of all arms, also those without visits; K of the policies.
        params: a record of `ludoteca.agents.search.config.SEARCH_PARAMS`.
        work: scratch space, a record of `ludoteca.agents.search.config.work_dtype`.
    """
    selection = POLICIES[policy]
    score, needs_best = selection.score, selection.needs_best
    is_sampled, exponential = selection.kind == "weights", selection.exponential
    use_amaf = amaf != ""
    mixed_mean = make_mixed_mean(amaf)
    arm_at = make_arm_at(arms_at or ("indexed" if simultaneous else "block"))

    @kernel
    def mean_of(arm: Any, actions: Any, k: int, params: Any, work: Any) -> float:
        """Return the mean score of arm k, mixed with its AMAF mean if these are used."""
        if use_amaf:
            if simultaneous:
                return mixed_mean(arm, actions[k], params, work)
            return mixed_mean(arm, arm.action, params, work)
        return float(arm.value / arm.visits)

    @kernel
    def select(
        arms: Any,
        actions: Any,
        n: int,
        unvisited: int,
        visits: int,
        num_arms: int,
        params: Any,
        work: Any,
    ) -> int:
        best_mean = NO_BEST
        if needs_best:
            for k in range(n):
                arm = arm_at(arms, actions, k)
                if arm.visits > 0:
                    best_mean = update_best(best_mean, arm, mean_of(arm, actions, k, params, work))
        parent = Parent(
            visits, math.log(visits), num_arms, best_mean, params.policy_params, work.rng
        )
        best, best_score, ties, num_scored, total = UNVISITED, -math.inf, 0, 0, 0.0
        for k in range(n):
            arm = arm_at(arms, actions, k)
            if (simultaneous and arm.visits == 0) or is_proven(arm):
                work.weights[k] = EXCLUDED
                continue
            mean = mean_of(arm, actions, k, params, work)
            points = score(arm, mean, parent)
            if scales_exploration:
                points = mean + work.exploration * (points - mean)
            num_scored += 1
            if is_sampled:
                work.weights[k] = points
                total += points
            if points > best_score:
                best, best_score, ties = k, points, 1
            elif simultaneous and points == best_score:
                ties += 1
                if below(work.rng, ties) == 0:
                    best = k
        work.probability = 1.0
        urgency = params.fpu
        if amaf_fpu:
            urgency = work.urgency
        if best == UNVISITED or (unvisited > 0 and urgency >= best_score):
            return UNVISITED
        if is_sampled:
            return sample(n, num_scored, best, best_score, total, params, work)
        return best

    @kernel
    def is_proven(arm: Any) -> bool:
        """Return whether an arm is proven; such arms are not searched again.

        Cazenave and Saffidine, "Score bounded Monte-Carlo tree search", 2010, section 4.2.
        """
        if solver:
            return bool(arm.proven != UNKNOWN)
        return False

    @kernel
    def sample(
        n: int, num_scored: int, best: int, best_score: float, total: float, params: Any, work: Any
    ) -> int:
        """Sample an arm with probability proportional to its weight in `work.weights`.

        `num_scored` arms are not excluded, `best` has the highest weight, `best_score`, and `total`
        is the sum of the weights.
        """
        weights = work.weights
        if exponential:
            # Shifted against overflow: the largest weight is 1.
            total = 0.0
            for k in range(n):
                if weights[k] != EXCLUDED:
                    weights[k] = math.exp(weights[k] - best_score)
                    total += weights[k]
            gamma = params.policy_params[0]  # fraction of uniform exploration
            for k in range(n):
                if weights[k] != EXCLUDED:
                    weights[k] = (1 - gamma) * weights[k] / total + gamma / num_scored
            total = 1.0
        if not total > 0.0:  # all weights are 0
            return best
        remaining = sample_uniform(work.rng) * total
        for k in range(n):
            if weights[k] != EXCLUDED:
                remaining -= weights[k]
                if remaining <= 0 and weights[k] > 0:
                    work.probability = weights[k] / total
                    return k
        work.probability = weights[best] / total
        return best

    return select


@factory()
def make_select_by_prior(simultaneous: bool = False) -> Callable[..., int]:
    """Return the kernel of PUCT with a network's priors and values.

    `select(arms, actions, n, visits, unvisited_mean, c) -> k` selects one of n arms. Arms without
    visits have the mean `unvisited_mean`, arms with a negative prior are not selected; ties go to
    the first. In simultaneous games arm k is `arms[actions[k]]`, in others `arms[k]`.
    """
    arm_at = make_arm_at("indexed" if simultaneous else "block")

    @kernel
    def select(
        arms: Any, actions: Any, n: int, visits: int, unvisited_mean: float, c: float
    ) -> int:
        # PUCT needs neither the logarithm of the visits nor a random stream: 0.
        parent = Parent(max(visits, 1), 0.0, n, NO_BEST, (c,), 0)
        best, best_score = 0, -math.inf
        for k in range(n):
            arm = arm_at(arms, actions, k)
            if arm.prior >= 0:
                mean = unvisited_mean
                if arm.visits > 0:
                    mean = float(arm.value / arm.visits)
                points = puct(arm, mean, parent)
                if points > best_score:
                    best, best_score = k, points
        return best

    return select


class GroupArm(NamedTuple):
    """Move group as an arm: the sums over its members.

    Attributes:
        visits: number of visits.
        value: sum of scores.
        square: sum of squared scores.
        prior: probability of the group (PUCT): groups have equal ones.
    """

    visits: Any
    value: Any
    square: Any
    prior: Any


@factory()
def make_arm_at(arms_at: Arms) -> Callable[..., Any]:
    """Return the kernel `arm_at(arms, actions, k) -> arm`, see `make_select`.

    "block": arm k is `arms[k]`; "indexed": `arms[actions[k]]`; "groups": the move group
    `actions[k]`, whose statistics are in `arms`, a record of
    `ludoteca.agents.search.config.work_dtype`.
    """
    indexed, groups = arms_at == "indexed", arms_at == "groups"

    @kernel
    def arm_at(arms: Any, actions: Any, k: int) -> Any:
        if groups:
            return GroupArm(
                arms.group_visits[actions[k]],
                arms.group_value[actions[k]],
                arms.group_square[actions[k]],
                arms.group_prior,
            )
        if indexed:
            return arms[actions[k]]
        return arms[k]

    return arm_at


@factory()
def make_mixed_mean(amaf: str) -> Callable[..., float]:
    """Return the kernel `mixed_mean(arm, action, params, work)`.

    It returns the mean of a visited arm, mixed with its all-moves-as-first (AMAF) mean: that of all
    simulations through the node that played the action there or later. "amaf": alpha-AMAF, Helmbold
    and Parker-Wood, "All-moves-as-first heuristics in Monte-Carlo Go", 2009. "rave": Gelly and
    Silver, "Monte-Carlo tree search and rapid action value estimation in computer Go", 2011,
    section 4.3, with the weight of Silver's thesis, "Reinforcement learning and simulation-based
    search in computer Go", 2009, eq. 8.25. "grave": the same with an ancestor's AMAF statistics,
    Cazenave, "Generalized rapid action value estimation", 2015; they are in `work.reference_visits`
    and `work.reference_value`, by action. A node here has the AMAF statistics of its own player's
    moves alone, so the ancestor is the nearest one with the same player to move.
    """
    use_amaf, constant, grave = amaf != "", amaf == "amaf", amaf == "grave"

    @kernel
    def mixed_mean(arm: Any, action: Any, params: Any, work: Any) -> float:
        mean = float(arm.value / arm.visits)
        if use_amaf:
            visits, value = arm.amaf_visits, arm.amaf_value
            if grave and work.reference_visits[action] >= 0:
                visits, value = work.reference_visits[action], work.reference_value[action]
            if visits > 0:
                weight = params.amaf_weight
                if not constant:
                    bias = params.amaf_weight
                    weight = visits / (
                        visits + arm.visits + 4.0 * bias * bias * visits * arm.visits
                    )
                mean = (1 - weight) * mean + weight * value / visits
        return mean

    return mixed_mean


@factory()
def make_select_final(
    policy: str, solver: bool = False, simultaneous: bool = False, draw_value: float = 0.5
) -> Callable[..., int]:
    """Return the kernel of the final move selection.

    `select_final(arms, n, visits, num_arms, action_selection, params, work) -> k` selects one of
    `arms[:n]` by `action_selection`, an index of `ACTION_SELECTIONS`. Ties go to the arm with more
    visits; then to the first, or in simultaneous games to a random one. A proven win is always
    played, a proven loss only if there is no other arm; a proven draw is preferred to an arm whose
    mean is below `draw_value`, the score of a draw.
    """
    score, needs_best = POLICIES[policy].score, POLICIES[policy].needs_best

    @kernel
    def select_final(
        arms: Any,
        n: int,
        visits: int,
        num_arms: int,
        action_selection: int,
        params: Any,
        work: Any,
    ) -> int:
        best_mean = NO_BEST
        if needs_best:
            for k in range(n):
                if arms[k].visits > 0:
                    best_mean = update_best(best_mean, arms[k], arms[k].value / arms[k].visits)
        log_visits = math.log(visits) if visits > 0 else 0.0
        parent = Parent(visits, log_visits, num_arms, best_mean, params.policy_params, work.rng)
        best, best_points, ties, proven_draw = 0, -math.inf, 0, -1
        for k in range(n):
            arm = arms[k]
            if arm.visits == 0:
                continue
            if action_selection == MAX:
                points = float(arm.value)
            elif action_selection == MEAN:
                points = float(arm.value / arm.visits)
            elif action_selection == BY_POLICY:
                points = float(score(arm, arm.value / arm.visits, parent))
            else:
                points = float(arm.visits)
            if solver:
                if arm.proven == WIN:
                    return k
                if arm.proven == LOSS:
                    points -= 1e12  # below all arms that are not proven
                if arm.proven == DRAW:
                    proven_draw = k
                    points -= 1e10  # below arms that are not proven; see after the loop
            if points > best_points or (points == best_points and arm.visits > arms[best].visits):
                best, best_points, ties = k, points, 1
            elif simultaneous and points == best_points and arm.visits == arms[best].visits:
                ties += 1
                if below(work.rng, ties) == 0:
                    best = k
        if proven_draw >= 0 and arms[best].value < draw_value * arms[best].visits:
            return proven_draw
        return best

    return select_final

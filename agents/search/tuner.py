"""Kernels of the allocation strategies of on-line tuning, see `tuning.py`.

A combination is the index of one value of each parameter: digits in the mixed radix `params.sizes`,
the first parameter's the lowest. A value's own ("local") statistics are over all combinations.
`params` is a player's record of `tuning.TUNED_PARAMS`, `p` the index of a parameter.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ludoteca.agents.search.distributions import sample_uniform
from ludoteca.agents.search.tuning import AMAF_WEIGHT, FPU, MAX_CANDIDATES
from ludoteca.envs.jit import factory, kernel
from ludoteca.envs.rng import below

EXPLORATION = 0.7  # exploration constant of UCB1: mean + 0.7 sqrt(ln t / n)
LOCAL_PROB = 0.75  # nmc: probability of selecting each value on its own


class Tuner(NamedTuple):
    """Kernels over a player's record of `TUNED_PARAMS`.

    Attributes:
        reset: `reset(params)` removes all statistics.
        select: `select(params, rng)` selects a combination and writes its values to `params`.
        update: `update(params, score)` adds the player's score in that simulation.
    """

    reset: Callable[..., None]
    select: Callable[..., None]
    update: Callable[..., None]


@factory()
def make_tuner(strategy: str) -> Tuner:
    """Return the kernels of an allocation strategy."""
    choose = {"mab": choose_mab, "he": choose_he, "nmc": choose_nmc, "lsi": choose_lsi}[strategy]

    @kernel
    def select(params: Any, rng: Any) -> None:
        params.chosen = choose(params, rng)
        for p in range(params.num_params):
            value = params.grid[p, index_of(params, params.chosen, p)]
            if params.targets[p] == FPU:
                params.fpu = value
            elif params.targets[p] == AMAF_WEIGHT:
                params.amaf_weight = value
            else:
                params.policy_params[params.targets[p]] = value

    return Tuner(reset, select, update)


@kernel
def reset(params: Any) -> None:
    """Remove all statistics."""
    params.visits[:] = 0
    params.value[:] = 0.0
    params.local_visits[:, :] = 0
    params.local_value[:, :] = 0.0
    params.total, params.num_candidates = 0, 0


@kernel
def update(params: Any, score: float) -> None:
    """Add the score of a simulation."""
    params.total += 1
    params.visits[params.chosen] += 1
    params.value[params.chosen] += score
    for p in range(params.num_params):
        index = index_of(params, params.chosen, p)
        params.local_visits[p, index] += 1
        params.local_value[p, index] += score


@kernel
def index_of(params: Any, combination: int, p: int) -> int:
    """Return the index of the value of parameter `p` in a combination."""
    for q in range(p):
        combination //= params.sizes[q]
    return int(combination % params.sizes[p])


@kernel
def ucb1(visits: Any, value: Any, count: int, tried_only: bool) -> int:
    """Return the index of the highest UCB1 score.

    Args:
        visits: visit counts. Shape `[count]` or longer.
        value: sums of scores. Same shape.
        count: number of arms.
        tried_only: whether arms without visits are left out; otherwise they come first.
    """
    total, best, chosen = 0, -np.inf, 0
    for k in range(count):
        if visits[k] == 0 and not tried_only:
            return k
        total += visits[k]
    for k in range(count):
        if visits[k] > 0:
            score = value[k] / visits[k] + EXPLORATION * math.sqrt(math.log(total) / visits[k])
            if score > best:
                best, chosen = score, k
    return chosen


@kernel
def choose_mab(params: Any, rng: Any) -> int:
    """Return a combination by UCB1 over all combinations."""
    return ucb1(params.visits, params.value, params.num_combinations, False)


@kernel
def choose_he(params: Any, rng: Any) -> int:
    """Return a combination: values by UCB1, level by level, in the order of the parameters.

    A level's statistics are those of the combinations that begin with the values selected so far,
    summed.
    """
    prefix, radix = 0, 1
    for p in range(params.num_params):
        size = params.sizes[p]
        for index in range(size):
            visits, value = 0, 0.0
            for combination in range(prefix + radix * index, params.num_combinations, radix * size):
                visits += params.visits[combination]
                value += params.value[combination]
            params.level_visits[index], params.level_value[index] = visits, value
        prefix += radix * ucb1(params.level_visits, params.level_value, size, False)
        radix *= size
    return int(prefix)


@kernel
def choose_nmc(params: Any, rng: Any) -> int:
    """Return a combination: each value by UCB1 on its own, or a tried combination by UCB1."""
    if params.total > 0 and sample_uniform(rng) > LOCAL_PROB:
        return ucb1(params.visits, params.value, params.num_combinations, True)
    combination, radix = 0, 1
    for p in range(params.num_params):
        size = params.sizes[p]
        combination += radix * ucb1(params.local_visits[p], params.local_value[p], size, False)
        radix *= size
    return combination


@kernel
def choose_lsi(params: Any, rng: Any) -> int:
    """Return the combination of the next simulation in either half of the budget.

    The first half estimates the values one by one, the second compares candidates (combinations) by
    sequential halving.
    """
    half = params.budget // 2
    # A search with a time limit may raise its budget, but the first half ends only once.
    if params.total < half and params.num_candidates == 0:
        return choose_for_side_information(params, rng)
    if params.num_candidates == 0:
        sample_candidates(params, rng)
        params.round_end = params.total + round_length(params, params.num_candidates)
    elif params.num_candidates > 1 and params.total >= params.round_end:
        halve(params)
        params.round_end = params.total + round_length(params, params.num_candidates)
    chosen = params.candidates[0]
    for k in range(1, params.num_candidates):
        if params.visits[params.candidates[k]] < params.visits[chosen]:
            chosen = params.candidates[k]
    return int(chosen)


@kernel
def choose_for_side_information(params: Any, rng: Any) -> int:
    """Return a combination of the value whose turn it is and random values of other parameters."""
    num_values = 0
    for p in range(params.num_params):
        num_values += params.sizes[p]
    turn = params.total % num_values
    combination, radix = 0, 1
    for p in range(params.num_params):
        size = params.sizes[p]
        index = turn if 0 <= turn < size else int(below(rng, size))
        turn -= size
        combination += radix * index
        radix *= size
    return combination


@kernel
def sample_candidates(params: Any, rng: Any) -> None:
    """Write candidates, whose values are sampled in proportion to their mean scores.

    The statistics of combinations are reset, since other values were random in the first half.
    """
    params.visits[:] = 0
    params.value[:] = 0.0
    for _ in range(MAX_CANDIDATES):
        combination, radix = 0, 1
        for p in range(params.num_params):
            size, total = params.sizes[p], 0.0
            for k in range(size):
                total += local_mean(params, p, k)
            index, remaining = 0, sample_uniform(rng) * total
            for k in range(size):
                remaining -= local_mean(params, p, k)
                if remaining <= 0:
                    index = k
                    break
            combination += radix * index
            radix *= size
        is_known = False
        for k in range(params.num_candidates):
            is_known |= params.candidates[k] == combination
        if not is_known:
            params.candidates[params.num_candidates] = combination
            params.num_candidates += 1


@kernel
def local_mean(params: Any, p: int, index: int) -> float:
    """Return the mean score of a value, with a draw added so that it is positive."""
    return float((params.local_value[p, index] + 0.5) / (params.local_visits[p, index] + 1))


@kernel
def round_length(params: Any, candidates: int) -> int:
    """Return the simulations of a round of sequential halving; all rounds have equal numbers."""
    rounds, remaining = 0, candidates
    while remaining > 1:
        rounds, remaining = rounds + 1, (remaining + 1) // 2
    return int(max((params.budget - params.total) // max(rounds, 1), 1))


@kernel
def halve(params: Any) -> None:
    """Keep the better half of the candidates, by their mean scores."""
    kept = (params.num_candidates + 1) // 2
    for k in range(kept):
        best = k
        for other in range(k + 1, params.num_candidates):
            if mean_of(params, params.candidates[other]) > mean_of(params, params.candidates[best]):
                best = other
        candidate = params.candidates[best]
        params.candidates[best], params.candidates[k] = params.candidates[k], candidate
    params.num_candidates = kept


@kernel
def mean_of(params: Any, combination: int) -> float:
    """Return the mean score of a combination; 0 without visits."""
    return float(params.value[combination] / max(params.visits[combination], 1))

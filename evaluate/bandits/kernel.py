"""Compiled loop of the bandits, one for each selection policy."""

import math
from functools import cache
from typing import Any

import numpy as np

from ludoteca.agents.search.distributions import sample_uniform
from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.policy import NO_BEST, Parent
from ludoteca.agents.search.select import make_select
from ludoteca.agents.search.statistics import make_statistics
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.rng import GAMMA, next_u64

# Policies whose score of an arm, while that arm is not pulled, never falls as t grows, and draws no
# random numbers. Most rounds of those cost the same for 100 arms as for 2, see `choose_lazily`. A
# policy that is not listed is played, too, but more slowly.
MONOTONE = frozenset(
    {"ucb1", "uct", "ucb_tuned", "ucb_v", "ucb_minimal", "moss", "etc"}
    | {"ucb_alpha1", "ucb_alpha2", "puct"}
)
SLACK = 1e-12  # more than rounding may let a monotone score fall


@cache
def work_dtype(arms: int) -> np.dtype[np.void]:
    """Return the record dtype of the scratch space for K arms.

    It is compiled for 128 arms, 256, 512 and so on, rather than for each K.
    """
    fields = [
        ("rng", np.uint64, (1,)),
        ("probability", np.float64),
        ("weights", np.float64, (max(128, 1 << (arms - 1).bit_length()),)),
    ]
    return np.dtype(fields, align=True)


@factory()
def make_play(policy_name: str, lazy: bool) -> Any:
    """Return the compiled loop of a policy.

    `play(problems, first, seed, runs, rounds, checkpoints, params, work, arms, streams, regrets)`
    plays every problem, float64 `[N, K]` of success probabilities, `runs` times for `rounds`
    rounds, and writes the mean pseudo-regret after each of `checkpoints` into `regrets`, float64
    `[N, len(checkpoints)]`. `first` is the number of the first problem: with `seed` and the run it
    decides all chance. `params`, `[1]`, of `config.SEARCH_PARAMS`, are the policy's; `work`, `[1]`,
    of `work_dtype(K)`, `arms`, `[K]`, of `statistics.arm_dtype(policy_name)`, and `streams`, uint64
    `[K + 1, 1]`, are to work in.

    With `lazy`, for policies in `MONOTONE` only, it finds the same arms faster.
    """
    score = POLICIES[policy_name].score
    select = make_select(policy_name)
    reset_arm, add_score = make_statistics(policy_name)

    @kernel
    def begin(arms: Any, streams: Any, seed: Any, problem: Any, run: Any) -> None:
        """Forget all pulls.

        Each arm has its own random stream: its n-th pull pays the same under every policy, so that
        policies are compared on common random numbers. The last stream is the policy's.
        """
        streams[0, 0] = np.uint64(seed)
        start = next_u64(streams[0]) + np.uint64(problem) * GAMMA
        streams[0, 0] = start
        start = next_u64(streams[0]) + np.uint64(run) * GAMMA
        for k in range(len(streams)):
            streams[k, 0] = start + np.uint64(k) * GAMMA
            streams[k, 0] = next_u64(streams[k])
        for k in range(len(arms)):
            reset_arm(arms[k], 1.0 / len(arms))

    @kernel
    def index(arm: Any, t: Any, log_t: Any, n: Any, params: Any, work: Any) -> Any:
        parent = Parent(t, log_t, n, NO_BEST, params.policy_params, work.rng)
        return score(arm, arm.value / arm.visits, parent)

    @kernel
    def index_until(arm: Any, expiry: Any, n: Any, params: Any, work: Any) -> Any:
        """Return what the index stays below until round `expiry`, if the arm is not pulled."""
        return index(arm, expiry, math.log(expiry), n, params, work) + SLACK

    @kernel
    def choose_lazily(
        arms: Any, upper: Any, last: Any, t: Any, log_t: Any, params: Any, work: Any
    ) -> tuple[int, float]:
        """Return the best arm, and an upper bound of the scores of the other arms.

        `upper[k]` bounds the score of arm k until the bounds expire. Only arms whose bound reaches
        the score of the best arm found so far are worth computing; the arm pulled last comes first.
        """
        n = len(arms)
        best, best_score, bound = last, index(arms[last], t, log_t, n, params, work), -math.inf
        for k in range(n):
            if k == last:
                continue
            if upper[k] >= best_score:
                points = index(arms[k], t, log_t, n, params, work)
                if points > best_score or (points == best_score and k < best):
                    bound = max(bound, upper[best])
                    best, best_score = k, points
                    continue
            bound = max(bound, upper[k])
        return best, bound

    @compiled_without_allocation
    def play(
        problems: Any,
        first: int,
        seed: int,
        runs: int,
        rounds: int,
        checkpoints: Any,
        params_array: Any,
        works: Any,
        arms: Any,
        streams: Any,
        regrets: Any,
    ) -> None:
        n = problems.shape[1]
        params, work = params_array[0], works[0]
        for problem in range(problems.shape[0]):
            chances = problems[problem]
            top = 0.0
            for k in range(n):
                top = max(top, chances[k])
            for run in range(runs):
                begin(arms, streams, seed, first + problem, run)
                work.rng[0] = streams[n, 0]
                regret, slot = 0.0, 0
                last, bound, expiry = 0, math.inf, 0
                old, log_old = 1, 0.0  # a round of some time ago
                for t in range(rounds):
                    # Choose every arm once, then by the policy.
                    work.probability = 1.0
                    if t < n:
                        arm = t
                    elif not lazy:
                        arm = select(arms, work.weights, n, 0, t, n, params, work)
                    elif t <= expiry and index(arms[last], old, log_old, n, params, work) > bound:
                        arm = last  # its score of an earlier round already exceeds all bounds
                    else:
                        old, log_old = t, math.log(t)
                        if t > expiry:
                            expiry, bound = t + t // 32, math.inf
                            for k in range(n):
                                work.weights[k] = index_until(arms[k], expiry, n, params, work)
                        arm = last
                        if not index(arms[last], t, log_old, n, params, work) > bound:
                            work.weights[last] = index_until(arms[last], expiry, n, params, work)
                            arm, bound = choose_lazily(
                                arms, work.weights, last, t, log_old, params, work
                            )
                    # Pull.
                    x = 1.0 if sample_uniform(streams[arm]) <= chances[arm] else 0.0
                    pulled = arms[arm]
                    pulled.visits += 1
                    add_score(pulled, x, work.probability)
                    last = arm
                    regret += top - chances[arm]
                    if slot < len(checkpoints) and t + 1 == checkpoints[slot]:
                        regrets[problem, slot] += regret / runs
                        slot += 1

    return play

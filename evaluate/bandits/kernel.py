"""Compiled loop of the bandits, one for each selection policy."""

import math
from typing import Any

import numpy as np

from ludoteca.agents.mcts.policies import NO_BEST, POLICIES, leading, unit
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.rng import GAMMA, next_u64

# Policies whose score of an arm, while that arm is not pulled, never falls as t grows, and draws no
# random numbers. Most rounds of those cost the same for 100 arms as for 2, see `choose_lazily`. A
# policy that is not listed is played as well, only slower.
MONOTONE = frozenset(
    {"ucb1", "uct", "ucb_tuned", "ucb_v", "ucb_minimal", "moss", "etc"}
    | {"ucb_alpha1", "ucb_alpha2", "puct"}
)
SLACK = 1e-12  # more than rounding may let a monotone score fall


@factory()
def make_play(policy_name: str, lazy: bool) -> Any:
    """Return the compiled loop of a policy.

    `play(problems, first, seed, runs, rounds, checkpoints, c, memory, arms, streams, regrets)`
    plays every problem, float64 `[N, K]` of success probabilities, `runs` times for `rounds`
    rounds, and writes the mean pseudo-regret after each of `checkpoints` into `regrets`, float64
    `[N, len(checkpoints)]`. `first` is the number of the first problem: with `seed` and the run it
    decides all chance. `c` are the policy's parameters; `memory`, float64 `[K]`, `arms`, of
    `tree.NODE`, `[K]`, and `streams`, uint64 `[K + 1, 1]`, are to work in.

    With `lazy`, for policies in `MONOTONE` only, it finds the same arms faster.
    """
    policy = POLICIES[policy_name]
    score, draws, importance = policy.score, policy.kind == "weights", policy.importance_weighted
    needs_best = policy.needs_best
    no_best = (0.0, 0.0)

    @kernel
    def begin(arms: Any, streams: Any, seed: Any, problem: Any, run: Any) -> None:
        """Forget all pulls.

        Each arm has a stream of its own: its n-th pull pays the same under every policy, so that
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
            arms[k].value = arms[k].square = arms[k].reward_estimate = 0.0
            arms[k].visits = 0
            arms[k].prior = np.float32(1.0 / len(arms))

    @kernel
    def choose(arms: Any, weights: Any, t: Any, c: Any, rng: Any) -> tuple[int, float]:
        """Return an arm and the probability it was drawn with, as the search chooses a child."""
        log_t, n = math.log(t), len(arms)
        top = NO_BEST
        if needs_best:
            for k in range(n):
                top = leading(top, arms[k], arms[k].value / arms[k].visits)
        best, best_score, total = 0, -math.inf, 0.0
        for k in range(n):
            mean = arms[k].value / arms[k].visits
            points = score(arms[k], mean, t, log_t, n, top, c, rng)
            if draws:
                weights[k] = points
                total += points
            if points > best_score:
                best, best_score = k, points
        if not draws:
            return best, 1.0
        if importance:
            # The weights are exponents of EXP3's: shifted, so that the largest becomes 1.
            total = 0.0
            for k in range(n):
                weights[k] = math.exp(weights[k] - best_score)
                total += weights[k]
            for k in range(n):
                weights[k] = (1 - c[0]) * weights[k] / total + c[0] / n
            total = 1.0
        left = unit(rng) * total
        for k in range(n):
            left -= weights[k]
            if left <= 0 and weights[k] > 0:
                return k, weights[k] / total
        return best, weights[best] / total

    @kernel
    def index(arm: Any, t: Any, log_t: Any, n: Any, c: Any, rng: Any) -> Any:
        return score(arm, arm.value / arm.visits, t, log_t, n, no_best, c, rng)

    @kernel
    def index_until(arm: Any, expiry: Any, n: Any, c: Any, rng: Any) -> Any:
        """Return what the index stays below until round `expiry`, if the arm is not pulled."""
        return index(arm, expiry, math.log(expiry), n, c, rng) + SLACK

    @kernel
    def choose_lazily(
        arms: Any, upper: Any, last: Any, t: Any, log_t: Any, c: Any, rng: Any
    ) -> tuple[int, float]:
        """Return the best arm, and a bound that the scores of all others keep below.

        `upper[k]` bounds the score of arm k until the bounds expire. Only arms whose bound reaches
        the score of the best arm found so far are worth computing; the arm pulled last comes first.
        """
        n = len(arms)
        best, best_score, bound = last, index(arms[last], t, log_t, n, c, rng), -math.inf
        for k in range(n):
            if k == last:
                continue
            if upper[k] >= best_score:
                points = index(arms[k], t, log_t, n, c, rng)
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
        c: Any,
        memory: Any,
        arms: Any,
        streams: Any,
        regrets: Any,
    ) -> None:
        n = problems.shape[1]
        rng = streams[n]
        for problem in range(problems.shape[0]):
            chances = problems[problem]
            top = 0.0
            for k in range(n):
                top = max(top, chances[k])
            for run in range(runs):
                begin(arms, streams, seed, first + problem, run)
                regret, slot = 0.0, 0
                last, bound, expiry = 0, math.inf, 0
                old, log_old = 1, 0.0  # a round of some time ago
                for t in range(rounds):
                    # Choose: every arm once, in turn, and then by the policy.
                    drawn = 1.0
                    if t < n:
                        arm = t
                    elif not lazy:
                        arm, drawn = choose(arms, memory, t, c, rng)
                    elif t <= expiry and index(arms[last], old, log_old, n, c, rng) > bound:
                        arm = last  # by its score of some rounds ago already
                    else:
                        old, log_old = t, math.log(t)
                        if t > expiry:
                            expiry, bound = t + t // 32, math.inf
                            for k in range(n):
                                memory[k] = index_until(arms[k], expiry, n, c, rng)
                        arm = last
                        if not index(arms[last], t, log_old, n, c, rng) > bound:
                            memory[last] = index_until(arms[last], expiry, n, c, rng)
                            arm, bound = choose_lazily(arms, memory, last, t, log_old, c, rng)
                    # Pull.
                    x = 1.0 if unit(streams[arm]) <= chances[arm] else 0.0
                    pulled = arms[arm]
                    pulled.visits += 1
                    pulled.value += x
                    pulled.square += x * x
                    if importance:
                        pulled.reward_estimate += x / drawn
                    last = arm
                    regret += top - chances[arm]
                    if slot < len(checkpoints) and t + 1 == checkpoints[slot]:
                        regrets[problem, slot] += regret / runs
                        slot += 1

    return play

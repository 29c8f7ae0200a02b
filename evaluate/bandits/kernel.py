"""Compiled game loop of Bernoulli bandits, one for each selection policy."""

import math
from functools import cache
from typing import Any

import numpy as np

from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.policy import NO_BEST, Parent
from ludoteca.agents.search.select import make_select
from ludoteca.agents.search.statistics import make_statistics
from ludoteca.envs.bits import ONE
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.evaluate.bandits.run import BITS, add_results, draw_rewards, reset_streams

# Names in `POLICIES` of deterministic policies whose score of an arm does not decrease with t, the
# number of rounds, while the arm is not pulled. Their loop can skip arms, so most rounds take the
# same time with 100 arms as with 2, see `choose_lazily`. Other policies are played, too, but more
# slowly.
MONOTONE = frozenset(
    {"ucb1", "uct", "ucb_tuned", "ucb_v", "ucb_minimal", "moss", "etc"}
    | {"ucb_alpha1", "ucb_alpha2", "puct"}
)
SLACK = 1e-12  # a monotone score decreases by at most this much, because of rounding


@cache
def work_dtype(arms: int) -> np.dtype[np.void]:
    """Return the record dtype of the scratch space for K arms.

    `rng` is the random stream of the policy, and `probability` the probability with which it chose
    the arm (1 for deterministic policies). `weights` is its scratch space, one number per arm; the
    lazy loop of `make_play` keeps upper bounds of the arms' scores there. The number of arms is
    rounded up to 128, 256, 512 and so on, because the code is compiled for each dtype.
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

    `play(problems, first, seed, runs, rounds, checkpoints, params_array, works, arms, streams,
    rewards, regrets, shares)` plays every problem, float64 `[N, K]` of success probabilities,
    `runs` times for `rounds` rounds. After each of `checkpoints`, ascending numbers of rounds,
    int64 `[C]`, it writes the mean pseudo-regret into `regrets` and the mean share of pulls of a
    best arm into `shares`, both float64 `[N, C]` and zero before. The random streams depend on
    `seed`, the run, and the number of the problem, counted from `first`. `params_array`, `[1]`,
    dtype `ludoteca.agents.search.config.SEARCH_PARAMS`, has the parameters of the policy. Scratch
    space: `works`, `[1]`, dtype `work_dtype(K)`; `arms`, `[K]`, dtype
    `statistics.arm_dtype(policy_name)`; `streams`, uint64 `[K + 1, 1]`; and `rewards`, the next
    rewards of each arm as bits, uint64 `[K]`.

    With `lazy`, only for policies in `MONOTONE`, the loop chooses the same arms faster.
    """
    score = POLICIES[policy_name].score
    select = make_select(policy_name)
    reset_arm, add_score = make_statistics(policy_name)

    @kernel
    def score_arm(arm: Any, t: Any, log_t: Any, n: Any, params: Any, work: Any) -> Any:
        """Return the policy's score of one of `n` arms after `t` rounds; `log_t` is ln t."""
        parent = Parent(t, log_t, n, NO_BEST, params.policy_params, work.rng)
        return score(arm, arm.value / arm.visits, parent)

    @kernel
    def score_bound(arm: Any, expiry: Any, n: Any, params: Any, work: Any) -> Any:
        """Return an upper bound of an arm's score until round `expiry`, if it is not pulled."""
        return score_arm(arm, expiry, math.log(expiry), n, params, work) + SLACK

    @kernel
    def choose_lazily(
        arms: Any, upper_bounds: Any, last_arm: Any, t: Any, log_t: Any, params: Any, work: Any
    ) -> tuple[int, float]:
        """Return the best arm after `t` rounds, and an upper bound of the scores of the others.

        `upper_bounds[k]` is an upper bound of the score of arm k until the bounds expire; the
        returned bound holds as long. The arm that was pulled last is scored first, then only the
        arms whose bound reaches the highest score so far.
        """
        n = len(arms)
        best, best_score, bound = (
            last_arm,
            score_arm(arms[last_arm], t, log_t, n, params, work),
            -math.inf,
        )
        for k in range(n):
            if k == last_arm:
                continue
            if upper_bounds[k] >= best_score:
                arm_score = score_arm(arms[k], t, log_t, n, params, work)
                if arm_score > best_score or (arm_score == best_score and k < best):
                    bound = max(bound, upper_bounds[best])
                    best, best_score = k, arm_score
                    continue
            bound = max(bound, upper_bounds[k])
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
        rewards: Any,
        regrets: Any,
        shares: Any,
    ) -> None:
        n = problems.shape[1]  # number of arms, K
        params, work = params_array[0], works[0]
        for problem in range(problems.shape[0]):
            probabilities = problems[problem]
            for run in range(runs):
                reset_streams(streams, seed, first + problem, run)
                for k in range(n):
                    reset_arm(arms[k], 1.0 / n)  # uniform prior
                work.rng[0] = streams[n, 0]
                next_checkpoint = 0
                last_arm, bound, expiry = 0, math.inf, 0
                # Last round in which arms were scored; `bound` holds for all arms but `last_arm`.
                scored_round, log_scored_round = 1, 0.0
                for t in range(rounds):
                    # Choose each arm once, then as the policy does.
                    work.probability = 1.0
                    if t < n:
                        arm = t
                    elif not lazy:
                        # The second argument, `actions`, is read in simultaneous games only.
                        arm = select(arms, work.weights, n, 0, t, n, params, work)
                    elif (
                        t <= expiry
                        and score_arm(
                            arms[last_arm], scored_round, log_scored_round, n, params, work
                        )
                        > bound
                    ):
                        arm = last_arm  # even its earlier score exceeds all other bounds
                    else:
                        scored_round, log_scored_round = t, math.log(t)
                        if t > expiry:
                            # Bounds for more rounds are computed less often, but are less tight.
                            expiry, bound = t + t // 32, math.inf
                            for k in range(n):
                                work.weights[k] = score_bound(arms[k], expiry, n, params, work)
                        arm = last_arm
                        if (
                            not score_arm(arms[last_arm], t, log_scored_round, n, params, work)
                            > bound
                        ):
                            work.weights[last_arm] = score_bound(
                                arms[last_arm], expiry, n, params, work
                            )
                            arm, bound = choose_lazily(
                                arms, work.weights, last_arm, t, log_scored_round, params, work
                            )
                    # Pull the arm.
                    pulled_arm = arms[arm]
                    used = int(pulled_arm.visits) % BITS
                    if used == 0:
                        rewards[arm] = draw_rewards(streams[arm], probabilities[arm])
                    reward = float((rewards[arm] >> np.uint64(used)) & ONE)
                    pulled_arm.visits += 1
                    add_score(pulled_arm, reward, work.probability)
                    last_arm = arm
                    if next_checkpoint < len(checkpoints) and t + 1 == checkpoints[next_checkpoint]:
                        add_results(
                            probabilities, arms.visits, t + 1, runs,
                            regrets[problem], shares[problem], next_checkpoint,
                        )  # fmt: skip
                        next_checkpoint += 1

    return play

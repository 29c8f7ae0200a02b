"""Compiled game loop of UCB1 in Bernoulli bandits, which pulls an arm many times at once.

UCB1 scores an arm by its mean reward plus sqrt(alpha ln t / visits), after t rounds. The loop pulls
the same arms as the general one, `kernel.make_play`, but computes fewer scores:

- Only the score of the arm that was pulled changes much. The others rise slowly with t, by at most
  a known slope. So an arm is pulled as long as its score exceeds the bound of the others.
- The rewards of 64 pulls of an arm are drawn at once and kept as the bits of a word. The next pulls
  are made at once if the score would exceed the bound even if all failures among them came first.
- The contenders are the few arms with the highest scores. Only they are scored as long as the best
  of them exceeds the bound of all others.
- Where the scores fall steadily, all arms are pulled down to a lower level of the scores, without
  regard to the order of these pulls (`ucb1_pulls`).
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ludoteca.envs.bits import ONE
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.evaluate.bandits.run import BITS, add_results, draw_rewards, reset_streams
from ludoteca.evaluate.bandits.ucb1_pulls import (
    ROUNDING,
    count_certain_pulls,
    pull_level_by_level,
)

PADDING = 16  # the number of arms is rounded up to a multiple
NO_ARM = -1e9  # mean of the arms that are added
FEW, MANY = 3, 12  # numbers of contenders below and above which their range of scores is adapted
FIRST_SPAN = 0.05  # first range of scores of the contenders
REFRESH_SHARE = 32  # the largest 1 / sqrt(visits) is found again after t / REFRESH_SHARE rounds
REVIEW_SHARE = 4  # levels are tried again after t / REVIEW_SHARE rounds, ...
EFFICIENT = 8  # ... unless a choice of an arm made this many pulls on average


@lru_cache(2)
def make_tables(rounds: int) -> tuple[Any, ...]:
    """Return numbers that the loop looks up instead of computing roots and quotients.

    Returns:
        `root_logs`, sqrt(ln t) of each t up to `rounds`, float64 `[rounds + 1]`, and `inverses`,
        1 / t and 1 / sqrt(t), float64 `[rounds + 1, 2]`. Those of 0 are those of 1. They are only
        read: later calls return the same arrays.
    """
    numbers = np.maximum(np.arange(rounds + 1), 1)
    return np.sqrt(np.log(numbers)), np.stack([1 / numbers, 1 / np.sqrt(numbers)], axis=1)


def make_scratch(arms: int) -> tuple[Any, ...]:
    """Return the scratch space of the loop for K arms; N is K with padding.

    Returns:
        `sums`, the visits and the sum of rewards of each arm, float64 `[2, K]`; `means` and
        `roots`, the mean reward and 1 / sqrt(visits), float64 `[N]`; `scores`, float64 `[N + 1]`,
        and the same memory as int64; `contenders`, int64 `[K + 1]`; the random streams, uint64
        `[K + 1, 1]`; `rewards`, the next rewards of each arm as bits, uint64 `[K]`; and space for
        copies of `sums`, of the streams and of `rewards`.
    """
    padded = -(-arms // PADDING) * PADDING
    scores = np.zeros(padded + 1)
    sums, streams = np.zeros((2, arms)), np.zeros((arms + 1, 1), np.uint64)
    rewards = np.zeros(arms, np.uint64)
    return (
        sums, np.zeros(padded), np.zeros(padded), scores, scores.view(np.int64),
        np.zeros(arms + 1, np.int64), streams, rewards,
        sums.copy(), streams.copy(), rewards.copy(),
    )  # fmt: skip


@kernel
def find_contenders(
    means: Any, roots: Any, width: float, scores: Any, score_bits: Any, span: float, contenders: Any
) -> tuple[int, float]:
    """Find the arms whose scores are at most `span` below the highest, in ascending order.

    Positive numbers have the order of their bits, and vector instructions find the maximum of
    integers, but not of floating-point numbers.

    Args:
        means: see `make_scratch`, as for other arguments.
        roots: 1 / sqrt(visits).
        width: sqrt(alpha ln t).
        scores: is overwritten.
        score_bits: the same memory.
        span: at least 0.
        contenders: is overwritten.

    Returns:
        The number of contenders, and an upper bound of the scores of all other arms.
    """
    padded, arms = len(means), len(contenders) - 1
    for arm in range(padded):
        scores[arm] = means[arm] + width * roots[arm]
    top = np.int64(0)
    for arm in range(padded):
        top = max(top, score_bits[arm])
    score_bits[padded] = top
    bound, count = scores[padded] - span, 0
    for arm in range(arms):
        contenders[count] = arm
        count += int(scores[arm] >= bound)
    return count, bound


@kernel
def best_contender(
    t: int,
    alpha: float,
    width: float,
    sums: Any,
    means: Any,
    roots: Any,
    contenders: Any,
    count: int,
) -> tuple[int, float, float]:
    """Return the contender with the highest score, its score, and the highest of the others.

    The scores have rounding errors. Nearly equal ones are computed again as the policy does.
    """
    best, best_score, second = 0, -math.inf, -math.inf
    for i in range(count):
        arm = contenders[i]
        score = means[arm] + width * roots[arm]
        second = max(second, min(score, best_score))
        best = arm if score > best_score else best
        best_score = max(best_score, score)
    if second >= best_score - ROUNDING:
        log_t, exact = math.log(t), -math.inf
        for i in range(count):
            arm = contenders[i]
            if means[arm] + width * roots[arm] >= best_score - ROUNDING:
                visits = sums[0, arm]
                score = sums[1, arm] / visits + math.sqrt(alpha * log_t / visits)
                if score > exact:
                    best, exact = arm, score
    return best, best_score, second


@factory()
def make_play_ucb1() -> Any:
    """Return the compiled loop.

    `play(problems, first, seed, runs, rounds, checkpoints, alpha, *tables, *scratch, regrets,
    shares)` is the loop of `make_play` with the policy `ucb1`. `tables` are those of
    `make_tables(rounds)`, the scratch space is that of `make_scratch`.
    """

    @compiled_without_allocation
    def play(
        problems: Any,
        first: int,
        seed: int,
        runs: int,
        rounds: int,
        checkpoints: Any,
        alpha: float,
        root_logs: Any,
        inverses: Any,
        sums: Any,
        means: Any,
        roots: Any,
        scores: Any,
        score_bits: Any,
        contenders: Any,
        streams: Any,
        rewards: Any,
        saved_sums: Any,
        saved_streams: Any,
        saved_rewards: Any,
        regrets: Any,
        shares: Any,
    ) -> None:
        n = problems.shape[1]  # number of arms, K
        root_alpha = math.sqrt(alpha)
        for problem in range(problems.shape[0]):
            probabilities = problems[problem]
            for run in range(runs):
                reset_streams(streams, seed, first + problem, run)
                sums[:] = 0.0
                means[:] = NO_ARM
                roots[:] = 0.0
                next_checkpoint, t = 0, 0
                # In round `chosen`, `arm` was chosen, and `bound` was that of all other scores.
                # In round `found`, `rest` was that of all arms that are not contenders.
                arm, chosen, width, slope, bound = 0, 0, 0.0, 0.0, math.inf
                count, found, rest_slope, rest = 0, 0, 0.0, math.inf
                span = math.inf if n <= MANY else FIRST_SPAN
                largest_root, refresh = 1.0, 0
                # Levels are tried in round `review`; `choices` were made since round `reviewed`.
                review, reviewed, choices = 2 * n, 0, 0
                while t < rounds:
                    stop = rounds
                    if next_checkpoint < len(checkpoints):
                        stop = checkpoints[next_checkpoint]
                    if t >= review:
                        if alpha > 0 and t - reviewed < EFFICIENT * choices:
                            reviewed = t
                            t = pull_level_by_level(
                                t, stop, probabilities, root_alpha, root_logs, inverses, sums,
                                means, roots, streams, rewards, saved_sums, saved_streams,
                                saved_rewards,
                            )  # fmt: skip
                            if t > reviewed:  # find scores and bounds anew
                                width, bound, count, rest, refresh = 0.0, math.inf, 0, math.inf, 0
                        review, reviewed, choices = t + max(t // REVIEW_SHARE, n), t, 0
                    choices += 1
                    if t < n:  # choose each arm once, then as the policy does
                        arm, rewards[t] = t, draw_rewards(streams[t], probabilities[t])
                        pulls, successes = 1, int(rewards[t] & ONE)
                    else:
                        limit = bound + slope * (t - chosen)
                        if not means[arm] + width * roots[arm] > limit:
                            chosen, width = t, root_alpha * root_logs[t]
                            if t >= refresh:
                                largest_root, refresh = 0.0, t + t // REFRESH_SHARE
                                for k in range(n):
                                    largest_root = max(largest_root, roots[k])
                            # The derivative of the score by t; it decreases with t.
                            slope = largest_root * root_alpha / (2 * t * root_logs[max(t, 2)])
                            limit = rest + rest_slope * (t - found)
                            arm, score, second = best_contender(
                                t, alpha, width, sums, means, roots, contenders, count
                            )
                            if not score > limit + ROUNDING:
                                count, rest = find_contenders(
                                    means, roots, width, scores, score_bits, span, contenders
                                )
                                found, rest_slope, limit = t, slope, rest
                                if count > MANY:
                                    span *= 0.5
                                elif count < FEW:
                                    span *= 2.0
                                arm, score, second = best_contender(
                                    t, alpha, width, sums, means, roots, contenders, count
                                )
                            limit = bound = max(second, limit) + ROUNDING
                        visits = int(sums[0, arm])
                        used = visits % BITS
                        if used == 0:
                            rewards[arm] = draw_rewards(streams[arm], probabilities[arm])
                        pulls, successes = count_certain_pulls(
                            rewards[arm] >> np.uint64(used), min(BITS - used, stop - t),
                            means[arm] + width * roots[arm] - limit,
                            slope + 0.5 * width * roots[arm] * inverses[visits, 0],
                            means[arm], inverses[visits, 0],
                        )  # fmt: skip
                    sums[0, arm] += pulls
                    sums[1, arm] += successes
                    visits = int(sums[0, arm])
                    means[arm] = sums[1, arm] * inverses[visits, 0]
                    roots[arm] = inverses[visits, 1]
                    t += pulls
                    if next_checkpoint < len(checkpoints) and t == checkpoints[next_checkpoint]:
                        add_results(
                            probabilities, sums[0], t, runs,
                            regrets[problem], shares[problem], next_checkpoint,
                        )  # fmt: skip
                        next_checkpoint += 1

    return play

"""Compiled game loop of UCB1 in Bernoulli bandits, which pulls an arm many times at once.

UCB1 scores an arm by its mean reward plus sqrt(alpha ln t / visits), after t rounds. The loop pulls
the same arms as the general one, `kernel.make_play`, but computes fewer scores:

- Only the score of the arm that was pulled changes much. The others rise slowly with t, by at most
  a known slope. So an arm is pulled as long as its score exceeds the bound of the others.
- Vector instructions count the rewards of its next pulls, many at once. The pulls are made if the
  score would exceed the bound even if all failures came first.
- The contenders are the few arms with the highest scores. Only they are scored as long as the best
  of them exceeds the bound of all others.
"""

import math
from typing import Any

import numpy as np

from ludoteca.agents.search.distributions import sample_uniform
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.rng import GOLDEN_GAMMA, MIX_1, MIX_2, U11, U27, U30, U31
from ludoteca.evaluate.bandits.run import add_results, reset_streams

PADDING = 16  # the number of arms is rounded up to a multiple
NO_ARM = -1e9  # mean of the arms that are added
ROUNDING = 1e-12  # more than the rounding errors of scores and bounds
MIN_BLOCK = 16  # fewer pulls than this are made one by one
FEW, MANY = 4, 16  # numbers of contenders below and above which their range of scores is adapted
FIRST_SPAN = 0.05  # first range of scores of the contenders
REFRESH_SHARE = 32  # the largest 1 / sqrt(visits) is found again after t / REFRESH_SHARE rounds


def make_scratch(arms: int) -> tuple[Any, ...]:
    """Return the scratch space of the loop for K arms; N is K with padding.

    Returns:
        `sums`, the visits and the sum of rewards of each arm, float64 `[2, K]`; `means` and
        `roots`, the mean reward and 1 / sqrt(visits), float64 `[N]`; `scores`, float64 `[N + 1]`,
        and the same memory as int64; `contenders`, int64 `[K + 1]`; the random streams, uint64
        `[K + 1, 1]`.
    """
    padded = -(-arms // PADDING) * PADDING
    scores = np.zeros(padded + 1)
    return (
        np.zeros((2, arms)), np.zeros(padded), np.zeros(padded), scores, scores.view(np.int64),
        np.zeros(arms + 1, np.int64), np.zeros((arms + 1, 1), np.uint64),
    )  # fmt: skip


@kernel
def count_rewards(state: Any, pulls: int, limit: Any) -> int:
    """Return the number of rewards of the next pulls of an arm.

    Args:
        state: state of the arm's random stream.
        pulls: number of pulls.
        limit: a pull is rewarded if its 53 random bits, as a number, are below this uint64.
    """
    rewards = 0
    for i in range(pulls):
        z = np.add(state, np.multiply(np.uint64(i + 1), GOLDEN_GAMMA))
        z = np.multiply(z ^ (z >> U30), MIX_1)
        z = np.multiply(z ^ (z >> U27), MIX_2)
        rewards += int(((z ^ (z >> U31)) >> U11) < limit)
    return rewards


@kernel
def count_certain_pulls(
    state: Any, probability: float, margin: float, decline: float, mean: float, visits: float,
    most: int,
) -> tuple[int, int]:  # fmt: skip
    """Return how often an arm is surely pulled next, and the rewards of these pulls.

    One pull is always sure; its reward is not drawn, and returned as 0.

    Args:
        state: state of the arm's random stream.
        probability: success probability of the arm.
        margin: its score minus the bound of the other scores.
        decline: how much the margin shrinks with each successful pull at most.
        mean: mean reward of the arm.
        visits: number of its pulls.
        most: maximum number of pulls.
    """
    loss = mean / visits  # how much each failure reduces the margin at most
    expected = margin / (decline + 2.0 * (1.0 - mean) * loss + ROUNDING)
    if expected < MIN_BLOCK:
        return 1, 0
    pulls, limit = int(min(expected, most)), np.uint64(probability * 2.0**53)
    while pulls > 1:
        rewards = count_rewards(state, pulls, limit)
        if margin > (pulls - rewards) * loss + pulls * decline + ROUNDING:
            return pulls, rewards
        pulls = pulls // 2 if pulls >= MIN_BLOCK else 1
    return 1, 0


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
        if score > best_score:
            best, best_score, second = arm, score, best_score
        else:
            second = max(second, score)
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

    `play(problems, first, seed, runs, rounds, checkpoints, alpha, root_logs, *scratch, regrets,
    shares)` is the loop of `make_play` with the policy `ucb1`. `root_logs[t]` is sqrt(ln t),
    float64 `[rounds + 1]`; the scratch space is that of `make_scratch`.
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
        sums: Any,
        means: Any,
        roots: Any,
        scores: Any,
        score_bits: Any,
        contenders: Any,
        streams: Any,
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
                while t < rounds:
                    pulls, rewards = 1, 0
                    if t < n:
                        arm = t  # choose each arm once, then as the policy does
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
                        stop, visits = rounds, sums[0, arm]
                        if next_checkpoint < len(checkpoints):
                            stop = checkpoints[next_checkpoint]
                        pulls, rewards = count_certain_pulls(
                            streams[arm, 0], probabilities[arm],
                            means[arm] + width * roots[arm] - limit,
                            slope + width * roots[arm] / (2.0 * visits),
                            means[arm], visits, stop - t,
                        )  # fmt: skip
                    if pulls == 1:
                        rewards = int(sample_uniform(streams[arm]) <= probabilities[arm])
                    else:
                        skipped = np.multiply(np.uint64(pulls), GOLDEN_GAMMA)
                        streams[arm, 0] = np.add(streams[arm, 0], skipped)
                    sums[0, arm] += pulls
                    sums[1, arm] += rewards
                    means[arm] = sums[1, arm] / sums[0, arm]
                    roots[arm] = 1.0 / math.sqrt(sums[0, arm])
                    t += pulls
                    if next_checkpoint < len(checkpoints) and t == checkpoints[next_checkpoint]:
                        add_results(
                            probabilities, sums[0], t, runs,
                            regrets[problem], shares[problem], next_checkpoint,
                        )  # fmt: skip
                        next_checkpoint += 1

    return play

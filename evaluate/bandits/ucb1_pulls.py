"""Pulls that UCB1 makes at once: of one arm, and of all arms down to a level of the scores.

UCB1 scores an arm by its mean reward plus sqrt(alpha ln t / visits), after t rounds. Pull the arms
in any order, each only while its score exceeds a level, until no score does. UCB1 makes the same
pulls first, in its own order. For as long as it has not made them all, take the first one in our
order that it lacks: UCB1 is then at least as many rounds on, and scores rise with ln t, so that
arm's score exceeds the level. An arm that has had all its pulls has a score of at most the level,
even with the final ln t. So UCB1 does not choose it before all pulls are made.
"""

import math
from typing import Any

import numpy as np

from ludoteca.envs.bits import ONE, popcount
from ludoteca.envs.jit import kernel
from ludoteca.evaluate.bandits.run import BITS, draw_rewards

ROUNDING = 1e-12  # more than the rounding errors of bounds, and of scores up to 1,000
MIN_PULLS = 3  # fewer pulls than this are made one by one
CAUTION = 1.2  # the expected failures count this many times, so that a try rarely fails
GROWTH = 2.0  # the next level is so low that the rounds grow by about this factor
MAX_GROWTH = 3.0  # if they would grow by more, the pulls are undone and a higher level is tried
TRIES = 2  # levels in a row that are too low, after which no other is tried


@kernel
def count_certain_pulls(
    word: Any, most: int, margin: float, decline: float, mean: float, inverse: float
) -> tuple[int, int]:
    """Return how often an arm is surely pulled next, at least once, and the rewards of these pulls.

    Args:
        word: the rewards of its next pulls, from the lowest bit.
        most: maximum number of pulls, at most the number of rewards.
        margin: its score minus an upper bound of the other scores, or minus a level.
        decline: upper bound of what a pull takes off the margin, apart from a lower mean.
        mean: mean reward of the arm.
        inverse: 1 / visits.
    """
    loss = mean * inverse  # how much each failure reduces the margin at most
    cost = decline + CAUTION * (1.0 - mean) * loss + ROUNDING
    if margin < MIN_PULLS * cost:
        return 1, int(word & ONE)
    pulls = int(min(margin / cost, most))
    while pulls > 1:
        successes = popcount(word << np.uint64(BITS - pulls))
        if margin > (pulls - successes) * loss + pulls * decline + ROUNDING:
            return pulls, successes
        pulls //= 2
    return 1, int(word & ONE)


@kernel
def pull_to_level(
    level: float,
    t: int,
    last: int,
    probabilities: Any,
    root_alpha: float,
    root_logs: Any,
    inverses: Any,
    sums: Any,
    means: Any,
    roots: Any,
    streams: Any,
    rewards: Any,
) -> int:
    """Pull the arms, from round `t` on, until no score exceeds a level.

    If a score equals the level but for rounding errors, the level is lowered a little.

    Args:
        level: the level.
        t: number of rounds so far; each arm has been pulled.
        last: last round that may be reached.
        probabilities: success probabilities of the arms, `[K]`.
        root_alpha: sqrt(alpha).
        root_logs: see `ucb1_kernel.make_tables`, as for `inverses`.
        inverses: 1 / t and 1 / sqrt(t).
        sums: see `ucb1_kernel.make_scratch`, as for the other arguments.
        means: mean rewards.
        roots: 1 / sqrt(visits).
        streams: random streams.
        rewards: next rewards of each arm as bits.

    Returns:
        The round then, or 0 if it is after `last`, or if the level was lowered too often. With 0
        the caller must undo the pulls.
    """
    lowest, pulled = level - 10 * ROUNDING, True
    while pulled:
        pulled = False
        for arm in range(len(probabilities)):
            width, mean, root = root_alpha * root_logs[t], means[arm], roots[arm]
            margin = mean + width * root - level
            if margin < -ROUNDING:
                continue
            pulled = True
            visits, successes = int(sums[0, arm]), int(sums[1, arm])
            while margin >= -ROUNDING:
                if t == last or level < lowest:
                    return 0
                if margin < ROUNDING:
                    level -= 3 * ROUNDING
                    margin += 3 * ROUNDING
                used = visits % BITS
                if used == 0:
                    rewards[arm] = draw_rewards(streams[arm], probabilities[arm])
                inverse = inverses[visits, 0]
                pulls, gained = count_certain_pulls(
                    rewards[arm] >> np.uint64(used), min(BITS - used, last - t),
                    margin, 0.5 * width * root * inverse, mean, inverse,
                )  # fmt: skip
                visits, successes, t = visits + pulls, successes + gained, t + pulls
                mean, root = successes * inverses[visits, 0], inverses[visits, 1]
                margin = mean + width * root - level
            sums[0, arm], sums[1, arm] = visits, successes
            means[arm], roots[arm] = mean, root
    return t


@kernel
def pull_level_by_level(
    t: int,
    stop: int,
    probabilities: Any,
    root_alpha: float,
    root_logs: Any,
    inverses: Any,
    sums: Any,
    means: Any,
    roots: Any,
    streams: Any,
    rewards: Any,
    saved_sums: Any,
    saved_streams: Any,
    saved_rewards: Any,
) -> int:
    """Pull the arms from round `t` to the rounds of lower and lower levels, before round `stop`.

    It ends near `stop`, or when `TRIES` levels in a row would take too many rounds.

    Args:
        t: number of rounds so far; each arm has been pulled.
        stop: round that is not reached.
        probabilities: see `pull_to_level`, as for the following arguments.
        root_alpha: sqrt(alpha), above 0.
        root_logs: sqrt(ln t).
        inverses: 1 / t and 1 / sqrt(t).
        sums: visits and sums of rewards.
        means: mean rewards.
        roots: 1 / sqrt(visits).
        streams: random streams.
        rewards: next rewards of each arm as bits.
        saved_sums: is overwritten, like the other two.
        saved_streams: like `streams`.
        saved_rewards: like `rewards`.

    Returns:
        The number of rounds.
    """
    arms, tries = len(probabilities), 0
    step = 1.0  # share of `fall`, see below, by which the next level lies below the highest score
    while stop - t > arms and tries < TRIES:
        width = root_alpha * root_logs[t]
        top, smallest_root = 0.0, 1.0
        for arm in range(arms):
            top = max(top, means[arm] + width * roots[arm])
            smallest_root = min(smallest_root, roots[arm])
            saved_sums[0, arm], saved_sums[1, arm] = sums[0, arm], sums[1, arm]
            saved_streams[arm, 0], saved_rewards[arm] = streams[arm, 0], rewards[arm]
        # The score of the arm with the most visits falls by this much if its visits grow by the
        # factor and its mean stays.
        fall = (1 - 1 / math.sqrt(min(GROWTH, stop / t))) * width * smallest_root
        end = pull_to_level(
            top - step * fall, t, min(stop - 1, int(MAX_GROWTH * t)), probabilities, root_alpha,
            root_logs, inverses, sums, means, roots, streams, rewards,
        )  # fmt: skip
        if end:
            t, step, tries = end, min(1.0, 2 * step), 0
            continue
        step, tries = 0.5 * step, tries + 1
        for arm in range(arms):
            sums[0, arm], sums[1, arm] = saved_sums[0, arm], saved_sums[1, arm]
            streams[arm, 0], rewards[arm] = saved_streams[arm, 0], saved_rewards[arm]
            visits = int(sums[0, arm])
            means[arm], roots[arm] = sums[1, arm] * inverses[visits, 0], inverses[visits, 1]
    return t

"""Parts of a run of a bandit: its random streams, its rewards, and its regret and best pulls."""

from typing import Any

import numpy as np

from ludoteca.envs.bits import ALL, ONE, ZERO
from ludoteca.envs.jit import kernel
from ludoteca.envs.rng import GOLDEN_GAMMA, next_u64

BITS = 64  # number of rewards of an arm that are drawn at once


@kernel
def reset_streams(streams: Any, seed: Any, problem: Any, run: Any) -> None:
    """Reset the random streams, uint64 `[K + 1, 1]`: one for each arm, and the policy's.

    The n-th pull of an arm has the same reward under every policy, so policies are compared with
    common random numbers. `problem` and `run` are numbers from 0 on.
    """
    # All `start + k * GOLDEN_GAMMA` are different states of SplitMix64.
    streams[0, 0] = np.uint64(seed)
    start = next_u64(streams[0]) + np.uint64(problem) * GOLDEN_GAMMA
    streams[0, 0] = start
    start = next_u64(streams[0]) + np.uint64(run) * GOLDEN_GAMMA
    for k in range(len(streams)):
        streams[k, 0] = start + np.uint64(k) * GOLDEN_GAMMA
        streams[k, 0] = next_u64(streams[k])


@kernel
def draw_rewards(stream: Any, probability: float) -> Any:
    """Return the next `BITS` rewards of an arm as the bits of a word, and advance its stream.

    A reward is 1 if a random number of 53 bits is below the probability. Bit i of a random word is
    the next binary digit of the i-th number, from the highest. A number that has another digit than
    the probability is decided, so about 8 words decide all.
    """
    limit = np.uint64(probability * 2.0**53)
    if limit >> np.uint64(53):
        return ALL
    limit = limit << np.uint64(11)  # the highest digit is bit 63
    rewards, undecided = ZERO, ALL
    while undecided and limit:
        digits, digit = next_u64(stream), np.multiply(limit >> np.uint64(63), ALL)
        rewards |= undecided & ~digits & digit
        undecided &= ~(digits ^ digit)
        limit = limit << ONE
    return rewards


@kernel
def add_results(
    probabilities: Any, visits: Any, rounds: int, runs: int, regrets: Any, shares: Any, index: int
) -> None:
    """Add the pseudo-regret of a run to `regrets[index]`, and its share of best pulls to `shares`.

    Args:
        probabilities: success probabilities of the arms. Shape `[K]`.
        visits: pulls of each arm so far. Shape `[K]`.
        rounds: pulls of all arms so far.
        runs: number of runs, by which both are divided.
        regrets: mean regret at each checkpoint, float64 `[C]`.
        shares: mean share of the pulls that were pulls of a best arm, float64 `[C]`.
        index: number of the checkpoint.
    """
    best = 0.0
    for k in range(len(probabilities)):
        best = max(best, probabilities[k])
    regret, best_pulls = 0.0, 0.0
    for k in range(len(probabilities)):
        regret += visits[k] * (best - probabilities[k])
        best_pulls += visits[k] * int(probabilities[k] == best)
    regrets[index] += regret / runs
    shares[index] += best_pulls / rounds / runs

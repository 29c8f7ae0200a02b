"""Cumulative pseudo-regret and pulls of the best arm of selection policies in Bernoulli bandits."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ludoteca.agents.search.config import SEARCH_PARAMS
from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.policy import check_parameter_names
from ludoteca.agents.search.statistics import arm_dtype
from ludoteca.envs.params import check_choice, check_integer
from ludoteca.evaluate.bandits.kernel import MONOTONE, make_play, work_dtype
from ludoteca.evaluate.bandits.ucb1_kernel import make_play_ucb1, make_scratch, make_tables

Array = NDArray[np.float64]
Settings = tuple[int, int, int, int, NDArray[np.int64]]
# `play(problems, (first, seed, runs, rounds, checkpoints), regrets, shares)`, see `make_play`.
Play = Callable[[Array, Settings, Array, Array], None]


def random_problems(problems: int, arms: int, seed: int) -> NDArray[np.float64]:
    """Draw success probabilities uniformly from [0, 1): float64 `[problems, arms]`."""
    # With `arms` in the seed, problems with other numbers of arms are independent of these.
    return np.random.default_rng([seed, arms]).random((problems, arms))


class BanditCurves(NamedTuple):
    """Results of bandits after each checkpoint.

    Attributes:
        regrets: cumulative pseudo-regret, float64 `[N, len(checkpoints)]`.
        shares: share of the pulls so far that were pulls of a best arm, float64
            `[N, len(checkpoints)]`.
    """

    regrets: NDArray[np.float64]
    shares: NDArray[np.float64]


class BanditOptions(TypedDict, total=False):
    """Options of `bandit_curves`."""

    params: Mapping[str, float] | None
    seed: int
    runs: int
    checkpoints: Sequence[int] | None
    first_problem: int
    num_threads: int
    lazy: bool


def bandit_curves(
    policy: str,
    probabilities: ArrayLike,
    rounds: int,
    *,
    params: Mapping[str, float] | None = None,
    seed: int = 0,
    runs: int = 1,
    checkpoints: Sequence[int] | None = None,
    first_problem: int = 0,
    num_threads: int = 1,
    lazy: bool = True,
) -> BanditCurves:
    """Play bandits with a selection policy; return its pseudo-regret and its pulls of the best arm.

    The regret is the sum over the rounds of the success probability of the best arm minus that of
    the pulled arm. The reward of the n-th pull of an arm in a problem and run does not depend on
    the policy, so policies with the same seed are compared with common random numbers.

    Args:
        policy: a name in `ludoteca.agents.search.policies.POLICIES`.
        probabilities: success probabilities of N problems with K arms, `[N, K]`.
        rounds: number of pulls in each run. The first K pull each arm once.
        params: parameters of the policy that differ from the defaults in `POLICIES`.
        seed: seed of all random numbers, combined with the numbers of the problem and the run.
        runs: number of runs that are averaged.
        checkpoints: ascending numbers of rounds after which the results are returned; by default
            only `rounds`.
        first_problem: number of the first problem; a slice of the problems, with the number of its
            first one, has the same results as in the full batch.
        num_threads: number of threads that share the problems; it does not change the results.
        lazy: whether to skip scores that cannot be the highest, for policies in `MONOTONE`, and
            to pull an arm many times at once, for `ucb1`; it does not change the results.

    Raises:
        ValueError: if an argument is out of range, or the policy lacks a parameter in `params`.
    """
    check_choice("policy", policy, tuple(POLICIES))
    problems = np.ascontiguousarray(probabilities, np.float64)
    if problems.ndim != 2 or not problems.size or not np.all((problems >= 0) & (problems <= 1)):
        raise ValueError(
            f"probabilities must be from 0 to 1, of shape [problems, arms], got {probabilities!r}"
        )
    check_integer("rounds", rounds, 1, 10**9)
    check_integer("runs", runs, 1, 10**9)
    check_integer("seed", seed, 0, 2**63 - 1)
    check_integer("first_problem", first_problem, 0, 10**12)
    check_integer("num_threads", num_threads, 1, 1024)
    checkpoint_rounds = np.array([rounds] if checkpoints is None else checkpoints, np.int64)
    if (
        checkpoint_rounds.ndim != 1
        or np.any(np.diff(checkpoint_rounds, prepend=0) <= 0)
        or np.any(checkpoint_rounds > rounds)
    ):
        raise ValueError(
            f"checkpoints must ascend, from at least 1 to at most {rounds}, got {checkpoints!r}"
        )
    values = _parameters(policy, params or {})
    if policy == "ucb1" and lazy and values[0] >= 0:
        play = _make_ucb1_play(rounds, values[0])
    else:
        play = _make_policy_play(policy, values, lazy)
    count = len(problems)
    regrets, shares = np.zeros((2, count, len(checkpoint_rounds)))

    def play_slice(low: int, high: int) -> None:
        settings = (first_problem + low, seed, runs, rounds, checkpoint_rounds)
        play(problems[low:high], settings, regrets[low:high], shares[low:high])

    # More slices than threads, as problems may take very different times.
    slices = min(count, 4 * num_threads if num_threads > 1 else 1)
    bounds = [count * i // slices for i in range(slices + 1)]
    with ThreadPoolExecutor(num_threads) as pool:
        list(pool.map(play_slice, bounds[:-1], bounds[1:]))
    return BanditCurves(regrets, shares)


def play_bandits(
    policy: str, probabilities: ArrayLike, rounds: int, **options: Unpack[BanditOptions]
) -> NDArray[np.float64]:
    """Play bandits with a selection policy and return its cumulative pseudo-regret.

    Args:
        policy: a name in `ludoteca.agents.search.policies.POLICIES`.
        probabilities: success probabilities of N problems with K arms, `[N, K]`.
        rounds: number of pulls in each run. The first K pull each arm once.
        options: other arguments of `bandit_curves`.

    Returns:
        The regret, float64 `[N, len(checkpoints)]`.

    Raises:
        ValueError: if an argument is out of range, or the policy lacks a parameter in `params`.
    """
    return bandit_curves(policy, probabilities, rounds, **options).regrets


def _make_policy_play(policy: str, values: NDArray[np.float64], lazy: bool) -> Play:
    """Return the loop of a policy with some parameters."""
    play = make_play(policy, lazy and policy in MONOTONE)
    params = np.zeros(1, SEARCH_PARAMS)
    params["policy_params"] = values

    def play_problems(problems: Array, settings: Settings, regrets: Array, shares: Array) -> None:
        arms = problems.shape[1]
        scratch = (
            np.zeros(1, work_dtype(arms)),
            np.zeros(arms, arm_dtype(policy)),
            np.zeros((arms + 1, 1), np.uint64),
            np.zeros(arms, np.uint64),
        )
        play(problems, *settings, params, *scratch, regrets, shares)

    return play_problems


def _make_ucb1_play(rounds: int, alpha: float) -> Play:
    """Return the loop of UCB1 that pulls an arm many times at once."""
    play = make_play_ucb1()
    tables = make_tables(rounds)

    def play_problems(problems: Array, settings: Settings, regrets: Array, shares: Array) -> None:
        scratch = make_scratch(problems.shape[1])
        play(problems, *settings, alpha, *tables, *scratch, regrets, shares)

    return play_problems


def _parameters(policy: str, values: Mapping[str, float]) -> NDArray[np.float64]:
    """Return all parameters of a policy, in the order of `POLICIES`, with the given values."""
    check_parameter_names(f"policy {policy!r}", values, POLICIES[policy].params)
    params = POLICIES[policy].parameters(values)
    if not np.all(np.isfinite(params)):
        raise ValueError(f"the parameters of a policy must be finite, got {dict(values)}")
    return params

"""Tests of bandit policies against hand computation, and of their reproducibility."""

import math

import numpy as np
import pytest

from ludoteca.agents.search.config import SEARCH_PARAMS
from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.statistics import arm_dtype
from ludoteca.envs.record_views import view_records
from ludoteca.envs.rng import next_u64
from ludoteca.evaluate.bandits import bandit_curves, play_bandits, random_problems
from ludoteca.evaluate.bandits.kernel import MONOTONE, make_play, work_dtype
from ludoteca.evaluate.bandits.run import draw_rewards
from ludoteca.evaluate.bandits.ucb1_kernel import make_play_ucb1, make_scratch, make_tables


def test_greedy_policy_has_the_regret_of_one_pull() -> None:
    regret = play_bandits(
        "ucb1", [[1.0, 0.0], [0.25, 1.0]], 10, params={"alpha": 0.0}, checkpoints=[1, 2, 3, 10]
    )
    np.testing.assert_allclose(regret[0], [0, 1, 1, 1])
    assert regret[1, 0] == 0.75  # the first round pulls arm 0


def test_ucb1_matches_hand_computation() -> None:
    """Arms with success probabilities 1 and 0; scores before each pull with alpha = 2.

    t     2             3             4             5             6             7
    arm 0 1 + sqrt(2 ln 2 / 1) = 2.177, 2.048, 1.961, 1.897, 1.847, 1.882
    arm 1 0 + sqrt(2 ln 2 / 1) = 1.177, 1.482, 1.665, 1.794, 1.893, 1.395

    So after the first pulls of both, arm 1 is pulled again in round 7.
    """
    regret = play_bandits("ucb1", [[1.0, 0.0]], 8, checkpoints=range(1, 9))
    np.testing.assert_allclose(regret[0], [0, 1, 1, 1, 1, 1, 2, 2])


def test_shares_of_the_best_arm_follow_from_the_regret_of_two_arms() -> None:
    """With two arms the regret is the gap times the pulls of the worse arm."""
    problems, checkpoints = np.array([[0.75, 0.25], [0.5, 1.0], [0.5, 0.5]]), [1, 2, 7, 500]
    curves = bandit_curves("ucb1", problems, 500, runs=3, checkpoints=checkpoints)
    pulls_of_worse = curves.regrets[:2] / 0.5
    np.testing.assert_allclose(curves.shares[:2], 1 - pulls_of_worse / checkpoints)
    np.testing.assert_array_equal(curves.shares[2], 1)  # both arms are the best


def test_explore_then_commit_matches_hand_computation() -> None:
    regret = play_bandits("etc", [[0.0, 1.0]], 9, params={"m": 3}, checkpoints=range(1, 10))
    np.testing.assert_allclose(regret[0], [1, 1, 2, 2, 3, 3, 3, 3, 3])


def test_regret_of_uniform_choice_is_the_mean_gap() -> None:
    problems = random_problems(30, 7, seed=1)
    gaps = problems.max(axis=1) - problems.mean(axis=1)
    regret = play_bandits("uniform", problems, 20_000)[:, 0]
    np.testing.assert_allclose(regret, 20_000 * gaps, rtol=0.05)


def parameters(policy: str) -> np.ndarray:
    """Return the default search parameters of a policy, `[1]`."""
    params = np.zeros(1, SEARCH_PARAMS)
    params["policy_params"] = POLICIES[policy].parameters({})
    return params


def random_numbers(arms: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the random streams of the arms and the policy, and the rewards of the arms."""
    return np.zeros((arms + 1, 1), np.uint64), np.zeros(arms, np.uint64)


def play_arms(policy: str, problem: list[float], rounds: int) -> np.ndarray:
    """Return the records of the arms after one run."""
    arms, n = np.zeros(len(problem), arm_dtype(policy)), len(problem)
    scratch = np.zeros(1, work_dtype(n)), arms, *random_numbers(n)
    checkpoints, problems = np.zeros(0, np.int64), np.array([problem])
    play, params = make_play(policy, policy in MONOTONE), parameters(policy)
    no_results = np.zeros((1, 0)), np.zeros((1, 0))  # regrets and shares at no checkpoint
    play(problems, 0, 0, 1, rounds, checkpoints, params, *scratch, *no_results)
    return arms


def test_arms_succeed_with_their_probability() -> None:
    arms = play_arms("uniform", [0.0, 0.1, 0.5, 0.8, 1.0], 50_000)
    assert arms["visits"].sum() == 50_000
    means = arms["value"] / arms["visits"]
    np.testing.assert_allclose(means, [0, 0.1, 0.5, 0.8, 1], atol=0.02)
    assert means[0] == 0
    assert means[4] == 1
    # Rewards are 0 or 1, so the sum of their squares is their sum.
    np.testing.assert_array_equal(arms["square"], arms["value"])


@pytest.mark.interpreted
@pytest.mark.parametrize("probability", [0.0, 2.0**-53, 0.3, 0.5, 0.75, 1 - 2.0**-53, 1.0])
def test_rewards_are_random_numbers_below_the_probability(probability: float) -> None:
    """Each random word has one digit of 64 numbers of 53 digits."""
    stream, copy = np.full(1, 7, np.uint64), np.full(1, 7, np.uint64)
    with np.errstate(over="ignore"):  # the random number generator wraps around
        rewards = int(draw_rewards(stream, probability))
        words = [int(next_u64(copy)) for _ in range(53)]
    for i in range(64):
        number = sum((word >> i & 1) / 2 ** (n + 1) for n, word in enumerate(words))
        assert (rewards >> i & 1) == (number < probability)


@pytest.mark.interpreted
def test_reward_of_the_nth_pull_does_not_depend_on_the_policy() -> None:
    total_rewards = [play_arms("ucb1", [0.5], n)["value"][0] for n in range(1, 201)]
    for policy in POLICIES:
        arm = play_arms(policy, [0.5, 0.6, 0.4], 200)[0]
        assert arm["value"] == total_rewards[arm["visits"] - 1], policy


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(policy, marks=() if policy in ("ucb1", "exp3") else pytest.mark.slow)
        for policy in POLICIES
    ],
)
def test_interpreted_and_compiled_agree(policy: str) -> None:
    lazy, problems = policy in MONOTONE, random_problems(2, 4, seed=3)
    checkpoints, params = np.array([10, 80]), view_records(parameters(policy))
    work, arms = np.zeros(1, work_dtype(4)), np.zeros(4, arm_dtype(policy))
    regrets, shares = np.zeros((2, 2, 2))  # each [problems, checkpoints]
    with np.errstate(over="ignore"):  # the random number generator wraps around
        make_play(policy, lazy).py_func(
            *(problems, 0, 5, 2, 80, checkpoints, params, view_records(work), view_records(arms)),
            *(*random_numbers(4), regrets, shares),
        )
    compiled = bandit_curves(policy, problems, 80, seed=5, runs=2, checkpoints=checkpoints.tolist())
    np.testing.assert_allclose(regrets, compiled.regrets, rtol=1e-12)
    np.testing.assert_allclose(shares, compiled.shares, rtol=1e-12)


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(policy, marks=() if policy == "ucb1" else pytest.mark.slow)
        for policy in sorted(MONOTONE)
    ],
)
def test_lazy_choice_of_arms_does_not_change_the_regret(policy: str) -> None:
    problems = [random_problems(10, arms, seed=2) for arms in (2, 7, 40)]
    # Equal arms, several best arms, and arms without rewards.
    problems += [np.full((2, 9), 0.5), np.tile([0.0, 1.0, 0.0, 1.0], (1, 2)), np.zeros((1, 5))]
    checkpoints = [1, 50, 500, 3000]
    for batch in problems:
        full_regret, lazy_regret = (
            play_bandits(policy, batch, 3000, checkpoints=checkpoints, lazy=lazy)
            for lazy in (False, True)
        )
        np.testing.assert_array_equal(full_regret, lazy_regret)


@pytest.mark.parametrize("arms", [1, 2, 3, 16, 17, 60])
def test_ucb1_pulls_many_times_at_once_as_in_the_general_loop(arms: int) -> None:
    problems = np.concatenate([random_problems(2, arms, seed=3), np.full((1, arms), 0.9)])
    problems[1, 0] = 1.0
    checkpoints = [1, 2, 999, 1000, 20_000]
    for alpha in (0.0, 0.02, 0.5, 9.0):
        options = {"params": {"alpha": alpha}, "checkpoints": checkpoints, "runs": 2}
        general, fast = (
            bandit_curves("ucb1", problems, 20_000, lazy=lazy, **options) for lazy in (False, True)
        )
        np.testing.assert_array_equal(general.regrets, fast.regrets)
        np.testing.assert_array_equal(general.shares, fast.shares)


@pytest.mark.interpreted
def test_interpreted_and_compiled_pulls_of_ucb1_agree() -> None:
    problems, checkpoints = random_problems(2, 20, seed=3), np.array([10, 400])
    regrets, shares = np.zeros((2, 2, 2))  # each [problems, checkpoints]
    with np.errstate(over="ignore"):  # the random number generator wraps around
        settings = (problems, 0, 5, 2, 400, checkpoints, 0.01, *make_tables(400), *make_scratch(20))
        make_play_ucb1().py_func(*settings, regrets, shares)
    compiled = bandit_curves(
        "ucb1", problems, 400, seed=5, runs=2, checkpoints=[10, 400], params={"alpha": 0.01}
    )
    np.testing.assert_allclose(regrets, compiled.regrets, rtol=1e-12)
    np.testing.assert_allclose(shares, compiled.shares, rtol=1e-12)


@pytest.mark.parametrize("policy", ["ucb_alpha1", "thompson", "exp3"])
def test_results_do_not_depend_on_threads_or_slices(policy: str) -> None:
    problems = random_problems(13, 5, seed=2)
    expected = play_bandits(policy, problems, 300, seed=3, checkpoints=[100, 300])
    threaded = play_bandits(policy, problems, 300, seed=3, checkpoints=[100, 300], num_threads=3)
    np.testing.assert_array_equal(expected, threaded)
    problem_slice = play_bandits(
        policy, problems[4:9], 300, seed=3, checkpoints=[100, 300], first_problem=4
    )
    np.testing.assert_array_equal(expected[4:9], problem_slice)
    other_seed = play_bandits(policy, problems, 300, seed=4, checkpoints=[100, 300])
    assert not np.array_equal(expected, other_seed)
    np.testing.assert_array_equal(problems[:4], random_problems(4, 5, seed=2))


def test_runs_are_different_and_averaged() -> None:
    problems = np.tile([0.4, 0.6], (200, 1))  # 200 copies of a problem are equivalent to 200 runs
    result = play_bandits("thompson", problems, 200)
    averaged = play_bandits("thompson", problems[:1], 200, runs=200)
    error = result.std() / math.sqrt(200)
    assert averaged[0, 0] == pytest.approx(result.mean(), abs=5 * error)
    assert averaged[0, 0] != play_bandits("thompson", problems[:1], 200)[0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"policy": "ucb2"}, "policy must be one of"),
        ({"probabilities": [0.5, 0.5]}, "probabilities must be from 0 to 1"),
        ({"probabilities": [[0.5, 1.5]]}, "probabilities must be from 0 to 1"),
        ({"probabilities": [[0.5, math.nan]]}, "probabilities must be from 0 to 1"),
        ({"probabilities": np.zeros((0, 3))}, "probabilities must be from 0 to 1"),
        ({"rounds": 0}, "rounds must be an integer"),
        ({"runs": 0}, "runs must be an integer"),
        ({"params": {"gamma": 1}}, "has no parameter 'gamma'; its parameters are alpha"),
        ({"policy": "moss", "params": {"c": 1}}, "it has no parameters"),
        ({"params": {"alpha": math.inf}}, "must be finite"),
        ({"checkpoints": [5, 5]}, "checkpoints must ascend"),
        ({"checkpoints": [0]}, "checkpoints must ascend"),
        ({"checkpoints": [11]}, "checkpoints must ascend"),
        ({"num_threads": 0}, "num_threads must be an integer"),
    ],
)
def test_invalid_arguments_raise(arguments: dict, message: str) -> None:
    valid = {"policy": "ucb1", "probabilities": [[0.5, 0.6]], "rounds": 10}
    with pytest.raises(ValueError, match=message):
        play_bandits(**(valid | arguments))

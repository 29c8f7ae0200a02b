"""Tests of the outcome reward wrapper."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import ludoteca  # noqa: F401 (registers the games)
from ludoteca.train.outcome_reward import OutcomeReward, loss_weight

pytestmark = pytest.mark.interpreted


def test_later_losses_have_smaller_weights():
    # By hand: the longest game of Hex 5x5 has 25 plies.
    assert np.allclose(loss_weight([10, 25], 25), [1 - 10 / 26, 1 / 26])


@pytest.mark.parametrize("by_length", [True, False])
def test_rewards_follow_the_outcome(by_length):
    env = OutcomeReward(
        gym.make("ludoteca/Hex-v0", board_size=3, agent_seat="random"), by_length=by_length
    )
    rng = np.random.default_rng(0)
    seen = set()
    for seed in range(40):
        _, info = env.reset(seed=seed)
        terminated = False
        while not terminated:
            _, reward, terminated, _, info = env.step(
                rng.choice(np.flatnonzero(info["action_mask"]))
            )
            if not terminated:
                assert reward == 0
        plies = len(env.unwrapped.replay().actions)
        # The longest game of Hex 3x3 has 9 plies.
        lost = -100 * (1 - plies / 10) if by_length else -100
        won = info["rewards"][info["player"]] > 0
        assert np.isclose(reward, 100 if won else lost)
        seen.add(bool(won))
    assert seen == {True, False}


def test_wrapper_passes_the_environment_checker_and_rejects_others():
    check_env(OutcomeReward(gym.make("ludoteca/TicTacToe-v0")).unwrapped, skip_render_check=True)
    with pytest.raises(ValueError, match="expected an environment of ludoteca for one player"):
        OutcomeReward(gym.make("ludoteca/GridWorld-v0"))
    with pytest.raises(ValueError, match="win must be a number"):
        OutcomeReward(gym.make("ludoteca/TicTacToe-v0"), win=float("nan"))

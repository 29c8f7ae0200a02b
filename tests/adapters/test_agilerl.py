"""Tests of AgileRL with our environments unchanged; `make recipes` runs them in their own venv."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("agilerl")

import torch
from agilerl.algorithms import DQN, IPPO, PPO
from agilerl.components.replay_buffer import ReplayBuffer
from agilerl.rollouts import collect_rollouts
from agilerl.vector.dummy_vec_env import PzDummyVecEnv
from pettingzoo.utils import BaseParallelWrapper
from tensordict import TensorDict

import ludoteca  # noqa: F401  registers the environments
from ludoteca.agents.function import FunctionAgent
from ludoteca.envs import hungry_geese_v0, tictactoe_v0
from ludoteca.evaluate.match import play_match

FLAT = {"observation": "flat", "dtype": "float32"}


@pytest.fixture(autouse=True)
def _seeds() -> None:
    """Make PyTorch deterministic."""
    torch.set_num_threads(1)
    torch.manual_seed(0)


def test_ppo_learns_over_the_native_vector_environment_with_masks() -> None:
    envs = gym.make_vec(
        "ludoteca/TicTacToe-v0",
        16,
        opponent="random",
        agent_seat="random",
        illegal_action="raise",
        autoreset_mode="SameStep",
        **FLAT,
    )
    spaces = envs.single_observation_space, envs.single_action_space
    agent = PPO(*spaces, num_envs=16, learn_step=256, batch_size=64, lr=1e-3)
    before = [weight.clone() for weight in agent.actor.parameters()]
    scores, *_ = collect_rollouts(agent, envs)
    agent.learn()
    assert set(scores) <= {-1, 0, 1}
    assert {-1, 1} <= set(scores)  # the loser receives its reward, too
    changed = zip(before, agent.actor.parameters(), strict=True)
    assert any((old != new).any() for old, new in changed)

    def policy(planes: Any, masks: Any) -> Any:
        return agent.get_action(planes, action_mask=masks)[0]

    game = envs.unwrapped.game
    result = play_match(
        game, [FunctionAgent(game, policy, dtype="float32", flat=True), "random"], 20
    )
    assert result.games == 20


def test_dqn_learns_by_self_play_over_the_aec_environment() -> None:
    env = tictactoe_v0.env(**FLAT)
    agent = DQN(env.observation_space("player_0"), env.action_space("player_0"), batch_size=16)
    memory, rewards, pending = ReplayBuffer(500), [], {}
    for seed in range(20):
        env.reset(seed=seed)
        pending.clear()
        for name in env.agent_iter():
            observation, reward, terminated, _, info = env.last()
            if name in pending:  # its last action has a result now that the opponent has moved
                before, action = pending[name]
                memory.add(transition(before, action, reward, observation, terminated))
                rewards.append(float(reward))
            if terminated:
                env.step(None)
                continue
            mask = info["action_mask"]
            action = int(agent.get_action(observation[None], 0.5, action_mask=mask[None])[0])
            assert mask[action]
            pending[name] = observation, action
            env.step(action)
    assert sum(rewards) == 0
    assert {-1, 1} <= set(rewards)
    loss = agent.learn(memory.sample(16))
    assert np.isfinite(loss)


def transition(before: Any, action: int, reward: float, after: Any, done: bool) -> Any:
    """Return a transition as AgileRL's replay buffer stores it: a batch of one."""
    values = {"obs": before, "action": action, "reward": reward, "next_obs": after, "done": done}
    tensors = {name: torch.as_tensor(np.float32(value))[None] for name, value in values.items()}
    tensors["action"] = tensors["action"].long()
    return TensorDict({k: v if v.ndim > 1 else v[:, None] for k, v in tensors.items()}, [1])


class WithoutMasks(BaseParallelWrapper):
    """Leaves the masks out of the infos."""

    def reset(self, seed: Any = None, options: Any = None) -> Any:
        observations, infos = self.env.reset(seed=seed, options=options)
        return observations, {agent: {} for agent in infos}

    def step(self, actions: Any) -> Any:
        *rest, infos = self.env.step(actions)
        return (*rest, {agent: {} for agent in infos})


def geese() -> Any:
    """Return the parallel environment of Hungry Geese with all agents in each step."""
    return hungry_geese_v0.parallel_env(keep_eliminated=True, illegal_action="random", **FLAT)


def make_ippo(env: Any) -> Any:
    """Return independent PPO for the agents of a parallel environment."""
    agents = env.possible_agents
    spaces = [
        [space(agent) for agent in agents] for space in (env.observation_space, env.action_space)
    ]
    return IPPO(*spaces, agent_ids=list(agents), learn_step=64, batch_size=32)


def test_ippo_plays_geese_to_the_end_without_masks() -> None:
    agent, envs = make_ippo(geese()), PzDummyVecEnv(WithoutMasks(geese()))
    observations, infos = envs.reset(seed=0)
    ended = 0
    for _ in range(60):
        actions, *_ = agent.get_action(observations, infos=infos)
        observations, _, terminated, _, infos = envs.step(actions)
        assert all(np.isfinite(array).all() for array in observations.values())
        ended += all(np.all(array) for array in terminated.values())
    assert ended > 0


def test_ippo_cannot_read_masks_of_agents_that_share_a_network() -> None:
    # AgileRL 2.58 tests `None in` a list of arrays, which raises. If this test fails, a newer
    # version has mended that, and `WithoutMasks` is needless.
    agent, envs = make_ippo(geese()), PzDummyVecEnv(geese())
    observations, infos = envs.reset(seed=0)
    with pytest.raises(ValueError, match="truth value of an array"):
        agent.get_action(observations, infos=infos)

"""AgileRL: its PPO over the native vector environment, then self-play against past policies."""

import time

import gymnasium as gym
import torch
from agilerl.algorithms import PPO
from agilerl.rollouts import collect_rollouts

from ludoteca.agents import FunctionAgent, OpponentPool, PoolAgent
from ludoteca.evaluate.match import play_match

FORMAT = {"observation": "flat", "dtype": "float32", "autoreset_mode": "SameStep"}
torch.set_num_threads(1)
torch.manual_seed(0)


def as_agent(ppo):
    policy = lambda planes, masks: ppo.get_action(planes, action_mask=masks)[0]  # noqa: E731
    return FunctionAgent(game, policy, dtype="float32", flat=True)


def learn(ppo, rollouts):
    names, state = ("last_obs", "last_done", "last_scores", "last_info"), {}
    for _ in range(rollouts):
        _, *last = collect_rollouts(ppo, envs, **state)
        state = dict(zip(names, last, strict=True))
        # AgileRL 2.58 stores in dones[t] whether step t ended a game; its GAE needs step t - 1.
        dones = ppo.rollout_buffer.buffer["dones"]
        dones[1:] = dones[:-1].clone()
        ppo.rollout_buffer.compute_returns_and_advantages(ppo.get_action(last[0])[3], last[1])
        ppo.learn()


envs = gym.make_vec("ludoteca/Connect4-v0", 128, opponent="random", agent_seat="random", **FORMAT)
game, spaces = envs.unwrapped.game, (envs.single_observation_space, envs.single_action_space)
model, learner = (PPO(*spaces, num_envs=128, batch_size=512, lr=1e-3) for _ in range(2))
start = time.perf_counter()
learn(model, 40)
seconds, steps = time.perf_counter() - start, 40 * 4096

pool = OpponentPool(10)
for k in range(20):
    pool.add(str(k), as_agent(learner.clone()))
    envs.unwrapped.set_opponent(PoolAgent(game, pool))
    learn(learner, 2)

against_random = play_match(game, [as_agent(model), "random"], 1000, seed=2)
self_play = play_match(game, [as_agent(learner), "random"], 1000, seed=3)
print(against_random, self_play, sep="\n\n")

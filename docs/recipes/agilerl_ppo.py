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


def play(agent):
    policy = lambda planes, masks: agent.get_action(planes, action_mask=masks)[0]  # noqa: E731
    return FunctionAgent(game, policy, dtype="float32", flat=True)


def learn(agent, rollouts):
    names, last = ("last_obs", "last_done", "last_scores", "last_info"), {}
    for _ in range(rollouts):
        _, *now = collect_rollouts(agent, envs, **last)
        last = dict(zip(names, now, strict=True))
        # AgileRL 2.58 stores the end of step t where its GAE expects that of step t - 1.
        dones = agent.rollout_buffer.buffer["dones"]
        dones[1:] = dones[:-1].clone()
        agent.rollout_buffer.compute_returns_and_advantages(agent.get_action(now[0])[3], now[1])
        agent.learn()


envs = gym.make_vec("ludoteca/Connect4-v0", 128, opponent="random", agent_seat="random", **FORMAT)
game, spaces = envs.unwrapped.game, (envs.single_observation_space, envs.single_action_space)
first, second = (PPO(*spaces, num_envs=128, batch_size=512, lr=1e-3) for _ in range(2))
start = time.perf_counter()
learn(first, 40)
seconds, steps = time.perf_counter() - start, 40 * 4096

pool = OpponentPool(10)
for k in range(20):
    pool.add(f"{k}", play(second.clone()))
    envs.unwrapped.set_opponent(PoolAgent(game, pool))
    learn(second, 2)

against_random = play_match(game, [play(first), "random"], 1000, seed=2)
self_play = play_match(game, [play(second), "random"], 1000, seed=3)
print(against_random, self_play, sep="\n\n")

"""Tianshou: DQN with action masks against random moves, then self-play against past policies."""

import copy
import time

import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from ludoteca.agents import OpponentPool, PoolAgent
from ludoteca.agents.external.tianshou import agent_of_policy, save_tianshou_policy
from ludoteca.envs.adapters.tianshou import TianshouVecEnv
from ludoteca.evaluate.match import play_match

torch.set_num_threads(1)
torch.manual_seed(0)
np.random.seed(0)  # noqa: NPY002  Tianshou explores with this generator
steps = 16 * 4096
env = TianshouVecEnv("connect4", 64, agent_seat="random", seed=0)


def learn(pool=None):
    net = Net(state_shape=(2, 6, 7), action_shape=7, hidden_sizes=[128, 128])
    policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space[0], eps_training=0.2)
    dqn = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), target_update_freq=200)

    def add_copy(epoch, env_step):
        if pool is not None and env_step % 4096 == 0:
            pool.add(str(env_step), copy.deepcopy(agent_of_policy(env.game, dqn)))
            env.set_opponent(PoolAgent(env.game, pool))

    collector = Collector(dqn, env, VectorReplayBuffer(64 * 1000, 64), exploration_noise=True)
    sizes = {"epoch_num_steps": steps, "collection_step_num_env_steps": 256, "batch_size": 256}
    rates = {"update_step_num_gradient_steps_per_sample": 1 / 64, "max_epochs": 1}
    calls = {"training_collector": collector, "training_fn": add_copy, "show_progress": False}
    dqn.run_training(OffPolicyTrainerParams(**sizes, **rates, **calls))
    return dqn


start = time.perf_counter()
path = save_tianshou_policy("connect4", env.game, learn())
seconds = time.perf_counter() - start
print(against_random := play_match(env.game, [f"tianshou:{path}", "random"], 1000, seed=1))
learner = agent_of_policy(env.game, learn(OpponentPool(size=8)))
print(self_play := play_match(env.game, [learner, "random"], 1000, seed=2))

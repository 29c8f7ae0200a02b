"""CleanRL style: A2C in one file over `make_vec`, then self-play with negated next values."""

import copy
import time

import gymnasium as gym
from torch import distributions, manual_seed, nn, optim, set_num_threads, tensor

from ludoteca.agents import OpponentPool, PoolAgent
from ludoteca.agents.external.torch_agent import TorchAgent
from ludoteca.evaluate.match import play_match


def learn(network, updates, sign=1, deterministic=True, **options):  # sign: -1 in self-play
    envs = gym.make_vec("ludoteca/Connect4-v0", 512, autoreset_mode="SameStep", **options)
    optimizer, (planes, info) = optim.Adam(network.parameters(), 1e-3), envs.reset(seed=0)
    for _ in range(updates):
        rollout, loss = [], 0.0
        for _ in range(8):
            logits, value = network(tensor(planes).float()).split([7, 1], dim=1)
            policy = distributions.Categorical(logits=logits + tensor(info["action_mask"]).log())
            action = policy.sample()
            planes, reward, done, _, info = envs.step(action.numpy())
            rollout.append((policy.log_prob(action), policy.entropy(), value[:, 0], reward, ~done))
        returns = next_value = network(tensor(planes).float())[:, 7].detach()
        for log_prob, entropy, value, reward, not_done in reversed(rollout):
            returns = tensor(reward) + sign * tensor(not_done) * (0.9 * returns + 0.1 * next_value)
            advantage, next_value = returns - value, value.detach()
            loss += (advantage.square() / 2 - log_prob * advantage.detach() - 0.02 * entropy).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    game, snapshot = envs.unwrapped.game, copy.deepcopy(network)
    return TorchAgent(game, lambda x: snapshot(x)[:, :7], deterministic=deterministic)


set_num_threads(1)
manual_seed(0)
network = nn.Sequential(nn.Flatten(), nn.Linear(84, 256), nn.Tanh(), nn.Linear(256, 8))
learner, pool, start = copy.deepcopy(network), OpponentPool(latest_prob=0), time.perf_counter()
agent = learn(network, 600, opponent="random", agent_seat="random")
seconds, steps = time.perf_counter() - start, 600 * 8 * 512
for k in range(10):
    pool.add(str(k), learn(learner, 40, sign=-1, deterministic=False))
    latest = learn(learner, 40, opponent=PoolAgent(agent.game, pool), agent_seat="random")
print(against_random := play_match("connect4", [agent, "random"], 1000, seed=2))
print(self_play := play_match("connect4", [latest, "random"], 1000, seed=3))

"""CleanRL style: PPO in one file over `make_vec`, then self-play, which flips the next value."""

import copy
import time

import gymnasium as gym
import torch
from torch import nn

from ludoteca.agents import FunctionAgent, OpponentPool, PoolAgent
from ludoteca.evaluate.match import play_match

T, B = 32, 128  # steps of a rollout, games side by side


def look(network, planes, masks):
    out = network(torch.as_tensor(planes).float())
    logits = out[:, :-1].masked_fill(torch.as_tensor(masks) == 0, -1e9)
    return torch.distributions.Categorical(logits=logits), out[:, -1]


def learn(network, optimizer, envs, rollouts, sign):  # sign: -1 if the rival sees the next position
    planes, info = envs.reset()
    for _ in range(rollouts):
        rows, advantages, advantage = [], [], 0.0
        with torch.no_grad():
            for _ in range(T):
                masks = info["action_mask"]
                policy, value = look(network, planes, masks)
                action = policy.sample()
                after, reward, done, _, info = envs.step(action.numpy())
                kept = (planes, masks, action, policy.log_prob(action), value, reward, ~done)
                rows.append([torch.as_tensor(one) for one in kept])
                planes = after
            following = look(network, planes, info["action_mask"])[1]
            for *_, value, reward, live in reversed(rows):
                error = reward + sign * live * following - value
                advantage, following = error + 0.95 * sign * live * advantage, value
                advantages.insert(0, advantage)
        planes_, masks_, actions, old, values, _, _ = (
            torch.cat(one) for one in zip(*rows, strict=True)
        )
        advantages = torch.cat(advantages)
        for batch in torch.cat([torch.randperm(T * B) for _ in range(4)]).split(512):
            policy, value = look(network, planes_[batch], masks_[batch])
            gain = advantages[batch] / advantages.std()
            ratio = (policy.log_prob(actions[batch]) - old[batch]).exp()
            loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
            loss += 0.5 * (value - advantages[batch] - values[batch]).square().mean()
            optimizer.zero_grad()
            (loss - 0.01 * policy.entropy().mean()).backward()
            optimizer.step()


def make_network(seed):
    torch.manual_seed(seed)
    network = nn.Sequential(nn.Flatten(), nn.Linear(84, 128), nn.Tanh(), nn.Linear(128, 8))
    return network, torch.optim.Adam(network.parameters(), 1e-3)


def make_envs(seed, **options):
    envs = gym.make_vec("ludoteca/Connect4-v0", B, autoreset_mode="SameStep", **options)
    envs.reset(seed=seed)
    return envs


def play(network):
    return FunctionAgent(game, lambda planes, masks: look(network, planes, masks)[0].sample())


torch.set_num_threads(1)
envs = make_envs(0, opponent="random", agent_seat="random")
game = envs.unwrapped.game
first, optimizer = make_network(0)
start = time.perf_counter()
learn(first, optimizer, envs, 60, sign=1)
seconds, steps = time.perf_counter() - start, 60 * T * B

second, optimizer = make_network(1)
pool, itself = OpponentPool(10), make_envs(1)
pool.add("start", play(copy.deepcopy(second)))
past = make_envs(2, opponent=PoolAgent(game, pool), agent_seat="random")
for k in range(20):
    learn(second, optimizer, itself, 2, sign=-1)
    pool.add(f"{k}", play(copy.deepcopy(second)))
    learn(second, optimizer, past, 1, sign=1)

against_random = play_match(game, [play(first), "random"], 1000, seed=2)
self_play = play_match(game, [play(second), "random"], 1000, seed=3)
print(against_random, self_play, sep="\n\n")

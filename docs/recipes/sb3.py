"""Stable-Baselines3: MaskablePPO against random moves, then self-play against past policies."""

import time

import torch
from sb3_contrib import MaskablePPO

from ludoteca.agents.external.sb3 import SB3Agent
from ludoteca.envs.adapters.sb3 import SB3VecEnv
from ludoteca.evaluate.match import play_match
from ludoteca.train.sb3 import SelfPlayCallback

torch.set_num_threads(1)
steps = 40 * 128 * 32


def new_model(seed):
    envs = SB3VecEnv("Connect4-v0", 128, opponent="random", agent_seat="random", seed=seed)
    options = {"n_steps": 32, "batch_size": 512, "n_epochs": 4, "learning_rate": 1e-3}
    return MaskablePPO("MlpPolicy", envs, seed=seed, **options)


model = new_model(0)
start = time.perf_counter()
model.learn(steps)
seconds = time.perf_counter() - start
model.save("connect4.zip")

learner = new_model(1)
pool = SelfPlayCallback(snapshot_freq=10_000, sampling="prioritized", save_path="selves")
learner.learn(steps, callback=pool)

game = model.get_env().get_attr("game")[0]
against_random = play_match(game, ["sb3:connect4.zip", "random"], 1000, seed=2)
self_play = play_match(game, [SB3Agent.from_model(game, learner), "random"], 1000, seed=3)
print(against_random, self_play, sep="\n\n")

"""Stable-Baselines3: one goose against three random geese, then against past policies."""

import time

import torch
from sb3_contrib import MaskablePPO

from ludoteca.agents.external.sb3 import SB3Agent
from ludoteca.envs.adapters.sb3 import SB3VecEnv
from ludoteca.evaluate.match import play_match
from ludoteca.train.sb3 import SelfPlayCallback

torch.set_num_threads(1)
steps = 30 * 128 * 32
envs = SB3VecEnv("HungryGeese-v0", 128, opponent="random", agent_seat="random", seed=0)
model = MaskablePPO("MlpPolicy", envs, n_steps=32, batch_size=512, n_epochs=4, seed=0)

start = time.perf_counter()
model.learn(steps)
seconds = time.perf_counter() - start

# Past policies and greedy geese play the other three seats, sampled for each game and seat.
pool = SelfPlayCallback(snapshot_freq=20_000, pool_size=5, fixed_opponents=("greedy",))
model.learn(steps // 2, callback=pool, reset_num_timesteps=False)
goose = SB3Agent.from_model(envs.game, model)
geese = play_match(envs.game, [goose, "random", "random", "random"], 400, seed=1)
print(geese)

"""SuperSuit: PPO of SB3 against random moves, then one policy for all agents of a game."""

import time

import gymnasium as gym
import numpy as np
import supersuit as ss
import torch
from stable_baselines3 import PPO

import ludoteca  # noqa: F401  # registers the games
from ludoteca.agents.external.sb3 import SB3Agent
from ludoteca.envs import connect4_v0, hungry_geese_v0
from ludoteca.evaluate.match import play_match

torch.set_num_threads(1)
torch.manual_seed(0)
steps = 80 * 16 * 128
options = {"n_steps": 128, "batch_size": 512, "n_epochs": 4, "learning_rate": 1e-3}
against_random_moves = {"opponent": "random", "agent_seat": "random", "illegal_action": "random"}
env = ss.dtype_v0(gym.make("ludoteca/Connect4-v0", **against_random_moves), np.float32)
model = PPO("MlpPolicy", ss.stable_baselines3_vec_env_v0(env, 16), seed=0, **options)
start = time.perf_counter()
model.learn(steps)
seconds = time.perf_counter() - start


def all_agents(module, copies):  # one policy for all agents of the game
    env = module.parallel_env(observation="planes", keep_eliminated=True, illegal_action="random")
    env = ss.pettingzoo_env_to_vec_env_v1(ss.dtype_v0(env, np.float32))
    envs = ss.concat_vec_envs_v1(env, copies, base_class="stable_baselines3")
    envs.venv.reset(seed=0)
    return PPO("MlpPolicy", envs, **options).learn(steps)


goose, self_player = all_agents(hungry_geese_v0, 4), all_agents(connect4_v0, 8)
game, game_4p = (module.env().game for module in (connect4_v0, hungry_geese_v0))
against_random = play_match(game, [SB3Agent.from_model(game, model), "random"], 400, seed=1)
self_play = play_match(game, [SB3Agent.from_model(game, self_player), "random"], 400, seed=2)
geese = play_match(game_4p, [SB3Agent.from_model(game_4p, goose), *["random"] * 3], 400, seed=3)
print(f"{steps / seconds:.0f} steps/s", against_random, self_play, geese, sep="\n\n")

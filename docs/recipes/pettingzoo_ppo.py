"""PettingZoo: MaskablePPO in one seat of an AEC environment, then in self-play."""

import time

import gymnasium as gym
import numpy as np
from sb3_contrib import MaskablePPO

from ludoteca.agents.external.sb3 import SB3Agent
from ludoteca.envs import connect4_v0
from ludoteca.evaluate.match import play_match


class Seat(gym.Env):  # one seat of the game; `opponent(observation, mask)` plays the other
    def __init__(self, opponent):
        self.game, self.opponent = connect4_v0.env(observation="planes"), opponent
        self.observation_space = self.game.observation_space("player_0")
        self.action_space = self.game.action_space("player_0")

    def reset(self, seed=None, options=None):
        self.game.reset(seed=seed)
        self.agent = self.game.np_random.choice(self.game.agents)
        return self.step_to_own_turn()[::4]  # observation and info

    def step(self, action):
        self.game.step(int(action))
        return self.step_to_own_turn()

    def step_to_own_turn(self):  # also after the last move, for the reward of a loss
        while self.game.agent_selection != self.agent:
            observation, _, over, _, info = self.game.last()
            self.game.step(None if over else int(self.opponent(observation, info["action_mask"])))
        return self.game.last()

    def action_masks(self):
        return self.game.infos[self.agent]["action_mask"]


def new_model(opponent):
    options = {"learning_rate": 1e-3, "batch_size": 256, "n_epochs": 8, "seed": 0}
    return MaskablePPO("MlpPolicy", Seat(opponent), **options)


steps, game = 60_000, connect4_v0.env().game
model = new_model(lambda observation, mask: np.random.choice(np.flatnonzero(mask)))  # noqa: NPY002
start = time.perf_counter()
model.learn(steps)
seconds = time.perf_counter() - start
learner = new_model(lambda observation, mask: learner.predict(observation, action_masks=mask)[0])
learner.learn(steps)
against_random = play_match(game, [SB3Agent.from_model(game, model), "random"], 400, seed=1)
self_play = play_match(game, [SB3Agent.from_model(game, learner), "random"], 400, seed=2)
print(against_random, self_play, sep="\n\n")

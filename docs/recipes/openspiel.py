"""OpenSpiel: PPO on Connect Four against random moves, then by self-play."""

import copy
import time

import torch
from open_spiel.python.pytorch.ppo import PPO, PPOAgent

from ludoteca import make_game
from ludoteca.agents.external.openspiel_player import as_agent
from ludoteca.envs.adapters.openspiel_vector import VectorEnvironment
from ludoteca.evaluate.match import play_match

GAME, ENVS, STEPS, UPDATES = make_game("connect4"), 64, 64, 40
torch.manual_seed(1)
torch.set_num_threads(1)


def learn(self_play: bool) -> PPO:
    envs = VectorEnvironment(GAME, ENVS, opponent="random", agent_seat="random", seed=1)
    ppo = PPO((84,), 7, 1, 0, ENVS, STEPS, learning_rate=1e-3, agent_fn=PPOAgent)
    time_steps = envs.reset()
    for update in range(UPDATES):
        if self_play and update % 5 == 0:  # the opponent is a frozen copy
            envs.set_opponent(as_agent(GAME, copy.deepcopy(ppo)))
        for _ in range(STEPS):
            time_steps, reward, done, _ = envs.step(ppo.step(time_steps), reset_if_done=True)
            ppo.post_step(reward, done)
        ppo.learn(time_steps)
    return ppo


start, steps = time.time(), UPDATES * STEPS * ENVS
model = learn(self_play=False)
seconds = time.time() - start
against_random = play_match(GAME, [as_agent(GAME, model), "random"], 400)
self_play = play_match(GAME, [as_agent(GAME, learn(self_play=True)), "random"], 400)
print(f"{steps:,} steps in {seconds:.0f} s\n{against_random}\nby self-play:\n{self_play}")

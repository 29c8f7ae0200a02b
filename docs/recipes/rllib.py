"""RLlib: PPO against random moves at native speed, then self-play by policy mapping."""

import time
from functools import partial

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig

from ludoteca.agents.external.rllib import export_module
from ludoteca.envs.adapters.rllib import masked_module, register
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.train.rllib import LEARNER, Matchups, SelfPlay

torch.set_num_threads(1)
ray.init(num_cpus=2, object_store_memory=200_000_000, include_dashboard=False)
register()
ppo = PPOConfig().rl_module(rl_module_spec=masked_module(fcnet_activation="relu"))
ppo.training(train_batch_size_per_learner=4096, minibatch_size=512, num_epochs=4, lr=1e-3)
ppo.training(entropy_coeff=0.01).debugging(seed=0, log_level="ERROR")
against = {"game": "connect4", "opponent": "random", "agent_seat": "random"}
vector = {"num_envs_per_env_runner": 64, "gym_env_vectorize_mode": "vector_entry_point"}
config = ppo.copy().environment("ludoteca", env_config=against)
algorithm, start = config.env_runners(num_env_runners=0, **vector).build_algo(), time.perf_counter()
results = [algorithm.train() for _ in range(24)]
seconds = time.perf_counter() - start
steps = int(sum(result["env_runners"]["num_env_steps_sampled"] for result in results))

both = ppo.copy().environment("ludoteca", env_config={"game": "connect4"})  # both seats learn
both.env_runners(num_env_runners=0, num_envs_per_env_runner=32).multi_agent(**Matchups().config())
learner = both.callbacks(partial(SelfPlay, threshold=0.6)).build_algo()
print([learner.train()["self_play"] for _ in range(10)][-1])

game, matches = make_game("connect4"), []
for module in (algorithm.get_module(), learner.get_module(LEARNER)):
    file = export_module(module, game, f"connect4_{len(matches)}")
    matches.append(play_match(game, [f"rllib:{file}", "random"], 1000, seed=2))
against_random, self_play = matches
print(against_random, self_play, sep="\n\n")

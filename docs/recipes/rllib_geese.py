"""RLlib: Hungry Geese with four agents that share one policy."""

import time

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig

from ludoteca.agents.external.rllib import export_module
from ludoteca.envs.adapters.rllib import masked_module, register
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match

torch.set_num_threads(1)
ray.init(num_cpus=2, object_store_memory=200_000_000, include_dashboard=False)
register()
config = (
    PPOConfig()
    .environment("ludoteca", env_config={"game": "hungry_geese"})
    .env_runners(num_env_runners=0, num_envs_per_env_runner=32)
    .multi_agent(policies={"goose"}, policy_mapping_fn=lambda agent, *more, **options: "goose")
    .rl_module(rl_module_spec=masked_module(fcnet_hiddens=[256, 128], fcnet_activation="relu"))
    .training(train_batch_size_per_learner=1024, minibatch_size=1024, num_epochs=4, lr=1e-3)
    .training(gamma=0.97, entropy_coeff=0.01)
    .debugging(seed=0, log_level="ERROR")
)
algorithm = config.build_algo()
start = time.perf_counter()
results = [algorithm.train() for _ in range(12)]
seconds = time.perf_counter() - start
steps = int(sum(result["env_runners"]["num_env_steps_sampled"] for result in results))

file = export_module(algorithm.get_module("goose"), make_game("hungry_geese"), "goose")
geese = play_match("hungry_geese", [f"rllib:{file}", "random"], 400, seed=1)
print(geese)

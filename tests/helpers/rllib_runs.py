"""Small trainings by RLlib."""

import warnings
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ray = pytest.importorskip("ray")
    from ray.rllib.algorithms.ppo import PPOConfig

    from ludoteca.envs.adapters.rllib import masked_module

AGAINST = {"game": "tictactoe", "opponent": "random", "agent_seat": "random"}
VECTOR = {"gym_env_vectorize_mode": "vector_entry_point"}
SHARED = {"policies": {"shared"}, "policy_mapping_fn": lambda *a, **k: "shared"}


def config(env: Any, env_config: dict[str, Any] | None = None, **env_runners: Any) -> Any:
    """Return a small configuration of PPO."""
    return (
        PPOConfig()
        .environment(env, env_config=env_config or {})
        .env_runners(**{"num_env_runners": 0, "num_envs_per_env_runner": 4} | env_runners)
        .rl_module(rl_module_spec=masked_module(fcnet_hiddens=[16]))
        .training(train_batch_size_per_learner=128, minibatch_size=64, num_epochs=1)
        .debugging(log_level="ERROR", seed=0)
    )


def train(settings: Any, iterations: int = 1) -> Any:
    """Return an algorithm that has learned a little, and its last result."""
    algorithm = settings.build_algo()
    for _ in range(iterations):
        result = algorithm.train()
    return algorithm, result

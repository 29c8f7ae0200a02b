"""Benchmark of RLlib: native environments, our adapter, and RLlib's PettingZoo wrapper.

`python -P -m ludoteca.evaluate.bench.rllib` measures one game in every variant, first the
environments with random legal actions, then PPO. A step is one step of the environment: one move of
one player, or, against opponents, one move and the opponents' replies. Rates are steps per second
of the process' CPU time, and per second of wall-clock time in parentheses.
"""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
import tyro

import ludoteca  # noqa: F401  registers the agents that opponents are made of
from ludoteca.envs.api.aec import aec_env
from ludoteca.envs.api.parallel import parallel_env
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.markdown import table
from ludoteca.files import write_atomically

NUM_ENVS = 64
NUM_MULTI_AGENT_ENVS = 32
# Weight of illegal actions, which are sampled only where no action is legal: in finished games.
ILLEGAL_WEIGHT = 1e-9


class StepRate(NamedTuple):
    """Number of steps, and the time that they took.

    Attributes:
        steps: number of environment steps.
        cpu: CPU time of the process in seconds.
        wall: wall-clock time in seconds.
    """

    steps: int
    cpu: float
    wall: float

    def __str__(self) -> str:
        return f"{self.steps / self.cpu:,.0f} ({self.steps / self.wall:,.0f})"


def measure(step: Callable[[], int], seconds: float) -> StepRate:
    """Call `step`, which returns a number of steps, for `seconds` of CPU time."""
    step()  # compiles and warms up
    cpu, wall, steps = process_time(), perf_counter(), 0
    while process_time() - cpu < seconds:
        steps += step()
    return StepRate(steps, process_time() - cpu, perf_counter() - wall)


def random_vector(envs: Any) -> Callable[[], int]:
    """Return a function that plays random legal actions in a vector environment."""
    rng = np.random.default_rng(0)
    observations, info = envs.reset(seed=0)

    def step() -> int:
        nonlocal observations, info
        masks = (observations if isinstance(observations, Mapping) else info)["action_mask"]
        actions = (rng.random(masks.shape) * (masks + ILLEGAL_WEIGHT)).argmax(-1)
        observations, _, _, _, info = envs.step(actions)
        return int(envs.num_envs)

    return step


def random_multi_agent(env: Any) -> Callable[[], int]:
    """Return a function that plays one random game in a multi-agent environment."""
    rng = np.random.default_rng(0)

    def step() -> int:
        observations, _ = env.reset()
        steps, terminated_agents = 0, set()
        while True:
            masks = {
                agent: observation["action_mask"]
                for agent, observation in observations.items()
                if agent not in terminated_agents
            }
            actions = {
                a: int((rng.random(m.shape) * (m + ILLEGAL_WEIGHT)).argmax())
                for a, m in masks.items()
            }
            observations, _, terminations, _, _ = env.step(actions)
            steps += 1
            terminated_agents |= {agent for agent, over in terminations.items() if over}
            if terminations["__all__"]:
                return steps

    return step


def train_iterations(config: Any) -> Callable[[], int]:
    """Return a function that runs one training iteration of RLlib, given an `AlgorithmConfig`."""
    algorithm = config.build_algo()

    def step() -> int:
        return int(algorithm.train()["env_runners"]["num_env_steps_sampled"])

    return step


def main(game: str = "connect4", seconds: float = 5.0, out: Path | None = None) -> None:
    """Measure every variant of a game in RLlib.

    Args:
        game: spec string of the game.
        seconds: CPU time per variant in seconds.
        out: also write the table to this Markdown file.
    """
    try:
        import ray
        import torch
        from ray.rllib.algorithms.ppo import PPOConfig
        from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv, PettingZooEnv
        from ray.tune.registry import register_env

        from ludoteca.envs.adapters.rllib import (
            FORMAT,
            RLlibMultiAgentEnv,
            RLlibVectorEnv,
            masked_module,
            register,
        )
    except ImportError as error:
        raise ImportError('this benchmark needs RLlib: pip install "ludoteca[rllib]"') from error
    rules = make_game(game)
    opponent_options: dict[str, Any] = {"opponent": "random", "agent_seat": "random"}

    def pettingzoo_wrapper(config: Any = None) -> Any:
        if rules.simultaneous:
            return ParallelPettingZooEnv(parallel_env(rules, **FORMAT))
        return PettingZooEnv(aec_env(rules, **FORMAT))

    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    ray.init(num_cpus=1, object_store_memory=200_000_000, include_dashboard=False)
    register()
    register_env("pettingzoo_wrapper", pettingzoo_wrapper)
    settings = {"num_envs_per_env_runner": NUM_ENVS, "gym_env_vectorize_mode": "vector_entry_point"}
    shared = {"policies": {"shared"}, "policy_mapping_fn": lambda *_, **__: "shared"}

    def ppo(env: str, multi_agent: bool, **env_runners: Any) -> Any:
        config = (
            PPOConfig()
            .environment(env, env_config={"game": game} | ({} if multi_agent else opponent_options))
            .env_runners(num_env_runners=0, **env_runners)
            .rl_module(rl_module_spec=masked_module())
            .training(train_batch_size_per_learner=1024, minibatch_size=512, num_epochs=4)
            .debugging(log_level="ERROR", seed=0)
        )
        return config.multi_agent(**shared) if multi_agent else config

    variants: dict[str, Callable[[], Callable[[], int]]] = {
        f"native, B = {NUM_ENVS}, against random": lambda: random_vector(
            GameVectorEnv(rules, NUM_ENVS, **opponent_options)
        ),
        f"adapter, B = {NUM_ENVS}, against random": lambda: random_vector(
            RLlibVectorEnv(rules, NUM_ENVS, **opponent_options)
        ),
        "adapter, multi-agent": lambda: random_multi_agent(RLlibMultiAgentEnv(rules)),
        "RLlib's PettingZoo wrapper": lambda: random_multi_agent(pettingzoo_wrapper()),
        f"PPO, adapter, B = {NUM_ENVS}, against random": lambda: train_iterations(
            ppo("ludoteca", False, **settings)
        ),
        f"PPO, adapter, multi-agent, {NUM_MULTI_AGENT_ENVS} games": lambda: train_iterations(
            ppo("ludoteca", True, num_envs_per_env_runner=NUM_MULTI_AGENT_ENVS)
        ),
        "PPO, adapter, multi-agent, 1 game": lambda: train_iterations(ppo("ludoteca", True)),
        f"PPO, RLlib's PettingZoo wrapper, {NUM_MULTI_AGENT_ENVS} games": lambda: train_iterations(
            ppo("pettingzoo_wrapper", True, num_envs_per_env_runner=NUM_MULTI_AGENT_ENVS)
        ),
        "PPO, RLlib's PettingZoo wrapper, 1 game": lambda: train_iterations(
            ppo("pettingzoo_wrapper", True)
        ),
    }
    rows = []
    for name, make_step in variants.items():
        rows.append([name, str(measure(make_step(), seconds))])
        print(f"{name}: {rows[-1][1]} steps/s", flush=True)
    text = table([f"{rules.title} in RLlib {ray.__version__}", "steps per CPU s (wall s)"], rows)
    print(f"\n{text}")
    if out is not None:
        write_atomically(out, text + "\n")
    ray.shutdown()


if __name__ == "__main__":
    tyro.cli(main)

"""Agents of other libraries for Hungry Geese.

Usage: `python docs/results/clocks/other_libraries.py FOLDER [rllib]`. It writes `sb3.zip`, a model
of Stable-Baselines3, and `torch.safetensors`, a PyTorch network, or, with `rllib`, the exported
policy `rllib.safetensors`. All have random weights: the time of a move does not depend on the
training. `choose` is a policy for the agent `function`.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ludoteca.agents.external.torch_agent import save_policy
from ludoteca.envs.registry import make_game


def choose(planes: NDArray[np.int8], masks: NDArray[np.int8]) -> NDArray[np.int64]:
    """Return the first legal action of each position. Shape `[K]`.

    Args:
        planes: observations. Shape `[K, planes, rows, columns]`.
        masks: 1 for legal actions. Shape `[K, actions]`.
    """
    actions: NDArray[np.int64] = masks.argmax(1)
    return actions


def write_agents(folder: Path) -> None:
    """Write the files of a model of Stable-Baselines3 and of a PyTorch network to a folder."""
    from stable_baselines3 import PPO

    from ludoteca.envs.adapters.sb3 import SB3VecEnv

    torch.manual_seed(0)
    folder.mkdir(parents=True, exist_ok=True)
    environments = SB3VecEnv("HungryGeese-v0", 1, opponent="random", seed=0)
    PPO("MlpPolicy", environments, seed=0).save(folder / "sb3.zip")
    game = make_game("hungry_geese")
    planes, rows, columns = game.observation_shape
    network = nn.Sequential(
        nn.Conv2d(planes, 32, 3, padding=1), nn.ReLU(), nn.Flatten(),
        nn.Linear(32 * rows * columns, game.num_actions),
    )  # fmt: skip
    save_policy(folder / "torch.safetensors", game, network)


def write_rllib_agent(folder: Path) -> None:
    """Write the file of an RLlib policy, with the layers of `docs/recipes/rllib_geese.py`."""
    from ludoteca.agents.external.rllib import export_module
    from ludoteca.envs.adapters.rllib import RLlibMultiAgentEnv, masked_module

    torch.manual_seed(0)
    environment = RLlibMultiAgentEnv("hungry_geese")
    agent = environment.possible_agents[0]
    specification = masked_module(fcnet_hiddens=[256, 128], fcnet_activation="relu")
    specification.observation_space = environment.get_observation_space(agent)
    specification.action_space = environment.get_action_space(agent)
    folder.mkdir(parents=True, exist_ok=True)
    export_module(specification.build(), make_game("hungry_geese"), folder / "rllib.safetensors")


if __name__ == "__main__":
    write = write_rllib_agent if "rllib" in sys.argv[2:] else write_agents
    write(Path(sys.argv[1]))

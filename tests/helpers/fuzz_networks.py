"""Fuzz targets: files of networks, policies of other libraries, and states of runs."""

import contextlib
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_inputs import Attempt, keep
from mutations import mutate_bytes, mutate_json_text

from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game


def network_files(folder: Path) -> Attempt:
    """Load agents from mutated network files."""
    from ludoteca.agents.networks.pv_network import PVConfig, make_pv_network
    from ludoteca.agents.networks.q_network import QConfig, make_q_network
    from ludoteca.agents.networks.weights import load_weights, save_weights

    game, seeds = make_game("tictactoe"), []
    configs: tuple[tuple[str, Any, Any], ...] = (
        ("dqn", QConfig(filters=(2,), blocks=1), make_q_network),
        ("az", PVConfig(filters=2, blocks=1), make_pv_network),
    )
    path = folder / "net.safetensors"
    for kind, config, make in configs:
        metadata = {"game": game.spec, "network": config.as_dict()}
        save_weights(path, make(config, game).state_dict(), metadata)
        seeds.append((kind, path.read_bytes(), *load_weights(path)))

    def attempt(rng: random.Random) -> None:
        kind, content, weights, metadata = rng.choice(seeds)
        mutated_part = rng.random()
        if mutated_part < 0.4:  # the metadata
            text = mutate_json_text(rng, metadata)
            with contextlib.suppress(ValueError, RecursionError):
                metadata = json.loads(text)
            with contextlib.suppress(UnicodeEncodeError, RecursionError):
                save_weights(path, weights, metadata)
        elif mutated_part < 0.7:  # the header
            size = int.from_bytes(content[:8], "little")
            text = mutate_json_text(rng, json.loads(content[8 : 8 + size])).encode(errors="replace")
            path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + size :])
        else:
            path.write_bytes(mutate_bytes(rng, content))
        keep(path.read_bytes())
        agent = make_agent(f"{kind}:{path},epsilon=0" if kind == "dqn" else f"az:{path}", game)
        if rng.random() < 0.02 and kind == "dqn":
            ask(agent)

    return attempt


def ask(agent: Any) -> None:
    """Let an agent play a move, which must be legal."""
    states = agent.game.empty(1)
    states[0] = agent.game.new()
    zero = np.zeros(1, np.int64)
    (action,) = agent.act(states, zero, np.zeros((1, 1), np.uint64), zero)
    if not 0 <= action < agent.game.num_actions:
        raise RuntimeError(f"the agent plays {action}")


def rllib_policies(folder: Path) -> Attempt:
    """Load agents from mutated policies of RLlib."""
    import torch

    from ludoteca.agents.external.rllib import load_rllib_agent
    from ludoteca.agents.external.rllib_file import KIND
    from ludoteca.agents.networks.weights import save_weights

    game, path = make_game("tictactoe"), folder / "policy.safetensors"
    layers = [
        {"kind": "channels_first"}, {"kind": "zero_pad", "padding": [1, 1, 1, 1]},
        {"kind": "conv", "inputs": 2, "outputs": 1, "kernel": [3, 3], "stride": [1, 1],
         "bias": False},
        {"kind": "channels_last"}, {"kind": "layer_norm", "size": 1, "eps": 0.001},
        {"kind": "tanh"}, {"kind": "flatten"},
        {"kind": "linear", "inputs": 9, "outputs": 9, "bias": False},
    ]  # fmt: skip
    metadata = {
        "kind": KIND,
        "game": game.spec,
        "network": {"layers": layers, "planes": True, "logits": True},
    }
    shapes = {"2.weight": (1, 2, 3, 3), "4.weight": (1,), "4.bias": (1,), "7.weight": (9, 9)}
    weights = {f"layers.{name}": torch.ones(shape) for name, shape in shapes.items()}
    save_weights(path, weights, metadata)
    content = path.read_bytes()

    def attempt(rng: random.Random) -> None:
        path.write_bytes(mutate_bytes(rng, content))
        if rng.random() < 0.7:
            with contextlib.suppress(ValueError, RecursionError, UnicodeEncodeError):
                save_weights(path, weights, json.loads(mutate_json_text(rng, metadata)))
        keep(path.read_bytes())
        ask(load_rllib_agent(game, path, deterministic=rng.random() < 0.5))

    return attempt


def sb3_archives(folder: Path) -> Attempt:
    """Load agents from mutated model archives of Stable-Baselines3."""
    import torch
    from stable_baselines3 import DQN, PPO

    from ludoteca.agents.external.sb3 import load_sb3_agent
    from ludoteca.envs.adapters.sb3 import SB3VecEnv

    game, path, seeds = make_game("tictactoe"), folder / "model.zip", []
    env = SB3VecEnv(game, 1, seed=0)
    kwargs = {"net_arch": [2], "activation_fn": torch.nn.ReLU}
    for model in (
        PPO("MlpPolicy", env, n_steps=8, batch_size=8, policy_kwargs=kwargs),
        DQN("MlpPolicy", env, buffer_size=10, policy_kwargs=kwargs),
    ):
        model.save(path)
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in ("data", "policy.pth")}
        parts = ("policy_class", "policy_kwargs", "observation_space", "action_space")
        data = {part: json.loads(members["data"])[part] for part in parts}
        for part in data.values():
            part.pop(":serialized:", None)
        seeds.append((path.read_bytes(), data, members["policy.pth"]))

    def attempt(rng: random.Random) -> None:
        content, data, weights = rng.choice(seeds)
        if rng.random() < 0.2:
            path.write_bytes(mutate_bytes(rng, content))
        else:
            text = json.dumps(data)
            if rng.random() < 0.7:
                text = mutate_json_text(rng, data)
            else:
                weights = mutate_bytes(rng, weights)
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("data", text.encode(errors="replace"))
                archive.writestr("policy.pth", weights)
        keep(path.read_bytes())
        agent = load_sb3_agent(game, path)
        if rng.random() < 0.1:
            ask(agent)

    return attempt


def run_states(folder: Path) -> Attempt:
    """Load mutated checkpoints of training runs."""
    from ludoteca.train.run_directory import RunDirectory

    run = RunDirectory(folder, {})
    arrays = {"a/b": np.zeros((3, 4)), "c": np.arange(5), "d": np.zeros(2, "i1,f4")}
    run.save_state({"games": 5, "more": [1, 2]}, arrays)
    file = folder / "state.npz"
    seed = file.read_bytes()

    def attempt(rng: random.Random) -> None:
        file.write_bytes(keep(mutate_bytes(rng, seed)))
        run.load_state()

    return attempt

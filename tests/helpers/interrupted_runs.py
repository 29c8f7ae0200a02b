"""Small training runs of every algorithm, for tests that interrupt them and compare the results."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from ludoteca.agents.networks.ac_network import ACConfig
from ludoteca.agents.networks.pv_network import PVConfig
from ludoteca.agents.networks.q_network import QConfig
from ludoteca.agents.networks.value_network import ValueConfig
from ludoteca.agents.networks.weights import load_weights
from ludoteca.train.alphazero import AlphaZeroConfig
from ludoteca.train.command import parse
from ludoteca.train.dqn import DQNConfig
from ludoteca.train.loop import RLTraining
from ludoteca.train.nfsp import NFSPConfig
from ludoteca.train.ppo import PPOConfig
from ludoteca.train.search_imitation import SearchImitationConfig
from ludoteca.train.value_regression import ValueRegressionConfig, ValueRegressionTraining

SMALL = {
    "games": 100,
    "games_per_iteration": 20,
    "batch_size": 32,
    "log_interval": 20,
    "eval_interval": 40,
    "eval_games": 2,
    "final_eval_games": 2,
    "save_seconds": 1e9,  # do not save by time
}


DQN_CONFIG = DQNConfig(
    game="tictactoe",
    network=QConfig(filters=(8,), blocks=1),
    buffer_size=1000,
    learning_starts=30,
    **SMALL,
)


AZ_CONFIG = AlphaZeroConfig(
    game="tictactoe",
    network=PVConfig(filters=8, blocks=1),
    num_simulations=4,
    fast_simulations=2,
    buffer_size=1000,
    learning_starts=30,
    eval_opponents=("random",),
    eval_simulations=2,
    gating_interval=20,
    gating_games=4,
    **SMALL,
)


AC_SETTINGS = {
    "game": "tron:rows=5,columns=5",
    "network": ACConfig(kind="residual", view="plain", filters=8, blocks=1),
    "opponent_pool": ("random_safe",),
    "opponent_pool_prob": 0.5,
    "num_past_opponents": 2,
    "past_opponent_interval": 20,
    "eval_opponents": ("random",),
    "threads": 1,
    **SMALL,
}


AC_CONFIG = PPOConfig(**AC_SETTINGS)


UIB2021_CONFIG = replace(
    parse("ppo", ["uib2021"]),
    game="tron:rows=5,columns=5",
    network=ACConfig(kind="uib2021", view="plain", filters=8, blocks=1),
    gating_games=4,
    gating_threshold=0.4,
    max_rollouts=2,
    eval_opponents=("random",),
    threads=1,
    **SMALL,
)


def value_config(data: Path) -> ValueRegressionConfig:
    """Return settings of value regression on a data file."""
    return ValueRegressionConfig(
        data=(data,),
        network=ValueConfig(filters=(4,), hidden=8, dropout=0.5, view="mover"),
        epochs=3,
        batch_size=16,
        augment=True,
    )


def run_content(folder: Path) -> tuple[dict, dict]:
    """Return the content of a run folder: its numbers, except times, and its arrays."""
    with np.load(folder / "state.npz") as content:
        arrays = {name: content[name] for name in content.files}
    numbers = json.loads(arrays.pop("numbers").tobytes())
    for name in ("seconds", "learning_seconds"):
        numbers.pop(name, None)
    for row in numbers["rows"]:
        row.pop("seconds")
    for name in ("network", "best"):
        weights, metadata = load_weights(folder / f"{name}.safetensors")
        arrays |= {f"{name}.safetensors/{key}": one.numpy() for key, one in weights.items()}
        numbers[name + ".safetensors"] = {key: metadata[key] for key in metadata if key != "card"}
    _, *rows = (folder / "metrics.csv").read_text().splitlines()
    assert len(rows) == len(numbers["rows"])
    return numbers, arrays


def assert_same_runs(one: Path, other: Path) -> None:
    """Assert that two run folders have the same numbers and arrays."""
    (numbers, arrays), (other_numbers, other_arrays) = run_content(one), run_content(other)
    assert numbers == other_numbers
    assert arrays.keys() == other_arrays.keys()
    for name, array in arrays.items():
        assert np.array_equal(array, other_arrays[name]), name


def run_to_end(training) -> None:
    """Run a training until it is finished."""
    for _ in training.run():
        pass
    assert training.finished


KINDS = {
    "dqn": (RLTraining, DQN_CONFIG),
    "dqn-no-overlap": (
        RLTraining,
        replace(DQN_CONFIG, overlap_actor_learner=False, opponent="random", opponent_prob=0.5),
    ),
    "alphazero": (RLTraining, AZ_CONFIG),
    "alphazero-no-gatekeeper": (
        RLTraining,
        replace(AZ_CONFIG, gating_interval=0, full_search_prob=0.5),
    ),
    "ppo": (RLTraining, replace(AC_CONFIG, replay_ratio=2.5, augment=True)),
    "ppo-overlap": (RLTraining, replace(AC_CONFIG, overlap_actor_learner=True)),
    "search": (
        RLTraining,
        SearchImitationConfig(
            num_simulations=4, search_prob=0.5, buffer_size=500, replay_ratio=8.0, **AC_SETTINGS
        ),
    ),
    "uib2021": (RLTraining, UIB2021_CONFIG),
    "nfsp": (
        RLTraining,
        NFSPConfig(
            game="tron:rows=5,columns=5",
            network=ACConfig(kind="residual", view="plain", filters=8, blocks=1, value=False),
            anticipatory_param=0.3,
            buffer_size=300,
            reservoir_buffer_capacity=100,
            learning_starts=30,
            target_update_interval=5,
            **SMALL,
        ),
    ),
    "value": (ValueRegressionTraining, None),
}

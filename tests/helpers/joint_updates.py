"""Updates of every learner from the same batches, in one process or in several.

As a script, it writes the losses and the weights after the updates to a file; see
`test_distributed`.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from ludoteca.agents.networks.ac_network import ACConfig, make_ac_network
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.pv_network import PVConfig
from ludoteca.agents.networks.q_network import QConfig
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.envs.registry import make_game
from ludoteca.train.algorithms import find_algorithm
from ludoteca.train.alphazero import AlphaZeroConfig
from ludoteca.train.distributed import joined
from ludoteca.train.dqn import DQNConfig
from ludoteca.train.learner import NetworkLearner
from ludoteca.train.nfsp import NFSPConfig
from ludoteca.train.optimizer import Optimization
from ludoteca.train.ppo import PPOConfig
from ludoteca.train.search_imitation import SearchImitationConfig
from ludoteca.train.settings import RLConfig
from ludoteca.train.trainable_model import TrainableModel
from ludoteca.train.uib2021 import UIB2021Config

SIZES = (33, 64, 1)  # batch sizes; 33 is split unevenly by two processes, 1 is not split
UpdateArrays = dict[str, np.ndarray]
PROGRESS = 0.5  # fraction of the training completed, which determines the learning rate


def updates() -> UpdateArrays:
    """Return the losses of every update, and the state of every learner after the updates."""
    arrays: UpdateArrays = {}
    for name, make in MAKERS.items():
        torch.manual_seed(1)
        rng = np.random.default_rng(1)
        learner, update = make()
        for k, size in enumerate(SIZES):
            arrays[f"{name}/losses/{k}"] = np.asarray(update(rng, size), np.float64)
        arrays |= {f"{name}/{key}": value for key, value in learner.state().items()}
    return arrays


def _planes(rng: np.random.Generator, size: int, shape: tuple[int, ...]) -> np.ndarray:
    """Return random binary planes `[size, *shape]`."""
    return rng.integers(2, size=(size, *shape)).astype(np.int8)


def _policies(rng: np.random.Generator, size: int, actions: int) -> np.ndarray:
    """Return random policies `[size, actions]`."""
    return rng.dirichlet(np.ones(actions), size).astype(np.float32)


def _values(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return random values in [-1, 1]. Shape `[size]`."""
    return rng.uniform(-1, 1, size).astype(np.float32)


def learner_of(config: RLConfig) -> NetworkLearner:
    """Return the learner of an algorithm, with a random network."""
    game, algorithm = make_game(config.game), find_algorithm(config.algorithm)
    return NetworkLearner(algorithm(config, game, algorithm.make_network(config.network, game)))


def as_array(update: tuple[dict[str, float], Any]) -> np.ndarray:
    """Return losses and TD errors of an update as one array."""
    losses, errors = update
    return np.array([*losses.values(), *([] if errors is None else errors)])


def alphazero() -> tuple[TrainableModel, Any]:
    """Return the learner of AlphaZero, and its update on a random batch."""
    game = make_game("tictactoe")
    shape = Encoder(game).shape
    # Not Adam: where gradients are nearly 0, it amplifies their rounding errors.
    config = AlphaZeroConfig(
        game="tictactoe",
        network=PVConfig(filters=8, blocks=2),
        precision="float32",
        max_grad_norm=0.1,
        optimizer="sgd",
        learning_rate=0.05,
    )
    learner = learner_of(config)

    def update(rng: np.random.Generator, size: int) -> np.ndarray:
        batch = {
            "planes": _planes(rng, size, shape),
            "policy": _policies(rng, size, 9),
            "value": _values(rng, size),
        }
        return as_array(learner.update(batch, PROGRESS))

    return learner, update


def dqn() -> tuple[TrainableModel, Any]:
    """Return the learner of deep Q-learning, and its update on a random batch."""
    game = make_game("tictactoe")
    shape = Encoder(game).shape
    config = DQNConfig(
        game="tictactoe",
        network=QConfig(filters=(8,), blocks=1),
        precision="float32",
        target_update_interval=2,
        optimizer="sgd",
        learning_rate=0.05,
    )
    learner = learner_of(config)

    def update(rng: np.random.Generator, size: int) -> np.ndarray:
        masks = rng.integers(2, size=(size, 9)).astype(np.int8)
        masks[:, 0] = 1
        # 0 at the end of a game, else -1: the opponent is to move.
        discounts = rng.choice(np.float32([0, -1]), size)
        batch = {
            "planes": _planes(rng, size, shape),
            "action": rng.integers(9, size=size),
            "reward": _values(rng, size),
            "discount": discounts,
            "next_planes": _planes(rng, size, shape),
            "next_mask": masks,
            "weight": rng.random(size).astype(np.float32),
        }
        return as_array(learner.update(batch, PROGRESS))

    return learner, update


def ppo(config_class: Any = PPOConfig, **network: Any) -> tuple[TrainableModel, Any]:
    """Return the learner of PPO or a relative of it, and its update.

    Args:
        config_class: settings of the algorithm.
        **network: parameters of the network, besides the defaults of these tests.
    """
    game = make_game("tron:rows=5,columns=5")
    built = ACConfig(**{"kind": "residual", "view": "plain", "filters": 8, "blocks": 1} | network)
    shape = SeatEncoder(game, "plain").shape
    learner = learner_of(
        config_class(game=game.spec, network=built, precision="float32", opponent_pool=())
    )
    for module in learner.network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0  # processes sample different random numbers

    def update(rng: np.random.Generator, size: int) -> Any:
        masks = rng.integers(2, size=(size, game.num_actions)).astype(np.int8)
        masks[:, 0] = 1
        actions = masks.argmax(1)
        planes, values = _planes(rng, size, shape), _values(rng, size)
        batch = {"planes": planes, "mask": masks, "target": values}
        if config_class is SearchImitationConfig:
            policies = _policies(rng, size, game.num_actions) * masks
            policies /= policies.sum(1, keepdims=True)
            return as_array(learner.update(batch | {"policy": policies}, PROGRESS))
        probs = rng.uniform(0.1, 1, size).astype(np.float32)
        batch |= {"action": actions, "prob": probs, "advantage": _values(rng, size)}
        return as_array(learner.update(batch, PROGRESS))

    return learner, update


def nfsp() -> tuple[TrainableModel, Any]:
    """Return the learner of neural fictitious self-play, and its update on a random batch."""
    game = make_game("tron:rows=5,columns=5")
    shape = SeatEncoder(game, "plain").shape
    config = NFSPConfig(
        game=game.spec,
        network=ACConfig(kind="residual", view="plain", filters=8, blocks=1, value=False),
        precision="float32",
        target_update_interval=2,
        optimizer="sgd",
        learning_rate=0.05,
        sl_learning_rate=0.1,
        max_grad_norm=0.1,
    )
    learner = learner_of(config)

    def update(rng: np.random.Generator, size: int) -> np.ndarray:
        masks = np.ones((size, game.num_actions), np.int8)
        batch = {
            "planes": _planes(rng, size, shape),
            "action": rng.integers(game.num_actions, size=size),
            "reward": _values(rng, size),
            "discount": rng.choice(np.float32([0, 1]), size),
            "next_planes": _planes(rng, size, shape),
            "next_mask": masks,
            "decision_planes": _planes(rng, size, shape),
            "decision_mask": masks,
            "decision_action": rng.integers(game.num_actions, size=size),
        }
        return as_array(learner.update(batch, PROGRESS))

    return learner, update


def uib2021() -> tuple[TrainableModel, Any]:
    """Return the learner of `uib2021`, and its update on a random batch."""
    return ppo(UIB2021Config, kind="uib2021")


def search() -> tuple[TrainableModel, Any]:
    """Return the learner of search imitation, and its update on a random batch."""
    return ppo(SearchImitationConfig)


def supervised() -> tuple[TrainableModel, Any]:
    """Return the learner of a network without a value head, with SGD, as in `train.imitation`."""
    game = make_game("tron:rows=5,columns=5")
    built = ACConfig(kind="residual", view="plain", filters=8, blocks=1, value=False)
    shape = SeatEncoder(game, "plain").shape
    learner = TrainableModel(make_ac_network(built, game), Optimization("sgd", 0.1), 1.0)

    def update(rng: np.random.Generator, size: int) -> list[float]:
        planes, actions = _planes(rng, size, shape), rng.integers(game.num_actions, size=size)
        rows = learner.part(size)
        outputs = learner.module(learner.tensor(planes[rows]))
        loss = functional.cross_entropy(outputs, learner.to_device(actions[rows]))
        learner.gradient_step(loss, 0.1)
        return learner.means(loss)

    return learner, update


MAKERS = {
    "alphazero": alphazero,
    "dqn": dqn,
    "ppo": ppo,
    "uib2021": uib2021,
    "search": search,
    "nfsp": nfsp,
    "supervised": supervised,
}


if __name__ == "__main__":
    torch.set_num_threads(1)
    with joined():
        np.savez(Path(sys.argv[1]), **updates())

"""Agents with a Q network: they play the legal action of the highest Q value."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.sampling import sample_legal
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_real
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.rng import uniform

try:
    from ludoteca.agents.networks.q_network import QNetwork, make_q_network, q_config
    from ludoteca.agents.networks.runner import Precision, Runner
    from ludoteca.agents.networks.weights import find_weights, load_network
except ImportError as error:
    raise ImportError(
        'agents with networks need PyTorch and safetensors: pip install "ludoteca[train]"'
    ) from error

MASKED_Q_VALUE = -np.inf  # in place of the Q values of illegal actions


class QNetworkAgent(Agent):
    """Agent with a Q network: it plays the legal action of the highest Q value.

    Networks for any board size play every size of their game.

    Attributes:
        encoder: encoder of the network's observations.
    """

    def __init__(
        self,
        game: Game,
        network: QNetwork,
        epsilon: float = 0.0,
        device: str = "cpu",
        precision: Precision = "float32",
    ):
        """Make an agent with a copy of a network.

        Args:
            game: the game to play.
            network: the network.
            epsilon: probability of a random legal move instead.
            device: device of the network, such as `cpu` or `cuda`.
            precision: `float32`, `bfloat16`, or `auto`: the faster of the two.

        Raises:
            ValueError: if a parameter is out of range.
        """
        super().__init__(game)
        self._network, self._epsilon = network, check_real("epsilon", epsilon, 0, 1)
        self.encoder = Encoder(game)
        self._runner = Runner(network, 1 / game.observation_high, device, precision)

    @classmethod
    def check_game(cls, game: Game) -> None:
        """Check that a game is sequential and for two players."""
        Encoder(game)

    def update(self, network: QNetwork) -> None:
        """Copy the weights of a network of the same architecture."""
        self._runner.load(network)

    def prepare(self) -> None:
        """Compile the encoder and run the network once."""
        planes, _ = self.encoder.encode(batch_of_one(self.game), np.zeros(1, np.int64))
        self._runner(planes)

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Choose by one forward pass, epsilon-greedily."""
        # In the encoder's order of actions, mirrored for player 1; `translate` maps it to the
        # game's.
        planes, masks = self.encoder.encode(states, seats)
        best = np.where(masks == 1, self._runner(planes), MASKED_Q_VALUE).argmax(1)
        actions = self.encoder.translate(best, seats)
        if self._epsilon > 0:
            explores, uniforms = uniform(rngs.T) < self._epsilon, uniform(rngs.T)
            actions = np.where(
                explores, self.encoder.translate(sample_legal(masks, uniforms), seats), actions
            )
        return actions

    def values(self, s: Any) -> NDArray[np.float32]:
        """Return the Q values of all actions for the player to move, NaN for illegal actions.

        Args:
            s: the position, a record as `Game.new` returns.

        Returns:
            Q values; if the network has `bounded=True`, 2 p - 1 for a probability p of winning.
            Shape `[num_actions]`.
        """
        states = batch_of_one(self.game, s)
        assert self.game.player is not None
        seats = np.array([self.game.player(states.view(np.recarray)[0])], np.int64)
        planes, masks = self.encoder.encode(states, seats)
        outputs = self._runner(planes)
        # 2 sigmoid(x) - 1 = tanh(x / 2), see `QNetwork.values`.
        values = np.tanh(outputs / 2) if self._network.config.bounded else outputs
        legal_values: NDArray[np.float32] = np.where(masks == 1, values, np.nan).astype(np.float32)
        by_action: NDArray[np.float32] = self.encoder.translate_policy(legal_values, seats)[0]
        return by_action


class DQNAgent(QNetworkAgent):
    """Agent with a trained Q network: it plays the legal action of the highest Q value.

    Networks for any board size play every size of their game.

    Attributes:
        metadata: metadata of the network's file.
    """

    def __init__(
        self,
        game: Game,
        path: str | Path,
        epsilon: float = 0.0,
        device: str = "cpu",
        precision: Precision = "float32",
    ):
        """Load a network.

        Args:
            game: the game to play.
            path: a network file, the folder of a training run, or the name of a shipped network,
                such as `hex5`.
            epsilon: probability of a random legal move instead.
            device: device of the network, such as `cpu` or `cuda`.
            precision: `float32`, `bfloat16`, or `auto`: the faster of the two.

        Raises:
            FileNotFoundError: if there is no such network.
            ValueError: if it does not fit the game.
        """
        network, self.metadata = load_q_network(game, find_weights(path, "dqn"))
        super().__init__(game, network, epsilon, device, precision)


def load_q_network(game: Game, file: Path) -> tuple[QNetwork, dict[str, Any]]:
    """Return the network in a file and the file's metadata.

    Raises:
        ValueError: if the file contains no Q network, or one that does not fit the game.
    """
    return load_network(
        game, file, lambda config: make_q_network(q_config(config), game), "Q network"
    )

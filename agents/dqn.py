"""Agents that play by a Q network: the legal action of the highest value."""

from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.sampling import sample_legal
from ludoteca.envs.game import Game
from ludoteca.envs.params import real
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

ILLEGAL = -np.inf


class DQNAgent(Agent):
    """Plays the legal action that a Q network values most; of equal ones, the first.

    Networks that are made for any board size play every size of their game.
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
            game: the game it plays.
            path: a file or folder that training wrote, or the name of a network that comes with the
                package, such as `hex5`.
            epsilon: probability of a random legal move instead.
            device: where the network runs, such as `cpu` or `cuda`.
            precision: `float32`, `bfloat16`, or `auto`: the faster of the two.

        Raises:
            FileNotFoundError: if there is no such network.
            ValueError: if it does not fit the game.
        """
        file = find_weights(path, "dqn")
        network, self.about = load_q_network(game, file)
        self._adopt(game, network, epsilon, device, precision)

    @classmethod
    def check_game(cls, game: Game) -> None:
        """Check that a game is for two players who move in turn."""
        Encoder(game)

    @classmethod
    def from_network(
        cls,
        game: Game,
        network: QNetwork,
        epsilon: float = 0.0,
        device: str = "cpu",
        precision: Precision = "float32",
    ) -> Self:
        """Return an agent that plays by a copy of a network in memory."""
        agent = cls.__new__(cls)
        agent.about = {}
        agent._adopt(game, network, epsilon, device, precision)
        return agent

    def _adopt(
        self, game: Game, network: QNetwork, epsilon: float, device: str, precision: Precision
    ) -> None:
        Agent.__init__(self, game)
        self._network, self._epsilon = network, real("epsilon", epsilon, 0, 1)
        self.encoder = Encoder(game)
        self._runner = Runner(network, 1 / game.observation_high, device, precision)

    def update(self, network: QNetwork) -> None:
        """Take over the present weights of a network of the same form."""
        self._runner.load(network)

    def prepare(self) -> None:
        """Compile what turns positions into planes, and let the network run once."""
        planes, _ = self.encoder.encode(batch_of_one(self.game), np.zeros(1, np.int64))
        self._runner(planes)

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Choose by one pass through the network."""
        planes, masks = self.encoder.encode(states, seats)
        best = np.where(masks == 1, self._runner(planes), ILLEGAL).argmax(1)
        actions = self.encoder.translate(best, seats)
        if self._epsilon > 0:
            explores, drawn = uniform(rngs.T) < self._epsilon, uniform(rngs.T)
            actions = np.where(
                explores, self.encoder.translate(sample_legal(masks, drawn), seats), actions
            )
        return actions

    def values(self, s: Any) -> NDArray[np.float32]:
        """Return Q of every action for the player to move; NaN of illegal ones.

        Args:
            s: a record, as `Game.new` returns.

        Returns:
            Values, in (-1, 1) if the network is bounded. Shape `[num_actions]`.
        """
        states = batch_of_one(self.game, s)
        assert self.game.player is not None
        seats = np.array([self.game.player(states.view(np.recarray)[0])], np.int64)
        planes, masks = self.encoder.encode(states, seats)
        outputs = self._runner(planes)
        values = np.tanh(outputs / 2) if self._network.config.bounded else outputs
        shown: NDArray[np.float32] = np.where(masks == 1, values, np.nan).astype(np.float32)
        told: NDArray[np.float32] = self.encoder.translate_policy(shown, seats)[0]
        return told


def load_q_network(game: Game, file: Path) -> tuple[QNetwork, dict[str, Any]]:
    """Return the network in a file, for a game that it can play, and what is told about it.

    Raises:
        ValueError: if the file holds no Q network, or one that does not fit the game.
    """
    return load_network(game, file, lambda told: make_q_network(q_config(told), game), "Q network")

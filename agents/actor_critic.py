"""Agents with a trained policy or actor-critic network."""

from pathlib import Path
from typing import ClassVar

from ludoteca.agents.seat_network import SeatNetworkAgent
from ludoteca.envs.game import Game

try:
    from ludoteca.agents.networks.ac_network import load_ac_network
    from ludoteca.agents.networks.runner import Precision, Runner
    from ludoteca.agents.networks.seats import SeatEncoder
    from ludoteca.agents.networks.weights import find_weights
except ImportError as error:
    raise ImportError(
        'agents with networks need PyTorch and safetensors: pip install "ludoteca[train]"'
    ) from error


class NetworkAgent(SeatNetworkAgent):
    """Agent with a policy network that was trained by behavioral cloning.

    Attributes:
        kind: subfolder of `ludoteca/agents/weights` with the shipped networks of this agent.
        network: the network.
        metadata: metadata of the network's file.
    """

    kind: ClassVar[str] = "cnn"

    def __init__(
        self,
        game: Game,
        path: str | Path,
        temperature: float = 0.0,
        device: str = "cpu",
        precision: Precision = "float32",
    ):
        """Load a network.

        Args:
            game: the game to play.
            path: a network file, the folder of a training run, or the name of a shipped network.
            temperature: actions are sampled from `policy ** (1 / temperature)`; 0: the most
                probable action is played.
            device: device of the network, such as `cpu` or `cuda`.
            precision: `float32`, `bfloat16`, or `auto`: the faster of the two.

        Raises:
            FileNotFoundError: if there is no such network.
            ValueError: if it does not fit the game, or a parameter is out of range.
        """
        self.network, self.metadata = load_ac_network(game, find_weights(path, self.kind))
        encoder = SeatEncoder(game, self.network.config.view)
        runner = Runner(self.network, encoder.scale, device, precision)
        super().__init__(encoder, runner, temperature)


class ActorCriticAgent(NetworkAgent):
    """Agent with an actor-critic network that was trained by self-play, and an optional search."""

    kind = "ac"

    def __init__(
        self,
        game: Game,
        path: str | Path,
        temperature: float = 0.0,
        simulations: int = 0,
        seconds: float | None = None,
        c_puct: float = 1.0,
        fpu_reduction: float = 0.1,
        value_scale: float = 100.0,
        leaf_batch: int = 8,
        device: str = "cpu",
        precision: Precision = "float32",
    ):
        """Load a network.

        Args:
            game: the game to play.
            path: see `NetworkAgent`.
            temperature: see `NetworkAgent`; with a search, it applies to the improved policy.
            simulations: simulations per search, or their maximum with `seconds`; 0: no search,
                which excludes `seconds`.
            seconds: time per move; positions are then searched one after the other.
            c_puct: PUCT's exploration constant.
            fpu_reduction: first-play urgency: the value of an action without visits is the node's
                value minus `fpu_reduction`, for values in [0, 1].
            value_scale: increase of an action's log-probability after a search if its value is 1
                instead of 0; see `ludoteca.agents.search.network.policy_improvement`.
            leaf_batch: leaves of one search that the network evaluates together, with virtual loss.
            device: see `NetworkAgent`.
            precision: see `NetworkAgent`.

        Raises:
            FileNotFoundError: if there is no such network.
            ValueError: if it does not fit the game, or a parameter is out of range.
        """
        super().__init__(game, path, temperature, device, precision)
        if simulations and not self.network.config.value:
            raise ValueError(f"{path} has no value head: expected simulations=0, got {simulations}")
        self.set_search(simulations, seconds, c_puct, fpu_reduction, value_scale, leaf_batch)

"""Agent with the networks of neural fictitious self-play (NFSP), see `ludoteca.train.nfsp`."""

from pathlib import Path
from typing import Literal

from ludoteca.agents.seat_network import SeatNetworkAgent
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice

try:
    from ludoteca.agents.networks.nfsp_network import load_nfsp_network
    from ludoteca.agents.networks.runner import Precision, Runner
    from ludoteca.agents.networks.seats import SeatEncoder
    from ludoteca.agents.networks.weights import find_weights
except ImportError as error:
    raise ImportError(
        'agents with networks need PyTorch and safetensors: pip install "ludoteca[train]"'
    ) from error

PolicyName = Literal["average", "best_response"]


class NFSPAgent(SeatNetworkAgent):
    """Agent that plays the average policy of neural fictitious self-play, or its best response.

    Attributes:
        metadata: metadata of the networks' file.
    """

    def __init__(
        self,
        game: Game,
        path: str | Path,
        policy: PolicyName = "average",
        temperature: float | None = None,
        device: str = "cpu",
        precision: Precision = "float32",
    ):
        """Load a network.

        Args:
            game: the game to play.
            path: a network file, or the folder of a training run.
            policy: `average`: the average policy, which approximates a Nash equilibrium in zero-sum
                games for two players; `best_response`: the best response to it at the end of the
                training, by its Q network.
            temperature: actions are sampled from `softmax(outputs / temperature)`, of the logits of
                the average policy or the Q values of the best response; 0: the best action; None: 1
                for the average policy, 0 for the best response.
            device: device of the network, such as `cpu` or `cuda`.
            precision: `float32`, `bfloat16`, or `auto`: the faster of the two.

        Raises:
            FileNotFoundError: if there is no such network.
            ValueError: if it does not fit the game, or a parameter is out of range.
        """
        check_choice("policy", policy, ("average", "best_response"))
        network, self.metadata = load_nfsp_network(game, find_weights(path, "nfsp"))
        is_average = policy == "average"
        policy_network = network.average_policy if is_average else network.best_response
        encoder = SeatEncoder(game, network.config.view)
        if temperature is None:
            temperature = 1.0 if is_average else 0.0
        runner = Runner(policy_network, encoder.scale, device, precision)
        super().__init__(encoder, runner, temperature)

"""Self-play against an opponent pool of agents and past networks of the run."""

import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from ludoteca.agents.networks.ac_network import ACConfig
from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.seat_network import SeatNetworkAgent
from ludoteca.envs.params import check_integer, check_real
from ludoteca.shared import Shared
from ludoteca.train.algorithm import Algorithm
from ludoteca.train.checkpoint import copy_weights
from ludoteca.train.run_directory import Arrays
from ludoteca.train.settings import AUTO, AutoLimits, RLConfig

# Limits of all actor-critic algorithms.
LIMITS = AutoLimits(
    games_per_iteration=128, log_interval=1_024, eval_interval=10_240, past_opponent_interval=5_120
)


@dataclass(frozen=True)
class ActorCriticConfig(RLConfig):
    """Settings of algorithms with an actor-critic network and an opponent pool."""

    run_dir: Path = Path("runs/actor_critic")
    game: str = "hungry_geese"
    """Game, as a spec string; in search imitation a simultaneous one."""
    games: int = 100_000
    network: ACConfig = field(default_factory=ACConfig)

    learning_rate: float = 1e-3
    final_learning_rate: float = 5e-5
    weight_decay: float = 0.0
    max_grad_norm: float = 0.5
    batch_size: int = 1024
    """Decisions per minibatch (one gradient update each)."""
    replay_ratio: float = 1.0
    """Mean number of times that each decision is sampled for an update (PPO: the number of epochs).
    Below 1, a random subset is used."""
    augment: bool = False
    """Data augmentation: apply a random symmetry of the game to each minibatch. For PPO this adds
    noise: the probability ratio compares with the policy in the original orientation."""

    eval_opponents: tuple[str, ...] = ("greedy", "deterministic")
    """Opponents in evaluations, as spec strings; each takes all other seats. The evaluation score
    is the mean over them. In one-player games they play alone, for comparison in the report."""
    checkpoint_selection: Literal["best", "last"] = "last"
    final_eval_games: int = 250
    overlap_actor_learner: bool = False
    """Play the next rollout in a second thread during the updates. The self-play network is then
    one iteration old, and the policy oscillates around its target."""
    threads: int = 2
    """PyTorch threads of the network, in self-play and updates."""
    gamma: float = 1.0
    """Discount factor per decision."""
    gae_lambda: float = 0.9
    """Lambda of generalized advantage estimation (Schulman et al., "High-dimensional continuous
    control using generalized advantage estimation", 2016); 1: return minus value."""
    vf_coef: float = 1.0
    """Coefficient of the value loss (mean squared error); that of the policy loss is 1."""

    opponent_pool: tuple[str, ...] = ("greedy", "deterministic")
    """Agents of the opponent pool, as spec strings. Past networks of the run belong to it, too. In
    one-player games it must be empty."""
    opponent_pool_prob: float = 0.25
    """Probability that a game has opponents from the pool. In such a game each seat but one is
    taken by a pool member with probability 0.5."""
    num_past_opponents: int = 4
    """Maximum number of past networks in the opponent pool; the oldest is replaced."""
    past_opponent_interval: int = AUTO
    """Games between past networks that join the pool. -1: 1/16 of the games, at most 5,120."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_auto("past_opponent_interval")
        check_integer("num_past_opponents", self.num_past_opponents, 0, 1000)
        for name in ("gamma", "gae_lambda", "opponent_pool_prob"):
            check_real(name, getattr(self, name), 0, 1)
        check_real("vf_coef", self.vf_coef, 0, 1e9)
        if not self.network.value:
            raise ValueError("an actor-critic network needs network.value=True, got False")
        if not self.eval_opponents:
            raise ValueError("eval_opponents must name at least one opponent, got none")


class PastNetworks:
    """Past networks of a run, as agents that sample their actions.

    Attributes:
        agents: the agents, the oldest ones replaced first.
    """

    def __init__(self, algorithm: Algorithm[Any]):
        """Begin without networks."""
        config = algorithm.config
        self._encoder, self._network = algorithm.encoder, copy.deepcopy(algorithm.network)
        self._device, self._precision = config.device, config.precision
        self._runners: list[Runner] = []
        self.agents: list[SeatNetworkAgent] = []

    def load(self, index: int, weights: dict[str, torch.Tensor]) -> None:
        """Load weights into past network `index`; the next unused index adds a network."""
        if index == len(self._runners):
            runner = Runner(self._network, self._encoder.scale, self._device, self._precision)
            self._runners.append(runner)
            self.agents.append(SeatNetworkAgent(self._encoder, runner, temperature=1.0))
        self._network.load_state_dict(weights)
        self._runners[index].load(self._network)


class OpponentPoolActor:
    """Self-play actor that adds its network to the opponent pool at an interval.

    Every `config.past_opponent_interval` games, the network joins the pool; if the pool has
    `config.num_past_opponents` past networks, it replaces the oldest one.
    """

    def __init__(self, algorithm: Any, actor: Any):
        """Wrap an actor.

        Args:
            algorithm: algorithm of the run; its attribute `past` is a `PastNetworks`.
            actor: the self-play actor.
        """
        self._config: ActorCriticConfig = algorithm.config
        self._past: PastNetworks = algorithm.past
        self._actor = actor
        self._weights: list[dict[str, torch.Tensor]] = []  # weights of past networks
        # Weights of past networks, and the same as a shared value for other processes, by index.
        self._shared: dict[int, tuple[Any, Shared[Any]]] = {}
        self._iterations = 0
        self._num_joined = 0  # networks that have joined the pool, replaced ones included

    def load(self, network: nn.Module) -> None:
        """Load the weights of a network for a rollout."""
        config = self._config
        games_before, games_after = (
            n * config.games_per_iteration for n in (self._iterations, self._iterations + 1)
        )
        self._iterations += 1
        interval = config.past_opponent_interval
        if config.num_past_opponents and games_after // interval > games_before // interval:
            index = self._num_joined % config.num_past_opponents
            self._num_joined += 1
            weights = copy_weights(network)
            self._weights[index : index + 1] = [weights]
            self._past.load(index, weights)
        self.reload(network)

    def reload(self, network: nn.Module) -> None:
        """Load the weights of a network for a rollout; the network does not join the pool."""
        if self._config.has_actors:
            past = [self._shared_weights(k) for k in range(len(self._weights))]
            self._actor.load(network, *past)
        else:
            self._actor.load(network)

    def _shared_weights(self, index: int) -> Shared[Any]:
        """Return a past network as a shared value, which each worker receives once."""
        weights = self._weights[index]
        if index not in self._shared or self._shared[index][0] is not weights:
            self._shared[index] = (weights, self._actor.put(weights))
        return self._shared[index][1]

    def play(self, rng: np.random.Generator, games: int = 0) -> Any:
        """Collect a rollout after `games` games."""
        return self._actor.play(rng, games)

    def metrics(self) -> dict[str, float | int | None]:
        """Return metrics of the actor: none."""
        return {}

    def state(self) -> Arrays:
        """Return the state, for `restore`."""
        arrays: Arrays = {"numbers": np.array([self._iterations, self._num_joined])}
        for index, weights in enumerate(self._weights):
            arrays |= {f"{index}/{name}": tensor.numpy() for name, tensor in weights.items()}
        return arrays

    def restore(self, arrays: Arrays, network: nn.Module) -> None:
        """Resume from `state`; `network` has the same architecture."""
        self._iterations, self._num_joined = (int(number) for number in arrays["numbers"])
        for index in range(min(self._num_joined, self._config.num_past_opponents)):
            prefix = f"{index}/"
            weights = {
                name.removeprefix(prefix): torch.from_numpy(np.array(array))
                for name, array in arrays.items()
                if name.startswith(prefix)
            }
            self._weights.append(weights)
            self._past.load(index, weights)

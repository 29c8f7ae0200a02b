"""Agents that play by a network for one seat, where all move at once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.guided.decoupled_search import (
    DecoupledNetworkGuidedSearch,
    DecoupledSearchResult,
    SeatEvaluator,
)
from ludoteca.agents.guided.policy_improvement import improved_policies
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.agents.sampling import sample_by_weight
from ludoteca.envs.game import Game
from ludoteca.envs.params import integer, real
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.rng import uniform

try:
    from ludoteca.agents.networks.ac_network import load_ac_network
    from ludoteca.agents.networks.runner import Precision, Runner
    from ludoteca.agents.networks.weights import find_weights
except ImportError as error:
    raise ImportError(
        'agents with networks need PyTorch and safetensors: pip install "ludoteca[train]"'
    ) from error

# What runs a network: planes [K, planes, rows, columns] -> its outputs, float32 [K, outputs].
Run = Callable[[NDArray[np.int8]], NDArray[np.float32]]
# Searches side by side: more need memory, and are not faster.
TOGETHER = 128


class NetworkAgent(Agent):
    """Plays the policy of a network that was taught the moves of others.

    Attributes:
        encoder: what the network sees.
        network: the network, if it came from a file.
        about: what the file tells about it.
        temperature: 0, or with which power moves are drawn.
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
            game: the game it plays.
            path: a file or folder that training wrote, or the name of a network that comes with the
                package.
            temperature: moves are drawn by `policy ** (1 / temperature)`; 0: the best one.
            device: where the network runs, such as `cpu` or `cuda`.
            precision: `float32`, `bfloat16`, or `auto`: the faster of the two.

        Raises:
            FileNotFoundError: if there is no such network.
            ValueError: if it does not fit the game, or a parameter is out of range.
        """
        self.network, self.about = load_ac_network(game, find_weights(path, self.kind))
        encoder = SeatEncoder(game, self.network.config.view)
        self._adopt(encoder, Runner(self.network, encoder.scale, device, precision), temperature)

    @classmethod
    def check_game(cls, game: Game) -> None:
        """Check that a game is one in which all players move at once."""
        SeatEncoder(game)

    @classmethod
    def from_runner(cls, encoder: SeatEncoder, runner: Runner, temperature: float = 0.0) -> Self:
        """Return an agent that plays by a network in memory, which may change."""
        agent = cls.__new__(cls)
        agent.about = {}
        agent._adopt(encoder, runner, temperature)
        return agent

    def _adopt(self, encoder: SeatEncoder, runner: Runner, temperature: float) -> None:
        Agent.__init__(self, encoder.game)
        self.encoder, self._runner = encoder, runner
        self.temperature = real("temperature", temperature, 0, 100)

    def prepare(self) -> None:
        """Compile what the network sees, and let it run once."""
        self.policies(batch_of_one(self.game), np.zeros(1, np.int64))

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Choose by the network's policy."""
        policies = self.policies(states, seats)
        if self.temperature == 0:
            best: NDArray[np.int64] = policies.argmax(1)
            return best
        return sample_by_weight(policies, uniform(rngs.T), self.temperature)

    def action_probabilities(
        self, states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> NDArray[np.float64] | None:
        """Return the network's policies at this temperature. Shape `[K, num_actions]`."""
        policies = self.policies(states, seats).astype(np.float64)
        if self.temperature == 0:
            best: NDArray[np.float64] = np.eye(self.game.num_actions)[policies.argmax(1)]
            return best
        weights = (policies / policies.max(1, keepdims=True)) ** (1 / self.temperature)
        shares: NDArray[np.float64] = weights / weights.sum(1, keepdims=True)
        return shares

    def policies(self, states: NDArray[np.void], seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the network's policies, float32 `[K, num_actions]`, 0 where it may not go.

        Args:
            states: positions. Shape `[K]`.
            seats: whose policy is wanted. Shape `[K]`.
        """
        planes, masks = self.encoder.encode(states, seats)
        return masked_softmax(self._runner(planes)[:, : self.game.num_actions], masks)


class ActorCriticAgent(NetworkAgent):
    """Plays by a network that learned from its own games, with a search if that is asked for.

    Attributes:
        simulations: of each search, or 0; the other settings of searches, too, are attributes.
    """

    kind = "ac"
    lazy_attributes = ("_search",)

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
        """Load a network; the other parameters are those of `NetworkAgent`.

        Args:
            game: the game it plays.
            path: see `NetworkAgent`.
            temperature: see `NetworkAgent`; the policy that a search has improved takes the
                network's place.
            simulations: of each search, or at most, if it has so many `seconds`; 0: the network's
                policy is played.
            seconds: per move; positions are then searched one after the other.
            c_puct: PUCT's constant.
            fpu_reduction: how much less than its node an action without visits is worth, of 1.
            value_scale: by how much the log-probability of an action grows, after a search, if it
                is worth 1 instead of 0; see `ludoteca.agents.guided.policy_improvement`.
            leaf_batch: of each search that the network sees at once; simulations under way count as
                lost to others.
            device: see `NetworkAgent`.
            precision: see `NetworkAgent`.

        Raises:
            FileNotFoundError: if there is no such network.
            ValueError: if it does not fit the game, or a parameter is out of range.
        """
        super().__init__(game, path, temperature, device, precision)
        if simulations and not self.network.config.value:
            raise ValueError(f"{path} has no value to search by: needs simulations=0")
        self.set_search(simulations, seconds, c_puct, fpu_reduction, value_scale, leaf_batch)

    def set_search(
        self,
        simulations: int,
        seconds: float | None = None,
        c_puct: float = 1.0,
        fpu_reduction: float = 0.1,
        value_scale: float = 100.0,
        leaf_batch: int = 8,
    ) -> None:
        """Search from now on, or not, by the parameters of `__init__`.

        Raises:
            ValueError: if a parameter is out of range.
        """
        self.simulations = integer("simulations", simulations, 0, 10**6)
        self.seconds = None if seconds is None else real("seconds", seconds, 1e-4, 1e6)
        if self.seconds is not None and simulations == 0:
            raise ValueError("seconds needs simulations=..., how many there are at most")
        self.c_puct = real("c_puct", c_puct, 0, 100)
        self.fpu_reduction = real("fpu_reduction", fpu_reduction, 0, 1)
        self.value_scale = real("value_scale", value_scale, 0, 1e6)
        self.leaf_batch = integer("leaf_batch", leaf_batch, 1, 1024)
        self._search: DecoupledNetworkGuidedSearch | None = None
        self._room = 0

    def _adopt(self, encoder: SeatEncoder, runner: Runner, temperature: float) -> None:
        super()._adopt(encoder, runner, temperature)
        self.set_search(simulations=0)

    def action_probabilities(
        self, states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> NDArray[np.float64] | None:
        """Return the network's policies, or None if a search improves them."""
        return None if self.simulations else super().action_probabilities(states, seats)

    def prepare(self) -> None:
        """Compile what acting needs, and let the network run once."""
        super().prepare()
        if self.simulations:
            self.search_positions(batch_of_one(self.game), np.zeros((1, 1), np.uint64))

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Choose by the network's policy, or by what searches side by side make of it."""
        if self.simulations == 0:
            return super().act(states, seats, rngs, env_indices)
        actions = np.zeros(len(states), np.int64)
        together = 1 if self.seconds is not None else TOGETHER
        for k in range(0, len(states), together):
            part = slice(k, k + together)
            streams = rngs[part]  # the same memory
            result = self.search_positions(states[part], streams)
            rows = np.arange(len(result.visit_counts))
            one = (rows, seats[part])
            policies, *_ = improved_policies(
                result.priors[one],
                result.visit_counts[one],
                result.action_values[one],
                self.value_scale,
            )
            if self.temperature == 0:
                actions[part] = policies.argmax(1)
            else:
                actions[part] = sample_by_weight(policies, uniform(streams.T), self.temperature)
        return actions

    def search_positions(
        self, states: NDArray[np.void], streams: NDArray[np.uint64]
    ) -> DecoupledSearchResult:
        """Search positions in which the game goes on, for all players, side by side.

        Args:
            states: the positions. Shape `[K]`.
            streams: one random stream for each, advanced in place. Shape `[K, 1]`.
        """
        if self._search is None or len(states) > self._room:
            self._room = len(states)
            self._search = DecoupledNetworkGuidedSearch(
                self.game, self._room, self.simulations, self.leaf_batch
            )
        evaluate = make_seat_evaluator(self.encoder, self._runner)
        return self._search.run(
            states,
            evaluate,
            self.simulations,
            streams,
            self.c_puct,
            self.fpu_reduction,
            self.seconds,
        )


def make_seat_evaluator(encoder: SeatEncoder, run: Run) -> SeatEvaluator:
    """Return what a network with a value says of positions, from the seats of who can act.

    Args:
        encoder: what it sees.
        run: the network: planes to logits and, in the last column, values in [-1, 1].
    """

    def evaluate(
        states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        planes, masks = encoder.encode(states, seats)
        outputs = run(planes)
        return masked_softmax(outputs[:, :-1], masks), outputs[:, -1]

    return evaluate


def masked_softmax(logits: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the probabilities of actions, 0 where the mask is. Shape `[K, num_actions]`."""
    shown = np.where(masks > 0, logits, -np.inf)
    weights = np.exp(shown - shown.max(1, keepdims=True))
    policies: NDArray[Any] = weights / weights.sum(1, keepdims=True)
    return policies.astype(np.float32)

"""Agent with one policy network for all seats, with decoupled search in simultaneous games."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.agents.sampling import sample_by_weight
from ludoteca.agents.search.network.batched_search import SeatEvaluator
from ludoteca.agents.search.network.decoupled_search import (
    DecoupledNetworkGuidedSearch,
    DecoupledSearchResult,
)
from ludoteca.agents.search.network.policy_improvement import improved_policies
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.params import check_integer, check_real
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.rng import uniform

# Inference of a network: planes [K, planes, rows, columns] -> outputs, float32 [K, outputs]: a
# logit for each action, then, if the network has a value head, the value in [-1, 1].
Run = Callable[[NDArray[np.int8]], NDArray[np.float32]]
# Maximum number of simulations of a search with a time control, unless `simulations` is higher.
MAX_TIMED_SIMULATIONS = 20_000
BATCH_SIZE = 128  # searches in one batch; larger ones need more memory and are not faster


class SeatNetworkAgent(Agent):
    """Agent with a policy network: it plays the policy, or its improvement by decoupled search.

    Attributes:
        encoder: encoder of the network's observations.
        temperature: temperature of sampling; 0: the most probable action.
        simulations: simulations per search; 0: no search. The other arguments of `set_search` are
            attributes, too.
        is_stopped: None, or a function that is called between simulations; when it returns True,
            the search ends.
    """

    lazy_attributes = ("_search", "is_stopped")

    def __init__(self, encoder: SeatEncoder, run: Run, temperature: float = 0.0):
        """Make an agent without search.

        Args:
            encoder: encoder of the network's observations.
            run: inference of the network; the weights of the network may change between calls.
            temperature: actions are sampled from `policy ** (1 / temperature)`; 0: the most
                probable action is played.

        Raises:
            ValueError: if `temperature` is out of range.
        """
        super().__init__(encoder.game)
        self.encoder, self._run = encoder, run
        self.temperature = check_real("temperature", temperature, 0, 100)
        self.is_stopped: Callable[[], bool] | None = None
        self.set_search(simulations=0)

    def set_search(
        self,
        simulations: int,
        seconds: float | None = None,
        c_puct: float = 1.0,
        fpu_reduction: float = 0.1,
        value_scale: float = 100.0,
        leaf_batch: int = 8,
    ) -> None:
        """Configure the search; it needs a network with a value head.

        Args:
            simulations: simulations per search, or their maximum with `seconds`; 0: no search,
                which excludes `seconds`.
            seconds: time per move; positions are then searched one after the other.
            c_puct: PUCT's exploration constant.
            fpu_reduction: first-play urgency: the value of an action without visits is the node's
                value minus `fpu_reduction`, for values in [0, 1].
            value_scale: increase of an action's log-probability after a search if its value is 1
                instead of 0; see `ludoteca.agents.search.network.policy_improvement`.
            leaf_batch: leaves of one search that the network evaluates together, with virtual loss.

        Raises:
            ValueError: if a parameter is out of range.
        """
        self.simulations = check_integer("simulations", simulations, 0, 10**6)
        if simulations and not self.game.simultaneous:
            raise ValueError(f"the search needs a simultaneous game, got {self.game.short_spec}")
        self.seconds = None if seconds is None else check_real("seconds", seconds, 1e-4, 1e6)
        if self.seconds is not None and simulations == 0:
            raise ValueError("seconds needs simulations, their maximum number, above 0, got 0")
        self.c_puct = check_real("c_puct", c_puct, 0, 100)
        self.fpu_reduction = check_real("fpu_reduction", fpu_reduction, 0, 1)
        self.value_scale = check_real("value_scale", value_scale, 0, 1e6)
        self.leaf_batch = check_integer("leaf_batch", leaf_batch, 1, 1024)
        self._search: DecoupledNetworkGuidedSearch | None = None
        self._capacity = 0

    def set_time_control(self, time_control: TimeControl) -> None:
        """Limit searches by time instead of simulations: `time_control.thinking_seconds` each."""
        if self.simulations > 0:
            self.seconds = time_control.thinking_seconds
            self.simulations = max(self.simulations, MAX_TIMED_SIMULATIONS)
            self._search, self._capacity = None, 0

    def prepare(self) -> None:
        """Compile everything that `act` needs: evaluate one position and one batch of leaves."""
        states = batch_of_one(self.game)
        self.policies(states, np.zeros(1, np.int64))
        if self.simulations:
            simulations, self.simulations = self.simulations, self.leaf_batch
            self._search, self._capacity = None, 0
            try:
                self.search_positions(states, np.zeros((1, 1), np.uint64))
            finally:
                self.simulations, self._search, self._capacity = simulations, None, 0

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Choose by the network's policy, or by its improvement by search."""
        if self.simulations == 0:
            return self._choose(self.policies(states, seats), rngs)
        actions = np.zeros(len(states), np.int64)
        batch_size = 1 if self.seconds is not None else BATCH_SIZE
        for k in range(0, len(states), batch_size):
            rows = slice(k, k + batch_size)
            streams = rngs[rows]  # a view: streams advance in place
            result = self.search_positions(states[rows], streams)
            # The search has statistics of all players; those of the acting ones are used.
            acting = (np.arange(len(result.visit_counts)), seats[rows])
            policies, *_ = improved_policies(
                result.priors[acting],
                result.visit_counts[acting],
                result.action_values[acting],
                self.value_scale,
            )
            actions[rows] = self._choose(policies, streams)
        return actions

    def _choose(self, policies: NDArray[Any], rngs: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return an action for each of the policies `[K, num_actions]`, by the temperature."""
        if self.temperature == 0:
            best: NDArray[np.int64] = policies.argmax(1)
            return best
        return sample_by_weight(policies, uniform(rngs.T), self.temperature)

    def action_probabilities(
        self, states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> NDArray[np.float64] | None:
        """Return the sampling probabilities, `[K, num_actions]`; None for agents with a search."""
        if self.simulations:
            return None
        policies = self.policies(states, seats).astype(np.float64)
        if self.temperature == 0:
            best: NDArray[np.float64] = np.eye(self.game.num_actions)[policies.argmax(1)]
            return best
        weights = (policies / policies.max(1, keepdims=True)) ** (1 / self.temperature)
        probabilities: NDArray[np.float64] = weights / weights.sum(1, keepdims=True)
        return probabilities

    def policies(self, states: NDArray[np.void], seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the policies in the game's action order, 0 for masked actions.

        Args:
            states: positions. Shape `[K]`.
            seats: players to act. Shape `[K]`.

        Returns:
            float32, shape `[K, num_actions]`.
        """
        planes, masks = self.encoder.encode(states, seats)
        policies = masked_softmax(self._run(planes)[:, : self.game.num_actions], masks)
        return self.encoder.translate_policy(policies, seats)

    def search_positions(
        self, states: NDArray[np.void], streams: NDArray[np.uint64]
    ) -> DecoupledSearchResult:
        """Search a batch of unfinished positions for all players.

        Args:
            states: the positions. Shape `[K]`.
            streams: one random stream per position, advanced in place. Shape `[K, 1]`.
        """
        if self._search is None or len(states) > self._capacity:
            self._capacity = len(states)
            self._search = DecoupledNetworkGuidedSearch(
                self.game, self._capacity, self.simulations, self.leaf_batch
            )
        return self._search.run(
            states,
            make_seat_evaluator(self.encoder, self._run),
            self.simulations,
            streams,
            self.c_puct,
            self.fpu_reduction,
            self.seconds,
            is_stopped=self.is_stopped,
        )


def make_seat_evaluator(encoder: SeatEncoder, run: Run) -> SeatEvaluator:
    """Return the evaluator of positions by a network with a value head.

    Args:
        encoder: encoder of the network's observations.
        run: inference: planes to logits and, in the last column, values in [-1, 1].
    """

    def evaluate(
        states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return policies, `[K, num_actions]`, and values, `[K]`, see `SeatEvaluator`."""
        planes, masks = encoder.encode(states, seats)
        outputs = run(planes)
        return masked_softmax(outputs[:, :-1], masks), outputs[:, -1]

    return evaluate


def masked_softmax(logits: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the softmax over actions with mask 1, 0 for others. Shape `[K, num_actions]`."""
    allowed = np.where(masks > 0, logits, -np.inf)
    weights = np.exp(allowed - allowed.max(1, keepdims=True))
    policies: NDArray[Any] = weights / weights.sum(1, keepdims=True)
    return policies.astype(np.float32)

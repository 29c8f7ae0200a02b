"""Rollouts with search: some positions are searched, and their policies improved."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.agents.search.network.decoupled_search import (
    DecoupledNetworkGuidedSearch,
    DecoupledSearchResult,
)
from ludoteca.agents.search.network.policy_improvement import improved_policies
from ludoteca.agents.seat_network import Run, make_seat_evaluator
from ludoteca.train.actor_critic.config import ActorCriticConfig
from ludoteca.train.actor_critic.rollout import ActorCriticCollector, ActorCriticRollout
from ludoteca.train.monitor import Monitor
from ludoteca.train.rollout_games import Turn


@dataclass(frozen=True)
class SearchRollout(ActorCriticRollout):
    """Rollout with searched positions, and the policies that actions were sampled from.

    Attributes:
        searched: whether the position was searched. Shape `[N]`.
        policies: policies of the network, improved where the position was searched. Shape `[N, A]`.
        gains: policy improvement: expected value gained, on the scale 0 to 1. Shape `[N]`.
    """

    searched: NDArray[np.bool_]
    policies: NDArray[np.float32]
    gains: NDArray[np.float32]


class SearchCollector(ActorCriticCollector):
    """Collects rollouts in which some positions are searched."""

    rollout_class = SearchRollout

    def __init__(
        self, encoder: SeatEncoder, config: ActorCriticConfig, monitor: Monitor | None = None
    ):
        """Allocate a rollout of games, and as many searches."""
        super().__init__(encoder, config, monitor)
        self._search = DecoupledNetworkGuidedSearch(
            encoder.game, config.games_per_iteration, config.num_simulations
        )

    def _policies(
        self, run: Run, turn: Turn, rows: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """Return policies and values, improved by search at random positions, and where."""
        policies, values = super()._policies(run, turn, rows, rng)
        env_indices, movers = turn.env_indices[rows], turn.movers[rows]
        games, first, which = np.unique(env_indices, return_index=True, return_inverse=True)
        chosen = rng.random(len(games)) < self._config.search_prob
        searched: NDArray[np.bool_] = chosen[which]
        gains = np.zeros(len(rows), np.float32)
        if chosen.any():
            result = self._search_positions(run, turn.states[rows[first[chosen]]], rng)
            place = (np.cumsum(chosen) - 1)[which[searched]]
            improved, root_values, gain = improved_policies(
                result.priors, result.visit_counts, result.action_values, self._config.value_scale
            )
            decision = (place, movers[searched])
            policies[searched], values[searched] = improved[decision], root_values[decision]
            gains[searched] = gain[decision]
        return policies, values, searched, policies, gains

    def _search_positions(
        self, run: Run, states: NDArray[np.void], rng: np.random.Generator
    ) -> DecoupledSearchResult:
        """Search a batch of positions."""
        config, monitor = self._config, self._games.monitor

        def checked(planes: NDArray[np.int8]) -> NDArray[np.float32]:
            monitor.check()
            return run(planes)

        streams = rng.integers(2**63, size=(len(states), 1)).astype(np.uint64)
        return self._search.run(
            states,
            make_seat_evaluator(self._encoder, checked),
            config.num_simulations,
            streams,
            config.c_puct,
            config.fpu_reduction,
            uniform_fraction=config.root_uniform_fraction,
        )

"""Search imitation: a network learns policies that search has improved, in simultaneous games.

Like AlphaZero (Silver et al., 2018), with a decoupled search for all players and the policy
improvement of Danihelka et al., "Policy improvement by planning with Gumbel" (2022). A random part
of the positions is searched and learned from. One network plays all seats, against itself and an
opponent pool. An interrupted run resumes, with the same result, when the same command is given
again.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from ludoteca.agents.networks.ac_network import ACNetwork
from ludoteca.agents.search.network.decoupled_search import (
    DecoupledNetworkGuidedSearch,
    DecoupledSearchResult,
)
from ludoteca.agents.search.network.policy_improvement import improved_policies
from ludoteca.agents.search.simultaneous.tree import check_joint_actions
from ludoteca.agents.seat_network import make_seat_evaluator
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer, check_real
from ludoteca.train.actor_critic_rollout import ActorCriticRollout
from ludoteca.train.algorithm import Inference, Tensors
from ludoteca.train.examples import ExampleLayout, Kind
from ludoteca.train.opponent_pool import ActorCriticConfig
from ludoteca.train.ppo import ActorCritic, mean_entropy
from ludoteca.train.rollout_games import Turn

MAX_COPIES = 16  # maximum number of copies of one decision in the replay buffer


@dataclass(frozen=True)
class SearchImitationConfig(ActorCriticConfig):
    """Settings of search imitation."""

    algorithm = "search-imitation"

    run_dir: Path = Path("runs/search_imitation")
    num_simulations: int = 48
    """Simulations per search."""
    search_prob: float = 0.25
    """Probability that a position is searched and used in updates; in the others, moves are
    sampled from the policy network."""
    c_puct: float = 1.0
    """Exploration constant of PUCT."""
    fpu_reduction: float = 0.1
    """First-play urgency reduction: an unvisited action has the value of its parent minus
    this, on the scale 0 to 1."""
    root_uniform_fraction: float = 0.15
    """Fraction of the uniform distribution that is mixed into the root priors."""
    value_scale: float = 60.0
    """Scale of action values in the improved policy: the logit of an action grows by this
    if its value is 1 instead of 0."""
    improvement_fraction: float = 0.0
    """Fraction of the replay buffer sampled in proportion to the policy improvement of the
    search; the rest is sampled uniformly. KataGo samples by the divergence of the two policies
    ("policy surprise weighting")."""
    buffer_size: int = 200_000
    """Capacity of the replay buffer, in decisions."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("num_simulations", "buffer_size"):
            check_integer(name, getattr(self, name), 1, 10**9)
        fractions = (
            "search_prob",
            "improvement_fraction",
            "root_uniform_fraction",
            "fpu_reduction",
        )
        for name in fractions:
            check_real(name, getattr(self, name), 0, 1)
        for name in ("c_puct", "value_scale"):
            check_real(name, getattr(self, name), 0, 1e9)


@dataclass(frozen=True)
class SearchRollout(ActorCriticRollout):
    """Rollout with searched positions, and the policies that actions were sampled from.

    Attributes:
        searched: whether the position was searched. Shape `[N]`.
        policies: policies of the network, improved where the position was searched. Shape `[N, A]`.
        improvements: policy improvement: expected value gained, on the scale 0 to 1. Shape `[N]`.
    """

    searched: NDArray[np.bool_]
    policies: NDArray[np.float32]
    improvements: NDArray[np.float32]


class SearchImitation(ActorCritic):
    """Imitation of searches, from a replay buffer of searched decisions."""

    title = "Search imitation"
    module = "ludoteca.train.search_imitation"
    config_class, rollout_class = SearchImitationConfig, SearchRollout

    def __init__(self, config: SearchImitationConfig, game: Game, network: ACNetwork):
        super().__init__(config, game, network)
        columns: dict[str, Kind] = {
            "planes": "planes",
            "mask": "mask",
            "policy": "policy",
            "target": "scalar",
        }
        self.layout = ExampleLayout(self.encoder, columns)

    @classmethod
    def check_game(cls, game: Game) -> None:
        """Check that a game is simultaneous, and that its joint actions can be searched."""
        if not game.simultaneous:
            raise ValueError(f"expected a simultaneous game, got {game.spec}, sequential")
        check_joint_actions(game)

    @cached_property
    def search(self) -> DecoupledNetworkGuidedSearch:
        """Searches of the games of a rollout."""
        config = self.config
        return DecoupledNetworkGuidedSearch(
            self.game, config.games_per_iteration, config.num_simulations
        )

    def policies(
        self, infer: Inference, turn: Turn, rows: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """Return policies and values, improved by search at random positions, and more columns.

        The other columns are `searched`, `policies` and `improvements` of `SearchRollout`.
        """
        policies, values = super().policies(infer, turn, rows, rng)
        env_indices, movers = turn.env_indices[rows], turn.movers[rows]
        # A position, which has a row for each active player, is searched once.
        games, first_rows, inverse = np.unique(env_indices, return_index=True, return_inverse=True)
        chosen = rng.random(len(games)) < self.config.search_prob
        searched: NDArray[np.bool_] = chosen[inverse]
        improvements = np.zeros(len(rows), np.float32)
        if chosen.any():
            result = self._search_positions(infer, turn.states[rows[first_rows[chosen]]], rng)
            result_rows = (np.cumsum(chosen) - 1)[inverse[searched]]
            improved, root_values, improvement = improved_policies(
                result.priors, result.visit_counts, result.action_values, self.config.value_scale
            )
            decision = (result_rows, movers[searched])
            policies[searched], values[searched] = improved[decision], root_values[decision]
            improvements[searched] = improvement[decision]
        return policies, values, searched, policies, improvements

    def _search_positions(
        self, infer: Inference, states: NDArray[np.void], rng: np.random.Generator
    ) -> DecoupledSearchResult:
        """Search a batch of K positions `states`, with a random stream for each from `rng`."""
        config = self.config

        def infer_or_stop(planes: NDArray[np.int8]) -> NDArray[np.float32]:
            self.monitor.check()
            return infer(planes)

        streams = rng.integers(2**63, size=(len(states), 1)).astype(np.uint64)
        return self.search.run(
            states,
            make_seat_evaluator(self.encoder, infer_or_stop),
            config.num_simulations,
            streams,
            config.c_puct,
            config.fpu_reduction,
            uniform_fraction=config.root_uniform_fraction,
        )

    def targets(self, rollout: ActorCriticRollout, rng: np.random.Generator) -> NDArray[np.void]:
        """Return the searched decisions: improved policies and value targets."""
        assert isinstance(rollout, SearchRollout)
        chosen = rollout.searched
        records = np.zeros(int(chosen.sum()), self.layout.dtype)
        records["planes"] = rollout.planes[chosen]
        records["mask"] = self.layout.masks.pack(rollout.masks[chosen])
        records["policy"] = rollout.policies[chosen]
        # Clipped to the range of returns.
        records["target"] = np.clip(self.advantages(rollout) + rollout.values, -1, 1)[chosen]
        return records[self.copies(rollout.improvements[chosen], rng)]

    def copies(
        self, improvements: NDArray[np.float32], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Sample indices of the decisions to store, some repeated, some omitted.

        The expected number of copies is `1 - improvement_fraction`, plus `improvement_fraction`
        times the policy improvement relative to its mean, and at most `MAX_COPIES`.
        """
        fraction, indices = self.config.improvement_fraction, np.arange(len(improvements))
        if fraction == 0:
            return indices
        mean = max(float(improvements.mean()), 1e-9)  # may be 0
        expected = 1 - fraction + fraction * improvements / mean
        uniform = rng.random(len(improvements))
        return np.repeat(indices, (np.minimum(expected, MAX_COPIES) + uniform).astype(int))

    def loss(self, batch: Tensors) -> Tensors:
        """Compute cross-entropy with the improved policies plus squared error of the values."""
        # Normalized again: the replay buffer stores policies in float16.
        targets = batch["policy"] / batch["policy"].sum(1, keepdim=True)
        log_policy, values = self.log_policy(batch)
        policy_loss = -(targets * log_policy).sum(1).mean()
        value_loss = functional.mse_loss(values, batch["target"])
        # KL divergence: the cross-entropy minus the entropy of the targets.
        divergence = policy_loss + torch.xlogy(targets, targets).sum(1).mean()
        return {
            "loss": policy_loss + self.config.vf_coef * value_loss,
            "policy_loss": policy_loss,
            "value_loss": value_loss,
            "entropy": mean_entropy(log_policy),
            "divergence": divergence,
        }

    def search_options(self) -> dict[str, Any]:
        """Return the options of `SeatNetworkAgent.set_search` in evaluations.

        Unlike in training, the root priors have no uniform part, and `value_scale` is the default.
        """
        config = self.config
        return {
            "simulations": config.num_simulations,
            "c_puct": config.c_puct,
            "fpu_reduction": config.fpu_reduction,
        }


if __name__ == "__main__":
    from ludoteca.train.command import run_algorithm

    run_algorithm("search-imitation")

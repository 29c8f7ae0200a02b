"""Exploration rate of epsilon-greedy policies: a linear decay over the games of a training."""

from typing import Protocol


class ExplorationConfig(Protocol):
    """Settings of epsilon-greedy exploration, those of `DQNConfig` and `NFSPConfig`."""

    @property
    def games(self) -> int:
        """Return the games of the training."""

    @property
    def exploration_initial_eps(self) -> float:
        """Return the initial probability of a random move."""

    @property
    def exploration_final_eps(self) -> float:
        """Return the final probability of a random move."""

    @property
    def exploration_fraction(self) -> float:
        """Return the fraction of the games over which the exploration rate decays."""


def epsilon_at(config: ExplorationConfig, games: int) -> float:
    """Return the exploration rate (epsilon) after `games` games."""
    initial, final = config.exploration_initial_eps, config.exploration_final_eps
    decay_games = max(config.exploration_fraction * config.games, 1)
    return initial + (final - initial) * min(games / decay_games, 1.0)

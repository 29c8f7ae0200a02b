"""Sums of metrics between two rows of `metrics.csv`."""

from ludoteca.train.actor_critic.learner import Losses
from ludoteca.train.actor_critic.rollout import LEARNER, ActorCriticRollout


class MetricSums:
    """Sums over rollouts and updates; its `vars` are part of the state of a run."""

    def __init__(self) -> None:
        self.games = self.plies = self.decisions = self.batches = 0
        self.pool_games = self.pool_return = 0.0
        self.losses = [0.0] * len(Losses._fields)

    def add_round(self, rollout: ActorCriticRollout) -> None:
        """Add the games of a rollout."""
        self.games += len(rollout.lengths)
        self.plies += int(rollout.lengths.sum())
        self.decisions += len(rollout.actions)
        mixed = (rollout.seat_agents != LEARNER).any(1)
        mine = (rollout.seat_agents == LEARNER) & mixed[:, None]
        self.pool_games += int(mine.sum())
        self.pool_return += float(rollout.returns[mine].sum())

    def add_losses(self, losses: Losses) -> None:
        """Add the losses of an update."""
        self.batches += 1
        self.losses = [a + b for a, b in zip(self.losses, losses, strict=True)]

    def summary(self, updates: int) -> dict[str, float | int | None]:
        """Return mean game length, mean return against the opponent pool, and mean losses."""
        names = [f"{name}_loss" if name in ("policy", "value") else name for name in Losses._fields]
        means = [one / self.batches if self.batches else None for one in self.losses]
        return {
            "plies": self.plies / self.games if self.games else None,
            "decisions": self.decisions,
            "opponent_pool_return": (
                self.pool_return / self.pool_games if self.pool_games else None
            ),
            **dict(zip(names, means, strict=True)),
            "updates": updates,
        }

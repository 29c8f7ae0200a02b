"""What is added up between two rows of metrics."""

from ludoteca.train.actor_critic.learner import Losses
from ludoteca.train.actor_critic.rollout import LEARNER, ActorCriticRollout


class MetricSums:
    """Sums over rounds and updates; `vars` of it is part of a run's state."""

    def __init__(self) -> None:
        self.games = self.plies = self.decisions = self.batches = 0
        self.against_league = self.league_result = 0.0
        self.losses = [0.0] * len(Losses._fields)

    def add_round(self, played: ActorCriticRollout) -> None:
        """Add how the games of a round went."""
        self.games += len(played.lengths)
        self.plies += int(played.lengths.sum())
        self.decisions += len(played.actions)
        mixed = (played.who != LEARNER).any(1)
        mine = (played.who == LEARNER) & mixed[:, None]
        self.against_league += int(mine.sum())
        self.league_result += float(played.returns[mine].sum())

    def add_losses(self, losses: Losses) -> None:
        """Add what an update told."""
        self.batches += 1
        self.losses = [a + b for a, b in zip(self.losses, losses, strict=True)]

    def summary(self, updates: int) -> dict[str, float | int | None]:
        """Return means: of lengths, of results against the league, and of losses."""
        names = [f"{name}_loss" if name in ("policy", "value") else name for name in Losses._fields]
        means = [one / self.batches if self.batches else None for one in self.losses]
        return {
            "plies": self.plies / self.games if self.games else None,
            "decisions": self.decisions,
            "opponent_pool_return": (
                self.league_result / self.against_league if self.against_league else None
            ),
            **dict(zip(names, means, strict=True)),
            "updates": updates,
        }

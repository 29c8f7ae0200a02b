"""Learning from searches: the network learns what they make of its policy, and how games end."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.train.actor_critic.config import ActorCriticConfig
from ludoteca.train.actor_critic.rollout import ActorCriticRollout, advantages
from ludoteca.train.actor_critic.search_rollout import SearchRollout
from ludoteca.train.actor_critic.training import ActorCriticTraining
from ludoteca.train.replay import RingBuffer
from ludoteca.train.run_directory import Arrays, with_prefix, without_prefix

MOST = 16  # times that a decision is kept in a round


class SearchImitationTraining(ActorCriticTraining):
    """A run that learns from the decisions after a search, again and again."""

    round = SearchRollout

    def __init__(self, config: ActorCriticConfig, tensorboard: bool = True):
        """Begin a run, or go on with the one in the folder; see `Training`."""
        self._owed = 0.0  # updates that are due
        super().__init__(config, tensorboard)

    @cached_property
    def window(self) -> RingBuffer:
        """The decisions that are learned from."""
        actions = (self.game.num_actions,)
        decision = [
            ("planes", np.uint8, (self._packing.size,)),
            ("mask", np.int8, actions),
            ("policy", np.float16, actions),
            ("target", np.float32),
        ]
        return RingBuffer(self.config.buffer_size, np.dtype(decision))

    def keep(self, played: ActorCriticRollout) -> None:
        """Keep the decisions of a round that were searched; updates are due by their number."""
        assert isinstance(played, SearchRollout)
        config = self.config
        advantage = advantages(played, config.gamma, config.gae_lambda)
        chosen = played.searched
        dtype: Any = self.window.records.dtype
        records: NDArray[np.void] = np.zeros(int(chosen.sum()), dtype)
        records["planes"], records["mask"] = played.planes[chosen], played.masks[chosen]
        records["policy"] = played.policies[chosen]
        records["target"] = np.clip(advantage + played.values, -1, 1)[chosen]
        records = records[self.copies(played.gains[chosen])]
        self.window.add(records)
        self._owed += len(records) * config.replay_ratio / config.batch_size
        self.sums.add_round(played)

    @property
    def due(self) -> int:
        """The number of updates that are due."""
        return int(self._owed)

    def copies(self, gains: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return which decisions of a round are kept, some several times, some not at all.

        A decision is expected to be kept `1 - improvement_fraction` times, and by how much the
        search gained there, measured by the mean, `improvement_fraction` times that,
        at most `MOST` times in all.
        """
        share = self.config.improvement_fraction
        if share == 0:
            return np.arange(len(gains))
        expected = 1 - share + share * gains / max(float(gains.mean()), 1e-9)
        drawn = self.learning.random(len(gains))
        return np.repeat(np.arange(len(gains)), (np.minimum(expected, MOST) + drawn).astype(int))

    def update(self) -> None:
        """Learn from a batch, under a random symmetry."""
        config, rng = self.config, self.learning
        self._owed -= 1
        drawn = self.window.records[self.window.draw(config.batch_size, rng)]
        planes, masks = self._packing.unpack(drawn["planes"]), drawn["mask"]
        policies = drawn["policy"].astype(np.float32)
        symmetries = self.encoder.symmetries
        if config.augment and len(symmetries) > 1:
            symmetry = symmetries[int(rng.integers(len(symmetries)))]
            planes = symmetry.observation(planes)
            masks, policies = symmetry.policy(masks), symmetry.policy(policies)
        policies /= policies.sum(1, keepdims=True)
        targets, progress = drawn["target"].copy(), self.games / config.games
        losses = self.learner.imitate(planes, masks.copy(), policies, targets, progress)
        self.sums.add_losses(losses)

    def searching(self) -> dict[str, Any]:
        """Return how the network searches: as in training."""
        config = self.config
        return {
            "simulations": config.num_simulations,
            "c_puct": config.c_puct,
            "fpu_reduction": config.fpu_reduction,
        }

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return what `restore` needs."""
        numbers, arrays = super().state()
        return numbers | {"owed": self._owed}, arrays | with_prefix("window", self.window.state())

    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Go on from where `state` was taken."""
        super().restore(numbers, arrays)
        self._owed = numbers["owed"]
        self.window.restore(without_prefix("window", arrays))

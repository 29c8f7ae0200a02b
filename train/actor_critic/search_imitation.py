"""Imitation of searches: the network learns the improved policies, and the results of games."""

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

MAX_COPIES = 16  # of a decision of a rollout in the replay buffer


class SearchImitationTraining(ActorCriticTraining):
    """Run that imitates searches, from a replay buffer of searched decisions."""

    rollout_class = SearchRollout

    def __init__(self, config: ActorCriticConfig, tensorboard: bool = True):
        """Begin a run, or resume the one in `run_dir`; see `Training`."""
        self._pending_updates = 0.0  # pending updates
        super().__init__(config, tensorboard)

    @cached_property
    def buffer(self) -> RingBuffer:
        """Replay buffer of searched decisions."""
        actions = (self.game.num_actions,)
        decision = [
            ("planes", np.uint8, (self._packing.size,)),
            ("mask", np.int8, actions),
            ("policy", np.float16, actions),
            ("target", np.float32),
        ]
        return RingBuffer(self.config.buffer_size, np.dtype(decision))

    def add_rollout(self, rollout: ActorCriticRollout) -> None:
        """Add the searched decisions of a rollout; their number determines the pending updates."""
        assert isinstance(rollout, SearchRollout)
        config = self.config
        advantage = advantages(rollout, config.gamma, config.gae_lambda)
        chosen = rollout.searched
        dtype: Any = self.buffer.records.dtype
        records: NDArray[np.void] = np.zeros(int(chosen.sum()), dtype)
        records["planes"], records["mask"] = rollout.planes[chosen], rollout.masks[chosen]
        records["policy"] = rollout.policies[chosen]
        records["target"] = np.clip(advantage + rollout.values, -1, 1)[chosen]
        records = records[self.copies(rollout.gains[chosen])]
        self.buffer.add(records)
        self._pending_updates += len(records) * config.replay_ratio / config.batch_size
        self.sums.add_round(rollout)

    @property
    def due(self) -> int:
        """The number of pending updates."""
        return int(self._pending_updates)

    def copies(self, gains: NDArray[np.float32]) -> NDArray[np.int64]:
        """Sample indices of the decisions to store, some repeated, some left out.

        The expected number of copies is `1 - improvement_fraction`, plus `improvement_fraction`
        times the policy improvement relative to its mean, and at most `MAX_COPIES`.
        """
        share = self.config.improvement_fraction
        if share == 0:
            return np.arange(len(gains))
        expected = 1 - share + share * gains / max(float(gains.mean()), 1e-9)
        drawn = self.learning.random(len(gains))
        return np.repeat(
            np.arange(len(gains)), (np.minimum(expected, MAX_COPIES) + drawn).astype(int)
        )

    def update(self) -> None:
        """Make an update from a minibatch, under a random symmetry."""
        config, rng = self.config, self.learning
        self._pending_updates -= 1
        drawn = self.buffer.records[self.buffer.sample(config.batch_size, rng)]
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
        """Return the search options in evaluations: those of training."""
        config = self.config
        return {
            "simulations": config.num_simulations,
            "c_puct": config.c_puct,
            "fpu_reduction": config.fpu_reduction,
        }

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the state, for `restore`."""
        numbers, arrays = super().state()
        return numbers | {"pending_updates": self._pending_updates}, arrays | with_prefix(
            "window", self.buffer.state()
        )

    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Resume from `state`."""
        super().restore(numbers, arrays)
        self._pending_updates = numbers["pending_updates"]
        self.buffer.restore(without_prefix("window", arrays))

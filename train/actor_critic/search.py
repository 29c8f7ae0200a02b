"""Learning from searches: the network learns what they make of its policy, and how games end."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.train.actor_critic.config import Config
from ludoteca.train.actor_critic.rounds import Round, advantages
from ludoteca.train.actor_critic.search_rounds import SearchRound
from ludoteca.train.actor_critic.training import Training
from ludoteca.train.replay import Records
from ludoteca.train.run_folder import Arrays, below, under

MOST = 16  # times that a decision is kept in a round


class SearchTraining(Training):
    """A run that learns from the decisions after a search, again and again."""

    round = SearchRound

    def __init__(self, config: Config, tensorboard: bool = True):
        """Begin a run, or go on with the one in the folder; see `Training`."""
        self._owed = 0.0  # updates that are due
        super().__init__(config, tensorboard)

    @cached_property
    def window(self) -> Records:
        """The decisions that are learned from."""
        actions = (self.game.num_actions,)
        decision = [
            ("planes", np.uint8, (self._packing.size,)),
            ("mask", np.int8, actions),
            ("policy", np.float16, actions),
            ("target", np.float32),
        ]
        return Records(self.config.window, np.dtype(decision))

    def keep(self, played: Round) -> None:
        """Keep the decisions of a round that were searched; updates are due by their number."""
        assert isinstance(played, SearchRound)
        config = self.config
        advantage = advantages(played, config.gamma, config.trace)
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

        A decision is expected to be kept `1 - gain_share` times, and by how much the search gained
        there, measured by the mean, `gain_share` times that, at most `MOST` times in all.
        """
        share = self.config.gain_share
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
        return {"simulations": config.simulations, "c_puct": config.c, "fpu_reduction": config.fpu}

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return what `restore` needs."""
        numbers, arrays = super().state()
        return numbers | {"owed": self._owed}, arrays | under("window", self.window.state())

    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Go on from where `state` was taken."""
        super().restore(numbers, arrays)
        self._owed = numbers["owed"]
        self.window.restore(below("window", arrays))

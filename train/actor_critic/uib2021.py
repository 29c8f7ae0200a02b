"""The document's loop: a network that has learned from a round is only kept if it beats the last.

Martín Miralles, "Hungry Geese" (UIB, 2021), section 5.1.
"""

import copy
from dataclasses import fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ludoteca.agents.networks.ac_network import ACNetwork
from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.seat_network import SeatNetworkAgent
from ludoteca.evaluate.match import play_match
from ludoteca.train.actor_critic.config import ActorCriticConfig
from ludoteca.train.actor_critic.rollout import ActorCriticRollout
from ludoteca.train.actor_critic.training import ActorCriticTraining
from ludoteca.train.distributed import ranks
from ludoteca.train.run_directory import Arrays, with_prefix, without_prefix


class UIB2021Training(ActorCriticTraining):
    """A run whose network is that of the last round that improved it.

    Attributes:
        tried: how many networks were put to the test.
        passed: how many of them were kept.
        learn_from: the rounds since then, the last `config.sets`.
    """

    def __init__(self, config: ActorCriticConfig, tensorboard: bool = True):
        """Begin a run, or go on with the one in the folder; see `Training`."""
        self.tried = self.passed = 0
        self.learn_from: list[ActorCriticRollout] = []
        self._before: Arrays = {}  # the learner before the pass that is under way
        super().__init__(config, tensorboard)

    def keep(self, played: ActorCriticRollout) -> None:
        """Begin an epoch over the rounds since the network was kept."""
        self.learn_from = [*self.learn_from, played][-self.config.max_rollouts :]
        self._before = {name: array.copy() for name, array in self.learner.state().items()}
        self.begin_pass(self.learn_from)
        self.sums.add_round(played)

    def conclude(self, played: ActorCriticRollout) -> None:
        """Keep what was learned, or drop it.

        Raises:
            Stopped: if the run is to stop; then the network has yet to be tested.
        """
        share = ranks().decided(self._share)
        super().conclude(played)
        self.tried += 1
        if share > self.config.gating_threshold:
            self.passed += 1
            self.learn_from = []
        else:
            # The weights and the optimizer's moments; updates that were made count nevertheless.
            self.learner.restore(self._before | {"updates": np.array(self.learner.updates)})
        self._before = {}

    def _share(self) -> float:
        """Return the share of games that the network wins against what it was; draws are halves."""
        config, monitor = self.config, self.monitor
        self.tester.load(self.network)
        former = Runner(self._former(), self.encoder.scale, config.device, self.precision)
        agents = [
            SeatNetworkAgent(self.encoder, runner, temperature=1.0)
            for runner in (self.tester, former)
        ]
        monitor.phase = "evaluating"
        monitor.begin("evaluating", config.gating_games)
        return (
            play_match(
                self.game,
                agents,
                config.gating_games,
                seed=config.seed + self.tried + 1,
                on_step=lambda ended: monitor.step("evaluating", ended),
            )
            .totals[0]
            .score
        )

    def _former(self) -> ACNetwork:
        """Return the network as it was before the pass."""
        network = copy.deepcopy(self.network)
        weights = without_prefix("network", self._before)
        network.load_state_dict({name: torch.from_numpy(one) for name, one in weights.items()})
        return network  # type: ignore[no-any-return]

    def summary(self) -> dict[str, float | int | None]:
        """Return what was seen since the last summary, and how often the network was kept."""
        return super().summary() | {
            "candidates_tested": self.tried,
            "candidates_accepted": self.passed,
        }

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return what `restore` needs."""
        numbers, arrays = super().state()
        for k, one in enumerate(self.learn_from):
            kept: dict[str, NDArray[Any]] = {f.name: getattr(one, f.name) for f in fields(one)}
            arrays |= with_prefix(f"sets/{k}", kept)
        arrays |= with_prefix("before", self._before)
        counts = {"tried": self.tried, "passed": self.passed, "sets": len(self.learn_from)}
        return numbers | counts, arrays

    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Go on from where `state` was taken."""
        self.learn_from = [
            ActorCriticRollout(**without_prefix(f"sets/{k}", arrays))
            for k in range(numbers["sets"])
        ]
        super().restore(numbers, arrays)
        self.tried, self.passed = numbers["tried"], numbers["passed"]
        self._before = without_prefix("before", arrays)

    def resume_pass(self, rounds: list[ActorCriticRollout], arrays: Arrays) -> None:
        """Resume the pass over all rounds since the network was kept."""
        super().resume_pass(self.learn_from, arrays)

"""Loop of the thesis: a network is kept after a rollout only if it beats the previous one.

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
    """Run with a gatekeeper match after each rollout.

    Attributes:
        tested: number of candidate networks in gatekeeper matches.
        accepted: number of candidates accepted.
        pending_rollouts: rollouts since the last accepted one, at most `config.max_rollouts`.
    """

    def __init__(self, config: ActorCriticConfig, tensorboard: bool = True):
        """Begin a run, or resume the one in `run_dir`; see `Training`."""
        self.tested = self.accepted = 0
        self.pending_rollouts: list[ActorCriticRollout] = []
        self._previous_state: Arrays = {}  # of the learner, before the current epoch
        super().__init__(config, tensorboard)

    def add_rollout(self, rollout: ActorCriticRollout) -> None:
        """Begin an epoch over the rollouts since the last accepted candidate."""
        self.pending_rollouts = [*self.pending_rollouts, rollout][-self.config.max_rollouts :]
        self._previous_state = {name: array.copy() for name, array in self.learner.state().items()}
        self.begin_epochs(self.pending_rollouts)
        self.sums.add_round(rollout)

    def finish_rollout(self, rollout: ActorCriticRollout) -> None:
        """Accept or reject the candidate network.

        Raises:
            Stopped: if the run is to stop; the gatekeeper match is then played after resuming.
        """
        score = ranks().broadcast(self._score_against_previous)
        super().finish_rollout(rollout)
        self.tested += 1
        if score > self.config.gating_threshold:
            self.accepted += 1
            self.pending_rollouts = []
        else:
            # Weights and optimizer state; the number of updates is not reset.
            self.learner.restore(self._previous_state | {"updates": np.array(self.learner.updates)})
        self._previous_state = {}

    def _score_against_previous(self) -> float:
        """Return the score of the candidate against the previous network, draws as halves."""
        config, monitor = self.config, self.monitor
        self.tester.load(self.network)
        previous = Runner(
            self._previous_network(), self.encoder.scale, config.device, self.precision
        )
        agents = [
            SeatNetworkAgent(self.encoder, runner, temperature=1.0)
            for runner in (self.tester, previous)
        ]
        monitor.phase = "evaluating"
        monitor.begin("evaluating", config.gating_games)
        return (
            play_match(
                self.game,
                agents,
                config.gating_games,
                seed=config.seed + self.tested + 1,
                on_step=lambda ended: monitor.step("evaluating", ended),
            )
            .totals[0]
            .score
        )

    def _previous_network(self) -> ACNetwork:
        """Return the network before the epoch."""
        network = copy.deepcopy(self.network)
        weights = without_prefix("network", self._previous_state)
        network.load_state_dict(
            {name: torch.from_numpy(rollout_) for name, rollout_ in weights.items()}
        )
        return network  # type: ignore[no-any-return]

    def summary(self) -> dict[str, float | int | None]:
        """Return the metrics since the last summary, and the numbers of candidates."""
        return super().summary() | {
            "candidates_tested": self.tested,
            "candidates_accepted": self.accepted,
        }

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the state, for `restore`."""
        numbers, arrays = super().state()
        for k, rollout_ in enumerate(self.pending_rollouts):
            kept: dict[str, NDArray[Any]] = {
                f.name: getattr(rollout_, f.name) for f in fields(rollout_)
            }
            arrays |= with_prefix(f"sets/{k}", kept)
        arrays |= with_prefix("before", self._previous_state)
        counts = {"tried": self.tested, "passed": self.accepted, "sets": len(self.pending_rollouts)}
        return numbers | counts, arrays

    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Resume from `state`."""
        self.pending_rollouts = [
            ActorCriticRollout(**without_prefix(f"sets/{k}", arrays))
            for k in range(numbers["sets"])
        ]
        super().restore(numbers, arrays)
        self.tested, self.accepted = numbers["tried"], numbers["passed"]
        self._previous_state = without_prefix("before", arrays)

    def resume_epochs(self, rollouts: list[ActorCriticRollout], arrays: Arrays) -> None:
        """Resume the epoch over all rollouts since the last accepted candidate."""
        super().resume_epochs(self.pending_rollouts, arrays)

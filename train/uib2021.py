"""Algorithm of the thesis of Martín Miralles, "Hungry Geese" (UIB, 2021), section 5.

After each epoch over a rollout (`replay_ratio` passes, 1 by default), the network plays a
gatekeeper match against the network before the epoch. If it does not win, it is rejected, and the
next epoch is over all rollouts since the last accepted network. The game of the thesis is
simultaneous; all games of two players or more can be learned.
"""

import copy
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ludoteca.agents.networks.ac_network import ACNetwork
from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.seat_network import SeatNetworkAgent
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer, check_real
from ludoteca.train.actor_critic_rollout import ActorCriticRollout
from ludoteca.train.distributed import ranks
from ludoteca.train.ppo import PPO, PPOConfig
from ludoteca.train.run_directory import Arrays, with_prefix, without_prefix

# Probabilities are clipped to [MIN_PROB, 1 - MIN_PROB] in the thesis' loss, as in Keras.
MIN_PROB = 1e-7


@dataclass(frozen=True)
class UIB2021Config(PPOConfig):
    """Settings of the algorithm of the thesis.

    Its loss has no clip range and no entropy bonus: `clip_range`, `ent_coef` and `final_ent_coef`
    have no effect.
    """

    algorithm = "uib2021"

    run_dir: Path = Path("runs/uib2021")
    gating_games: int = 100
    """Games of a gatekeeper match."""
    gating_threshold: float = 0.5
    """Score that the candidate network must exceed."""
    max_rollouts: int = 8
    """Maximum number of rollouts in an epoch; of more since the last accepted one, the latest."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("gating_games", "max_rollouts"):
            check_integer(name, getattr(self, name), 1, 10**9)
        check_real("gating_threshold", self.gating_threshold, 0, 1)
        if self.overlap_actor_learner:
            raise ValueError(
                "uib2021 plays and learns in turn: expected overlap_actor_learner=False, got True"
            )


class UIB2021(PPO):
    """Actor-critic algorithm of the thesis, with a gatekeeper match after each rollout.

    Attributes:
        tested: number of candidate networks that have played a gatekeeper match.
        accepted: number of candidates that were accepted.
        pending_rollouts: training examples of each rollout since the last accepted candidate, of
            the latest `config.max_rollouts`.
    """

    module = "ludoteca.train.uib2021"
    config_class = UIB2021Config
    learns_one_player = False  # a gatekeeper match needs two players
    ent_coef = 0.0  # the setting has no effect

    def __init__(self, config: UIB2021Config, game: Game, network: ACNetwork):
        super().__init__(config, game, network)
        self.tested = self.accepted = 0
        self.pending_rollouts: list[NDArray[np.void]] = []
        self._previous_state: Arrays = {}  # state of the learner before the current epoch

    def targets(self, rollout: ActorCriticRollout, rng: np.random.Generator) -> NDArray[np.void]:
        """Return the decisions of the pending rollouts, this one included.

        Unlike in PPO, advantages are not normalized, and those of earlier rollouts are not computed
        again.
        """
        gae = self.advantages(rollout)
        self.pending_rollouts = [*self.pending_rollouts, self.decisions(rollout, gae, gae)]
        self.pending_rollouts = self.pending_rollouts[-self.config.max_rollouts :]
        return np.concatenate(self.pending_rollouts)

    def policy_loss(self, log_prob: Tensor, log_ratio: Tensor, advantage: Tensor) -> Tensor:
        """Compute the cross-entropy with the advantages as labels of the actions."""
        return uib2021_loss(log_prob, advantage)

    def begin_rollout(self, learner: Any) -> None:
        """Store the state of the learner before the epoch."""
        self._previous_state = {name: array.copy() for name, array in learner.state().items()}

    def finish_rollout(self, learner: Any) -> None:
        """Accept or reject the candidate network.

        Raises:
            Stopped: if the run is to stop; the gatekeeper match is then played after resuming.
        """
        score = ranks().broadcast(self.score_against_previous)
        self.tested += 1
        if score > self.config.gating_threshold:
            self.accepted += 1
            self.pending_rollouts = []
        else:
            # The weights and the optimizer's state are reset, the number of updates is not.
            learner.restore(self._previous_state | {"updates": np.array(learner.updates)})
        self._previous_state = {}

    def score_against_previous(self) -> float:
        """Return the candidate's score against the network before the epoch; a draw is a half.

        Both sample their actions, so that games differ.
        """
        from ludoteca.evaluate.match import play_match

        config, monitor, scale = self.config, self.monitor, self.encoder.scale
        agents = [
            SeatNetworkAgent(
                self.encoder,
                Runner(network, scale, config.device, config.precision),
                temperature=1.0,
            )
            for network in (self.network, self._previous_network())
        ]
        monitor.phase = "evaluating"
        monitor.begin("evaluating", config.gating_games)
        match = play_match(
            self.game,
            agents,
            config.gating_games,
            seed=config.seed + self.tested + 1,
            on_step=lambda finished: monitor.step("evaluating", finished),
        )
        return float(match.totals[0].score)

    def _previous_network(self) -> ACNetwork:
        """Return the network before the epoch."""
        network = copy.deepcopy(self.network)
        weights = without_prefix("network", self._previous_state)
        network.load_state_dict(
            {name: torch.from_numpy(np.array(array)) for name, array in weights.items()}
        )
        return network  # type: ignore[no-any-return]

    def metrics(self, games: int) -> dict[str, float | int | None]:
        """Return the numbers of candidates tested and accepted."""
        return {"candidates_tested": self.tested, "candidates_accepted": self.accepted}

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the counts of candidates, the pending rollouts, and the previous learner state."""
        arrays = {f"rollouts/{k}": records for k, records in enumerate(self.pending_rollouts)}
        numbers = {"tested": self.tested, "accepted": self.accepted, "rollouts": len(arrays)}
        return numbers, arrays | with_prefix("before", self._previous_state)

    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Resume from `state`."""
        self.tested, self.accepted = numbers["tested"], numbers["accepted"]
        self.pending_rollouts = [arrays[f"rollouts/{k}"] for k in range(numbers["rollouts"])]
        self._previous_state = without_prefix("before", arrays)


def uib2021_loss(log_prob: Tensor, advantage: Tensor) -> Tensor:
    """Compute the cross-entropy with the advantage as label of the action, and 0 for the others.

    Martín Miralles, "Hungry Geese" (UIB, 2021), section 5.2. With a negative advantage this is
    unbounded below, and weights diverge unless probabilities are clipped.

    Args:
        log_prob: log-probabilities of the actions. Shape `[N]`.
        advantage: advantages of the actions. Shape `[N]`.
    """
    return -(advantage * log_prob.clamp(math.log(MIN_PROB), math.log1p(-MIN_PROB))).mean()


if __name__ == "__main__":
    from ludoteca.train.command import run_algorithm

    run_algorithm("uib2021")

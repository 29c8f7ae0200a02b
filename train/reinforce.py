"""REINFORCE with a baseline: the policy gradient of returns minus the network's values.

Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement
learning" (1992); Sutton and Barto, "Reinforcement learning" (2018), section 13.4. Games of any
number of players are learned by self-play, with an opponent pool, see `ludoteca.train.ppo`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch.nn import functional

from ludoteca.agents.networks.ac_network import ACNetwork
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_real
from ludoteca.train.actor_critic_rollout import ActorCriticRollout
from ludoteca.train.algorithm import Tensors
from ludoteca.train.examples import ExampleLayout
from ludoteca.train.opponent_pool import ActorCriticConfig
from ludoteca.train.ppo import ActorCritic, mean_entropy


@dataclass(frozen=True)
class ReinforceConfig(ActorCriticConfig):
    """Settings of REINFORCE with a baseline."""

    algorithm = "reinforce"

    run_dir: Path = Path("runs/reinforce")
    gae_lambda: float = 1.0
    """Lambda of generalized advantage estimation; 1: return minus value, as in REINFORCE."""
    ent_coef: float = 0.05
    """Coefficient of the entropy bonus."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_real("ent_coef", self.ent_coef, 0, 1e9)


class Reinforce(ActorCritic):
    """REINFORCE with a baseline."""

    title = "REINFORCE with a baseline"
    module = "ludoteca.train.reinforce"
    config_class = ReinforceConfig
    on_policy = True
    loss_metrics = ("policy_loss", "value_loss", "entropy")

    def __init__(self, config: ReinforceConfig, game: Game, network: ACNetwork):
        super().__init__(config, game, network)
        columns: Any = {
            "planes": "planes",
            "mask": "mask",
            "action": "action",
            "advantage": "scalar",
            "return": "scalar",
        }
        self.layout = ExampleLayout(self.encoder, columns)

    def targets(self, rollout: ActorCriticRollout, rng: np.random.Generator) -> NDArray[np.void]:
        """Return all decisions, with the return and its difference from the baseline.

        If `gae_lambda` is below 1, the return is the lambda-return.
        """
        advantage = self.advantages(rollout)
        records = np.zeros(len(advantage), self.layout.dtype)
        records["planes"], records["action"] = rollout.planes, rollout.actions
        records["mask"] = self.layout.masks.pack(rollout.masks)
        records["advantage"], records["return"] = advantage, advantage + rollout.values
        return records

    def loss(self, batch: Tensors) -> Tensors:
        """Compute `-(G - v(s)) log pi(a|s)`, the value loss `(G - v(s))^2` and an entropy bonus.

        G is the return after action a in state s. In the value loss, v(s) is the value of the
        network that learns, else of the network that played.
        """
        log_policy, values = self.log_policy(batch)
        log_prob = log_policy.gather(1, batch["action"][:, None])[:, 0]
        policy_loss = -(batch["advantage"] * log_prob).mean()
        value_loss = functional.mse_loss(values, batch["return"])
        entropy = mean_entropy(log_policy)
        loss = policy_loss + self.config.vf_coef * value_loss - self.config.ent_coef * entropy
        losses = {"policy_loss": policy_loss, "value_loss": value_loss, "entropy": entropy}
        return {"loss": loss, **losses}


if __name__ == "__main__":
    from ludoteca.train.command import run_algorithm

    run_algorithm("reinforce")

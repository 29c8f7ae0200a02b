"""One update of an actor-critic network from a batch of decisions."""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from ludoteca.agents.networks.ac_network import ACNetwork
from ludoteca.train import learner
from ludoteca.train.actor_critic.config import ActorCriticConfig

MOMENTUM = 0.9  # of SGD
# Probabilities in the document's loss, from this one to 1 minus it, as in Keras' cross-entropy.
LEAST = 1e-7


class Batch(NamedTuple):
    """Decisions to learn from.

    Attributes:
        planes: what was seen, int8. Shape `[N, planes, rows, columns]`.
        masks: what could be chosen, int8. Shape `[N, A]`.
        actions: what was, int64. Shape `[N]`.
        chances: the probability with which it was, float32. Shape `[N]`.
        advantages: how much better it was than expected, float32. Shape `[N]`.
        targets: what the value ought to be, float32. Shape `[N]`.
    """

    planes: NDArray[np.int8]
    masks: NDArray[np.int8]
    actions: NDArray[np.int64]
    chances: NDArray[np.float32]
    advantages: NDArray[np.float32]
    targets: NDArray[np.float32]


class Losses(NamedTuple):
    """What an update tells: mean losses, the policy's entropy, and how far it moved.

    Attributes:
        policy: loss of the policy.
        value: mean squared error of the value.
        entropy: of the policy, in nats.
        divergence: of the policy from the one that played, in nats.
    """

    policy: float
    value: float
    entropy: float
    divergence: float


class ActorCriticLearner(learner.Learner[ACNetwork]):
    """A network and its optimizer."""

    def __init__(self, network: ACNetwork, config: ActorCriticConfig, scale: float):
        """Make a learner; see `ludoteca.train.learner.Learner`."""
        super().__init__(network, config, scale, MOMENTUM, config.weight_decay)
        self._config = config

    def update(self, batch: Batch, progress: float) -> Losses:
        """Learn from a batch; `progress` is the share of the training that is over.

        Raises:
            ValueError: if the losses are not finite: nothing more can be learned then.
        """
        config, mine = self._config, self.part(len(batch.planes))
        parts: Any = (array[mine] for array in batch)
        batch = Batch(*parts)
        logs, values = self._look(batch.planes, batch.masks)
        actions, chances, gains, targets = (
            torch.from_numpy(array).to(self._device) for array in batch[2:]
        )
        chosen = logs.gather(1, actions[:, None])[:, 0]
        entropy = entropy_of(logs)
        moved = chosen - chances.clamp(min=1e-9).log()
        policy_loss = POLICY_LOSSES[config.method](chosen, moved, gains, config.clip_range)
        value_loss = functional.mse_loss(values, targets)
        weight = config.ent_coef + (config.final_ent_coef - config.ent_coef) * min(progress, 1.0)
        if config.method == "uib2021":
            weight = 0.0
        self.step(policy_loss + config.vf_coef * value_loss - weight * entropy, progress)
        divergence = (moved.exp() - 1 - moved).mean()  # Schulman, "Approximating KL divergence"
        return Losses(*self.told(policy_loss, value_loss), *self.means(entropy, divergence))

    def imitate(
        self,
        planes: NDArray[np.int8],
        masks: NDArray[np.int8],
        policies: NDArray[np.float32],
        targets: NDArray[np.float32],
        progress: float,
    ) -> Losses:
        """Learn policies and values from a batch.

        Args:
            planes: what was seen. Shape `[N, planes, rows, columns]`.
            masks: what could be chosen. Shape `[N, A]`.
            policies: what the policy ought to be; the divergence is from this one. Shape `[N, A]`.
            targets: what the value ought to be. Shape `[N]`.
            progress: share of the training that is over.
        """
        mine = self.part(len(planes))
        policies, targets = policies[mine], targets[mine]
        logs, values = self._look(planes[mine], masks[mine])
        wanted, worth = (torch.from_numpy(array).to(self._device) for array in (policies, targets))
        policy_loss = -(wanted * logs).sum(1).mean()
        value_loss = functional.mse_loss(values, worth)
        self.step(policy_loss + self._config.vf_coef * value_loss, progress)
        divergence = policy_loss + torch.xlogy(wanted, wanted).sum(1).mean()
        entropy = entropy_of(logs)
        return Losses(*self.told(policy_loss, value_loss), *self.means(entropy, divergence))

    def _look(self, planes: NDArray[np.int8], masks: NDArray[np.int8]) -> tuple[Tensor, Tensor]:
        """Return the network's log-probabilities of what can be chosen, and its values."""
        with self.cast():
            outputs = self.trained(self.tensor(planes)).float()
        closed = torch.from_numpy(masks).to(self._device) == 0
        logs = functional.log_softmax(outputs[:, :-1].masked_fill(closed, -1e9), 1)
        return logs, outputs[:, -1]


def entropy_of(logs: Tensor) -> Tensor:
    """Return the mean entropy of policies, whose log-probabilities are given, in nats."""
    return -(logs.exp() * logs).sum(1).mean()


def clipped_loss(chosen: Tensor, moved: Tensor, gains: Tensor, clip_range: float) -> Tensor:
    """Return the loss of Schulman et al., "Proximal policy optimization algorithms" (2017), (7).

    Args:
        chosen: log-probabilities of the actions. Shape `[N]`.
        moved: by how much they differ from those with which the actions were drawn. Shape `[N]`.
        gains: advantages. Shape `[N]`.
        clip_range: epsilon.
    """
    ratio = moved.exp()
    kept = ratio.clamp(1 - clip_range, 1 + clip_range)
    return -torch.minimum(ratio * gains, kept * gains).mean()


def uib2021_loss(chosen: Tensor, moved: Tensor, gains: Tensor, clip_range: float) -> Tensor:
    """Return the cross-entropy with labels that are the advantage at the action, 0 elsewhere.

    Martín Miralles, "Hungry Geese" (UIB, 2021), section 5.2. With a negative advantage this has no
    least value, and weights grow until they are no numbers, unless probabilities are clipped.
    """
    return -(gains * chosen.clamp(math.log(LEAST), math.log1p(-LEAST))).mean()


POLICY_LOSSES = {"ppo": clipped_loss, "uib2021": uib2021_loss}

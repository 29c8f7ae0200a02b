"""Updates of an actor-critic network: PPO, imitation of searches, and the loss of the thesis."""

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
# Probabilities are clipped to [MIN_PROB, 1 - MIN_PROB] in the thesis' loss, as in Keras.
MIN_PROB = 1e-7


class Batch(NamedTuple):
    """Minibatch of decisions.

    Attributes:
        planes: observations, int8. Shape `[N, planes, rows, columns]`.
        masks: legal actions, int8. Shape `[N, A]`.
        actions: sampled actions, int64. Shape `[N]`.
        probs: probabilities of the sampled actions, float32. Shape `[N]`.
        advantages: advantage estimates, float32. Shape `[N]`.
        targets: value targets, float32. Shape `[N]`.
    """

    planes: NDArray[np.int8]
    masks: NDArray[np.int8]
    actions: NDArray[np.int64]
    probs: NDArray[np.float32]
    advantages: NDArray[np.float32]
    targets: NDArray[np.float32]


class Losses(NamedTuple):
    """Mean losses and statistics of an update.

    Attributes:
        policy: policy loss.
        value: value loss, mean squared error.
        entropy: entropy of the policy, in nats.
        divergence: approximate KL divergence from the behavior policy, in nats.
    """

    policy: float
    value: float
    entropy: float
    divergence: float


class ActorCriticLearner(learner.NetworkLearner[ACNetwork]):
    """Learner of an actor-critic network."""

    def __init__(self, network: ACNetwork, config: ActorCriticConfig, scale: float):
        """Make a learner; see `ludoteca.train.learner.NetworkLearner`."""
        super().__init__(network, config, scale, MOMENTUM, config.weight_decay)
        self._config = config

    def update(self, batch: Batch, progress: float) -> Losses:
        """Make one update from a batch; `progress` is the fraction of the training that is done.

        Raises:
            ValueError: if the losses are not finite: training has diverged.
        """
        config, mine = self._config, self.part(len(batch.planes))
        parts: Any = (array[mine] for array in batch)
        batch = Batch(*parts)
        logs, values = self._log_policy(batch.planes, batch.masks)
        actions, probs, gains, targets = (
            torch.from_numpy(array).to(self._device) for array in batch[2:]
        )
        chosen = logs.gather(1, actions[:, None])[:, 0]
        entropy = entropy_of(logs)
        moved = chosen - probs.clamp(min=1e-9).log()
        policy_loss = POLICY_LOSSES[config.method](chosen, moved, gains, config.clip_range)
        value_loss = functional.mse_loss(values, targets)
        weight = config.ent_coef + (config.final_ent_coef - config.ent_coef) * min(progress, 1.0)
        if config.method == "uib2021":
            weight = 0.0
        self.step(policy_loss + config.vf_coef * value_loss - weight * entropy, progress)
        divergence = (moved.exp() - 1 - moved).mean()  # Schulman, "Approximating KL divergence"
        return Losses(
            *self.finite_losses(policy_loss, value_loss), *self.means(entropy, divergence)
        )

    def imitate(
        self,
        planes: NDArray[np.int8],
        masks: NDArray[np.int8],
        policies: NDArray[np.float32],
        targets: NDArray[np.float32],
        progress: float,
    ) -> Losses:
        """Make one update towards target policies and values.

        Args:
            planes: observations. Shape `[N, planes, rows, columns]`.
            masks: legal actions. Shape `[N, A]`.
            policies: policy targets; the divergence is from these. Shape `[N, A]`.
            targets: value targets. Shape `[N]`.
            progress: fraction of the training that is done.
        """
        mine = self.part(len(planes))
        policies, targets = policies[mine], targets[mine]
        logs, values = self._log_policy(planes[mine], masks[mine])
        policy_targets, value_targets = (
            torch.from_numpy(array).to(self._device) for array in (policies, targets)
        )
        policy_loss = -(policy_targets * logs).sum(1).mean()
        value_loss = functional.mse_loss(values, value_targets)
        self.step(policy_loss + self._config.vf_coef * value_loss, progress)
        divergence = policy_loss + torch.xlogy(policy_targets, policy_targets).sum(1).mean()
        entropy = entropy_of(logs)
        return Losses(
            *self.finite_losses(policy_loss, value_loss), *self.means(entropy, divergence)
        )

    def _log_policy(
        self, planes: NDArray[np.int8], masks: NDArray[np.int8]
    ) -> tuple[Tensor, Tensor]:
        """Return the network's log-probabilities, with illegal actions masked, and its values."""
        with self.cast():
            outputs = self.trained(self.tensor(planes)).float()
        closed = torch.from_numpy(masks).to(self._device) == 0
        logs = functional.log_softmax(outputs[:, :-1].masked_fill(closed, -1e9), 1)
        return logs, outputs[:, -1]


def entropy_of(logs: Tensor) -> Tensor:
    """Return the mean entropy of policies with these log-probabilities, in nats."""
    return -(logs.exp() * logs).sum(1).mean()


def clipped_loss(chosen: Tensor, moved: Tensor, gains: Tensor, clip_range: float) -> Tensor:
    """Compute the clipped surrogate loss of PPO.

    Schulman et al., "Proximal policy optimization algorithms" (2017), equation 7.

    Args:
        chosen: log-probabilities of the actions. Shape `[N]`.
        moved: log-probability ratios to the behavior policy. Shape `[N]`.
        gains: advantages. Shape `[N]`.
        clip_range: clip range (epsilon).
    """
    ratio = moved.exp()
    kept = ratio.clamp(1 - clip_range, 1 + clip_range)
    return -torch.minimum(ratio * gains, kept * gains).mean()


def uib2021_loss(chosen: Tensor, moved: Tensor, gains: Tensor, clip_range: float) -> Tensor:
    """Compute the cross-entropy with labels equal to the advantage at the action, 0 elsewhere.

    Martín Miralles, "Hungry Geese" (UIB, 2021), section 5.2. With a negative advantage this is
    unbounded below, and weights diverge unless probabilities are clipped.
    """
    return -(gains * chosen.clamp(math.log(MIN_PROB), math.log1p(-MIN_PROB))).mean()


POLICY_LOSSES = {"ppo": clipped_loss, "uib2021": uib2021_loss}

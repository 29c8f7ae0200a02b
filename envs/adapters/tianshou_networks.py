"""Networks for Tianshou: a network whose input is only the planes, an actor with action masks."""

from collections.abc import Sequence
from typing import Any

import torch
from tianshou.utils.net.common import ActionReprNetWithVectorOutput
from tianshou.utils.net.discrete import DiscreteActor

# Keys of the planes and of the masks in a batch of observations.
PLANES_KEY, MASK_KEY = OBSERVATION_KEYS = ("obs", "mask")


class PlanesNet(ActionReprNetWithVectorOutput[Any]):  # type: ignore[misc]
    """Network for Tianshou's actors and critics whose input is only the planes of observations."""

    def __init__(self, network: torch.nn.Module, output_dim: int):
        """Wrap a network.

        Args:
            network: network from planes, float32 `[K, *shape]`, to features `[K, output_dim]`.
            output_dim: the number of features.
        """
        super().__init__(output_dim)
        self.network = network

    def forward(
        self, obs: Any, state: Any = None, info: dict[str, Any] | None = None
    ) -> tuple[torch.Tensor, Any]:
        """Return the features of observations (a `Batch` or planes), and the unchanged state."""
        planes = getattr(obs, PLANES_KEY, obs)
        return self.network(_as_tensor(planes, self).float()), state


class MaskedActor(DiscreteActor):  # type: ignore[misc]
    """Actor that sets the logits of illegal actions to the lowest finite number.

    It is for `DiscreteActorPolicy` with its default `dist_fn`, which makes a distribution from
    logits. Without a mask in the observations, the logits are those of the network.
    """

    def __init__(self, *, preprocess_net: Any, action_shape: Any, hidden_sizes: Sequence[int] = ()):
        """Make the actor; see `DiscreteActor` for the arguments."""
        super().__init__(
            preprocess_net=preprocess_net,
            action_shape=action_shape,
            hidden_sizes=hidden_sizes,
            softmax_output=False,
        )

    def forward(
        self, obs: Any, state: Any = None, info: dict[str, Any] | None = None
    ) -> tuple[torch.Tensor, Any]:
        """Return the logits of all actions, `[K, num_actions]`, and the state."""
        logits, state = super().forward(obs, state, info)
        mask = getattr(obs, MASK_KEY, None)
        if mask is None or isinstance(obs, torch.Tensor):
            return logits, state
        illegal = ~_as_tensor(mask, self).bool()
        # Minus infinity would make the entropy NaN: it is multiplied by a probability of 0.
        return logits.masked_fill(illegal, torch.finfo(logits.dtype).min), state


def _as_tensor(array: Any, module: torch.nn.Module) -> torch.Tensor:
    """Return an array as a tensor on the device of a module's parameters."""
    device = next((parameter.device for parameter in module.parameters()), None)
    return torch.as_tensor(array, device=device)

"""Observation format for RLlib, and an RLlib module (network) that applies the action mask."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

# Keys of the planes and of the mask.
PLANES_KEY, MASK_KEY = OBSERVATION_KEYS = ("observations", "action_mask")
OBS = "obs"  # RLlib's name of the column of observations in a batch
FORMAT: dict[str, Any] = {
    "observation": "flat_dict",
    "dtype": "float32",
    "keys": OBSERVATION_KEYS,
    "mask_dtype": "float32",
    "end_mask": "ones",
}
"""Keyword arguments of any environment of this package for RLlib's observation format:
`PettingZooEnv(connect4_v0.env(**FORMAT))`."""


def with_format_defaults(options: dict[str, Any]) -> dict[str, Any]:
    """Return keyword arguments of an environment, with the defaults of `FORMAT`.

    The default of `keys` is left out for observations that are not dictionaries.
    """
    merged = FORMAT | options
    if merged["observation"] not in ("dict", "flat_dict") and "keys" not in options:
        del merged["keys"]
    return merged


def masked_module(**model_config: Any) -> RLModuleSpec:
    """Return the spec of a module for PPO that applies action masks.

    It is the argument of `PPOConfig().rl_module(rl_module_spec=...)`.

    Args:
        model_config: fields of RLlib's `DefaultModelConfig`, such as `fcnet_hiddens=[256, 256]`.
            With `conv_filters`, the environment must have `observation="dict"` and
            `channels_last=True`.
    """
    return RLModuleSpec(module_class=MaskedModule, model_config=DefaultModelConfig(**model_config))


class MaskedModule(ActionMaskingTorchRLModule):  # type: ignore[misc]
    """RLlib's `ActionMaskingTorchRLModule` for all dictionary observations of this package.

    Planes may have any key, dtype and shape: they are converted to float32, and flattened unless
    the model has `conv_filters`. So environments whose dictionaries differ from those of `FORMAT`
    work, too, such as `PettingZooEnv(connect4_v0.env())`.
    """

    def __init__(self, *, observation_space: Any = None, **arguments: Any):
        """Make the module; RLlib calls this.

        Args:
            observation_space: the space of the environment's observations.
            arguments: other arguments of RLlib's class, of which `model_config` is read here.

        Raises:
            ValueError: if observations have no mask, or if the model has `conv_filters` and the
                planes are flattened.
        """
        space = observation_space
        plane_keys = (
            [] if not isinstance(space, spaces.Dict) else [k for k in space if k != MASK_KEY]
        )
        if len(plane_keys) != 1 or MASK_KEY not in space.spaces:
            raise ValueError(
                f"masked_module needs observations of one player with an {MASK_KEY}: make the "
                "environment with observation='flat_dict'; for one agent set 'opponent' in "
                f"env_config, for several agents configure multi_agent(...); got {space}"
            )
        box, config = space[plane_keys[0]], arguments.get("model_config") or {}
        filters = config.get("conv_filters") if isinstance(config, dict) else config.conv_filters
        shape = box.shape if filters else (int(np.prod(box.shape)),)
        if filters and len(shape) != 3:
            raise ValueError(
                f"conv_filters need planes, got observations of shape {shape}: make the "
                "environment with observation='dict' and channels_last=True"
            )
        high = float(box.high.max())
        planes = spaces.Box(0, high, shape, np.float32)
        mask = spaces.Box(0, 1, space[MASK_KEY].shape, np.float32)
        self._shape = shape  # of the network's input, without the batch axis
        super().__init__(
            observation_space=spaces.Dict({PLANES_KEY: planes, MASK_KEY: mask}), **arguments
        )

    def _forward_train(self, batch: Any, **kwargs: Any) -> Any:
        """Return the outputs of a training step, also after a call of `compute_values`."""
        # The base class reads the mask from `batch["action_mask"]`. If `compute_values` was called
        # with this batch, it has split the observations already: planes in `batch[OBS]`, and the
        # mask there.
        if isinstance(batch[OBS], Mapping):
            batch[MASK_KEY], batch = self._preprocess_batch(batch)
        return super()._forward_train(batch, **kwargs)

    def _preprocess_batch(self, batch: Any, **kwargs: Any) -> tuple[Any, Any]:
        """Return the mask, and the batch with the planes in place of its observations."""
        observations = batch[OBS]
        (key,) = (key for key in observations if key != MASK_KEY)
        batch[OBS] = observations[key].float().reshape(-1, *self._shape)
        return observations[MASK_KEY].float(), batch

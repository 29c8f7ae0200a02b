"""Access to RLModules: observation format, action scores, and the policy in plain PyTorch."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import nn

from ludoteca.agents.external.rllib_layers import (
    CHANNELS_LAST,
    FLAT,
    ChannelsFirst,
    ChannelsLast,
    Policy,
    check_scores,
    copy_layer,
    describe_layer,
    scores_of,
)
from ludoteca.envs.game import Game
from ludoteca.envs.observation import ObservationFormat

CHANNELS_FIRST = ObservationFormat("planes", np.float32)
TOLERANCE = 1e-3  # relative and absolute, between the scores of a module and of its copy
NUM_EXAMPLES = 16  # observations of this comparison


def extract_policy(module: Any, game: Game) -> Policy:
    """Return a copy of the policy of an RLModule in plain PyTorch; compare it with the original.

    Raises:
        TypeError: if the module has custom layers, or computes its scores in another way.
        ValueError: if it does not fit the game.
    """
    module = unwrap_module(module)
    observation_format = module_format(module, game)
    # The head of the policy, or of the advantages or action values (DQN).
    head = next((getattr(module, name) for name in ("pi", "af") if hasattr(module, name)), None)
    encoder = getattr(module, "encoder", None)
    for name in ("actor_encoder", "encoder"):  # separate, or shared with the critic
        if hasattr(encoder, name):
            encoder = getattr(encoder, name)
            break
    if encoder is None or head is None or getattr(module, "num_atoms", 1) > 1:
        raise TypeError(
            f"{type(module).__name__} is not one of RLlib's default modules without recurrence: "
            "use RLlibAgent.from_module instead"
        )
    layers = [*_layers_of(encoder), *_layers_of(head)]
    copies = [copy_layer(layer) for layer in layers]
    policy = Policy(copies, not observation_format.is_flat, has_logits(module)).eval()
    check_scores(policy, game, f"the policy of {type(module).__name__}")
    # Compare both on random observations. The copy of a dueling head has no state value: its scores
    # differ from the module's by a constant per observation, and are centered.
    generator = np.random.default_rng(0)
    shape = observation_format.box(game, NUM_EXAMPLES).shape
    planes = generator.integers(0, 2, shape).astype(np.float32)
    masks = np.ones((NUM_EXAMPLES, game.num_actions), np.float32)
    device = next(iter(module.parameters())).device
    both_scores = [module_scores(module, planes, masks, device), scores_of(policy, planes)]
    centered = [scores - scores.mean(1, keepdims=True) for scores in both_scores]
    if not np.allclose(centered[0], centered[1], rtol=TOLERANCE, atol=TOLERANCE):
        raise TypeError(
            f"{type(module).__name__} does not compute its scores by its encoder and head alone: "
            "use RLlibAgent.from_module instead"
        )
    return policy


def _layers_of(module: nn.Module) -> Iterator[nn.Module]:
    """Yield the layers of an RLlib network in the order of a forward pass.

    Raises:
        TypeError: if a layer is not supported.
    """
    if isinstance(module, nn.Sequential):
        for child in module:
            yield from _layers_of(child)
        return
    kind = type(module).__name__
    if kind in ("TorchMLPEncoder", "TorchCNNEncoder", "TorchMLPHead"):
        yield from _layers_of(module.net)  # type: ignore[arg-type]
    elif kind == "TorchMLP":
        yield from _layers_of(module.mlp)  # type: ignore[arg-type]
    elif kind == "TorchCNN":
        yield ChannelsFirst()
        yield from _layers_of(module.cnn)  # type: ignore[arg-type]
        yield ChannelsLast()
    elif kind == "LayerNorm1D":
        yield ChannelsLast()
        yield module.layer_norm  # type: ignore[misc]
        yield ChannelsFirst()
    else:
        describe_layer(module)  # raises if the layer is not supported
        yield module


def unwrap_module(module: Any) -> Any:
    """Return an RLModule without its wrapper for distributed training.

    Raises:
        TypeError: if it is recurrent.
    """
    module = module.unwrapped() if hasattr(module, "unwrapped") else module
    if module.is_stateful():
        raise TypeError(f"{type(module).__name__} is recurrent, which is not supported")
    return module


def module_format(module: Any, game: Game) -> ObservationFormat:
    """Return the format of the planes that an RLModule observes.

    Raises:
        ValueError: if the observations are not those of the game.
    """
    space = module.observation_space
    box = space
    if isinstance(space, spaces.Dict):
        keys = _keys_of(space)
        box, mask = space[keys[0]], space[keys[1]]
        if mask.shape != (game.num_actions,):
            raise ValueError(
                f"the module's mask has the shape {mask.shape}, but {game.spec} has "
                f"{game.num_actions} actions"
            )
    formats = (FLAT, CHANNELS_LAST, CHANNELS_FIRST)
    for observation_format in formats:
        if isinstance(box, spaces.Box) and box.shape == observation_format.box(game).shape:
            return observation_format
    shapes = ", ".join(str(observation_format.box(game).shape) for observation_format in formats)
    raise ValueError(
        f"the module observes {space}, but {game.spec} has observations of shapes {shapes}"
    )


def _keys_of(space: spaces.Dict) -> tuple[str, str]:
    """Return the keys of the planes and of the mask in a space.

    Raises:
        ValueError: if the keys are not `"action_mask"` and one other.
    """
    names = [key for key in space if key != "action_mask"]
    if len(names) != 1 or "action_mask" not in space.spaces:
        raise ValueError(f"expected observations with an action_mask, got {space}")
    return names[0], "action_mask"


def module_scores(
    module: Any, planes: NDArray[np.float32], masks: NDArray[np.float32], device: torch.device
) -> NDArray[np.float64]:
    """Return an RLModule's logits or action values. Shape `[K, num_actions]`.

    Args:
        module: the module.
        planes: observations in the module's format, float32 `[K, ...]`.
        masks: action masks, float32 `[K, num_actions]`; used by modules that observe them.
        device: device of the module.

    Raises:
        TypeError: if the module returns neither logits nor action values.
    """
    observations: Any = torch.from_numpy(planes).to(device)
    space = module.observation_space
    if isinstance(space, spaces.Dict):
        keys = _keys_of(space)
        observations = {keys[0]: observations, keys[1]: torch.from_numpy(masks).to(device)}
    with torch.no_grad():
        if not has_logits(module):
            scores = module.compute_q_values({"obs": observations})["qf_preds"]
        else:
            out = module.forward_inference({"obs": observations})
            if "action_dist_inputs" not in out:
                raise TypeError(f"{type(module).__name__} returns {sorted(out)}, but no logits")
            scores = out["action_dist_inputs"]
    result: NDArray[np.float64] = scores.cpu().numpy().astype(np.float64)
    return result


def has_logits(module: Any) -> bool:
    """Return whether the scores of an RLModule are logits, not action values."""
    return not hasattr(module, "compute_q_values")

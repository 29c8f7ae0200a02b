"""Layers of RLlib's default networks in plain PyTorch, which can be described as JSON."""

import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ludoteca.envs.game import Game
from ludoteca.envs.observation import ObservationFormat
from ludoteca.envs.params import check_real

ACTIVATIONS = {
    "elu": nn.ELU, "gelu": nn.GELU, "identity": nn.Identity, "leaky_relu": nn.LeakyReLU,
    "mish": nn.Mish, "relu": nn.ReLU, "sigmoid": nn.Sigmoid, "silu": nn.SiLU,
    "softplus": nn.Softplus, "tanh": nn.Tanh,
}  # fmt: skip
FLAT = ObservationFormat("flat", np.float32)
CHANNELS_LAST = ObservationFormat("planes", np.float32, channels_last=True)
# Limits for untrusted files.
MAX_LAYER_OUTPUTS = 1 << 24  # numbers per observation, also the maximum of sizes
MAX_LAYERS = 1000


class Policy(nn.Module):
    """Policy network from observations to one score per action: logits or action values.

    Attributes:
        layers: the layers.
        planes: whether observations are `[B, rows, columns, planes]`, as RLlib's convolutions
            expect, instead of `[B, N]`.
        logits: whether scores are logits, from which actions can be sampled, not action values.
    """

    def __init__(self, layers: list[nn.Module], planes: bool, logits: bool):
        super().__init__()
        self.layers, self.planes, self.logits = nn.Sequential(*layers), planes, logits

    def forward(self, observations: Tensor) -> Tensor:
        """Return the scores `[B, num_actions]` of observations."""
        scores: Tensor = self.layers(observations)
        return scores


def scores_of(policy: Policy, planes: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the scores of a policy, `[K, num_actions]`, for observations `planes`, `[K, ...]`."""
    device = next(iter(policy.parameters()), torch.empty(0)).device
    with torch.inference_mode():
        scores: NDArray[np.float32] = policy(torch.from_numpy(planes).to(device)).cpu().numpy()
    return scores.astype(np.float64)


def check_scores(policy: Policy, game: Game, source: str) -> None:
    """Check that a policy accepts the game's observations and returns one score per action.

    Raises:
        ValueError: if it does not; the message begins with `source`.
    """
    observation_format = CHANNELS_LAST if policy.planes else FLAT
    try:
        # On the meta device: sizes are checked before memory is allocated.
        x = torch.zeros(observation_format.box(game, 1).shape, device="meta")
        for layer in copy.deepcopy(policy.layers).to("meta"):
            x = layer(x)
            if x.numel() > MAX_LAYER_OUTPUTS:
                raise ValueError(
                    f"{source} has a layer of {x.numel():,} outputs; expected at most "
                    f"{MAX_LAYER_OUTPUTS:,}"
                )
    except (RuntimeError, IndexError) as error:
        raise ValueError(
            f"{source} does not accept the observations of {game.spec}: {error}"
        ) from None
    if x.shape != (1, game.num_actions):
        raise ValueError(
            f"{source} scores {x.shape[-1]} actions, but {game.spec} has {game.num_actions}"
        )


def build_policy(description: dict[str, Any]) -> Policy:
    """Return a policy with new weights from its description.

    Raises:
        TypeError: if it is not a list of layers.
        ValueError: if a kind of layer is unknown, or a size is out of range.
        KeyError: if a part of the description is missing.
    """
    if not isinstance(description, dict) or not isinstance(description["layers"], list):
        raise TypeError(f"expected a list of layers, got {description!r:.80}")
    if not 0 < len(description["layers"]) <= MAX_LAYERS:
        raise ValueError(f"expected 1 to {MAX_LAYERS} layers, got {len(description['layers'])}")
    layers = [_build(layer) for layer in description["layers"]]
    return Policy(layers, bool(description["planes"]), bool(description["logits"]))


def copy_layer(layer: nn.Module) -> nn.Module:
    """Return a copy of a layer on the CPU."""
    layer_copy = _build(describe_layer(layer))
    layer_copy.load_state_dict(layer.state_dict())
    return layer_copy


def describe_layer(layer: nn.Module) -> dict[str, Any]:
    """Return the description of a layer, as JSON content.

    Raises:
        TypeError: if the layer is not supported.
    """
    match layer:
        case nn.Linear():
            sizes = {"inputs": layer.in_features, "outputs": layer.out_features}
            return {"kind": "linear", **sizes, "bias": layer.bias is not None}
        case nn.Conv2d():
            if layer.padding != (0, 0) or layer.dilation != (1, 1) or layer.groups != 1:
                raise TypeError(f"the layer {layer} has padding, dilation or groups")
            sizes = {"inputs": layer.in_channels, "outputs": layer.out_channels}
            window = {"kernel": list(layer.kernel_size), "stride": list(layer.stride)}
            return {"kind": "conv", **sizes, **window, "bias": layer.bias is not None}
        case nn.LayerNorm():
            return {"kind": "layer_norm", "size": layer.normalized_shape[0], "eps": layer.eps}
        case nn.ZeroPad2d():
            return {"kind": "zero_pad", "padding": list(layer.padding)}
        case nn.Flatten():
            return {"kind": "flatten"}
        case ChannelsFirst():
            return {"kind": "channels_first"}
        case ChannelsLast():
            return {"kind": "channels_last"}
    for name, activation in ACTIVATIONS.items():
        if type(layer) is activation:
            return {"kind": name}
    raise TypeError(
        f"the layer {type(layer).__name__} cannot be written to a file: "
        "use RLlibAgent.from_module instead"
    )


def _build(description: dict[str, Any]) -> nn.Module:
    """Return a layer with new weights from its description, see `describe_layer`.

    Raises:
        ValueError: if its kind is unknown, or a size is out of range.
        KeyError: if a part of the description is missing.
    """
    kind = description["kind"]
    if kind == "linear":
        inputs, outputs = _sizes(description["inputs"], description["outputs"])
        return nn.Linear(inputs, outputs, bias=bool(description["bias"]))
    if kind == "conv":
        inputs, outputs = _sizes(description["inputs"], description["outputs"])
        kernel, stride = _sizes(*description["kernel"]), _sizes(*description["stride"])
        if len(kernel) != 2 or len(stride) != 2:
            raise ValueError(
                "expected two sizes of a convolution's kernel and stride, got "
                f"{kernel!r:.80} and {stride!r:.80}"
            )
        bias = bool(description["bias"])
        return nn.Conv2d(inputs, outputs, (kernel[0], kernel[1]), (stride[0], stride[1]), bias=bias)
    if kind == "layer_norm":
        return nn.LayerNorm(
            _sizes(description["size"])[0], eps=check_real("eps", description["eps"], 0, 1)
        )
    if kind == "zero_pad":
        padding = tuple(int(n) for n in description["padding"])
        if len(padding) != 4 or not all(0 <= n <= 1000 for n in padding):
            raise ValueError(f"expected 4 sizes of padding from 0 to 1000, got {padding!r:.80}")
        return nn.ZeroPad2d((padding[0], padding[1], padding[2], padding[3]))
    layers_without_options = {
        "flatten": nn.Flatten, "channels_first": ChannelsFirst, "channels_last": ChannelsLast,
    }  # fmt: skip
    layer_class = (layers_without_options | ACTIVATIONS).get(kind)
    if layer_class is None:
        raise ValueError(f"unknown kind of layer {kind!r:.80}")
    layer: nn.Module = layer_class()
    return layer


def _sizes(*values: Any) -> tuple[int, ...]:
    """Validate the sizes of a layer; return them.

    Raises:
        ValueError: if one is out of range.
    """
    if not all(type(n) is int and 0 < n <= MAX_LAYER_OUTPUTS for n in values):
        raise ValueError(
            f"expected sizes of layers from 1 to {MAX_LAYER_OUTPUTS:,}, got {values!r:.80}"
        )
    return values


class ChannelsFirst(nn.Module):
    """Layer from `[B, rows, columns, channels]` to channels first, for convolutions."""

    def forward(self, x: Tensor) -> Tensor:
        """Return `x` as `[B, channels, rows, columns]`."""
        return x.permute(0, 3, 1, 2)


class ChannelsLast(nn.Module):
    """Layer from `[B, channels, rows, columns]` to channels last."""

    def forward(self, x: Tensor) -> Tensor:
        """Return `x` as `[B, rows, columns, channels]`."""
        return x.permute(0, 2, 3, 1)

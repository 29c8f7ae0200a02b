"""Files of RLlib policies: the layers as JSON and the weights, in safetensors' format.

RLlib's own checkpoints consist of pickles, which can run any code when they are read: the module's
class and arguments (`class_and_ctor_args.pkl`) and its weights (`module_state.pkl`) alike.
`export_module` writes what playing needs into a file without any, which `rllib:PATH` reads, also
where Ray is not installed.
"""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

from ludoteca.agents.networks.weights import load_network, save_weights
from ludoteca.envs.game import Game
from ludoteca.envs.observation import ObservationFormat
from ludoteca.envs.params import real

KIND = "RLlib policy"
ACTIVATIONS = {
    "elu": nn.ELU, "gelu": nn.GELU, "identity": nn.Identity, "leaky_relu": nn.LeakyReLU,
    "mish": nn.Mish, "relu": nn.ReLU, "sigmoid": nn.Sigmoid, "silu": nn.SiLU,
    "softplus": nn.Softplus, "tanh": nn.Tanh,
}  # fmt: skip
FLAT = ObservationFormat("flat", np.float32)
CHANNELS_LAST = ObservationFormat("planes", np.float32, channels_last=True)
CHANNELS_FIRST = ObservationFormat("planes", np.float32)
LARGEST_LAYER = 1 << 24  # outputs
MOST_LAYERS = 1000
TOLERANCE = 1e-3  # of scores that are computed in another order
STATE = "module_state.pkl"  # the weights of one module, in its checkpoint
# Files of a checkpoint directory of Ray.
CHECKPOINT_FILES = ("class_and_ctor_args.pkl", "algorithm_state.pkl", "rllib_checkpoint.json")


class ChannelsFirst(nn.Module):
    """Moves the channels of `[B, rows, columns, channels]` before the rows, for convolutions."""

    def forward(self, x: Tensor) -> Tensor:
        """Return `x` as `[B, channels, rows, columns]`."""
        return x.permute(0, 3, 1, 2)


class ChannelsLast(nn.Module):
    """Moves the channels of `[B, channels, rows, columns]` behind the columns."""

    def forward(self, x: Tensor) -> Tensor:
        """Return `x` as `[B, rows, columns, channels]`."""
        return x.permute(0, 2, 3, 1)


class Policy(nn.Module):
    """Layers from observations to one score per action: logits or action values.

    Attributes:
        layers: the layers.
        planes: whether observations are `[B, rows, columns, planes]`, as RLlib's convolutions want
            them, instead of `[B, N]`.
        logits: whether scores are logits, to sample actions from, and not action values.
    """

    def __init__(self, layers: list[nn.Module], planes: bool, logits: bool):
        super().__init__()
        self.layers, self.planes, self.logits = nn.Sequential(*layers), planes, logits

    def forward(self, observations: Tensor) -> Tensor:
        """Return the scores `[B, num_actions]` of observations."""
        scores: Tensor = self.layers(observations)
        return scores


def export_module(module: Any, game: Game, path: str | Path) -> Path:
    """Write the policy of an RLModule to a file that the agent `rllib:PATH` reads.

    The networks of RLlib's defaults can be written: those of `DefaultModelConfig` without memory,
    of PPO, APPO, IMPALA and DQN, with an action mask in the observation or without. For others
    there is `RLlibAgent.from_module`, while the module is in memory.

    Args:
        module: the module, as `algorithm.get_module()` returns it.
        game: the game that it has learned.
        path: the file; `.safetensors` is appended if it has no suffix.

    Returns:
        The file.

    Raises:
        TypeError: if the module has layers that cannot be written.
        ValueError: if it does not fit the game.
    """
    policy = extract_policy(module, game)
    path = Path(path)
    file = path if path.suffix else path.with_suffix(".safetensors")
    layers = [_describe(layer) for layer in policy.layers]
    network = {"layers": layers, "planes": policy.planes, "logits": policy.logits}
    save_weights(file, policy.state_dict(), {"kind": KIND, "game": game.spec, "network": network})
    return file


def load_policy(game: Game, file: Path) -> Policy:
    """Return the policy in a file that `export_module` wrote.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it holds no such policy, or one that does not fit the game.
    """
    policy, _ = load_network(game, file, _build_policy, KIND)
    _check_scores(policy, game, str(file))
    return policy.eval()


def check_not_checkpoint(path: Path) -> None:
    """Check that a path is not a checkpoint of Ray.

    Raises:
        ValueError: if it is one, with what to do instead.
    """
    if path.is_dir() and any((path / name).exists() for name in CHECKPOINT_FILES):
        raise ValueError(
            f"{path} is a checkpoint of Ray, which consists of pickles, and those can run any code "
            "when they are read. If you trust its maker, write a file without any from Python: "
            "from ludoteca.agents.rllib import export_module, load_checkpoint; "
            f"export_module(load_checkpoint({str(path)!r}), game, 'policy.safetensors')"
        )


def load_checkpoint(path: str | Path, module_id: str = "default_policy") -> Any:
    """Return an RLModule from a checkpoint of Ray, by unpickling it.

    Warning: a checkpoint can run any code when it is read. Only for those whose makers you trust.

    Args:
        path: a checkpoint of an `Algorithm`, of its learner group, or of a module.
        module_id: the policy in the checkpoint: `default_policy` if there was one agent, else the
            name that the algorithm's configuration gave it.

    Raises:
        FileNotFoundError: if there is no such checkpoint, or no such policy in it.
    """
    try:
        from ray.rllib.core.rl_module.rl_module import RLModule
    except ImportError as error:
        raise ImportError(
            'reading checkpoints of Ray needs RLlib: pip install "ludoteca[rllib]"'
        ) from error
    root = Path(path).absolute()
    inside = ("learner_group/learner/rl_module", "learner/rl_module", "rl_module", ".")
    modules = next((root / one for one in inside if (root / one).is_dir()), root)
    found = next((one for one in (modules / module_id, root) if (one / STATE).is_file()), None)
    if found is None:
        there = sorted(one.parent.name for one in modules.glob(f"*/{STATE}"))
        raise FileNotFoundError(
            f"{path} holds no policy {module_id!r}; there are {', '.join(there) or 'none'}"
        )
    return RLModule.from_checkpoint(str(found))


def extract_policy(module: Any, game: Game) -> Policy:
    """Return a copy of the policy of an RLModule as plain PyTorch, compared with the original.

    Raises:
        TypeError: if the module has layers of its own, or computes its scores in another way.
        ValueError: if it does not fit the game.
    """
    module = plain_module(module)
    form = module_format(module, game)
    head = next((getattr(module, name) for name in ("pi", "af") if hasattr(module, name)), None)
    encoder = getattr(module, "encoder", None)
    for name in ("actor_encoder", "encoder"):  # of its own, or shared with the critic
        if hasattr(encoder, name):
            encoder = getattr(encoder, name)
            break
    if encoder is None or head is None or getattr(module, "num_atoms", 1) > 1:
        raise TypeError(
            f"{type(module).__name__} is not one of RLlib's default modules without memory: "
            "use RLlibAgent.from_module instead"
        )
    layers = [*_layers_of(encoder), *_layers_of(head)]
    plain = [_copy(layer) for layer in layers]
    policy = Policy(plain, not form.is_flat, has_logits(module)).eval()
    _check_scores(policy, game, f"the policy of {type(module).__name__}")
    generator = np.random.default_rng(0)
    planes = generator.integers(0, 2, form.box(game, 16).shape).astype(np.float32)
    masks = np.ones((16, game.num_actions), np.float32)
    device = next(iter(module.parameters())).device
    given = [module_scores(module, planes, masks, device), scores_of(policy, planes)]
    centered = [scores - scores.mean(1, keepdims=True) for scores in given]
    if not np.allclose(centered[0], centered[1], rtol=TOLERANCE, atol=TOLERANCE):
        raise TypeError(
            f"{type(module).__name__} does not compute its scores by its encoder and head alone: "
            "use RLlibAgent.from_module instead"
        )
    return policy


def plain_module(module: Any) -> Any:
    """Return an RLModule without what wraps it for training on several machines.

    Raises:
        TypeError: if it remembers past moves, which agents of RLlib's policies do not support.
    """
    module = module.unwrapped() if hasattr(module, "unwrapped") else module
    if module.is_stateful():
        raise TypeError(f"{type(module).__name__} remembers past moves, which is not supported")
    return module


def module_scores(
    module: Any, planes: NDArray[np.float32], masks: NDArray[np.float32], device: torch.device
) -> NDArray[np.float64]:
    """Return an RLModule's logits or action values. Shape `[K, num_actions]`.

    Args:
        module: the module.
        planes: observations of the form that it takes, float32 `[K, ...]`.
        masks: float32 `[K, num_actions]`; only for modules that observe it.
        device: where the module is.

    Raises:
        TypeError: if the module returns neither.
    """
    seen: Any = torch.from_numpy(planes).to(device)
    space = module.observation_space
    if isinstance(space, spaces.Dict):
        keys = _keys_of(space)
        seen = {keys[0]: seen, keys[1]: torch.from_numpy(masks).to(device)}
    with torch.no_grad():
        if not has_logits(module):
            scores = module.compute_q_values({"obs": seen})["qf_preds"]
        else:
            out = module.forward_inference({"obs": seen})
            if "action_dist_inputs" not in out:
                raise TypeError(f"{type(module).__name__} returns {sorted(out)}, but no logits")
            scores = out["action_dist_inputs"]
    result: NDArray[np.float64] = scores.cpu().numpy().astype(np.float64)
    return result


def scores_of(policy: Policy, planes: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the scores of a policy. Shape `[K, num_actions]`."""
    device = next(iter(policy.parameters()), torch.empty(0)).device
    with torch.inference_mode():
        scores: NDArray[np.float32] = policy(torch.from_numpy(planes).to(device)).cpu().numpy()
    return scores.astype(np.float64)


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
    known = (FLAT, CHANNELS_LAST, CHANNELS_FIRST)
    for form in known:
        if isinstance(box, spaces.Box) and box.shape == form.box(game).shape:
            return form
    shapes = ", ".join(str(form.box(game).shape) for form in known)
    raise ValueError(f"the module observes {space}, but {game.spec} shows one of {shapes}")


def has_logits(module: Any) -> bool:
    """Return whether an RLModule rates actions by logits, not by their values."""
    return not hasattr(module, "compute_q_values")


def _keys_of(space: spaces.Dict) -> tuple[str, str]:
    """Return the keys of the planes and of the mask.

    Raises:
        ValueError: if there are others.
    """
    names = [key for key in space if key != "action_mask"]
    if len(names) != 1 or "action_mask" not in space.spaces:
        raise ValueError(f"expected observations with an action_mask, got {space}")
    return names[0], "action_mask"


def _layers_of(module: nn.Module) -> Iterator[nn.Module]:
    """Yield the layers of a network of RLlib in the order of a pass, as PyTorch's own or ours.

    Raises:
        TypeError: if one is not known.
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
        _describe(module)
        yield module


def _describe(layer: nn.Module) -> dict[str, Any]:
    """Return a layer as JSON.

    Raises:
        TypeError: if it is not known.
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


def _build(about: dict[str, Any]) -> nn.Module:
    """Return the layer that `_describe` described.

    Raises:
        ValueError: if there is no such layer, or one of its sizes is out of range.
        KeyError: if a part of the description is missing.
    """
    kind = about["kind"]
    if kind == "linear":
        inputs, outputs = _sizes(about["inputs"], about["outputs"])
        return nn.Linear(inputs, outputs, bias=bool(about["bias"]))
    if kind == "conv":
        inputs, outputs = _sizes(about["inputs"], about["outputs"])
        kernel, stride = _sizes(*about["kernel"]), _sizes(*about["stride"])
        if len(kernel) != 2 or len(stride) != 2:
            raise ValueError(f"its convolution has the kernel {kernel!r:.80}")
        bias = bool(about["bias"])
        return nn.Conv2d(inputs, outputs, (kernel[0], kernel[1]), (stride[0], stride[1]), bias=bias)
    if kind == "layer_norm":
        return nn.LayerNorm(_sizes(about["size"])[0], eps=real("eps", about["eps"], 0, 1))
    if kind == "zero_pad":
        padding = tuple(int(n) for n in about["padding"])
        if len(padding) != 4 or not all(0 <= n <= 1000 for n in padding):
            raise ValueError(f"its padding is {padding!r:.80}")
        return nn.ZeroPad2d((padding[0], padding[1], padding[2], padding[3]))
    plain = {
        "flatten": nn.Flatten, "channels_first": ChannelsFirst, "channels_last": ChannelsLast,
    }  # fmt: skip
    found = (plain | ACTIVATIONS).get(kind)
    if found is None:
        raise ValueError(f"it has a layer of the kind {kind!r:.80}")
    layer: nn.Module = found()
    return layer


def _build_policy(about: dict[str, Any]) -> Policy:
    if not isinstance(about, dict) or not isinstance(about["layers"], list):
        raise TypeError(f"expected a list of layers, got {about!r:.80}")
    if not 0 < len(about["layers"]) <= MOST_LAYERS:
        raise ValueError(f"it has {len(about['layers'])} layers")
    layers = [_build(layer) for layer in about["layers"]]
    return Policy(layers, bool(about["planes"]), bool(about["logits"]))


def _sizes(*values: Any) -> tuple[int, ...]:
    if not all(type(n) is int and 0 < n <= 1 << 24 for n in values):
        raise ValueError(f"its layers have the sizes {values!r:.80}")
    return values


def _copy(layer: nn.Module) -> nn.Module:
    """Return a layer of its own with the same weights, on the CPU."""
    made = _build(_describe(layer))
    made.load_state_dict(layer.state_dict())
    return made


def _check_scores(policy: Policy, game: Game, who: str) -> None:
    """Check that a policy takes the game's observations and rates its actions.

    Raises:
        ValueError: if it does not.
    """
    form = CHANNELS_LAST if policy.planes else FLAT
    try:
        # Sizes only: what hostile layers ask for is known before memory is taken for it.
        x = torch.zeros(form.box(game, 1).shape, device="meta")
        for layer in copy.deepcopy(policy.layers).to("meta"):
            x = layer(x)
            if x.numel() > LARGEST_LAYER:
                raise ValueError(f"{who} has a layer of {x.numel():,} outputs")
    except (RuntimeError, IndexError) as error:
        raise ValueError(f"{who} does not take the observations of {game.spec}: {error}") from None
    if x.shape != (1, game.num_actions):
        raise ValueError(
            f"{who} rates {x.shape[-1]} actions, but {game.spec} has {game.num_actions}"
        )

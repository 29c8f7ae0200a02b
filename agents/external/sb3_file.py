"""Safe reader of Stable-Baselines3's model files, which runs no code in them.

A file (`model.zip`) contains the weights, and a JSON document with all other entries of the model.
Objects that JSON cannot express are stored twice: as a pickle, which can run any code, and as a
description. `read_policy` rebuilds the policy from the descriptions, and reads the weights
with `torch.load(weights_only=True)`. The sizes of networks are compared with those of the weights
before memory is allocated.
"""

import importlib
import io
import json
import re
import sys
import zipfile
from math import prod
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.save_util import json_to_data
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn
from torch.overrides import TorchFunctionMode

from ludoteca.agents.networks.device import find_device
from ludoteca.files import (
    archive_errors_as_value_errors,
    check_archive,
    open_regular_file,
    parse_json,
)

# Entries of a model from which its policy is made.
POLICY_ENTRIES = ("policy_class", "policy_kwargs", "observation_space", "action_space")
SUPPORTED_POLICIES = {
    "ActorCriticPolicy", "MaskableActorCriticPolicy", "DQNPolicy", "QRDQNPolicy", "ARSPolicy",
}  # fmt: skip
# Packages whose classes a file may name.
ALLOWED_PACKAGES = ("sb3_contrib", "stable_baselines3", "torch")
MAX_DATA_BYTES, MAX_WEIGHT_BYTES = 64 << 20, 4 << 30  # uncompressed
MAX_SETTINGS = 1000  # maximum number of numbers and strings in the arguments of a policy
MAX_OBSERVATION_SIZE = 1 << 24  # maximum number of numbers in an observation, and of actions
# Dtypes of observations that a file may name.
DTYPES = {
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64",
}  # fmt: skip
# Arguments of policies that only training uses.
TRAINING_ARGUMENTS = ("optimizer_class", "optimizer_kwargs", "device", "use_sde")


def read_policy(path: str | Path, *, trust: bool = False, device: str = "cpu") -> BasePolicy:
    """Return the policy of a model that was saved by Stable-Baselines3 or sb3-contrib.

    Args:
        path: the file; `.zip` may be omitted.
        trust: whether to unpickle the policy's class, arguments and spaces, as SB3's own `load`
            does. Needed for policies and networks that are not part of SB3. The file can then run
            any code, so use it only for files whose authors you trust.
        device: device of the network, such as `"cuda"`.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is not a model file, its policy is not supported or needs unpickling, or
            PyTorch cannot use the device.
    """
    path = _find_file(Path(path))
    torch_device = find_device(device)
    with archive_errors_as_value_errors(f"{path} is not a model saved by Stable-Baselines3"):
        data, weights, size = _read(path)
        if not isinstance(data, dict):
            raise TypeError(f"expected an object, got {data!r:.40}")
        entries = {name: data[name] for name in POLICY_ENTRIES}
    try:
        if trust:
            policy = _build(**json_to_data(json.dumps(entries)))
        else:
            # A file stores shared weights once, so its networks may need more memory than its
            # weights: at most 8 times as much is accepted, and 1 MiB more for small networks.
            with MemoryLimit(8 * size + (1 << 20)):
                policy = _build(**_rebuild_arguments(entries))
        policy = policy.to(torch_device)
        policy.load_state_dict(weights)
    except Exception as error:  # constructors of another library, with any arguments
        hint = "" if trust else "; if you trust its author, trust=True unpickles the rest of it"
        raise ValueError(f"cannot rebuild the policy in {path}: {error!s:.500}{hint}") from None
    return policy


def read_weights(path: str | Path) -> dict[str, torch.Tensor]:
    """Return the weights of the policy in a model file; nothing is unpickled.

    Args:
        path: the file; `.zip` may be omitted.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is not a model file.
    """
    path = _find_file(Path(path))
    with archive_errors_as_value_errors(f"{path} is not a model saved by Stable-Baselines3"):
        return _read(path)[1]


def _read(path: Path) -> tuple[Any, dict[str, torch.Tensor], int]:
    """Return the JSON document of a model file, its policy's weights, and their size in bytes.

    Raises:
        ValueError: if it is too large, or its weights are not tensors.
    """
    with open_regular_file(path) as file, zipfile.ZipFile(file) as archive:
        max_bytes = {"data": MAX_DATA_BYTES, "policy.pth": MAX_WEIGHT_BYTES}
        for name, limit in max_bytes.items():
            _check_member(archive.getinfo(name), limit)
        data = parse_json(archive.read("data"))
        packed = archive.read("policy.pth")
    # PyTorch's format is an archive, too, whose members are not compressed.
    with zipfile.ZipFile(io.BytesIO(packed)) as inner:
        check_archive(inner, f"policy.pth in {path}", 2 * len(packed) + (1 << 20))
    try:
        weights = torch.load(io.BytesIO(packed), map_location="cpu", weights_only=True)
    except (UnpicklingError, AttributeError, IndexError, AssertionError) as error:
        raise ValueError(f"its weights cannot be read: {error}") from None
    if not isinstance(weights, dict):
        raise TypeError(f"expected weights by name, got {weights!r:.40}")
    for name, tensor in weights.items():
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
            raise TypeError(f"expected weights by name, got {name!r:.40}: {tensor!r:.40}")
        if tensor.untyped_storage().nbytes() < tensor.numel() * tensor.element_size():
            raise ValueError(f"its weights {name:.80} are incomplete")
        if not torch.isfinite(tensor).all():
            raise ValueError(f"its weights {name:.80} are not all finite")
    return data, weights, len(packed)


def _check_member(member: zipfile.ZipInfo, max_bytes: int) -> None:
    """Validate the size and the compression ratio of a member of a model file.

    Raises:
        ValueError: if it unpacks to more than `max_bytes`, or to 100 times its compressed size.
    """
    size, packed = member.file_size, member.compress_size
    if size > max_bytes or size > 100 * packed + (1 << 20):
        raise ValueError(
            f"its {member.filename} unpacks from {packed:,} to {size:,} bytes; expected at most "
            f"{max_bytes:,}, and at most 100 times the compressed size"
        )


class MemoryLimit(TorchFunctionMode):
    """Context that limits the memory of tensors created in it, before it is allocated.

    Counted are tensors created by `torch.empty` and similar functions, as layers create their
    weights; all count as float32.

    Attributes:
        max_bytes: the limit in bytes.
        num_bytes: memory of the tensors so far, in bytes.
    """

    def __init__(self, max_bytes: int):
        super().__init__()
        self.max_bytes, self.num_bytes = max_bytes, 0

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Count the memory of a function's result, and call the function.

        Raises:
            ValueError: if the limit would be exceeded.
        """
        kwargs = kwargs or {}
        if func in (torch.empty, torch.zeros, torch.ones, torch.full, torch.rand, torch.randn):
            shape = kwargs.get("size", args[:1] if args and not isinstance(args[0], int) else args)
            if len(shape) == 1 and not isinstance(shape[0], int):
                (shape,) = shape
            self.num_bytes += 4 * prod(shape)  # float32
            if self.num_bytes > self.max_bytes:
                raise ValueError(
                    f"the description needs networks of {self.num_bytes:,} bytes or more; expected "
                    f"at most {self.max_bytes:,}, by the weights in the file"
                )
        return func(*args, **kwargs)


def _find_file(path: Path) -> Path:
    """Return the path of a model file, with `.zip` added if necessary."""
    for candidate in (path, path.with_name(f"{path.name}.zip")):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"there is no model file {path}")


def _build(
    policy_class: Any,
    policy_kwargs: dict[str, Any],
    observation_space: spaces.Space[Any],
    action_space: spaces.Space[Any],
) -> BasePolicy:
    """Return a policy with new weights from its class and arguments."""
    kwargs = {key: value for key, value in policy_kwargs.items() if key not in TRAINING_ARGUMENTS}
    arguments: list[Any] = [observation_space, action_space]
    if not policy_class.__module__.startswith("sb3_contrib.ars"):  # ARS has no optimizer
        arguments.append(lambda remaining: 0.0)  # learning rate schedule
    policy: BasePolicy = policy_class(*arguments, **kwargs)
    return policy


def _rebuild_arguments(entries: dict[str, Any]) -> dict[str, Any]:
    """Rebuild the constructor arguments of a policy from their descriptions.

    Raises:
        ValueError: if a class is not from `ALLOWED_PACKAGES` or of another kind than expected, or
            an argument or a space is out of range.
    """
    kwargs = {
        key: value
        for key, value in entries["policy_kwargs"].items()
        if key not in (":type:", ":serialized:", *TRAINING_ARGUMENTS)
    }
    # Words of the JSON text: keys, strings and numbers.
    if len(re.findall(r"[^\s,:\[\]{}]+", json.dumps(kwargs))) > MAX_SETTINGS:
        raise ValueError(f"its policy has more than {MAX_SETTINGS} settings")
    kwargs = {
        key: _network_class(value) if isinstance(value, str) else value
        for key, value in kwargs.items()
    }
    extractor = kwargs.get("features_extractor_class", BaseFeaturesExtractor)
    if not (isinstance(extractor, type) and issubclass(extractor, BaseFeaturesExtractor)):
        raise ValueError(f"{extractor!r:.80} is not a features extractor")
    return {
        "policy_class": _policy_class(entries["policy_class"]),
        "policy_kwargs": kwargs,
        "observation_space": _observation_space(entries["observation_space"]),
        "action_space": spaces.Discrete(_num_actions(entries["action_space"])),
    }


def _policy_class(description: dict[str, Any]) -> type[nn.Module]:
    """Return the class of a policy from its description.

    Raises:
        ValueError: if it is not derived from one of `SUPPORTED_POLICIES`, or is recurrent.
    """
    # The description has the names of the methods, not that of the class.
    method = re.match(r"<function (\w+)\.__init__ ", str(description.get("__init__")))
    if method is None:
        raise ValueError(f"its class, in {description.get('__module__')}, is not known")
    policy_class = _network_class(f"<class '{description.get('__module__')}.{method[1]}'>")
    names = {class_.__name__ for class_ in policy_class.__mro__}
    # Derived from ActorCriticPolicy, but it needs the states of its LSTM, which agents do not have.
    if not names & SUPPORTED_POLICIES or "RecurrentActorCriticPolicy" in names:
        raise ValueError(f"its class {policy_class.__name__} is not a supported policy")
    return policy_class


def _network_class(name: str) -> type[nn.Module]:
    """Return the class of a text such as `"<class 'torch.nn.modules.activation.ReLU'>"`.

    Raises:
        ValueError: if it is not a class of `ALLOWED_PACKAGES` derived from `nn.Module`.
    """
    match = re.fullmatch(r"<class '([\w.]+)\.(\w+)'>", name)
    if match is None or match[1].partition(".")[0] not in ALLOWED_PACKAGES:
        raise ValueError(f"{name} is not from {', '.join(ALLOWED_PACKAGES)}")
    try:
        # `import torch` has imported all modules with layers: a file causes no import of others.
        if match[1].startswith("torch"):
            module: Any = sys.modules.get(match[1])
        else:
            module = importlib.import_module(match[1])
        network_class = getattr(module, match[2])
    except (ImportError, AttributeError):
        raise ValueError(f"{name} is not in the installed packages") from None
    if not (isinstance(network_class, type) and issubclass(network_class, nn.Module)):
        raise ValueError(f"{name} is not a network")
    return network_class


def _observation_space(description: dict[str, Any]) -> spaces.Space[Any]:
    """Return the observation space from its description, with the bounds 0 and 1.

    It is a box of planes, or a dictionary of planes and mask. SB3's policies read the bounds only
    to recognize images (0 to 255), which they divide by 255; planes are not images.
    """
    kind = str(description.get(":type:"))
    if kind.endswith(".Box'>"):
        return _box(description["_shape"], description["dtype"])
    # The description of a dictionary has its boxes as text:
    # "{'action_mask': Box(0, 1, (9,), int8), 'observation': Box(0, 1, (2, 3, 3), int8)}"
    boxes = re.findall(
        r"'(\w+)': Box\([^()]*, (\([\d, ]*\)), (\w+)\)", str(description.get("spaces"))
    )
    if not kind.endswith(".Dict'>") or not boxes:
        raise ValueError(f"its observation space is {kind}, not a Box or a Dict of Boxes")
    return spaces.Dict(
        {
            key: _box([int(n) for n in re.findall(r"\d+", shape)], dtype)
            for key, shape, dtype in boxes
        }
    )


def _box(shape: Any, dtype: str) -> spaces.Box:
    """Return a box with the bounds 0 and 1.

    Raises:
        ValueError: if the shape or the dtype is invalid.
    """
    if not isinstance(shape, list) or not all(type(n) is int and n > 0 for n in shape):
        raise ValueError(f"its observations have the shape {shape!r:.40}")
    if prod(shape) > MAX_OBSERVATION_SIZE or dtype not in DTYPES:
        raise ValueError(f"its observations are {prod(shape):.3g} numbers of type {dtype!r:.40}")
    shape = tuple(shape)
    scalar = np.dtype(dtype).type
    return spaces.Box(0, 1, shape, scalar)


def _num_actions(description: dict[str, Any]) -> int:
    """Return the number of actions from the description of the action space.

    Raises:
        ValueError: if it is not a discrete space of up to `MAX_OBSERVATION_SIZE` actions.
    """
    if "n" not in description:
        raise ValueError(f"its action space is {description.get(':type:')}, not Discrete")
    num_actions = int(description["n"])
    if not 0 < num_actions <= MAX_OBSERVATION_SIZE:
        raise ValueError(f"it has {num_actions:.3g} actions")
    return num_actions

"""Reading Stable-Baselines3's model files without running what is in them.

Such a file (`model.zip`) holds the weights, and a JSON document with all else that the model
consists of. What JSON cannot express is in there twice: pickled, which may run any code when read,
and as a description. `read_policy` rebuilds the policy from the descriptions, and reads the weights
with `torch.load(weights_only=True)`.
"""

import ast
import importlib
import json
import re
import zipfile
from pathlib import Path
from pickle import PickleError
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.save_util import json_to_data, load_from_zip_file
from torch import nn

PARTS = ("policy_class", "policy_kwargs", "observation_space", "action_space")
# Packages whose networks may be built because a file names them.
KNOWN_PACKAGES = ("sb3_contrib", "stable_baselines3", "torch")
# Arguments of policies that matter in training only.
ONLY_FOR_TRAINING = ("optimizer_class", "optimizer_kwargs", "device", "use_sde")


def read_policy(path: str | Path, *, trust: bool = False, device: str = "cpu") -> BasePolicy:
    """Return the policy of a model that was saved by Stable-Baselines3 or sb3-contrib.

    Args:
        path: the file; `.zip` may be left out.
        trust: unpickle the policy's class, arguments and spaces, as SB3's own `load` does with
            them. Needed for policies and networks that are not SB3's own. The file can then run
            any code: only for files whose makers you trust.
        device: where the network goes, for example `"cuda"`.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is no model file, or if it cannot be read without unpickling.
    """
    path = _existing(Path(path))
    try:
        with zipfile.ZipFile(path) as archive:
            data = json.loads(archive.read("data"))
        if not isinstance(data, dict):
            raise TypeError(f"expected an object, got {data!r:.40}")
        parts = {name: data[name] for name in PARTS}
        weights: Any = load_from_zip_file(path, load_data=False, device=device)[1]["policy"]
    except (
        zipfile.BadZipFile,
        PickleError,
        KeyError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        raise ValueError(f"{path} is no model saved by Stable-Baselines3: {error}") from None
    try:
        made = json_to_data(json.dumps(parts)) if trust else _described(parts)
        policy = _build(**made).to(device)
        policy.load_state_dict(weights)
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
        hint = "" if trust else "; if you trust its maker, trust=True unpickles the rest of it"
        raise ValueError(f"cannot rebuild the policy in {path}: {error}{hint}") from None
    return policy


def _existing(path: Path) -> Path:
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
    kwargs = {key: value for key, value in policy_kwargs.items() if key not in ONLY_FOR_TRAINING}
    arguments: list[Any] = [observation_space, action_space]
    if not policy_class.__module__.startswith("sb3_contrib.ars"):  # the one without an optimizer
        arguments.append(lambda remaining: 0.0)  # a learning rate
    policy: BasePolicy = policy_class(*arguments, **kwargs)
    return policy


def _described(parts: dict[str, Any]) -> dict[str, Any]:
    """Make the parts from their descriptions.

    Raises:
        ValueError: if one of them is not SB3's own.
    """
    return {
        "policy_class": _policy_class(parts["policy_class"]),
        "policy_kwargs": {
            key: _network(value) if isinstance(value, str) else value
            for key, value in parts["policy_kwargs"].items()
            if key not in (":type:", ":serialized:", *ONLY_FOR_TRAINING)
        },
        "observation_space": _observation_space(parts["observation_space"]),
        "action_space": spaces.Discrete(_integer(parts["action_space"], "n")),
    }


def _policy_class(description: dict[str, Any]) -> type[nn.Module]:
    # The class's own name is not in its description, but those of its methods are.
    method = re.match(r"<function (\w+)\.__init__ ", str(description.get("__init__")))
    if method is None:
        raise ValueError(f"its class, in {description.get('__module__')}, is not known")
    return _network(f"<class '{description.get('__module__')}.{method[1]}'>")


def _network(name: str) -> type[nn.Module]:
    """Return the class that is written `"<class 'torch.nn.modules.activation.ReLU'>"`."""
    match = re.fullmatch(r"<class '([\w.]+)\.(\w+)'>", name)
    if match is None or match[1].partition(".")[0] not in KNOWN_PACKAGES:
        raise ValueError(f"{name} is not from {', '.join(KNOWN_PACKAGES)}")
    try:
        found = getattr(importlib.import_module(match[1]), match[2])
    except (ImportError, AttributeError):
        raise ValueError(f"{name} does not exist in what is installed") from None
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        raise ValueError(f"{name} is no network")
    return found


def _observation_space(description: dict[str, Any]) -> spaces.Space[Any]:
    """Return planes, or a dictionary of them and a mask; their bounds do not matter here."""
    kind = str(description.get(":type:"))
    if kind.endswith(".Box'>"):
        return _box(tuple(description["_shape"]), description["dtype"])
    # "{'action_mask': Box(0, 1, (9,), int8), 'observation': Box(0, 1, (2, 3, 3), int8)}"
    boxes = re.findall(
        r"'(\w+)': Box\([^()]*, (\([\d, ]*\)), (\w+)\)", str(description.get("spaces"))
    )
    if not kind.endswith(".Dict'>") or not boxes:
        raise ValueError(f"its observation space is {kind}, not a Box or a Dict of Boxes")
    return spaces.Dict({key: _box(ast.literal_eval(shape), dtype) for key, shape, dtype in boxes})


def _box(shape: tuple[int, ...], dtype: str) -> spaces.Box:
    scalar = np.dtype(dtype).type
    return spaces.Box(0, 1, shape, scalar)


def _integer(description: dict[str, Any], key: str) -> int:
    if key not in description:
        raise ValueError(f"its action space is {description.get(':type:')}, not Discrete")
    return int(description[key])

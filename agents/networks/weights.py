"""Network files: weights and metadata in one safetensors file, read without pickles."""

import hashlib
import json
import os
import warnings
from collections.abc import Callable
from importlib import resources
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.targets import untrusted_names
from ludoteca.files import open_regular_file, parse_json, read_bytes, write_atomically

Network = TypeVar("Network", bound=nn.Module)
SUFFIX = ".safetensors"
MAX_HEADER_BYTES, MAX_BYTES = 16 << 20, 4 << 30
SIZES = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1,
    "BOOL": 1,
}  # bytes per number, by dtype  # fmt: skip
KEY = "ludoteca"  # key of our JSON document in the metadata of a safetensors file


def save_weights(path: str | Path, weights: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    """Write weights and their metadata to a file, atomically.

    Args:
        path: the file.
        weights: tensors by name.
        metadata: metadata, as JSON content.
    """
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
    write_atomically(path, save(tensors, {KEY: json.dumps(metadata)}))


def load_weights(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the weights and the metadata of a network file.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is not a network file.
    """
    metadata = read_header(path).metadata
    try:
        weights = load(read_bytes(path, MAX_BYTES))
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} holds no network of this package: {error}") from None
    for name, tensor in weights.items():
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{path} is damaged: its weights {name} are not all finite")
    return weights, metadata


class Header(NamedTuple):
    """Header of a network file.

    Attributes:
        shapes: shapes of the tensors by name.
        metadata: our JSON document, see `save_weights`.
    """

    shapes: dict[str, tuple[int, ...]]
    metadata: dict[str, Any]


def read_header(path: str | Path) -> Header:
    """Return the header of a network file; weights are not read, only their size is validated.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is not a network file, or its length does not match its weights.
    """
    # A safetensors file is the length of the header in 8 bytes, the header as JSON, and the
    # weights.
    with open_regular_file(path) as file:
        length = int.from_bytes(file.read(8), "little")
        text = file.read(length) if length <= MAX_HEADER_BYTES else b""
        weight_bytes = os.fstat(file.fileno()).st_size - 8 - length
    try:
        if len(text) != length:
            raise ValueError(
                f"its header cannot have {length} bytes: it is longer than the file or than "
                f"{MAX_HEADER_BYTES} bytes"
            )
        header = parse_json(text)
        metadata = parse_json(header.pop("__metadata__")[KEY])
        if not isinstance(metadata, dict):
            raise TypeError(f"expected an object, got {metadata!r:.40}")
        shapes = {name: _shape(tensor) for name, tensor in header.items()}
        size = sum(prod(shape) * SIZES[header[name]["dtype"]] for name, shape in shapes.items())
        if size != weight_bytes:
            raise ValueError(f"its weights need {size:,} bytes, but the file has {weight_bytes:,}")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} holds no network of this package: {error}") from None
    return Header(shapes, metadata)


def _shape(tensor: Any) -> tuple[int, ...]:
    """Return the shape of a tensor from its entry in the header."""
    shape = tensor["shape"]
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"{shape!r:.40} is not a shape")
    return tuple(shape)


def load_network(
    game: Game, file: Path, make: Callable[[dict[str, Any]], Network], kind: str
) -> tuple[Network, dict[str, Any]]:
    """Return the network in a file and the file's metadata.

    The shapes of the weights are compared with those of the configuration before any memory is
    allocated. A network without any update gives a warning.

    Args:
        game: the game to play.
        file: the file.
        make: function from the file's configuration to a network.
        kind: expected kind of network, such as `"Q network"`.

    Raises:
        ValueError: if the file contains no such network, or one that does not fit the game.
    """
    shapes, metadata = read_header(file)
    try:
        with torch.device("meta"):
            meta_network = make(metadata["network"])
        with untrusted_names(file):  # the file's game must not import a module
            trained_game = make_game(metadata["game"])
    except (KeyError, TypeError, RuntimeError) as error:
        raise ValueError(f"{file} holds no {kind}: {error!r}") from None
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    if trained_game.name != game.name:
        raise ValueError(f"{file} plays {trained_game.name}, not {game.name}")
    needed = {name: tuple(tensor.shape) for name, tensor in meta_network.state_dict().items()}
    if needed != shapes:
        if trained_game.spec != game.spec:
            raise ValueError(
                f"{file} is made for {trained_game.spec} only, and does not fit {game.spec}"
            )
        raise ValueError(f"{file} is damaged: {_difference(shapes, needed)}")
    weights, _ = load_weights(file)
    network = make(metadata["network"])
    network.load_state_dict(weights)
    if is_untrained(metadata):
        warnings.warn(
            f"{file} contains a network without any training (0 updates): its weights are random",
            stacklevel=2,
        )
    return network, metadata


def _difference(shapes: dict[str, tuple[int, ...]], needed: dict[str, tuple[int, ...]]) -> str:
    """Describe the first difference between the shapes of the weights and the needed ones."""
    name = next(name for name in sorted({*shapes, *needed}) if shapes.get(name) != needed.get(name))
    return (
        f"its weights {name:.80} must have the shape {needed.get(name)}, by its configuration, but "
        f"have {shapes.get(name)}"
    )


def is_untrained(metadata: dict[str, Any]) -> bool:
    """Return whether a network still has its initial random weights.

    A network of no updates that started from the weights of another (`start_from`) is trained.

    Args:
        metadata: metadata of the file; its entry `"card"`, if any, has the `"config"` of the
            training.
    """
    if metadata.get("updates") != 0 or metadata.get("start_from"):
        return False
    card = metadata.get("card")
    config = card.get("config") if isinstance(card, dict) else None
    return not (isinstance(config, dict) and config.get("start_from"))


def find_weights(name: str | Path, kind: str) -> Path:
    """Find the file of a network, by its path or the name of a shipped network.

    In the folder of a training run it is the selected network (`best`) if there is one, else the
    last (`network`).

    Args:
        name: a file, a folder of a training run, or a name such as `"hex5"`.
        kind: name of the agent, and of the folder of its shipped networks.

    Raises:
        FileNotFoundError: if there is none; the message lists the shipped networks.
    """
    path = Path(name)
    for candidate in (path, path / f"best{SUFFIX}", path / f"network{SUFFIX}"):
        if candidate.is_file():
            return candidate
    shipped = shipped_weights(kind)
    if str(name) in shipped:
        return shipped[str(name)]
    raise FileNotFoundError(
        f"there is no network {str(name)!r}: it is neither a file, nor the folder of a training "
        f"run, nor a shipped network: {', '.join(shipped) or 'there are none'}"
    )


def shipped_weights(kind: str) -> dict[str, Path]:
    """Return the files of the shipped networks by name.

    Args:
        kind: name of the agent, and of the folder of its shipped networks.
    """
    folder = Path(str(resources.files("ludoteca.agents"))) / "weights" / kind
    return {path.name.removesuffix(SUFFIX): path for path in sorted(folder.glob(f"*{SUFFIX}"))}


def fingerprint(file: Path) -> str:
    """Return the first 12 hexadecimal digits of a file's SHA-256."""
    return hashlib.sha256(read_bytes(file, MAX_BYTES)).hexdigest()[:12]

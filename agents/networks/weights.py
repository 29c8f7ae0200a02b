"""Networks in files: weights and what they are, in one safetensors file, read without pickles."""

import hashlib
import json
import warnings
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from ludoteca.envs.files import write_whole
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game

Network = TypeVar("Network", bound=nn.Module)
SUFFIX = ".safetensors"
KEY = "ludoteca"  # of our JSON document among the file's metadata


def save_weights(path: str | Path, weights: dict[str, Tensor], about: dict[str, Any]) -> None:
    """Write weights, and all there is to know about them, to a file: whole or not at all.

    Args:
        path: the file.
        weights: tensors by name.
        about: anything that JSON can hold.
    """
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
    write_whole(path, save(plain, {KEY: json.dumps(about)}))


def load_weights(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the weights and what was written about them.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is no such file.
    """
    content = Path(path).read_bytes()
    try:
        size = int.from_bytes(content[:8], "little")  # of the header, which safetensors checks
        weights = load(content)
        about = json.loads(json.loads(content[8 : 8 + size])["__metadata__"][KEY])
        if not isinstance(about, dict):
            raise TypeError(f"expected an object, got {about!r:.40}")
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} holds no network of this package: {error}") from None
    return weights, about


def load_network(
    game: Game, file: Path, make: Callable[[dict[str, Any]], Network], kind: str
) -> tuple[Network, dict[str, Any]]:
    """Return the network in a file, for a game that it can play, and what is told about it.

    Args:
        game: the game it is to play.
        file: the file.
        make: builds a network from what the file tells about it.
        kind: what the file is to hold, such as `"Q network"`.

    A network without any update gives a warning.

    Raises:
        ValueError: if the file holds no such network, or one that does not fit the game.
    """
    weights, about = load_weights(file)
    try:
        network = make(about["network"])
        trained = make_game(about["game"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"{file} holds no {kind}: {error!r}") from None
    if trained.name != game.name:
        raise ValueError(f"{file} plays {trained.name}, not {game.name}")
    try:
        network.load_state_dict(weights)
    except RuntimeError:
        raise ValueError(
            f"{file} is made for {trained.spec} only, and does not fit {game.spec}"
        ) from None
    if is_untrained(about):
        warnings.warn(
            f"{file} holds a network that has not learned anything yet (0 updates): it plays as "
            "its random weights do",
            stacklevel=2,
        )
    return network, about


def is_untrained(about: dict[str, Any]) -> bool:
    """Return whether a network has the random weights that its training began with.

    Args:
        about: what the file says about the network.
    """
    if about.get("updates") != 0 or about.get("start_from"):
        return False
    card = about.get("card")
    config = card.get("config") if isinstance(card, dict) else None
    return not (isinstance(config, dict) and config.get("start_from"))


def find_weights(name: str | Path, kind: str) -> Path:
    """Return the file of a network: a path, or the name of one that comes with the package.

    Args:
        name: a file, a folder of a training run, or a name such as `"hex5"`.
        kind: the agent's name, and of the folder with those that come with the package.

    Raises:
        FileNotFoundError: if there is none, listing those that come with the package.
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
        f"run, nor one of those that come with the package: {', '.join(shipped) or 'none'}"
    )


def shipped_weights(kind: str) -> dict[str, Path]:
    """Return the networks that come with the package, by name."""
    folder = Path(str(resources.files("ludoteca.agents"))) / "weights" / kind
    return {path.name.removesuffix(SUFFIX): path for path in sorted(folder.glob(f"*{SUFFIX}"))}


def fingerprint(file: Path) -> str:
    """Return a text that tells a file from any other content: 12 digits of its SHA-256."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]

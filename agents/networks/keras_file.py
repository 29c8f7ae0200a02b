"""Value networks in Keras files (`.keras`): export, and import for the agent `uctnet`.

Sancho Cebrero and Fernández Limárquez, a report on Othello (University of Seville, 2019), section
III-D, made their network in Keras. A file is read in Keras' safe mode, after its configuration was
checked: only layers of that network, which hold no code, are accepted.
"""

import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ludoteca.agents.networks.export_source import find_export_source
from ludoteca.agents.networks.value_network import (
    ValueConfig,
    ValueNetwork,
    ValueView,
    View,
    load_value_network,
    make_value_network,
)
from ludoteca.envs.game import Game
from ludoteca.files import (
    archive_errors_as_value_errors,
    check_archive,
    parse_json,
    write_atomically,
)

SUFFIX = ".keras"
MAX_BYTES = 1 << 30  # maximum size of an unpacked file
# Name of the model's input, by `ValueConfig.view`. Inputs with other names are those of `second`.
INPUTS: dict[View, str] = {"second": "planes_of_second", "mover": "planes_of_mover"}
CONFIG, WEIGHTS = "config.json", "model.weights.h5"  # members of a file
# Classes of layers that a file may have; of `keras.layers`.
LAYERS = ("InputLayer", "Rescaling", "Conv2D", "Flatten", "Dropout", "Dense")
MODULES = ("keras.initializers", "keras.regularizers", "keras.constraints")  # all their classes
# Settings that convolutions must have.
CONV2D = {
    "kernel_size": [3, 3], "strides": [1, 1], "dilation_rate": [1, 1], "groups": 1,
    "padding": "same", "activation": "relu", "use_bias": True, "data_format": "channels_last",
}  # fmt: skip


def export_keras(agent: str, out: str | Path, game: str | Game | None = None) -> Path:
    """Write the value network of an agent as a Keras file; return its path.

    The model's input is the observations of `ValueView` with the planes last, `[B, rows, columns,
    planes]`, its output values in (-1, 1), `[B, 1]`.

    Args:
        agent: spec string of an agent `uctnet`, such as `"uctnet:runs/value"`.
        out: path of the file, ending in `.keras`.
        game: the game, by default the one that the network was trained for.

    Raises:
        ValueError: if the agent has no value network, or it does not fit the game.
        FileNotFoundError: if there is no such network.
        ImportError: if Keras is missing.
    """
    out = Path(out)
    if out.suffix != SUFFIX:
        raise ValueError(f"a Keras file must end in {SUFFIX}, got {out}")
    _, file, loaded_game = find_export_source(agent, ("uctnet",), "Keras", game)
    network, _ = load_value_network(loaded_game, file)
    model = make_keras_model(network, loaded_game)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / out.name)
        write_atomically(out, (Path(folder) / out.name).read_bytes())
    return out


def make_keras_model(network: ValueNetwork, game: Game) -> Any:
    """Return a network of a game as a Keras model with the same weights."""
    layers, config = import_keras().layers, network.config
    planes, rows, columns = ValueView(game, config.view).shape
    model = import_keras().Sequential(
        [
            layers.Input((rows, columns, planes), name=INPUTS[config.view]),
            *([layers.Rescaling(1 / game.observation_high)] * (game.observation_high != 1)),
            *(
                layers.Conv2D(filters, 3, padding="same", activation="relu")
                for filters in config.filters
            ),
            layers.Flatten(),
            layers.Dropout(config.dropout),
            layers.Dense(config.hidden, activation="relu"),
            layers.Dense(1, activation="tanh"),
        ],
        name=game.name,
    )
    model.set_weights(to_keras(network, (rows, columns)))
    return model


def load_keras_network(game: Game, file: Path) -> tuple[ValueNetwork, dict[str, Any]]:
    """Return the network in a Keras file, and metadata with its file.

    Raises:
        ValueError: if the file contains no such network, or one that does not fit the game.
        ImportError: if Keras is missing.
    """
    keras, problem = import_keras(), f"{file} holds no value network"
    with archive_errors_as_value_errors(problem), zipfile.ZipFile(file) as archive:
        check_archive(archive, file, MAX_BYTES, max_files=100)
        content = parse_json(archive.read(CONFIG))
        size = archive.getinfo(WEIGHTS).file_size
    try:
        config, shape = read_config(content, game)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{problem}: {error!r:.400}") from None
    expected = ValueView(game, config.view).shape
    if shape != (*expected[1:], expected[0]):
        raise ValueError(
            f"{file} has an input of shape {shape}, which does not fit {game.spec}: expected rows, "
            f"columns and planes {(*expected[1:], expected[0])}"
        )
    with torch.device("meta"):
        weights = make_value_network(config, game).parameters()
        needed = 4 * sum(weight.numel() for weight in weights)  # bytes
    if needed > size:
        raise ValueError(f"{problem}: its weights need {needed:,} bytes, and there are {size:,}")
    with archive_errors_as_value_errors(problem):
        model = keras.saving.load_model(file, compile=False, safe_mode=True)
        arrays = [np.asarray(array, np.float32) for array in model.get_weights()]
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError(f"{file} is damaged: its weights are not all finite")
    network = make_value_network(config, game)
    network.load_state_dict(from_keras(arrays, network, expected[1:]))
    return network, {"game": game.spec, "network": config.as_dict(), "file": str(file)}


def read_config(content: Any, game: Game) -> tuple[ValueConfig, tuple[int, ...]]:
    """Return the architecture in the configuration of a Keras model, and its input's shape.

    Raises:
        ValueError: if a layer is not one of the network, or not in its place.
        AttributeError, IndexError, KeyError, TypeError: if it is not a configuration.
    """
    # The configuration of the training, which is not loaded, may have any classes.
    check_classes({key: value for key, value in content.items() if key != "compile_config"})
    if content["class_name"] != "Sequential":
        raise ValueError(f"expected a Sequential model, got {content['class_name']!r:.40}")
    layers = [(layer["class_name"], layer["config"]) for layer in content["config"]["layers"]]
    kinds = [kind for kind, _ in layers if kind not in ("Rescaling", "Dropout")]
    convolutions = [config for kind, config in layers if kind == "Conv2D"]
    if kinds != ["InputLayer", *["Conv2D"] * len(convolutions), "Flatten", "Dense", "Dense"]:
        raise ValueError(
            f"expected convolutions, a flattening and two dense layers, got {kinds!r:.200}"
        )
    for config in convolutions:
        differing = {key: config.get(key) for key, value in CONV2D.items() if config[key] != value}
        if differing:
            raise ValueError(f"expected convolutions with {CONV2D}, got {differing!r:.200}")
    hidden, last = (config for kind, config in layers if kind == "Dense")
    if (hidden["activation"], last["activation"], last["units"]) != ("relu", "tanh", 1):
        raise ValueError("expected a hidden layer with relu, and one output with tanh")
    scales = [(config["scale"], config["offset"]) for kind, config in layers if kind == "Rescaling"]
    if scales != [(1 / game.observation_high, 0.0)] * (game.observation_high != 1):
        raise ValueError(f"expected a scale of 1/{game.observation_high}, got {scales!r:.100}")
    first = layers[0][1]
    view: View = "mover" if first["name"] == INPUTS["mover"] else "second"
    dropout = [config["rate"] for kind, config in layers if kind == "Dropout"]
    filters = tuple(config["filters"] for config in convolutions)
    return (
        ValueConfig(filters, hidden["units"], dropout[-1] if dropout else 0.0, view),
        tuple(first["batch_shape"][1:]),
    )


def check_classes(content: Any) -> None:
    """Check that a configuration names only classes of Keras that hold no code.

    Raises:
        ValueError: if it names another class.
    """
    if isinstance(content, list):
        for item in content:
            check_classes(item)
    if not isinstance(content, dict):
        return
    if "class_name" in content or "module" in content:
        name, module = content["class_name"], content["module"]
        known = module in MODULES or (module, name) in {
            ("keras", "Sequential"), ("keras", "DTypePolicy"),
            *(("keras.layers", layer) for layer in LAYERS),
        }  # fmt: skip
        if not known or content.get("registered_name") not in (None, name):
            raise ValueError(f"it has {module!r:.40} {name!r:.40}; layers can be {LAYERS}")
    for item in content.values():
        check_classes(item)


def to_keras(network: ValueNetwork, board: tuple[int, int]) -> list[NDArray[np.float32]]:
    """Return the weights of a network in the order and the layout of Keras.

    Keras has kernels `[rows, columns, in, out]`, matrices `[in, out]`, and flattens boards with the
    planes last.

    Args:
        network: the network.
        board: rows and columns of the board.
    """
    weights = [tensor.detach().cpu().numpy() for tensor in network.state_dict().values()]
    first_dense = 2 * len(network.config.filters)  # index of the matrix after the flattening
    planes = weights[first_dense].shape[1] // (board[0] * board[1])
    weights[first_dense] = weights[first_dense].reshape(-1, planes, *board).transpose(0, 2, 3, 1)
    weights[first_dense] = weights[first_dense].reshape(len(weights[first_dense]), -1)
    axes = {4: (2, 3, 1, 0), 2: (1, 0), 1: (0,)}  # order of axes by number of dimensions
    return [weight.transpose(axes[weight.ndim]) for weight in weights]


def from_keras(
    weights: list[NDArray[np.float32]], network: ValueNetwork, board: tuple[int, int]
) -> dict[str, torch.Tensor]:
    """Return weights of Keras as those of a network, by name; see `to_keras`."""
    axes = {4: (3, 2, 0, 1), 2: (1, 0), 1: (0,)}  # order of axes by number of dimensions
    arrays = [weight.transpose(axes[weight.ndim]) for weight in weights]
    first_dense = 2 * len(network.config.filters)
    planes = arrays[first_dense].shape[1] // (board[0] * board[1])
    arrays[first_dense] = arrays[first_dense].reshape(-1, *board, planes).transpose(0, 3, 1, 2)
    arrays[first_dense] = arrays[first_dense].reshape(len(arrays[first_dense]), -1)
    names = network.state_dict().keys()
    return {
        name: torch.from_numpy(np.ascontiguousarray(array))
        for name, array in zip(names, arrays, strict=True)
    }


def import_keras() -> Any:
    """Return Keras, with PyTorch as its backend unless another one is chosen.

    Raises:
        ImportError: if it is missing, with the extra to install.
    """
    os.environ.setdefault("KERAS_BACKEND", "torch")
    try:
        import keras
    except ImportError as error:
        raise ImportError('Keras files need Keras: pip install "ludoteca[keras]"') from error
    return keras

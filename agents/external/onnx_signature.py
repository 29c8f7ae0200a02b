"""Signature of an ONNX model: inputs of planes and masks, and output of action scores."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ludoteca.agents.games.registry import find_knowledge
from ludoteca.agents.networks.encoder import SequentialEncoder
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.envs.game import Game

# NumPy types by ONNX Runtime's names.
TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int8)": np.int8,
    "tensor(uint8)": np.uint8,
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
    "tensor(bool)": np.bool_,
}
# Names of outputs that are taken for the scores if several outputs have their shape.
SCORE_NAMES = ("logits", "q_values", "q", "policy", "scores", "probabilities")
VIEWS = ("environment", "network", "hand_crafted")  # values of `Signature.view`


@dataclass(frozen=True)
class Signature:
    """Inputs and output of a model.

    Attributes:
        planes: name of the input of planes.
        mask: name of the input of masks, or None.
        scores: name of the output with one score per action.
        shape: shape of the planes of one position, as the model expects it.
        view: `"environment"`: the planes of environments; `"network"`: those of
            `ludoteca.agents.networks.encoder.SequentialEncoder`; `"hand_crafted"`: those of
            `ludoteca.agents.networks.seats.SeatEncoder` with that view.
        channels_last: whether planes are `(rows, columns, planes)`.
        dtype: type of the planes.
        mask_dtype: type of the masks.
    """

    planes: str
    mask: str | None
    scores: str
    shape: tuple[int, ...]
    view: str
    channels_last: bool
    dtype: Any
    mask_dtype: Any


def find_signature(
    session: Any, game: Game, path: Path, view: str, channels_last: bool | None
) -> Signature:
    """Return the signature of a model for a game.

    Args:
        session: the model.
        game: the game.
        path: file of the model, for error messages.
        view: see `ludoteca.agents.external.onnx.ONNXAgent`.
        channels_last: see `ludoteca.agents.external.onnx.ONNXAgent`.

    Raises:
        ValueError: if no input fits the game's planes, or no output has one score per action.
    """
    inputs, outputs = session.get_inputs(), session.get_outputs()
    actions = game.num_actions
    described = ", ".join(
        f"{tensor.name} {tensor.type} {tensor.shape}" for tensor in [*inputs, *outputs]
    )
    masks = [tensor for tensor in inputs if "mask" in tensor.name.lower()]
    planes = [tensor for tensor in inputs if tensor not in masks]
    description = f"{path} has {described}"
    if len(planes) != 1 or len(masks) > 1:
        raise ValueError(
            f"{description}; expected one input of planes, and at most one of masks, with 'mask' "
            "in its name"
        )
    for tensor in inputs:
        if tensor.type not in TYPES:
            raise ValueError(
                f"{description}; its input {tensor.name} must be one of {', '.join(TYPES)}"
            )
    for tensor in masks:
        if not _fits(tensor.shape, (actions,)):
            raise ValueError(f"{description}; the masks of {game.spec} are [B, {actions}]")
    input_format = _find_view(planes[0].shape, game, view, channels_last)
    if input_format is None:
        raise ValueError(
            f"{description}; the planes of {game.spec} are {list(game.observation_shape)}, or that "
            f"with the planes last or flat{_other_shapes(game)}"
        )
    scores = [tensor for tensor in outputs if _fits(tensor.shape, (actions,))]
    named = [tensor for tensor in scores if tensor.name.lower() in SCORE_NAMES]
    if len(named or scores) != 1:
        raise ValueError(
            f"{description}; expected one output of shape [B, {actions}], or one of them called "
            f"{', '.join(SCORE_NAMES)}"
        )
    return Signature(
        planes=planes[0].name,
        mask=masks[0].name if masks else None,
        scores=(named or scores)[0].name,
        shape=input_format[0],
        view=input_format[1],
        channels_last=input_format[2],
        dtype=TYPES[planes[0].type],
        mask_dtype=TYPES[masks[0].type] if masks else None,
    )


def _find_view(
    shape: list[Any], game: Game, view: str, channels_last: bool | None
) -> tuple[tuple[int, ...], str, bool] | None:
    """Return shape, view and `channels_last` of an input by its shape; None if none fits.

    `view` and `channels_last` are those of `ONNXAgent`.
    """
    for name, observation_shape in _views(game).items():
        if view not in ("auto", name):
            continue
        channels, rows, columns = observation_shape
        for last in (False, True) if channels_last is None else (channels_last,):
            board_shape = (rows, columns, channels) if last else observation_shape
            for expected in (board_shape, (channels * rows * columns,)):
                if _fits(shape, expected):
                    return expected, name, last
    return None


def find_encoder(game: Game, view: str) -> SequentialEncoder | SeatEncoder | None:
    """Return the encoder of a view of `VIEWS`; None for the observations of environments."""
    if view == "environment":
        return None
    return SequentialEncoder(game) if view == "network" else SeatEncoder(game, "hand_crafted")


def _views(game: Game) -> dict[str, tuple[int, int, int]]:
    """Return the shapes of the planes by view."""
    views = {"environment": game.observation_shape}
    if not game.simultaneous:
        views["network"] = SequentialEncoder(game).shape
    elif find_knowledge(game).features:
        views["hand_crafted"] = SeatEncoder(game, "hand_crafted").shape
    return views


def _other_shapes(game: Game) -> str:
    """Return the shapes of the views other than `environment`, for error messages."""
    return "".join(
        f", or for view={view} {list(shape)}"
        for view, shape in _views(game).items()
        if view != "environment"
    )


def _fits(shape: list[Any], expected: tuple[int, ...]) -> bool:
    """Return whether an input shape, with a variable batch axis, allows the shape `expected`."""
    # Sizes of variable axes are names or None.
    has_free_batch = len(shape) > 0 and not isinstance(shape[0], int)
    pairs = zip(shape[1:], expected, strict=False)
    matches = all(not isinstance(size, int) or size == wanted for size, wanted in pairs)
    return len(shape) == 1 + len(expected) and has_free_batch and matches

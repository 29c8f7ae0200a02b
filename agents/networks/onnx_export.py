"""ONNX export of networks, for other programs and for the agent `onnx`."""

import io
import json
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ludoteca.agents.alphazero import load_pv_network
from ludoteca.agents.dqn import load_q_network
from ludoteca.agents.networks.ac_network import load_ac_network
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.export_source import find_export_source
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.envs.game import Game
from ludoteca.files import write_atomically

# Function that loads the network, by name of the agent.
LOADERS: dict[str, Any] = {
    "dqn": load_q_network,
    "az": load_pv_network,
    "ac": load_ac_network,
    "cnn": load_ac_network,
}
# Key of our JSON document in the file's metadata, and its "format"; the same as in
# `ludoteca.agents.external.onnx`.
KEY, FORMAT = "ludoteca", "ludoteca-onnx"


class ExportedNetwork(nn.Module):
    """Network with unscaled planes as input, optionally channels last, and one output per head."""

    def __init__(
        self,
        network: nn.Module,
        scale: float,
        num_actions: int,
        with_value: bool,
        channels_last: bool,
    ):
        """Wrap a network.

        Args:
            network: the network.
            scale: factor by which its planes are multiplied.
            num_actions: number of its logits or Q values.
            with_value: whether its last output is a value.
            channels_last: whether the planes are the last axis of the input.
        """
        super().__init__()
        self.network, self.scale = network, scale
        self.num_actions, self.with_value = num_actions, with_value
        self.channels_last = channels_last

    def forward(self, planes: Tensor) -> Any:
        """Return Q values or logits, and values if there is a value head."""
        if self.channels_last:
            planes = planes.permute(0, 3, 1, 2)
        outputs = self.network(planes * self.scale)
        if not self.with_value:
            return outputs
        return outputs[:, : self.num_actions], outputs[:, self.num_actions]


def export_onnx(
    agent: str, out: str | Path, game: str | Game | None = None, channels_last: bool = False
) -> Path:
    """Write the network of an agent as an ONNX file; return its path.

    The input is `planes`, float32 `[B, planes, rows, columns]`: the observation that `Encoder`
    (dqn, az) or `SeatEncoder` (ac, cnn) returns. The outputs are `q_values` `[B, actions]` (dqn),
    or `logits` `[B, actions]` and, if the network has a value head, `value` `[B]`. An agent
    `onnx:FILE` plays the move of the highest Q value or logit. The file has no search, not even
    that for winning moves of `az:NETWORK,simulations=0`.

    Args:
        agent: spec string of an agent with a Q network, a policy-value network, or a policy
            network, such as `"az:connect4"`.
        out: path of the file, ending in `.onnx`.
        game: the game, by default the one that the network was trained for.
        channels_last: whether the input is `[B, rows, columns, planes]`, as in Keras.

    Raises:
        ValueError: if the agent cannot be exported, or its network does not fit the game.
        FileNotFoundError: if there is no such network.
        ImportError: if the packages onnx and onnxscript are missing.
    """
    out = Path(out)
    if out.suffix != ".onnx":
        raise ValueError(f"an ONNX file must end in .onnx, got {out}")
    name, file, loaded_game = find_export_source(agent, LOADERS, "ONNX", game)
    network, _ = LOADERS[name](loaded_game, file)
    encoder, view, heads = _describe(name, network, loaded_game)
    module = ExportedNetwork(
        network, encoder.scale, loaded_game.num_actions, "value" in heads, channels_last
    ).eval()
    planes, rows, columns = encoder.shape
    shape = (rows, columns, planes) if channels_last else encoder.shape
    metadata = {
        "format": FORMAT,
        "game": loaded_game.spec,
        "view": view,
        "channels_last": channels_last,
        "agent": agent,
    }
    write_atomically(out, _onnx_bytes(module, shape, heads, json.dumps(metadata)))
    return out


def _describe(name: str, network: Any, game: Game) -> tuple[Any, str, list[str]]:
    """Return the encoder of a network, its view as the agent `onnx` names it, and its heads."""
    if name in ("dqn", "az"):
        return Encoder(game), "network", ["q_values"] if name == "dqn" else ["logits", "value"]
    encoder = SeatEncoder(game, network.config.view)
    plain = "environment" if game.simultaneous else "network"
    view = plain if encoder.view == "plain" else encoder.view
    return encoder, view, ["logits", "value"] if network.config.value else ["logits"]


def _onnx_bytes(
    module: nn.Module, shape: tuple[int, int, int], outputs: list[str], metadata: str
) -> bytes:
    """Return a network as the content of an ONNX file.

    Args:
        module: the network.
        shape: shape of one observation.
        outputs: names of the outputs.
        metadata: the JSON document under `KEY`.
    """
    try:
        import onnx
        import onnxscript  # noqa: F401 - torch.onnx needs it
    except ImportError as error:
        raise ImportError(
            'the export to ONNX needs onnx and onnxscript: pip install "ludoteca[onnx]"'
        ) from error
    example = torch.zeros(2, *shape)  # PyTorch treats batch sizes 0 and 1 as constants
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # PyTorch's internals warn
        module(example)  # index tensors that are cached must be real ones, not those of the export
        program = torch.onnx.export(
            module,
            (example,),
            dynamo=True,
            verbose=False,
            input_names=["planes"],
            output_names=outputs,
            dynamic_shapes={"planes": {0: torch.export.Dim("batch", min=1, max=1 << 20)}},
        )
    assert program is not None
    model: Any = program.model_proto
    entry = model.metadata_props.add()
    entry.key, entry.value = KEY, metadata
    onnx.checker.check_model(model)
    content = io.BytesIO()
    onnx.save_model(model, content)
    return content.getvalue()

"""The command `ludoteca export`."""

from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg


def export(
    format: Annotated[Positional[Literal["geese", "onnx", "keras"]], arg(help_behavior_hint="")],
    agent: Annotated[str, arg(metavar="AGENT")],
    out: Annotated[Path, arg(metavar="FILE")],
    precision: Literal["float16", "float32"] = "float32",
    game: str | None = None,
    channels_last: bool = False,
) -> None:
    """Export an agent as a file for other programs: a Kaggle submission, an ONNX or a Keras file.

    Args:
        format: geese: a submission to Kaggle's Hungry Geese that needs only NumPy; onnx: the
            network of an agent, for any ONNX runtime and for the agent onnx; keras: the value
            network of an agent uctnet, for Keras 3 and for the agent uctnet.
        agent: the agent, such as greedy, or az:connect4.
        out: the file to write, ending in .py, .onnx or .keras.
        precision: number format of the weights in a submission.
        game: game of a file of ONNX or Keras, such as hex:board_size=7; by default the game that
            the network was trained for.
        channels_last: input of an ONNX file with the planes last, as in Keras.
    """
    if format != "onnx" and channels_last:
        raise ValueError("--channels-last is for ONNX files; Keras files always have it")
    if format != "geese" and precision != "float32":
        kind = "an ONNX" if format == "onnx" else "a Keras"
        raise ValueError(f"{kind} file holds float32, not {precision}")
    if format == "onnx":
        from ludoteca.agents.networks.onnx_export import export_onnx

        size = export_onnx(agent, out, game, channels_last).stat().st_size
    elif format == "keras":
        from ludoteca.agents.networks.keras_file import export_keras

        size = export_keras(agent, out, game).stat().st_size
    else:
        from ludoteca.agents.external.kaggle.export import export_agent

        if game is not None:
            raise ValueError(
                f"a submission plays Hungry Geese, not {game}: --game is for ONNX and Keras files"
            )
        size = export_agent(agent, out, precision)
    print(f"{size:,} bytes: {out}")

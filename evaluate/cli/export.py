"""The command `ludoteca export`."""

from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg


def export(
    format: Annotated[Positional[Literal["geese", "onnx"]], arg(help_behavior_hint="")],
    agent: Annotated[str, arg(metavar="AGENT")],
    out: Annotated[Path, arg(metavar="FILE")],
    precision: Literal["float16", "float32"] = "float32",
    game: str | None = None,
) -> None:
    """Export an agent as a file for other programs: a Kaggle submission, or an ONNX file.

    Args:
        format: geese: a submission to Kaggle's Hungry Geese that needs only NumPy; onnx: the
            network of an agent, for any ONNX runtime and for the agent onnx.
        agent: the agent, such as greedy, or az:connect4.
        out: the file to write, ending in .py or .onnx.
        precision: number format of the weights in a submission.
        game: game of an ONNX file, such as hex:board_size=7; by default the game that the network
            was trained for.
    """
    if format == "onnx":
        from ludoteca.agents.networks.onnx_export import export_onnx

        if precision != "float32":
            raise ValueError(f"an ONNX file holds float32, not {precision}")
        size = export_onnx(agent, out, game).stat().st_size
    else:
        from ludoteca.agents.external.kaggle.export import export_agent

        if game is not None:
            raise ValueError(f"a submission plays Hungry Geese, not {game}: --game is for ONNX")
        size = export_agent(agent, out, precision)
    print(f"{size:,} bytes: {out}")

"""The command `ludoteca export`."""

from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg


def export(
    what: Annotated[Positional[Literal["geese", "onnx"]], arg(help_behavior_hint="")],
    agent: Annotated[str, arg(metavar="AGENT")],
    out: Annotated[Path, arg(metavar="FILE")],
    precision: Literal["float16", "float32"] = "float32",
    game: str | None = None,
) -> None:
    """Write an agent as a file that plays elsewhere: a submission to Kaggle, or an ONNX file.

    Args:
        what: geese: a submission to Kaggle's Hungry Geese, which needs NumPy only; onnx: the
            network of an agent, for any program that runs ONNX files, and for the agent onnx.
        agent: the agent, such as greedy, or az:connect4.
        out: the file to write, which ends in .py or .onnx.
        precision: numbers in which the weights of a network are kept in a submission.
        game: of an ONNX file: the game, such as hex:board_size=7; by default the one that the
            network was trained for.
    """
    if what == "onnx":
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

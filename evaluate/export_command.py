"""The command `ludoteca export`."""

from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg


def export(
    what: Annotated[Positional[Literal["geese"]], arg(help_behavior_hint="")],
    agent: Annotated[str, arg(metavar="AGENT")],
    out: Annotated[Path, arg(metavar="FILE")],
    precision: Literal["float16", "float32"] = "float32",
) -> None:
    """Write an agent as a file that plays elsewhere: a submission to Kaggle that needs NumPy only.

    Args:
        what: the competition; geese: Hungry Geese.
        agent: the agent, such as greedy.
        out: the file to write, a Python file.
        precision: numbers in which the weights of a network are kept in the file.
    """
    from ludoteca.agents.kaggle.export import export_agent

    size = export_agent(agent, out, precision)
    print(f"{size:,} bytes: {out}")

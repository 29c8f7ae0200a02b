"""Knowledge of Tic-Tac-Toe: evaluation by open lines, OpenSpiel's version."""

from typing import Any

from ludoteca.agents.games.knowledge import Knowledge
from ludoteca.agents.games.open_lines import open_lines
from ludoteca.envs.jit import kernel


@kernel
def lines(s: Any, out: Any) -> None:
    """Write the scores by open lines, see `open_lines`, to `out`."""
    out[0] = open_lines(s, int(s.line))
    out[1] = -out[0]


TICTACTOE = Knowledge(
    evaluations={"lines": lines},
    openspiel="ludoteca.agents.external.openspiel_counterparts:tictactoe_counterpart",
)

"""Knowledge of Connect Four: evaluation by open lines, endgame solver, OpenSpiel's version."""

from typing import Any

from ludoteca.agents.games.knowledge import Knowledge
from ludoteca.agents.games.open_lines import open_lines
from ludoteca.envs.jit import kernel


@kernel
def lines(s: Any, out: Any) -> None:
    """Write the scores by open lines, see `open_lines`, to `out`."""
    out[0] = open_lines(s, int(s.connect))
    out[1] = -out[0]


CONNECT4 = Knowledge(
    evaluations={"lines": lines},
    endgame_solver="ludoteca.agents.games.endgame.connect4:Connect4EndgameSolver",
    openspiel="ludoteca.agents.external.openspiel_counterparts:connect4_counterpart",
)

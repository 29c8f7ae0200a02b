"""Knowledge of Free-For-All: captures, and evaluation by their difference."""

from typing import Any

from ludoteca.agents.games.breakthrough import captures
from ludoteca.agents.games.knowledge import Knowledge
from ludoteca.envs.jit import kernel


@kernel
def capture_difference(s: Any, out: Any) -> None:
    """Write the difference of the players' captures, divided by the plies of a game, to `out`.

    The player with more captures wins, so it is the material balance of this game.
    """
    out[0] = (int(s.captures[0]) - int(s.captures[1])) / int(s.plies)
    out[1] = -out[0]


FREE_FOR_ALL = Knowledge(
    evaluations={"captures": capture_difference}, move_groups={"captures": captures}
)

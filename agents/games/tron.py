"""Knowledge of Tron: the playout policy `safe`."""

from typing import Any

from ludoteca.agents.games.knowledge import Knowledge
from ludoteca.envs.jit import kernel
from ludoteca.envs.rng import below
from ludoteca.envs.symmetry import DIRECTIONS


@kernel
def safe_move(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Return a uniformly random move onto a free cell; if there is none, any random move."""
    rows, columns = s.walls.shape
    num_safe, sampled = 0, -1
    for action in range(4):
        row = s.head[player, 0] + DIRECTIONS[action][0]
        column = s.head[player, 1] + DIRECTIONS[action][1]
        if 0 <= row < rows and 0 <= column < columns and s.walls[row, column] == 0:
            num_safe += 1
            if below(rng, num_safe) == 0:  # reservoir sampling
                sampled = action
    return sampled if num_safe > 0 else below(rng, 4)


TRON = Knowledge(playouts={"safe": safe_move})

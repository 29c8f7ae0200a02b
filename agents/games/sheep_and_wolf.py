"""Knowledge of Sheep and Wolf: evaluation by the wolf's path to the bottom."""

from typing import Any

import numpy as np

from ludoteca.agents.games.knowledge import Knowledge
from ludoteca.envs.games.bitboards import U0, below_row, block, count
from ludoteca.envs.jit import kernel

DARK = np.uint64(0x55AA55AA55AA55AA)  # cells (row, column) with an odd sum
ONE_LEFT, ONE_RIGHT = np.uint64(7), np.uint64(9)  # shifts by a row and a column


@kernel
def escape(s: Any, out: Any) -> None:
    """Write scores by the wolf's shortest path, while the sheep stand still, to `out`.

    The goal is the row of the lowest sheep, where the wolf has passed all of them. With a path of d
    steps the wolf's score is `1 / (d + 1)`. Without a path it is `-1 / (n + 1)`, where n is the
    number of other cells that the wolf can reach: the wolf is behind a closed line of sheep.
    """
    size = s.board.shape[1]
    free = block(0, size, 0, size) & DARK & ~s.sheep
    goal_row = 0
    for row in range(size):
        if s.sheep & block(row, row + 1, 0, size) != U0:
            goal_row = row
    goal = free & ~below_row(goal_row)
    reached, previous, steps = s.wolf, U0, 0
    while reached != previous and reached & goal == U0:
        previous = reached
        # Steps over the left or right edge would end on light cells, which `free` excludes.
        reached |= (previous << ONE_LEFT) | (previous << ONE_RIGHT)
        reached |= (previous >> ONE_LEFT) | (previous >> ONE_RIGHT)
        reached = (reached & free) | previous
        steps += 1
    out[0] = 1 / (steps + 1) if reached & goal != U0 else -1 / count(reached)
    out[1] = -out[0]


SHEEP_AND_WOLF = Knowledge(evaluations={"escape": escape})

"""Corridors of geese: the longest path that a head can take, by depth-first search.

Most geese die in dead ends, which convolutional networks hardly recognize. The deterministic agent
of Martín Miralles, "Hungry Geese" (UIB, 2021), section 2.2, searches corridors, too. Unlike that
search, this one is symmetric under reflections.
"""

from typing import Any

from ludoteca.envs.games.goose_positions import FOOD
from ludoteca.envs.games.torus import neighbor
from ludoteca.envs.jit import kernel

MAX_LENGTH = 16  # maximum length of a path, in cells
MAX_CELLS = 400  # maximum number of searched cells
ON_PATH = 1 << 20  # added to `stay` of cells on the path
ACTIONS = 4  # number of actions


@kernel
def corridor(
    s: Any, player: int, action: int, near: int, stay: Any, owner: Any, reach: Any, path: Any
) -> int:
    """Return the length of the longest path of a goose's head that begins with `action`.

    The result is at most `MAX_LENGTH`. It is also `MAX_LENGTH` if the search exceeds `MAX_CELLS`
    cells, so that it does not depend on the order of actions. A segment leaves its cell after
    `stay` moves, a segment of `player` one move later for each food on the path; food that others
    eat is ignored. Arrays have one number per cell, `[rows * columns]`.

    Args:
        s: the position.
        player: the goose.
        action: its first action.
        near: number of moves during which the path avoids cells that another goose can enter no
            later, except for the first cell; 0 if the others stand still.
        stay: number of moves until the segment in each cell leaves; modified and restored.
        owner: owner of the segment in each cell, or `NONE`.
        reach: number of moves in which another goose can enter each cell, -1 if never, 0 at its
            head.
        path: workspace; an entry is a cell of the path times `ACTIONS` plus the next action to try.
    """
    columns = s.occupied.shape[1]
    row, column = neighbor(s.body[player, s.start[player]], action, s.occupied.shape)
    cell = int(row * columns + column)
    if stay[cell] > 1:  # occupied when the head arrives
        return 0
    eaten = int(s.occupied[row, column] == FOOD)
    path[0] = cell * ACTIONS
    stay[cell] += ON_PATH
    depth, max_depth, num_cells = 1, 1, 0
    while depth > 0:
        if max_depth == MAX_LENGTH or num_cells == MAX_CELLS:
            max_depth = MAX_LENGTH
            break
        cell, next_action = int(path[depth - 1]) // ACTIONS, int(path[depth - 1]) % ACTIONS
        num_cells += 1
        row, column = neighbor(cell, next_action, s.occupied.shape)
        next_cell = row * columns + column
        delay = eaten if owner[next_cell] == player else 0
        rival_arrives = 0 < reach[next_cell] <= min(near, depth + 1)
        if (stay[next_cell] == 0 or stay[next_cell] + delay <= depth + 1) and not rival_arrives:
            eaten += int(s.occupied[row, column] == FOOD)
            path[depth] = next_cell * ACTIONS
            stay[next_cell] += ON_PATH
            depth += 1
            max_depth = max(max_depth, depth)
            continue
        # Backtrack while all actions have been tried, and continue with the next action.
        while depth > 0 and int(path[depth - 1]) % ACTIONS == ACTIONS - 1:
            depth -= 1
            cell = int(path[depth]) // ACTIONS
            stay[cell] -= ON_PATH
            eaten -= int(s.occupied[cell // columns, cell % columns] == FOOD)
        if depth > 0:
            path[depth - 1] += 1
    for k in range(depth):
        stay[int(path[k]) // ACTIONS] -= ON_PATH
    return max_depth

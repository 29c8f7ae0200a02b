"""Corridors of geese: the longest path of a head, by depth-first search.

Most geese die in dead ends, which convolutions hardly recognize. The deterministic goose of
Martín Miralles (UIB, 2021, section 2.2) looks for such corridors, too. This search is for all geese
of a position, and is symmetric under reflections.
"""

from typing import Any

from ludoteca.envs.games.goose_positions import FOOD
from ludoteca.envs.games.torus import neighbor
from ludoteca.envs.jit import kernel

LIMIT = 16  # cells of a path
PATIENCE = 400  # maximum number of searched cells
ON_PATH = 1 << 20  # longer than any segment stays
ACTIONS = 4


@kernel
def corridor(
    s: Any, player: int, action: int, near: int, stay: Any, owner: Any, reach: Any, path: Any
) -> int:
    """Return the length of the longest path of a goose's head that begins with `action`.

    At most `LIMIT` are counted; and as many, if more than `PATIENCE` cells would have to be looked
    at: so the order of actions does not matter. Segments are gone when they have stayed, those of
    `player` a step later for each food on the path; food that others eat is ignored.

    Args:
        s: the position.
        player: the goose.
        action: its first action.
        near: up to so many moves from now, no cell is entered, but for the first one, that another
            goose can enter as soon. 0: others stand still.
        stay: for how many moves a segment will stay in each cell; changed and restored.
        owner: owner of the segment in each cell.
        reach: after how many moves another goose can be in each cell, -1 if never, 0 at its head.
        path: scratch space of the same size.
    """
    columns = s.occupied.shape[1]
    row, column = neighbor(s.body[player, s.start[player]], action, s.occupied.shape)
    cell = int(row * columns + column)
    if stay[cell] > 1:
        return 0
    eaten = int(s.occupied[row, column] == FOOD)
    path[0] = cell * ACTIONS  # and the action that is tried next
    stay[cell] += ON_PATH
    depth, deepest, looks = 1, 1, 0
    while depth > 0:
        if deepest == LIMIT or looks == PATIENCE:
            deepest = LIMIT
            break
        cell, turn = int(path[depth - 1]) // ACTIONS, int(path[depth - 1]) % ACTIONS
        looks += 1
        row, column = neighbor(cell, turn, s.occupied.shape)
        there = row * columns + column
        late = eaten if owner[there] == player else 0
        met = 0 < reach[there] <= min(near, depth + 1)
        if (stay[there] == 0 or stay[there] + late <= depth + 1) and not met:
            eaten += int(s.occupied[row, column] == FOOD)
            path[depth] = there * ACTIONS
            stay[there] += ON_PATH
            depth += 1
            deepest = max(deepest, depth)
            continue
        while depth > 0 and int(path[depth - 1]) % ACTIONS == ACTIONS - 1:
            depth -= 1
            cell = int(path[depth]) // ACTIONS
            stay[cell] -= ON_PATH
            eaten -= int(s.occupied[cell // columns, cell % columns] == FOOD)
        if depth > 0:
            path[depth - 1] += 1
    for k in range(depth):
        stay[int(path[k]) // ACTIONS] -= ON_PATH
    return deepest

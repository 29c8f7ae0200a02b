"""Knowledge of Atari Go: moves beside stones, evaluation by liberties."""

from typing import Any

from ludoteca.agents.games.knowledge import Knowledge, MoveGroup
from ludoteca.envs.game import Game
from ludoteca.envs.games.atari_go import EMPTY, WALL
from ludoteca.envs.jit import kernel

# `liberties` of a root: bits 0 to 10 hold its pseudo-liberties, at most 4 * 361, and during an
# evaluation the bits from LIBERTY_SHIFT on its number of liberties, at most MAX_LIBERTIES.
LIBERTY_SHIFT, MAX_LIBERTIES = 11, 8
PSEUDO_LIBERTIES = (1 << LIBERTY_SHIFT) - 1


def contact(game: Game) -> MoveGroup:
    """Return the partition into moves beside a stone, group 1, and others, group 0."""
    size = game.layout.columns

    @kernel
    def is_beside_stone(s: Any, action: int) -> int:
        cell = (action // size + 1) * (size + 2) + action % size + 1
        for offset in (1, -1, size + 2, -size - 2):
            if s.stones[cell + offset] != EMPTY and s.stones[cell + offset] != WALL:
                return 1
        return 0

    return is_beside_stone


@kernel
def liberty_difference(s: Any, out: Any) -> None:
    """Write scores by the liberties of the weakest groups, and of all stones, to `out`.

    A group without liberties loses the game, so the weakest group of each player counts most:
    `MAX_LIBERTIES` times the difference of their liberties. To it the difference of the numbers of
    empty cells beside stones of each player is added; programs for this game also maximize these
    (van der Werf, Uiterwijk and van den Herik, "Programming a computer to play and solve
    Ponnuki-Go", 2002). The sum is divided by its bound.
    """
    size = s.board.shape[1]
    beside = 0  # cells beside stones of player 0, minus those beside stones of player 1
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            cell = row * (size + 2) + column
            if s.stones[cell] == EMPTY:
                beside += count_liberty(s, cell)
    weakest_own, weakest_other = MAX_LIBERTIES, MAX_LIBERTIES
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            cell = row * (size + 2) + column
            if s.stones[cell] == EMPTY or s.parent[cell] != cell:
                continue
            liberties = int(s.liberties[cell]) >> LIBERTY_SHIFT
            s.liberties[cell] &= PSEUDO_LIBERTIES
            if s.stones[cell] == 0:
                weakest_own = min(weakest_own, liberties)
            else:
                weakest_other = min(weakest_other, liberties)
    score = MAX_LIBERTIES * (weakest_own - weakest_other) + beside
    out[0] = score / (MAX_LIBERTIES**2 + size * size)
    out[1] = -out[0]


@kernel
def count_liberty(s: Any, cell: int) -> int:
    """Add an empty cell to the liberties of the groups beside it.

    Returns:
        1 if only player 0 has stones beside the cell, -1 if only player 1 has, else 0.
    """
    size = s.board.shape[1]
    offsets = (-size - 2, -1, 1, size + 2)
    own, other = 0, 0
    for k in range(4):
        stone = s.stones[cell + offsets[k]]
        if stone in (EMPTY, WALL):
            continue
        if stone == 0:
            own = 1
        else:
            other = 1
        group = find_group(s, cell + offsets[k])
        is_new = s.liberties[group] >> LIBERTY_SHIFT < MAX_LIBERTIES
        for j in range(k):
            beside = s.stones[cell + offsets[j]]
            if beside == stone and find_group(s, cell + offsets[j]) == group:
                is_new = False
        if is_new:
            s.liberties[group] += 1 << LIBERTY_SHIFT
    return own - other


@kernel
def find_group(s: Any, cell: int) -> int:
    """Return the root of the group of a stone; unlike `root`, leave the path as it is."""
    while s.parent[cell] != cell:
        cell = int(s.parent[cell])
    return cell


ATARI_GO = Knowledge(
    evaluations={"liberties": liberty_difference}, move_groups={"contact": contact}
)

"""Exact values of the moves at the root of P-games, by alpha-beta search."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.evaluate.studies.p_game.tree import HIGHEST, MAX_DEPTH, move_value

NO_RESULT = 2  # no result of a game: the search must continue
# Ply of the search stack. Results are -1, 0 or 1 for MAX.
LEVEL = np.dtype(
    [
        ("node", np.uint64, (1,)),  # hash of the node, see `p_game`
        ("total", np.int64),  # sum of the values of the moves up to the node
        ("next_action", np.int64),  # first action that has not been tried
        ("best", np.int64),  # result of the best action so far
        ("alpha", np.int64),  # result that MAX already has
        ("beta", np.int64),  # result that MIN already has
    ],
    align=True,
)


def root_values(states: NDArray[np.void]) -> NDArray[np.int8]:
    """Return the results for MAX of the moves at the root, with perfect play of both sides.

    Args:
        states: starting positions with the same branching factor, `[K]`.

    Returns:
        1 (win), 0 (draw) or -1 (loss), int8 `[K, branching factor]`.
    """
    values = np.zeros((len(states), int(states["branching"][0])), np.int8)
    make_solve()(states, values, np.zeros(MAX_DEPTH + 1, LEVEL))
    return values


@factory()
def make_solve() -> Any:
    """Return `solve(states, values, levels)`; `levels`, `[MAX_DEPTH + 1]`, is scratch space."""

    @kernel
    def known_result(total: int, ply: int, depth: int) -> int:
        """Return the result if the moves that are left cannot change it, else `NO_RESULT`."""
        remaining = depth - ply
        by_max = (remaining + (1 - ply % 2)) // 2  # number of the remaining moves that are MAX's
        if remaining == 0 and total == 0:
            return 0
        if total - HIGHEST * (remaining - by_max) > 0:
            return 1
        if total + HIGHEST * by_max < 0:
            return -1
        return NO_RESULT

    @kernel
    def open_level(level: Any, ply: int, alpha: int, beta: int) -> None:
        level.next_action, level.alpha, level.beta = 0, alpha, beta
        level.best = -1 if ply % 2 == 0 else 1

    @kernel
    def update(level: Any, ply: int, result: int) -> None:
        if ply % 2 == 0:
            level.best = max(level.best, result)
            level.alpha = max(level.alpha, result)
        else:
            level.best = min(level.best, result)
            level.beta = min(level.beta, result)

    @kernel
    def value_below(levels: Any, root_ply: int, depth: int, branching: int) -> int:
        """Return the result below `levels[root_ply]`, whose node and total the caller has set."""
        ply = root_ply
        open_level(levels[ply], ply, -1, 1)
        while True:
            level = levels[ply]
            result = known_result(level.total, ply, depth)
            if result == NO_RESULT:
                if level.next_action < branching and level.alpha < level.beta:
                    child = levels[ply + 1]
                    child.node[0] = level.node[0]
                    value = move_value(child.node, level.next_action, ply)
                    child.total = level.total + value
                    level.next_action += 1
                    ply += 1
                    open_level(child, ply, level.alpha, level.beta)
                    continue
                result = level.best
            if ply == root_ply:
                return int(result)
            ply -= 1
            update(levels[ply], ply, result)

    @compiled_without_allocation
    def solve(states: Any, values: Any, levels: Any) -> None:
        for k in range(len(states)):
            s = states[k]
            for action in range(s.branching):
                levels[1].node[0] = s.node[0]
                levels[1].total = move_value(levels[1].node, action, 0)
                values[k, action] = value_below(levels, 1, s.depth, s.branching)

    return solve

"""Move groups: partitions of the actions of a position, for search.

A partition is a kernel `group(s, action) -> int`, which returns a number from 0 to
`num_actions - 1`. The partitions `origin`, `row` and `column` need only the layout of the board;
those of a game are part of its `Knowledge`, see `ludoteca.agents.games.knowledge`.
"""

from typing import Any

import numpy as np

from ludoteca.agents.games.knowledge import MoveGroup
from ludoteca.agents.games.registry import find_knowledge
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel
from ludoteca.envs.names import did_you_mean

BY_LAYOUT = ("origin", "row", "column")


@factory()
def find_move_groups(name: str, game: Game) -> MoveGroup:
    """Return a partition of a game's actions.

    Args:
        name: `"origin"`: by the cell where the move starts; `"row"` or `"column"`: by the row or
            column of that cell or, where pieces do not move, of the cell that is played; or a name
            in the game's `Knowledge.move_groups`. Actions that are not on the board, such as
            passing, are groups of their own.
        game: the game.

    Raises:
        ValueError: if the game has no such partition.
    """
    special = find_knowledge(game).move_groups
    if name in special:
        return special[name](game)
    cells = _cells(game)
    known = [*(BY_LAYOUT[0 if game.layout.moves else 1 :] if cells else ()), *special]
    if name not in known:
        hint = did_you_mean(name, known)
        has = f"expected one of {', '.join(known)}" if known else "it has none"
        raise ValueError(f"{game.name} has no move groups {name!r}{hint}; {has}")
    columns = game.layout.columns
    parts = [
        {"origin": cell, "row": cell // columns, "column": cell % columns}[name] for cell in cells
    ]
    parts += [-1 - k for k in range(game.num_actions - len(cells))]  # one each
    table = np.unique(parts, return_inverse=True)[1].astype(game.action_dtype)

    @kernel
    def group(s: Any, action: int) -> int:
        return int(table[action])

    return group


def _cells(game: Game) -> list[int]:
    """Return the cell where each action's move starts, or which it plays; [] without such cells."""
    if game.layout.moves:
        return [start for start, _ in game.layout.moves]
    if game.layout.cell_actions:
        return list(range(min(game.layout.rows * game.layout.columns, game.num_actions)))
    return []

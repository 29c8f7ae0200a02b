"""Knowledge of Atari Go: moves beside stones."""

from typing import Any

from ludoteca.agents.games.knowledge import Knowledge, MoveGroup
from ludoteca.envs.game import Game
from ludoteca.envs.games.atari_go import EMPTY, WALL
from ludoteca.envs.jit import kernel


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


ATARI_GO = Knowledge(move_groups={"contact": contact})

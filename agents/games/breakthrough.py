"""Knowledge of Breakthrough and of games with similar bitboards: captures, OpenSpiel's version."""

from typing import Any

import numpy as np

from ludoteca.agents.games.knowledge import Knowledge, MoveGroup
from ludoteca.agents.games.pawn_features import pawn_features
from ludoteca.envs.game import Game
from ludoteca.envs.games.bitboards import U0, U1
from ludoteca.envs.jit import kernel


def captures(game: Game) -> MoveGroup:
    """Return the partition into moves that capture, group 1, and others, group 0.

    `game` must keep its pieces in bitboards, `s.pieces[player]`; see `bitboards.py`.
    """
    columns = game.layout.columns
    paths = [*game.layout.moves, *[(0, -1)] * (game.num_actions - len(game.layout.moves))]
    # The bit of the cell where each action ends; -1: none, as in passing.
    ends = np.array([8 * (end // columns) + end % columns if end >= 0 else -1 for _, end in paths])

    @kernel
    def is_capture(s: Any, action: int) -> int:
        end = ends[action]
        if end < 0:
            return 0
        return int(s.pieces[1 - s.to_move] & (U1 << np.uint64(end)) != U0)

    return is_capture


BREAKTHROUGH = Knowledge(
    move_groups={"captures": captures},
    move_features=pawn_features,
    openspiel="ludoteca.agents.external.openspiel_counterparts:breakthrough_counterpart",
)
BREAKTHROUGH_VARIANT = Knowledge(move_groups={"captures": captures}, move_features=pawn_features)
BITBOARD_ARMIES = Knowledge(move_groups={"captures": captures})

"""Knowledge of Breakthrough and similar games: captures, evaluations, OpenSpiel's version."""

from typing import Any

import numpy as np

from ludoteca.agents.games.knowledge import Knowledge, MoveGroup
from ludoteca.agents.games.pawn_features import pawn_features
from ludoteca.envs.game import Game
from ludoteca.envs.games.advance import HOME_ROWS
from ludoteca.envs.games.bitboards import U0, U1, block, count
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


@kernel
def material(s: Any, out: Any) -> None:
    """Write scores by the numbers of pieces and how far they have advanced to `out`.

    A piece counts 4, a row that the most advanced piece of a player has advanced 1, as in Schadd,
    "Selective search in games of different complexity" (2011), where they are 10 and 2.5 (quoted in
    Lanctot et al., "Monte Carlo tree search with heuristic evaluations using implicit minimax
    backups", 2014). Each row that any piece has advanced also counts 1, since values of a piece by
    its square are stronger (Lorentz and Horey, "Programming Breakthrough", 2013). The difference is
    divided by its bound.
    """
    _, rows, columns = s.board.shape
    difference = 4 * (count(s.pieces[0]) - count(s.pieces[1])) + advance(s, 0) - advance(s, 1)
    for row in range(rows):
        cells = block(row, row + 1, 0, columns)
        difference += (rows - 1 - row) * count(s.pieces[0] & cells)
        difference -= row * count(s.pieces[1] & cells)
    out[0] = difference / (HOME_ROWS * columns * (3 + rows) + rows)
    out[1] = -out[0]


@kernel
def advance(s: Any, player: int) -> int:
    """Return the number of rows between a player's home side and its most advanced piece."""
    _, rows, columns = s.board.shape
    for k in range(rows):
        row = k if player == 0 else rows - 1 - k
        if s.pieces[player] & block(row, row + 1, 0, columns) != U0:
            return int(rows - 1 - k)
    return 0


@kernel
def steps_left(s: Any, out: Any) -> None:
    """Write scores by the steps that the players can make before they have to lose to `out`.

    In Breakthrough Suicide a player that has no other move must step onto the far row, which loses,
    so spare moves decide. Each piece counts the rows between it and the row before the far row. The
    difference is divided by its bound.
    """
    _, rows, columns = s.board.shape
    difference = 0
    for row in range(rows):
        cells = block(row, row + 1, 0, columns)
        difference += (row - 1) * count(s.pieces[0] & cells)
        difference -= (rows - 2 - row) * count(s.pieces[1] & cells)
    out[0] = difference / (HOME_ROWS * rows * columns)
    out[1] = -out[0]


BREAKTHROUGH = Knowledge(
    evaluations={"material": material},
    move_groups={"captures": captures},
    move_features=pawn_features,
    openspiel="ludoteca.agents.external.openspiel_counterparts:breakthrough_counterpart",
)
BREAKTHROUGH_HOLES = Knowledge(
    evaluations={"material": material},
    move_groups={"captures": captures},
    move_features=pawn_features,
)
BREAKTHROUGH_SUICIDE = Knowledge(
    evaluations={"steps": steps_left},
    move_groups={"captures": captures},
    move_features=pawn_features,
)
KNIGHT_THROUGH = Knowledge(evaluations={"material": material}, move_groups={"captures": captures})

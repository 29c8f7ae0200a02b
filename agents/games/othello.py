"""Knowledge of Othello: greedy policy, evaluations, endgame solver."""

from typing import Any

import numpy as np

from ludoteca.agents.games.knowledge import Knowledge
from ludoteca.envs.games import othello
from ludoteca.envs.games.bitboards import U1, bit, count
from ludoteca.envs.jit import kernel
from ludoteca.envs.rng import below


@kernel
def most_flips(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Return the move that flips the most discs; break ties at random."""
    size = s.board.shape[1]  # `board` has no elements, only the board size in its shape
    best, ties, best_action = -1, 0, int(legal[0])
    for k in range(n):
        action = int(legal[k])
        num_flips = 0
        if action < size * size:
            square = U1 << np.uint64(8 * (action // size) + action % size)
            num_flips = count(othello.flipped(square, s.discs[player], s.discs[1 - player]))
        if num_flips > best:
            best, ties, best_action = num_flips, 1, action
        elif num_flips == best:
            ties += 1
            if below(rng, ties) == 0:  # reservoir sampling
                best_action = action
    return best_action


@kernel
def disc_difference(s: Any, out: Any) -> None:
    """Write each player's disc difference as a fraction of all discs, in [-1, 1], to `out`."""
    black, white = count(s.discs[0]), count(s.discs[1])
    out[0] = (black - white) / (black + white)
    out[1] = -out[0]


@kernel
def corners_and_mobility(s: Any, out: Any) -> None:
    """Write scores by corners and by the numbers of possible placements to `out`.

    Discs in corners are never flipped, and a player with few placements must give corners away:
    stability and mobility are the main terms of the program Iago (Rosenbloom, "A
    world-championship-level Othello program", 1982). A corner counts 10, a placement 1. The
    difference is divided by its bound.
    """
    last = s.board.shape[1] - 1
    corners = bit(0, 0) | bit(0, last) | bit(last, 0) | bit(last, last)
    difference = 10 * (count(s.discs[0] & corners) - count(s.discs[1] & corners))
    difference += count(othello.placements(s, 0)) - count(othello.placements(s, 1))
    out[0] = difference / (10 * 4 + s.board.shape[1] ** 2)
    out[1] = -out[0]


OTHELLO = Knowledge(
    greedy=most_flips,
    evaluations={"corners": corners_and_mobility, "discs": disc_difference},
    endgame_solver="ludoteca.agents.games.endgame.othello:OthelloEndgameSolver",
    openspiel="ludoteca.agents.external.openspiel_counterparts:othello_counterpart",
)

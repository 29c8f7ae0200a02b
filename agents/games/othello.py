"""Knowledge of Othello: greedy policy, evaluation by disc difference, endgame solver."""

from typing import Any

import numpy as np

from ludoteca.agents.games.knowledge import Knowledge
from ludoteca.envs.games import othello
from ludoteca.envs.games.bitboards import U1, count
from ludoteca.envs.jit import kernel
from ludoteca.envs.rng import below


@kernel
def most_flips(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Return the move that flips the most discs; break ties at random."""
    size = s.board.shape[1]
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


OTHELLO = Knowledge(
    greedy=most_flips,
    evaluations={"discs": disc_difference},
    endgame_solver="ludoteca.agents.games.endgame.othello:OthelloEndgameSolver",
    openspiel="ludoteca.agents.external.openspiel_counterparts:othello_counterpart",
)

"""Knowledge of Othello: the greedy policy, the evaluation by discs, an endgame solver."""

from typing import Any

import numpy as np

from ludoteca.agents.games.knowledge import Knowledge
from ludoteca.envs.games import othello
from ludoteca.envs.games.bitboards import U1, count
from ludoteca.envs.jit import kernel
from ludoteca.envs.rng import below


@kernel
def most_discs(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
    """Choose among the moves that flip the most discs."""
    size = s.board.shape[1]
    best, ties, best_action = -1, 0, int(legal[0])
    for k in range(n):
        action = int(legal[k])
        flipped = 0
        if action < size * size:
            square = U1 << np.uint64(8 * (action // size) + action % size)
            flipped = count(othello.turned(square, s.discs[player], s.discs[1 - player]))
        if flipped > best:
            best, ties, best_action = flipped, 1, action
        elif flipped == best:
            ties += 1
            if below(rng, ties) == 0:  # each of the tied moves is kept with equal probability
                best_action = action
    return best_action


@kernel
def discs(s: Any, out: Any) -> None:
    """Return the disc difference as a fraction of all discs: +1 if all are own, 0 if equal."""
    black, white = count(s.discs[0]), count(s.discs[1])
    out[0] = (black - white) / (black + white)
    out[1] = -out[0]


OTHELLO = Knowledge(
    greedy=most_discs,
    evaluations={"discs": discs},
    endgame_solver="ludoteca.agents.games.endgame.othello:OthelloEndgameSolver",
    openspiel="ludoteca.agents.external.openspiel_counterparts:othello_counterpart",
)

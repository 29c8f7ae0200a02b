"""Proof that chance does not end a game before a player has an action.

An environment cannot start with a game that is over. Three-valued evaluation, see `ternary`.
"""

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.gdl.network import Network
from ludoteca.envs.gdl.ternary import Bits, evaluate_phase1, evaluate_phase2

MAX_STATES = 4096  # states that are followed one by one; more are merged into one, partly unknown
MAX_WAITING = 100  # joint moves before the first action


def chance_may_end_first(network: Network, waits: NDArray[np.bool_]) -> bool:
    """Return whether chance may end a game before a player has an action, as far as can be proved.

    Args:
        network: the network.
        waits: which moves are waiting moves. Shape `[M]`.
    """
    chance, moves = network.random_role, len(network.moves)
    if chance < 0:
        return False
    by_chance = np.zeros(moves, np.bool_)
    by_chance[network.move_start[chance] : network.move_start[chance + 1]] = True
    is_action = ~waits & ~by_chance
    may = must = network.initial[np.newaxis]  # a row for each state
    for _ in range(MAX_WAITING):
        legal_may, legal_must = evaluate_phase1(network, may, must)
        if legal_may[:, -1].any():
            return True
        waiting = ~(legal_must[:, :moves] & is_action).any(1)
        if not waiting.any():
            return False
        legal = legal_may[waiting, :moves]
        if not (legal & by_chance).any(1).all():
            return True  # a state without a legal move also ends the game
        may, must = _follow_chance(network, may[waiting], must[waiting], legal, by_chance)
    return True


def _follow_chance(
    network: Network, may: Bits, must: Bits, legal: Bits, by_chance: NDArray[np.bool_]
) -> tuple[Bits, Bits]:
    """Return the states after all moves of the role `random`, while the players wait.

    Args:
        network: the network.
        may: which fluents may be true, in K states. Shape `[K, F]`.
        must: which fluents must be true. Shape `[K, F]`.
        legal: which moves may be legal. Shape `[K, M]`.
        by_chance: which moves are those of `random`. Shape `[M]`.
    """
    states, drawn = np.nonzero(legal & by_chance)
    if len(states) <= MAX_STATES:
        moves_may = legal[states] & ~by_chance
        moves_may[np.arange(len(states)), drawn] = True
        may, must = may[states], must[states]
    else:
        may, must = np.atleast_2d(may.any(0)), np.atleast_2d(must.all(0))
        moves_may = np.atleast_2d(legal.any(0))
    moves_must = np.zeros_like(moves_may)
    for begin, end in zip(network.move_start[:-1], network.move_start[1:], strict=True):
        mine = moves_may[:, begin:end]
        moves_must[:, begin:end] = mine & (mine.sum(1, keepdims=True) == 1)
    return evaluate_phase2(network, may, must, moves_may, moves_must)

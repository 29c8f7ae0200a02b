"""Recorded actions of a game of a batch."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game


def recorded_actions(game: Game, history: NDArray[np.integer[Any]]) -> list[int] | list[list[int]]:
    """Return the recorded actions of a game; in simultaneous games one list per ply.

    Args:
        game: the game.
        history: its row of `GameBatch.history`: the number of plies, then the actions.
    """
    count, players = int(history[0]), game.num_players
    if not game.simultaneous:
        return [int(a) for a in history[1 : 1 + count]]
    joint_actions = history[1 : 1 + count * players].reshape(count, players)
    return [[int(a) for a in joint] for joint in joint_actions]

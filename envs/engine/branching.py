"""Branching factor of games: mean number of legal actions in uniformly random games, compiled."""

import math
from typing import Any

import numpy as np

from ludoteca.envs.engine.playouts import actions_per_ply, make_ply_kernels
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled, factory
from ludoteca.envs.params import check_integer
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.rng import below, next_u64


def branching_factor(
    game: Game, games: int, *, seed: int = 0, from_state: Any = None
) -> tuple[float, float]:
    """Measure the mean number of legal actions over all positions of uniformly random games.

    Actions of a simultaneous game are joint actions of its players. A position whose only action is
    to pass counts as one with a single action; final positions do not count.

    Args:
        game: any game.
        games: number of games, at least 2.
        seed: seed of the random actions.
        from_state: the position to play from, one record; the starting position by default.

    Returns:
        The mean, and its standard error (the games, not the positions, are independent).

    Raises:
        ValueError: if `games` is out of range.
    """
    totals = np.zeros((check_integer("games", games, 2, 10**9), 2), np.int64)
    make_branching(game)(batch_of_one(game, from_state), np.array([seed], np.uint64), totals)
    actions, plies = totals.T.astype(np.float64)
    mean = actions.sum() / plies.sum()
    # Linear approximation of a ratio of sums over independent games.
    error = (actions - mean * plies).std(ddof=1) * math.sqrt(games) / plies.sum()
    return float(mean), float(error)


@factory("branching factor")
def make_branching(game: Game) -> Any:
    """Return `count(start, rng, totals)`: it adds up legal actions and plies of random games.

    `start` is a batch of one position; `rng` is the random stream, uint64 `[1]`; `totals` is int64
    `[games, 2]`, the number of legal actions over all plies and the number of plies of each game.
    Positions of stochastic games have their own stream, which is reseeded for each game.
    """
    list_actions, select_joint, play = make_ply_kernels(game)
    width, num_actions, action_dtype = actions_per_ply(game), game.num_actions, game.action_dtype
    is_stochastic = game.has_chance

    @compiled
    def count(start: Any, rng: Any, totals: Any) -> None:
        states = start.copy()
        legal = np.zeros((width, num_actions), action_dtype)
        counts = np.zeros(width, action_dtype)
        joint = np.zeros(width, action_dtype)
        for i in range(totals.shape[0]):
            states[0] = start[0]
            s = states[0]
            if is_stochastic:
                s.rng[0] = next_u64(rng)
            n = list_actions(s, legal, counts)
            while n > 0:
                totals[i, 0] += n
                totals[i, 1] += 1
                select_joint(legal, counts, below(rng, n), joint)
                play(s, joint)
                n = list_actions(s, legal, counts)

    return count

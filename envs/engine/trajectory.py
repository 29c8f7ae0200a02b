"""Whole games as arrays, played by compiled code: for tests, replays and comparisons of rules."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.engine.playouts import actions_per_ply, make_ply_kernels
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled, factory
from ludoteca.envs.rng import below

RANDOM = -1


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The record of B games of at most T plies; S is the mover alone or, if simultaneous, all.

    Entries after the end of a game are zero.

    Attributes:
        plies: how many plies each game took. Shape `[B]`.
        positions: position t is the one before ply t; the last one is final. Shape `[B, T + 1]`.
        legal: whether each action is legal, 0 or 1, uint8. Shape `[B, T + 1, S, num_actions]`.
        mover: who is to move, -1 in simultaneous games. Shape `[B, T + 1]`.
        over: whether the game is over, 0 or 1. Shape `[B, T + 1]`.
        actions: what was played, 0 for inactive players. Shape `[B, T, S]`.
        returns: float64, by player. Shape `[B, T + 1, num_players]`.
    """

    plies: NDArray[np.int64]
    positions: NDArray[np.void]
    legal: NDArray[np.uint8]
    mover: NDArray[np.int8]
    over: NDArray[np.uint8]
    actions: NDArray[np.int16]
    returns: NDArray[np.float64]


def record_trajectory(
    game: Game,
    games: int,
    *,
    seed: int = 0,
    actions: NDArray[np.int16] | None = None,
    interpreted: bool = False,
) -> Trajectory:
    """Play `games` games and record everything; game i starts from `init` with `seed + i`.

    Args:
        game: any game.
        games: how many.
        seed: of the first game, and of the random actions.
        actions: what to play, `RANDOM` (-1) where any legal action will do: a uniform one is drawn.
            Shape `[games, max_plies, S]`. A game stops short at an illegal action.
        interpreted: run the same code without compiling it; the record must be the same.
    """
    plies, seats = game.max_plies, actions_per_ply(game)
    if actions is None:
        actions = np.full((games, plies, seats), RANDOM, np.int16)
    if actions.shape != (games, plies, seats):
        raise ValueError(f"actions must have shape {(games, plies, seats)}, got {actions.shape}")
    trajectory = Trajectory(
        plies=np.zeros(games, np.int64),
        positions=game.empty(games * (plies + 1)).reshape(games, plies + 1),
        legal=np.zeros((games, plies + 1, seats, game.num_actions), np.uint8),
        mover=np.zeros((games, plies + 1), np.int8),
        over=np.zeros((games, plies + 1), np.uint8),
        actions=actions.astype(np.int16),
        returns=np.zeros((games, plies + 1, game.num_players)),
    )
    play, positions = make_trajectory_recorder(game), trajectory.positions
    if interpreted:
        play, positions = play.py_func, positions.view(np.recarray)
    with np.errstate(over="ignore"):  # as in compiled code, uint64 wraps around
        play(
            seed,
            np.array([seed], np.uint64),
            trajectory.plies,
            positions,
            trajectory.legal,
            trajectory.mover,
            trajectory.over,
            trajectory.actions,
            trajectory.returns,
        )
    trajectory.actions[np.arange(plies) >= trajectory.plies[:, None]] = 0
    return trajectory


@factory("recorded games")
def make_trajectory_recorder(game: Game) -> Any:
    """Return `trajectory(seed, rng, plies, positions, legal, mover, over, actions, returns)`.

    It fills the arrays of a `Trajectory`; see `record_trajectory`.
    """
    list_actions, _, play = make_ply_kernels(game)
    init, is_terminal, score = game.init, game.is_terminal, game.returns
    player: Any = None if game.simultaneous else game.player
    simultaneous, seats, num_actions = game.simultaneous, actions_per_ply(game), game.num_actions

    @compiled
    def trajectory(
        seed: int,
        rng: Any,
        plies: Any,
        positions: Any,
        legal: Any,
        mover: Any,
        over: Any,
        actions: Any,
        returns: Any,
    ) -> None:
        out = np.zeros((seats, num_actions), np.int16)
        counts = np.zeros(seats, np.int16)
        for i in range(positions.shape[0]):
            init(positions[i, 0], seed + i)
            for t in range(positions.shape[1]):
                s = positions[i, t]
                score(s, returns[i, t])
                over[i, t] = is_terminal(s)
                if simultaneous:
                    mover[i, t] = -1
                else:
                    mover[i, t] = player(s)
                counts[:] = 0
                list_actions(s, out, counts)
                fits = not over[i, t] and t < actions.shape[1]
                for p in range(seats):
                    for k in range(counts[p]):
                        legal[i, t, p, out[p, k]] = 1
                    if fits and counts[p] == 0:
                        actions[i, t, p] = 0
                    elif fits and actions[i, t, p] == RANDOM:
                        actions[i, t, p] = out[p, below(rng, counts[p])]
                    elif fits and not legal[i, t, p, actions[i, t, p]]:
                        fits = False
                if not fits:
                    break
                positions[i, t + 1] = positions[i, t]
                play(positions[i, t + 1], actions[i, t])
                plies[i] = t + 1

    return trajectory

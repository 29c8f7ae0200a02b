"""Trajectories of whole games as arrays, for tests, replays and comparisons of rules."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.engine.playouts import actions_per_ply, make_ply_kernels
from ludoteca.envs.game import ActionArray, Game
from ludoteca.envs.jit import compiled, factory
from ludoteca.envs.record_views import view_records
from ludoteca.envs.rng import below

RANDOM = -1  # as an action to play: a uniformly random legal one


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Trajectories of B games of at most T plies.

    S is the number of actions per ply: 1, or in simultaneous games the number of players.

    Entries after the end of a game are zero.

    Attributes:
        plies: number of plies of each game. Shape `[B]`.
        positions: position t precedes ply t. Shape `[B, T + 1]`.
        legal: 1 for legal actions, else 0, uint8. Shape `[B, T + 1, S, num_actions]`.
        mover: player to move, -1 in simultaneous games, int8. Shape `[B, T + 1]`.
        over: whether the game is over, 0 or 1, uint8. Shape `[B, T + 1]`.
        actions: the actions played, `game.action_dtype`; 0 for inactive players. Shape `[B, T, S]`.
        returns: each player's return so far, float64. Shape `[B, T + 1, num_players]`.
    """

    plies: NDArray[np.int64]
    positions: NDArray[np.void]
    legal: NDArray[np.uint8]
    mover: NDArray[np.int8]
    over: NDArray[np.uint8]
    actions: ActionArray
    returns: NDArray[np.float64]


def record_trajectory(
    game: Game,
    games: int,
    *,
    seed: int = 0,
    actions: ActionArray | None = None,
    interpreted: bool = False,
) -> Trajectory:
    """Play `games` games and record them; game i is initialized with `seed + i`.

    Args:
        game: any game.
        games: number of games.
        seed: seed of the first game and of the random actions.
        actions: actions to play, `RANDOM` (-1) for a uniformly random legal one; all random by
            default. Shape `[games, max_plies, S]`. A game stops before an illegal action.
        interpreted: run the same code without compiling it; the trajectories are the same.
    """
    plies, width = game.max_plies, actions_per_ply(game)
    if actions is None:
        actions = np.full((games, plies, width), RANDOM, game.action_dtype)
    if actions.shape != (games, plies, width):
        raise ValueError(f"actions must have shape {(games, plies, width)}, got {actions.shape}")
    trajectory = Trajectory(
        plies=np.zeros(games, np.int64),
        positions=game.empty(games * (plies + 1)).reshape(games, plies + 1),
        legal=np.zeros((games, plies + 1, width, game.num_actions), np.uint8),
        mover=np.zeros((games, plies + 1), np.int8),
        over=np.zeros((games, plies + 1), np.uint8),
        actions=np.array(actions, game.action_dtype),
        returns=np.zeros((games, plies + 1, game.num_players)),
    )
    play_games, positions = make_trajectory_recorder(game), trajectory.positions
    if interpreted:
        play_games, positions = play_games.py_func, view_records(positions)
    # Interpreted uint64 products wrap around without a warning, as in compiled code.
    with np.errstate(over="ignore"):
        play_games(
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
    """Return `play_games(seed, rng, plies, positions, legal, mover, over, actions, returns)`.

    It fills the arrays of a `Trajectory`; see `record_trajectory`. `rng`, uint64 `[1]`, is the
    random stream of the actions.
    """
    list_actions, _, play = make_ply_kernels(game)
    init, is_terminal, score = game.init, game.is_terminal, game.returns
    player: Any = None if game.simultaneous else game.player
    simultaneous, width, num_actions = game.simultaneous, actions_per_ply(game), game.num_actions
    action_dtype = game.action_dtype

    @compiled
    def play_games(
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
        listed = np.zeros((width, num_actions), action_dtype)
        counts = np.zeros(width, action_dtype)
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
                list_actions(s, listed, counts)
                can_play = not over[i, t] and t < actions.shape[1]
                for p in range(width):
                    for k in range(counts[p]):
                        legal[i, t, p, listed[p, k]] = 1
                    if can_play and counts[p] == 0:
                        actions[i, t, p] = 0
                    elif can_play and actions[i, t, p] == RANDOM:
                        actions[i, t, p] = listed[p, below(rng, counts[p])]
                    elif can_play and not legal[i, t, p, actions[i, t, p]]:
                        can_play = False
                if not can_play:
                    break
                positions[i, t + 1] = positions[i, t]
                play(positions[i, t + 1], actions[i, t])
                plies[i] = t + 1

    return play_games

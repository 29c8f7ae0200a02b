"""Games of a rule sheet by the compiled kernels that users run, recorded for comparisons.

The kernels of a game evaluate one state at a time, and `Game.many` up to 512 games at once. Here
both play the same games: first one game after the other, as in a single environment, then all games
together, ply by ply. One compiled function does all that, because compilation takes most of the
time of a check.

Shapes: B games, T plies, S actions of a ply (1, or in simultaneous games the number of players), W
words of 64 bits, one bit for each action.
"""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.bits import ONE, ZERO
from ludoteca.envs.engine.playouts import actions_per_ply, make_ply_kernels
from ludoteca.envs.engine.trajectory import RANDOM
from ludoteca.envs.game import ActionArray, Game
from ludoteca.envs.jit import compiled, factory
from ludoteca.envs.rng import below

ILLEGAL = -2  # as an action to play: the game stops before it


@dataclass(frozen=True, eq=False)
class KernelGames:
    """Plies of B games; entries after the end of a game are zero.

    Attributes:
        start: number of plies before the first position.
        plies: number of plies of each game. Shape `[B]`.
        positions: position t precedes ply t; by single steps. Shape `[B, T + 1]`.
        together: the same positions by `Game.many`. Shape `[T + 1, B]`, or `[0, B]` without it.
        legal: bits of the legal actions. Shape `[B, T + 1, S, W]`.
        mover: player to move, 0 in simultaneous games. Shape `[B, T + 1]`.
        over: whether the game is over. Shape `[B, T + 1]`.
        returns: each player's return. Shape `[B, T + 1, num_players]`.
        actions: the actions played. Shape `[B, T, S]`.
    """

    start: int
    plies: NDArray[np.int64]
    positions: NDArray[np.void]
    together: NDArray[np.void]
    legal: NDArray[np.uint64]
    mover: NDArray[np.int8]
    over: NDArray[np.bool_]
    returns: NDArray[np.float64]
    actions: ActionArray

    @property
    def last_positions(self) -> NDArray[np.void]:
        """Last position of each game. Shape `[B]`."""
        return self.positions[np.arange(len(self.plies)), self.plies]


def play_by_kernels(
    game: Game,
    positions: NDArray[np.void] | int,
    actions: ActionArray,
    seed: int = 0,
    start: int = 0,
) -> KernelGames:
    """Play B games for at most T plies.

    Args:
        game: the game.
        positions: the first position of each game, or the number B of games that start here; game i
            is then initialized with `seed + i`. Shape `[B]`.
        actions: actions to play; `RANDOM` (-1) for a uniformly random legal one. A game stops
            before an illegal one. Shape `[B, T, S]`.
        seed: seed of the games and of the random actions.
        start: number of plies before `positions`.
    """
    is_new = isinstance(positions, int)
    count, plies = actions.shape[:2]
    games = KernelGames(
        start=start,
        plies=np.zeros(count, np.int64),
        positions=game.empty(count * (plies + 1)).reshape(count, plies + 1),
        together=game.empty(0 if game.many is None else (plies + 1) * count).reshape(-1, count),
        legal=np.zeros((count, plies + 1, actions.shape[2], -(-game.num_actions // 64)), np.uint64),
        mover=np.zeros((count, plies + 1), np.int8),
        over=np.zeros((count, plies + 1), np.bool_),
        returns=np.zeros((count, plies + 1, game.num_players)),
        actions=np.array(actions, game.action_dtype),
    )
    if not is_new:
        games.positions[:, 0] = positions
    make_play_games(game)(
        is_new,
        seed,
        np.array([seed + start], np.uint64),
        games.plies,
        games.positions,
        games.together,
        games.legal,
        games.mover,
        games.over,
        games.returns,
        games.actions,
    )
    return games


@factory("games by all kernels")
def make_play_games(game: Game) -> Any:
    """Return `play_games(is_new, seed, rng, plies, positions, together, ..., actions)`.

    It fills the arrays of `KernelGames`; `rng`, uint64 `[1]`, is the random stream of the actions.
    """
    list_actions, _, play = make_ply_kernels(game)
    init, is_terminal, score = game.init, game.is_terminal, game.returns
    simultaneous, width, num_actions = game.simultaneous, actions_per_ply(game), game.num_actions
    player: Any = None if simultaneous else game.player
    has_many, action_dtype = game.many is not None, game.action_dtype
    begin, play_many, end = cast(Any, game.many or (None, None, None))

    @compiled
    def play_games(
        is_new: bool,
        seed: int,
        rng: Any,
        plies: Any,
        positions: Any,
        together: Any,
        legal: Any,
        mover: Any,
        over: Any,
        returns: Any,
        actions: Any,
    ) -> None:
        listed = np.zeros((width, num_actions), action_dtype)
        counts = np.zeros(width, action_dtype)
        num_games, num_plies = actions.shape[0], actions.shape[1]
        for i in range(num_games):
            if is_new:
                init(positions[i, 0], seed + i)
            for t in range(num_plies + 1):
                s = positions[i, t]
                score(s, returns[i, t])
                over[i, t] = is_terminal(s)
                if not simultaneous:
                    mover[i, t] = player(s)
                counts[:] = 0
                list_actions(s, listed, counts)
                for p in range(width):
                    for k in range(counts[p]):
                        a = np.int64(listed[p, k])
                        legal[i, t, p, a >> 6] |= ONE << np.uint64(a & 63)
                can_play = not over[i, t] and t < num_plies
                if can_play:
                    for p in range(width):
                        a = np.int64(actions[i, t, p])
                        if a == RANDOM:
                            a = np.int64(listed[p, below(rng, counts[p])])
                            actions[i, t, p] = a
                        word = legal[i, t, p, a >> 6] if a >= 0 else ZERO
                        can_play = can_play and (word >> np.uint64(a & 63)) & ONE == ONE
                if not can_play:
                    break
                positions[i, t + 1] = s
                play(positions[i, t + 1], actions[i, t])
                plies[i] = t + 1
        if has_many:
            flags = np.zeros(num_games, np.bool_)
            for i in range(num_games):
                together[0, i] = positions[i, 0]
            for t in range(num_plies):
                for i in range(num_games):
                    flags[i] = plies[i] > t
                    together[t + 1, i] = together[t, i]
                    if flags[i]:
                        if simultaneous:
                            begin(together[t + 1, i], actions[i, t])
                        else:
                            begin(together[t + 1, i], int(actions[i, t, 0]))
                play_many(together[t + 1], flags, 0, num_games)
                for i in range(num_games):
                    if flags[i]:
                        end(together[t + 1, i])

    return play_games

"""Perft (the number of lines of play of a given length) and uniformly random games, compiled."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled, factory, kernel
from ludoteca.envs.record_views import view_records
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.rng import below, next_u64


def perft(game: Game, depth: int, *, from_state: Any = None, count_finished: bool = True) -> int:
    """Count the lines of play of `depth` plies (perft), the usual test of a move generator.

    A ply of a simultaneous game is one action of every active player at once.

    Args:
        game: any game.
        depth: at least 0; at depth 0 the count is 1.
        from_state: the position to count from, one record of dtype `game.state`; the starting
            position by default.
        count_finished: whether a game that ends before `depth` plies counts as one line. Most
            published perft tables count it; that of Tron, from GGP-Base, does not.

    Raises:
        ValueError: if `depth` is negative, or `from_state` is not a position of this game.
    """
    if depth < 0:
        raise ValueError(f"depth must be at least 0, got {depth}")
    stack = np.repeat(batch_of_one(game, from_state), max(depth, 1))
    return int(make_perft(game)(stack, depth, count_finished))


def perft_divide(
    game: Game, depth: int, *, from_state: Any = None, count_finished: bool = True
) -> dict[str, int]:
    """Return `perft` for each first ply, to locate a wrong rule.

    Arguments are those of `perft`; `depth` is at least 1.

    Returns:
        The number of lines that begin with each first action, by its name (`"d3"`; in simultaneous
        games the names of all players' actions, `"north, east"`).
    """
    if depth < 1:
        raise ValueError(f"depth must be at least 1 to divide by the first ply, got {depth}")
    list_actions, select_joint, play = make_ply_kernels(game)
    width = actions_per_ply(game)
    start = batch_of_one(game, from_state)
    legal = np.zeros((width, game.num_actions), game.action_dtype)
    counts, joint = np.zeros(width, game.action_dtype), np.zeros(width, game.action_dtype)
    counts_by_name = {}
    # These kernels run interpreted; their uint64 products wrap around without a warning, as in
    # compiled code.
    with np.errstate(over="ignore"):
        for k in range(list_actions(view_records(start)[0], legal, counts)):
            select_joint(legal, counts, k, joint)
            child = start.copy()
            play(view_records(child)[0], joint)
            name = ", ".join(game.action_names[action] for action in joint)
            counts_by_name[name] = perft(
                game, depth - 1, from_state=child[0], count_finished=count_finished
            )
    return counts_by_name


def play_randomly(
    game: Game, games: int, *, seed: int = 0, from_state: Any = None
) -> tuple[NDArray[np.float64], int]:
    """Play `games` uniformly random games to the end.

    Args:
        game: any game.
        games: number of games.
        seed: seed of the random actions.
        from_state: the position to play from, one record; the starting position by default.

    Returns:
        The sum of the returns over the games (float64 `[num_players]`), and the total number of
        plies.
    """
    totals = np.zeros((1, game.num_players))
    rng = np.array([seed], np.uint64)
    plies = make_playouts(game)(batch_of_one(game, from_state), games, rng, totals)
    return totals[0], int(plies)


def actions_per_ply(game: Game) -> int:
    """Return the number of actions of a ply: 1, or in simultaneous games the number of players."""
    return game.num_players if game.simultaneous else 1


@factory()
def make_ply_kernels(game: Game) -> tuple[Any, Any, Any]:
    """Return three kernels for sequential and simultaneous games, with S = `actions_per_ply(game)`.

    `list_actions(s, legal, counts) -> n` writes the legal actions of each player to `legal`
    [S, num_actions] and their number to `counts` [S], and returns the number of joint actions, 0
    when the game is over; `select_joint(legal, counts, k, joint)` writes joint action k to `joint`
    [S]; `play(s, joint)` plays it. The action of an inactive player is 0.
    """
    simultaneous, width = game.simultaneous, actions_per_ply(game)
    legal_actions, step, is_terminal = game.legal_actions, game.step, game.is_terminal

    @kernel
    def list_actions(s: Any, legal: Any, counts: Any) -> int:
        if is_terminal(s):
            return 0
        if simultaneous:
            num_joint = 1
            for p in range(width):
                counts[p] = legal_actions(s, p, legal[p])
                num_joint *= max(int(counts[p]), 1)
            return num_joint
        counts[0] = legal_actions(s, legal[0])
        return int(counts[0])

    @kernel
    def select_joint(legal: Any, counts: Any, k: int, joint: Any) -> None:
        if simultaneous:
            for p in range(width - 1, -1, -1):
                radix = max(int(counts[p]), 1)
                joint[p] = legal[p, k % radix] if counts[p] > 0 else 0
                k //= radix
        else:
            joint[0] = legal[0, k]

    @kernel
    def play(s: Any, joint: Any) -> None:
        if simultaneous:
            step(s, joint)
        else:
            step(s, int(joint[0]))

    return list_actions, select_joint, play


@factory("perft")
def make_perft(game: Game) -> Any:
    """Return `perft(stack, depth, count_finished) -> int`; see `perft` above.

    `stack` holds max(depth, 1) positions, one per level of the tree; the first is the position to
    count from.
    """
    list_actions, select_joint, play = make_ply_kernels(game)
    width, num_actions, action_dtype = actions_per_ply(game), game.num_actions, game.action_dtype

    @compiled
    def perft(stack: Any, depth: int, count_finished: bool) -> int:
        if depth == 0:
            return 1
        legal = np.zeros((depth, width, num_actions), action_dtype)
        counts = np.zeros((depth, width), action_dtype)
        joint = np.zeros(width, action_dtype)
        num_joint = np.full(depth, -1, np.int64)  # joint actions per level; -1: not listed yet
        next_joint = np.zeros(depth, np.int64)  # index of the next joint action to play, per level
        level, leaves = 0, 0
        while level >= 0:
            if num_joint[level] < 0:
                num_joint[level] = list_actions(stack[level], legal[level], counts[level])
                next_joint[level] = 0
                if num_joint[level] == 0:
                    leaves += int(count_finished)
                elif level == depth - 1:
                    # Each joint action leads to one leaf, so they need not be played.
                    leaves += num_joint[level]
                    next_joint[level] = num_joint[level]
            if next_joint[level] == num_joint[level]:
                level -= 1
            else:
                select_joint(legal[level], counts[level], next_joint[level], joint)
                next_joint[level] += 1
                level += 1
                stack[level] = stack[level - 1]
                play(stack[level], joint)
                num_joint[level] = -1
        return leaves

    return perft


@factory("random games")
def make_playouts(game: Game) -> Any:
    """Return `playouts(roots, games, rng, totals) -> plies`: random play to the end.

    From each of the B positions in `roots`, `games` games are played with uniformly random legal
    actions; the returns are added to `totals` (float64 `[B, num_players]`). `rng` is the random
    stream, uint64 `[1]`. Positions of stochastic games have their own stream, which is reseeded for
    each game. The roots do not change. Returns the total number of plies.
    """
    legal_actions, step, is_terminal, returns = (
        game.legal_actions,
        game.step,
        game.is_terminal,
        game.returns,
    )
    simultaneous, players, num_actions = game.simultaneous, game.num_players, game.num_actions
    action_dtype, is_stochastic = game.action_dtype, game.has_chance

    @compiled
    def playouts(roots: Any, games: int, rng: Any, totals: Any) -> int:
        states = roots[:1].copy()
        legal = np.zeros(num_actions, action_dtype)
        joint = np.zeros(players, action_dtype)
        scores = np.zeros(players)
        plies = 0
        for i in range(roots.shape[0]):
            for _ in range(games):
                states[0] = roots[i]
                s = states[0]
                if is_stochastic:
                    s.rng[0] = next_u64(rng)
                while not is_terminal(s):
                    if simultaneous:
                        for p in range(players):
                            n = legal_actions(s, p, legal)
                            joint[p] = legal[below(rng, n)] if n > 0 else 0
                        step(s, joint)
                    else:
                        step(s, int(legal[below(rng, legal_actions(s, legal))]))
                    plies += 1
                returns(s, scores)
                for p in range(players):
                    totals[i, p] += scores[p]
        return plies

    return playouts


@factory()
def make_returns(game: Game) -> Any:
    """Return `write_returns(states, env_indices, out)`, which writes the returns of K games.

    `states` holds the positions of a batch, `env_indices` (int64 `[K]`) the indices of the games;
    `out` is float64 `[K, num_players]`.
    """
    returns = game.returns

    @compiled
    def write_returns(states: Any, env_indices: Any, out: Any) -> None:
        for k in range(len(env_indices)):
            returns(states[env_indices[k]], out[k])

    return write_returns

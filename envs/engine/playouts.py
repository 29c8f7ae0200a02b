"""Perft (counts of lines of play) and uniformly random games, compiled."""

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
        from_state: the position to count from, one record; the starting position by default.
        count_finished: whether a game that ends earlier counts as one line. Most published tables
            count it; those of Tron do not.

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
    """Split `perft` by the first ply, to find a wrong rule.

    Returns:
        The count below each first action, by its name (`"d3"`; `"north, east"` where several
        players move simultaneously).
    """
    if depth < 1:
        raise ValueError(f"depth must be at least 1 to divide, got {depth}")
    list_actions, choose, play = make_ply_kernels(game)
    width = actions_per_ply(game)
    start = batch_of_one(game, from_state)
    out, counts = np.zeros((width, game.num_actions), np.int16), np.zeros(width, np.int16)
    chosen = np.zeros(width, np.int16)
    divided = {}
    with np.errstate(over="ignore"):  # as in compiled code, uint64 wraps around
        for k in range(list_actions(view_records(start)[0], out, counts)):
            choose(out, counts, k, chosen)
            child = start.copy()
            play(view_records(child)[0], chosen)
            name = ", ".join(game.action_names[action] for action in chosen)
            divided[name] = perft(
                game, depth - 1, from_state=child[0], count_finished=count_finished
            )
    return divided


def play_randomly(
    game: Game, games: int, *, seed: int = 0, from_state: Any = None
) -> tuple[NDArray[np.float64], int]:
    """Play `games` uniformly random games to the end.

    Returns:
        The sum of the returns, by player, and the number of plies played in all.
    """
    totals = np.zeros((1, game.num_players))
    rng = np.array([seed], np.uint64)
    plies = make_playouts(game)(batch_of_one(game, from_state), games, rng, totals)
    return totals[0], int(plies)


def actions_per_ply(game: Game) -> int:
    """Return the number of actions of a ply: 1, or in simultaneous games one per player."""
    return game.num_players if game.simultaneous else 1


@factory()
def make_ply_kernels(game: Game) -> tuple[Any, Any, Any]:
    """Return three kernels for both dynamics, with S = `actions_per_ply(game)`.

    `list_actions(s, out, counts) -> n` writes the legal actions of each player to `out`
    [S, num_actions] and their number to `counts` [S], and returns the number of joint actions, 0
    when the game is over; `choose(out, counts, k, chosen)` writes joint action k to `chosen` [S];
    `play(s, chosen)` plays it. The action of an inactive player is 0.
    """
    simultaneous, width = game.simultaneous, actions_per_ply(game)
    legal_actions, step, is_terminal = game.legal_actions, game.step, game.is_terminal

    @kernel
    def list_actions(s: Any, out: Any, counts: Any) -> int:
        if is_terminal(s):
            return 0
        if simultaneous:
            joint = 1
            for p in range(width):
                counts[p] = legal_actions(s, p, out[p])
                joint *= max(int(counts[p]), 1)
            return joint
        counts[0] = legal_actions(s, out[0])
        return int(counts[0])

    @kernel
    def choose(out: Any, counts: Any, k: int, chosen: Any) -> None:
        if simultaneous:
            for p in range(width - 1, -1, -1):
                radix = max(int(counts[p]), 1)
                chosen[p] = out[p, k % radix] if counts[p] > 0 else 0
                k //= radix
        else:
            chosen[0] = out[0, k]

    @kernel
    def play(s: Any, chosen: Any) -> None:
        if simultaneous:
            step(s, chosen)
        else:
            step(s, int(chosen[0]))

    return list_actions, choose, play


@factory("perft")
def make_perft(game: Game) -> Any:
    """Return `perft(stack, depth, count_finished) -> int`; see `perft`.

    `stack` holds max(depth, 1) records; the first one is the position to count from.
    """
    list_actions, choose, play = make_ply_kernels(game)
    width, num_actions = actions_per_ply(game), game.num_actions

    @compiled
    def perft(stack: Any, depth: int, count_finished: bool) -> int:
        if depth == 0:
            return 1
        actions = np.zeros((depth, width, num_actions), np.int16)
        counts = np.zeros((depth, width), np.int16)
        chosen = np.zeros(width, np.int16)
        counted = np.full(depth, -1, np.int64)  # joint actions at each level; -1: not counted yet
        tried = np.zeros(depth, np.int64)
        level, leaves = 0, 0
        while level >= 0:
            if counted[level] < 0:
                counted[level] = list_actions(stack[level], actions[level], counts[level])
                tried[level] = 0
                if counted[level] == 0:
                    leaves += int(count_finished)
                elif level == depth - 1:
                    # Every action leads to one leaf: no need to play it.
                    leaves += counted[level]
                    tried[level] = counted[level]
            if tried[level] == counted[level]:
                level -= 1
            else:
                choose(actions[level], counts[level], tried[level], chosen)
                tried[level] += 1
                level += 1
                stack[level] = stack[level - 1]
                play(stack[level], chosen)
                counted[level] = -1
        return leaves

    return perft


@factory("random games")
def make_playouts(game: Game) -> Any:
    """Return `playouts(roots, games, rng, totals) -> plies`: random play to the end.

    From each of the B positions in `roots`, `games` games are played with uniformly random legal
    actions; the returns are added to `totals` (float64 `[B, num_players]`). The random stream of a
    state, if it has one, is reseeded for each game. `rng` is uint64[1]. The roots do not change.
    """
    legal_actions, step, is_terminal, returns = (
        game.legal_actions,
        game.step,
        game.is_terminal,
        game.returns,
    )
    simultaneous, players, num_actions = game.simultaneous, game.num_players, game.num_actions
    has_chance = "rng" in (game.state.names or ())

    @compiled
    def playouts(roots: Any, games: int, rng: Any, totals: Any) -> int:
        states = roots[:1].copy()
        legal = np.zeros(num_actions, np.int16)
        chosen = np.zeros(players, np.int16)
        scores = np.zeros(players)
        plies = 0
        for i in range(roots.shape[0]):
            for _ in range(games):
                states[0] = roots[i]
                s = states[0]
                if has_chance:
                    s.rng[0] = next_u64(rng)
                while not is_terminal(s):
                    if simultaneous:
                        for p in range(players):
                            n = legal_actions(s, p, legal)
                            chosen[p] = legal[below(rng, n)] if n > 0 else 0
                        step(s, chosen)
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
    """Return `write_returns(states, chosen, out)`, which writes the returns of chosen games.

    `chosen` is int64 `[K]`, `out` float64 `[K, num_players]`.
    """
    returns = game.returns

    @compiled
    def write_returns(states: Any, chosen: Any, out: Any) -> None:
        for k in range(len(chosen)):
            returns(states[chosen[k]], out[k])

    return write_returns

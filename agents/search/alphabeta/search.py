"""Alpha-beta search to a given depth, compiled per game and evaluation, without recursion.

Knuth and Moore, "An analysis of alpha-beta pruning", 1975; principal variation search after
Marsland and Campbell, "Parallel search of strongly ordered game trees", 1982: all actions but the
first are searched in a window of width 1, and again if one of them turns out to be better. Actions
are ordered by the table, two killers of each ply and the history heuristic (Schaeffer, 1989).
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.evaluations import find_evaluation
from ludoteca.agents.search.alphabeta.table import NOT_FOUND, SOLVED, WIN, find, store
from ludoteca.agents.search.position_hash import hash_of
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel

UNKNOWN, STOPPED = WIN + 2, WIN + 3  # instead of a value: not searched yet; limit reached
NO_VALUE = -WIN - 1  # below all values
TABLE_SCORE, KILLER_SCORE, SECOND_KILLER_SCORE = 1 << 60, 1 << 59, 1 << 58  # for ordering
HISTORY_SHIFT, MAX_HISTORY = 16, 1 << 40


def frame_dtype(game: Game) -> np.dtype[np.void]:
    """Return the record dtype of one ply of the search."""
    actions = game.num_actions
    return np.dtype(
        [
            ("scores", np.int64, (actions,)),  # ordering scores of the legal actions
            ("key", np.uint64),
            ("alpha", np.int32),
            ("beta", np.int32),
            ("initial_alpha", np.int32),  # alpha on entry
            ("best", np.int32),  # value for the player to move
            ("depth", np.int32),  # plies to search below the position
            ("count", np.int32),  # actions not searched yet
            ("num_legal", np.int32),
            ("legal", np.int16, (actions,)),
            ("killers", np.int16, (2,)),
            ("action", np.int16),  # the action that is being searched
            ("best_action", np.int16),
            ("player", np.int8),
            ("null_window", np.int8),
            ("unsolved", np.int8),  # whether an unfinished position was evaluated below
        ],
        align=True,
    )


def work_dtype(game: Game, levels: int) -> np.dtype[np.void]:
    """Return the record dtype of the counters, the history and the principal variations."""
    return np.dtype(
        [
            ("nodes", np.int64),
            ("level", np.int64),
            ("history", np.int64, (2, game.num_actions)),
            ("tie_break", np.int64, (game.num_actions,)),  # order of actions with equal scores
            ("returns", np.float64, (2,)),
            ("variation", np.int16, (levels, levels)),
            ("variation_length", np.int32, (levels,)),
            ("age", np.uint32),
        ],
        align=True,
    )


@factory()
def make_evaluators(game: Game, evaluation: str) -> tuple[Callable[..., int], Callable[..., int]]:
    """Return two kernels: the value of finished positions, and of unfinished ones.

    `result(s, player, work)` is half the difference of the returns, which in zero-sum games is the
    return of `player`. `evaluate(s, player, work)` lies strictly between a loss and a win.
    """
    returns, estimate = game.returns, find_evaluation(evaluation, game)

    @kernel
    def difference(player: int, work: Any) -> int:
        return int(WIN * (work.returns[player] - work.returns[1 - player]) / 2)

    @kernel
    def result(s: Any, player: int, work: Any) -> int:
        returns(s, work.returns)
        return int(difference(player, work))

    @kernel
    def evaluate(s: Any, player: int, work: Any) -> int:
        estimate(s, work.returns)
        return int(min(max(difference(player, work), 1 - WIN), WIN - 1))

    return result, evaluate


@factory()
def make_ordering(
    game: Game, evaluation: str
) -> tuple[Callable[..., None], Callable[..., None], Callable[..., None]]:
    """Return three kernels.

    `order(s, table_action, work)` writes the ordering scores of the actions of a frame.

    `pop_action(s)` moves the action of the highest score from the list to `s.action`.

    `reward_cutoff(s, work)` updates killers and history after a cutoff by `s.best_action`.
    """

    @kernel
    def order(s: Any, table_action: int, work: Any) -> None:
        for k in range(s.count):
            action = s.legal[k]
            if action == table_action:
                s.scores[k] = TABLE_SCORE
            elif action == s.killers[0]:
                s.scores[k] = KILLER_SCORE
            elif action == s.killers[1]:
                s.scores[k] = SECOND_KILLER_SCORE
            else:
                history = work.history[s.player, action]
                s.scores[k] = (history << HISTORY_SHIFT) + work.tie_break[action]

    @kernel
    def pop_action(s: Any) -> None:
        first = 0
        for k in range(1, s.count):
            if s.scores[k] > s.scores[first]:
                first = k
        s.action = s.legal[first]
        s.count -= 1
        s.legal[first], s.scores[first] = s.legal[s.count], s.scores[s.count]

    @kernel
    def reward_cutoff(s: Any, work: Any) -> None:
        if s.killers[0] != s.best_action:
            s.killers[1] = s.killers[0]
            s.killers[0] = s.best_action
        history = work.history[s.player, s.best_action] + s.depth * s.depth
        work.history[s.player, s.best_action] = min(history, MAX_HISTORY)

    return order, pop_action, reward_cutoff


@factory()
def make_steps(
    game: Game, evaluation: str
) -> tuple[Callable[..., int], Callable[..., None], Callable[..., bool]]:
    """Return three kernels.

    `expand(frames, level, states, words, table, work) -> value` returns the value of a position if
    it is known without search; otherwise it lists its actions and returns `UNKNOWN`.

    `next_child(frames, level, states)` applies the next action of a frame and sets up its child.

    `back_up(frames, level, value, work) -> bool` records the value of the child of a frame; it
    returns whether to search the child again in a wider window.
    """
    legal_actions, step, is_terminal = game.legal_actions, game.step, game.is_terminal
    player = cast(Any, game.player)
    result, evaluate = make_evaluators(game, evaluation)
    order, pop_action, _ = make_ordering(game, evaluation)

    @kernel
    def expand(frames: Any, level: int, states: Any, words: Any, table: Any, work: Any) -> int:
        s, position = frames[level], states[level]
        s.unsolved, s.count, s.best, s.best_action = 0, 0, NO_VALUE, -1
        s.initial_alpha = s.alpha
        work.variation_length[level] = 0
        if level > 0 and is_terminal(position):
            return result(position, s.player, work)
        if s.depth == 0:
            s.unsolved = 1
            return evaluate(position, s.player, work)
        s.key = hash_of(words[level])
        table_action = -1
        k = find(table, s.key, work.age)
        if k != NOT_FOUND:
            entry = table[k]
            table_action = int(entry.action)
            if level > 0 and entry.depth >= s.depth:
                lower, upper = int(entry.lower), int(entry.upper)
                s.unsolved = 0 if entry.depth == SOLVED else 1
                if lower >= s.beta or lower == upper:
                    return lower
                if upper <= s.alpha:
                    return upper
                s.unsolved = 0
        s.num_legal = legal_actions(position, s.legal)
        s.count = s.num_legal
        order(s, table_action, work)
        return UNKNOWN

    @kernel
    def next_child(frames: Any, level: int, states: Any) -> None:
        s, child = frames[level], frames[level + 1]
        pop_action(s)
        states[level + 1] = states[level]
        position = states[level + 1]
        step(position, s.action)
        child.player = s.player if is_terminal(position) else player(position)
        child.depth = s.depth - 1
        s.null_window = 1 if s.best > NO_VALUE and s.beta - s.alpha > 1 else 0
        beta = s.alpha + 1 if s.null_window else s.beta
        if child.player == s.player:
            child.alpha, child.beta = s.alpha, beta
        else:
            child.alpha, child.beta = -beta, -s.alpha

    @kernel
    def back_up(frames: Any, level: int, value: int, work: Any) -> bool:
        s, child = frames[level], frames[level + 1]
        s.unsolved |= child.unsolved
        same = child.player == s.player
        if not same:
            value = -value
        if s.null_window and s.alpha < value and value < s.beta:
            s.null_window = 0
            if same:
                child.alpha, child.beta = value - 1, s.beta
            else:
                child.alpha, child.beta = -s.beta, 1 - value
            return True
        if value > s.best:
            s.best, s.best_action = value, s.action
            if value > s.alpha:
                s.alpha = value
                length = work.variation_length[level + 1]
                work.variation[level, 0] = s.action
                for k in range(length):
                    work.variation[level, k + 1] = work.variation[level + 1, k]
                work.variation_length[level] = length + 1
        return False

    return expand, next_child, back_up


@factory("search")
def make_search(game: Game, evaluation: str) -> Any:
    """Return the compiled function `search(frames, states, words, table, works, limit) -> value`.

    The value is that of `states[0]` for the player to move, as a fraction of `table.WIN`. The
    caller sets `player`, `depth`, `alpha` and `beta` of `frames[0]`, and the level in `works[0]`
    to 0. Once `works[0].nodes` has reached `limit` it returns `STOPPED`; the same call with a
    higher limit continues from there.
    """
    expand, next_child, back_up = make_steps(game, evaluation)
    _, _, reward_cutoff = make_ordering(game, evaluation)

    @compiled_without_allocation
    def search(frames: Any, states: Any, words: Any, table: Any, works: Any, limit: int) -> int:
        work = works[0]
        level = work.level
        while True:
            if work.nodes >= limit:
                work.level = level
                return STOPPED
            work.nodes += 1
            value = expand(frames, level, states, words, table, work)
            while True:
                if value != UNKNOWN:
                    level -= 1
                    if level < 0:
                        work.level = 0
                        return value
                    if back_up(frames, level, value, work):
                        break
                s = frames[level]
                if s.count > 0 and s.best < s.beta:
                    next_child(frames, level, states)
                    break
                value = int(s.best)
                if abs(value) == WIN:
                    s.unsolved = 0  # evaluations of unfinished positions never reach it
                store(table, s, s.depth if s.unsolved else SOLVED, work.age)
                if value >= s.beta:
                    reward_cutoff(s, work)
            level += 1

    return search


def make_workspace(
    game: Game, levels: int
) -> tuple[NDArray[np.void], NDArray[np.void], NDArray[np.void]]:
    """Return frames, positions and the work record of searches with so many levels."""
    states = game.empty(levels)
    return np.zeros(levels, frame_dtype(game)), states, np.zeros(1, work_dtype(game, levels))

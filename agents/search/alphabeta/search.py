"""Alpha-beta search to a given depth, compiled per game and evaluation, without recursion.

Knuth and Moore, "An analysis of alpha-beta pruning", 1975; principal variation search after
Marsland and Campbell, "Parallel search of strongly ordered game trees", 1982: all actions but the
first are searched in a null window (of width 1), and again if one of them turns out to be better.
Actions are ordered by the transposition table, two killers of each ply (the last actions there that
caused a cutoff) and the history heuristic (Schaeffer, "The history heuristic and alpha-beta search
enhancements in practice", 1989).

The stack of the search is an array of frames, one record per ply below the root (the level).
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.alphabeta.evaluators import make_evaluators
from ludoteca.agents.search.alphabeta.table import NOT_FOUND, SOLVED, WIN, find, store
from ludoteca.agents.search.position_hash import hash_of
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel

# Returned instead of a value: the position is not searched yet; the limit of nodes is reached.
UNKNOWN, STOPPED = WIN + 2, WIN + 3
NO_VALUE = -WIN - 1  # below all values
# Ordering scores. History is shifted above the tie break, and stays below the killers' scores.
TABLE_SCORE, KILLER_SCORE, SECOND_KILLER_SCORE = 1 << 60, 1 << 59, 1 << 58
MIN_HISTORY_SHIFT, HISTORY_BITS = 16, 56  # bits of the tie break; of both together


def frame_dtype(game: Game) -> np.dtype[np.void]:
    """Return the record dtype of a frame: one ply of the search."""
    actions, action_dtype = game.num_actions, game.action_dtype
    return np.dtype(
        [
            ("scores", np.int64, (actions,)),  # ordering scores of the legal actions
            ("key", np.uint64),  # hash of the position
            ("alpha", np.int32),  # lower end of the window for the player to move, raised to `best`
            ("beta", np.int32),  # upper end of the window
            ("initial_alpha", np.int32),  # alpha on entry
            ("best", np.int32),  # highest value so far for the player to move
            ("depth", np.int32),  # plies to search below the position
            ("count", np.int32),  # actions not searched yet
            ("num_legal", np.int32),  # number of legal actions
            ("legal", action_dtype, (actions,)),  # `legal[:count]`: actions not searched yet
            ("killers", action_dtype, (2,)),  # the latest first; -1: none, which the caller sets
            ("action", action_dtype),  # the action that is being searched
            ("best_action", action_dtype),  # the action of value `best`, or -1
            ("player", np.int8),  # player to move
            ("null_window", np.int8),  # whether `action` is being searched in a null window
            ("unsolved", np.int8),  # whether an unfinished position was evaluated below
        ],
        align=True,
    )


def work_dtype(game: Game, levels: int) -> np.dtype[np.void]:
    """Return the record dtype of the counters, the history and the principal variations.

    `levels` is the number of frames.
    """
    return np.dtype(
        [
            ("nodes", np.int64),  # number of visited nodes
            ("level", np.int64),  # index of the current frame
            # By player and action: sum of squared depths of its cutoffs.
            ("history", np.int64, (2, game.num_actions)),
            ("tie_break", np.int64, (game.num_actions,)),  # order of actions with equal scores
            ("returns", np.float64, (2,)),  # scratch: returns or evaluations of both players
            # Principal variation from each level on.
            ("variation", game.action_dtype, (levels, levels)),
            ("variation_length", np.int32, (levels,)),  # by level: length of its variation
            ("age", np.uint32),  # number of the search, see `table.entry_dtype`
        ],
        align=True,
    )


@factory()
def make_ordering(
    game: Game, evaluation: str
) -> tuple[Callable[..., None], Callable[..., None], Callable[..., None]]:
    """Return the kernels that order the actions of a frame.

    `order(frame, table_action, work)` writes the ordering scores of the actions of a frame;
    `table_action` is the best action in the transposition table, or -1.

    `pop_action(frame)` moves the action of the highest score from the list to `frame.action`.

    `reward_cutoff(frame, work)` updates killers and history after a cutoff by `frame.best_action`.
    """
    history_shift = max((game.num_actions - 1).bit_length(), MIN_HISTORY_SHIFT)
    max_history = 1 << (HISTORY_BITS - history_shift)

    @kernel
    def order(frame: Any, table_action: int, work: Any) -> None:
        for k in range(frame.count):
            action = frame.legal[k]
            if action == table_action:
                frame.scores[k] = TABLE_SCORE
            elif action == frame.killers[0]:
                frame.scores[k] = KILLER_SCORE
            elif action == frame.killers[1]:
                frame.scores[k] = SECOND_KILLER_SCORE
            else:
                history = work.history[frame.player, action]
                frame.scores[k] = (history << history_shift) + work.tie_break[action]

    @kernel
    def pop_action(frame: Any) -> None:
        first = 0
        for k in range(1, frame.count):
            if frame.scores[k] > frame.scores[first]:
                first = k
        frame.action = frame.legal[first]
        frame.count -= 1
        frame.legal[first], frame.scores[first] = (
            frame.legal[frame.count],
            frame.scores[frame.count],
        )

    @kernel
    def reward_cutoff(frame: Any, work: Any) -> None:
        if frame.killers[0] != frame.best_action:
            frame.killers[1] = frame.killers[0]
            frame.killers[0] = frame.best_action
        history = work.history[frame.player, frame.best_action] + frame.depth * frame.depth
        work.history[frame.player, frame.best_action] = min(history, max_history)

    return order, pop_action, reward_cutoff


@factory()
def make_steps(
    game: Game, evaluation: str
) -> tuple[Callable[..., int], Callable[..., None], Callable[..., bool]]:
    """Return the kernels of the steps down and up the tree.

    `words` is the memory of `states`, see `ludoteca.envs.records.as_words`.

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
        frame, position = frames[level], states[level]
        frame.unsolved, frame.count, frame.best, frame.best_action = 0, 0, NO_VALUE, -1
        frame.initial_alpha = frame.alpha
        work.variation_length[level] = 0
        if level > 0 and is_terminal(position):
            return result(position, frame.player, work)
        if frame.depth == 0:
            frame.unsolved = 1
            return evaluate(frames, level, position, work)
        frame.key = hash_of(words[level])
        table_action = -1
        k = find(table, frame.key, work.age)
        if k != NOT_FOUND:
            entry = table[k]
            table_action = int(entry.action)
            if level > 0 and entry.depth >= frame.depth:
                lower, upper = int(entry.lower), int(entry.upper)
                frame.unsolved = 0 if entry.depth == SOLVED else 1
                if lower >= frame.beta or lower == upper:
                    return lower
                if upper <= frame.alpha:
                    return upper
                frame.unsolved = 0
        frame.num_legal = legal_actions(position, frame.legal)
        frame.count = frame.num_legal
        order(frame, table_action, work)
        return UNKNOWN

    @kernel
    def next_child(frames: Any, level: int, states: Any) -> None:
        frame, child = frames[level], frames[level + 1]
        pop_action(frame)
        states[level + 1] = states[level]
        position = states[level + 1]
        step(position, frame.action)
        child.player = frame.player if is_terminal(position) else player(position)
        child.depth = frame.depth - 1
        frame.null_window = 1 if frame.best > NO_VALUE and frame.beta - frame.alpha > 1 else 0
        beta = frame.alpha + 1 if frame.null_window else frame.beta
        if child.player == frame.player:
            child.alpha, child.beta = frame.alpha, beta
        else:
            child.alpha, child.beta = -beta, -frame.alpha

    @kernel
    def back_up(frames: Any, level: int, value: int, work: Any) -> bool:
        frame, child = frames[level], frames[level + 1]
        frame.unsolved |= child.unsolved
        is_same_player = child.player == frame.player
        if not is_same_player:
            value = -value
        if frame.null_window and frame.alpha < value and value < frame.beta:
            # The child's value is at least `value`: search it again between that and beta.
            frame.null_window = 0
            if is_same_player:
                child.alpha, child.beta = value - 1, frame.beta
            else:
                child.alpha, child.beta = -frame.beta, 1 - value
            return True
        if value > frame.best:
            frame.best, frame.best_action = value, frame.action
            if value > frame.alpha:
                frame.alpha = value
                length = work.variation_length[level + 1]
                work.variation[level, 0] = frame.action
                for k in range(length):
                    work.variation[level, k + 1] = work.variation[level + 1, k]
                work.variation_length[level] = length + 1
        return False

    return expand, next_child, back_up


@factory("search")
def make_search(game: Game, evaluation: str) -> Any:
    """Return the compiled function `search(frames, states, words, table, works, limit) -> value`.

    The value is that of `states[0]` for the player to move, from `-table.WIN` to `table.WIN`. The
    arrays are those of `make_workspace`, `words` the memory of `states`, and `table` the
    transposition table. Once `works[0].nodes` has reached `limit`, the function returns `STOPPED`;
    the same call with a higher limit continues the search.

    Before a search the caller sets `states[0]`; `player`, `depth`, `alpha` and `beta` of
    `frames[0]`; and in `works[0]` `level` and `nodes` to 0, and `age` to the number of the search,
    from 1, since entries of age 0 are empty. The same age continues to use the entries of the
    table. `killers` (-1: none), `history` (0) and `tie_break` (a random permutation of the actions)
    only order the actions, which does not change the value. The function sets all other fields.
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
                frame = frames[level]
                if frame.count > 0 and frame.best < frame.beta:
                    next_child(frames, level, states)
                    break
                value = int(frame.best)
                if abs(value) == WIN:
                    frame.unsolved = 0  # evaluations of unfinished positions never reach WIN
                store(table, frame, frame.depth if frame.unsolved else SOLVED, work.age)
                if value >= frame.beta:
                    reward_cutoff(frame, work)
            level += 1

    return search


def make_workspace(
    game: Game, levels: int
) -> tuple[NDArray[np.void], NDArray[np.void], NDArray[np.void]]:
    """Return the frames `[levels]`, positions `[levels]` and work record `[1]` of searches.

    `levels` is the maximum depth plus 1. All are zeros; `make_search` says what the caller sets.
    """
    states = game.empty(levels)
    return np.zeros(levels, frame_dtype(game)), states, np.zeros(1, work_dtype(game, levels))

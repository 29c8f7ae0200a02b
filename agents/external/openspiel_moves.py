"""Moves between two positions of a game, found in compiled code."""

from collections.abc import Callable
from typing import Any

from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel

NOT_FOUND = -1
SEARCHED_PLIES = 2  # plies between two questions to the agent: its own move and the answer


@factory()
def make_find_moves(game: Game) -> Callable[..., int]:
    """Return `find_moves(states, words, legal, moves) -> n`.

    Finds how `states[0]` becomes `states[-1]` in at most `SEARCHED_PLIES` plies: the moves are
    `moves[:n]`, and `n` is `NOT_FOUND` if there are none.

    Arguments of the function:
        states: two positions, and two to work on in between. Shape `[SEARCHED_PLIES + 2]`.
        words: the same memory as unsigned integers. Shape `[SEARCHED_PLIES + 2, words]`.
        legal: memory, int16 `[SEARCHED_PLIES, num_actions]`.
        moves: int64 `[SEARCHED_PLIES]`.
    """
    legal_actions, step, is_terminal = game.legal_actions, game.step, game.is_terminal

    @kernel
    def is_wanted(words: Any, which: int) -> bool:
        for i in range(words.shape[1]):  # noqa: SIM110  compiled code makes no generators
            if words[which, i] != words[-1, i]:
                return False
        return True

    @compiled_without_allocation
    def find_moves(states: Any, words: Any, legal: Any, moves: Any) -> int:
        if is_wanted(words, 0):
            return 0
        if is_terminal(states[0]):
            return NOT_FOUND
        n = legal_actions(states[0], legal[0])
        for i in range(n):
            moves[0] = legal[0, i]
            states[1] = states[0]
            step(states[1], moves[0])
            if is_wanted(words, 1):
                return 1
        for i in range(n):
            moves[0] = legal[0, i]
            states[1] = states[0]
            step(states[1], moves[0])
            replies = 0 if is_terminal(states[1]) else legal_actions(states[1], legal[1])
            for j in range(replies):
                moves[1] = legal[1, j]
                states[2] = states[1]
                step(states[2], moves[1])
                if is_wanted(words, 2):
                    return 2
        return NOT_FOUND

    return find_moves  # type: ignore[no-any-return]

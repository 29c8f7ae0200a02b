"""Compiled search for the moves between two positions of a game."""

from collections.abc import Callable
from typing import Any

from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel

NOT_FOUND = -1  # instead of a number of moves
MAX_PLIES = 2  # plies between two calls of the agent: its own move and the reply


@factory()
def make_find_moves(game: Game) -> Callable[..., int]:
    """Return `find_moves(states, words, legal, moves) -> n`.

    It finds moves from `states[0]` to `states[-1]`, at most `MAX_PLIES`, and writes them to
    `moves[:n]`; `n` is `NOT_FOUND` if there are no such moves.

    Arguments of the function:
        states: the start, `MAX_PLIES` positions of scratch space, and the target. Shape
            `[MAX_PLIES + 2]`.
        words: the same memory as unsigned integers. Shape `[MAX_PLIES + 2, words]`.
        legal: scratch space, `[MAX_PLIES, num_actions]` of `game.action_dtype`.
        moves: output, int64 `[MAX_PLIES]`.
    """
    legal_actions, step, is_terminal = game.legal_actions, game.step, game.is_terminal

    @kernel
    def is_target(words: Any, k: int) -> bool:
        """Return whether `states[k]` equals the target."""
        for i in range(words.shape[1]):  # noqa: SIM110  compiled code has no generators
            if words[k, i] != words[-1, i]:
                return False
        return True

    @compiled_without_allocation
    def find_moves(states: Any, words: Any, legal: Any, moves: Any) -> int:
        if is_target(words, 0):
            return 0
        if is_terminal(states[0]):
            return NOT_FOUND
        n = legal_actions(states[0], legal[0])
        for i in range(n):
            moves[0] = legal[0, i]
            states[1] = states[0]
            step(states[1], moves[0])
            if is_target(words, 1):
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
                if is_target(words, 2):
                    return 2
        return NOT_FOUND

    return find_moves  # type: ignore[no-any-return]

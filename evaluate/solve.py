"""Perfect play of small games: who wins, and with which first moves, by searching every line."""

from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled, factory, kernel
from ludoteca.envs.records import batch_of_one

FULL = 10.0  # what a search returns when the table is full
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
U29, U32 = np.uint64(29), np.uint64(32)


@dataclass(frozen=True)
class Solution:
    """The result of perfect play from a position.

    Attributes:
        returns: what each player gets.
        actions: for each legal action, by name, what the player to move gets if it is played.
        best: the names of the actions that get the most.
        positions: how many different positions were searched.
    """

    returns: tuple[float, ...]
    actions: dict[str, float]
    best: tuple[str, ...]
    positions: int

    def __repr__(self) -> str:
        return f"Solution(returns={self.returns}, best={self.best}, positions={self.positions})"

    def __str__(self) -> str:
        """Return the result and the moves by their value, in lines of at most 80 columns."""
        results = (f"player {p} gets {value:+g}" for p, value in enumerate(self.returns))
        lines = [f"perfect play: {', '.join(results)}"]
        for value in sorted(set(self.actions.values()), reverse=True):
            names = " ".join(name for name, gain in self.actions.items() if gain == value)
            text = f"moves worth {value:+g} to the player to move: {names}"
            lines += wrap(text, 80, subsequent_indent="  ", break_on_hyphens=False)
        return "\n".join([*lines, f"{self.positions:,} positions searched"])


def solve(game: Game, *, from_state: Any = None, capacity: int = 1 << 22) -> Solution:
    """Search a two-player, zero-sum game to the end of every line that matters.

    The moves of a position are tried in ascending order until one wins; each position is searched
    once, whichever moves lead to it. So games of a few million positions can be solved.

    Args:
        game: sequential, without chance. As it ends in `max_plies`, no position can come up again.
        from_state: the position to solve, one record; the starting position by default.
        capacity: the largest number of positions to remember.

    Raises:
        ValueError: if this is no such game, or `from_state` no position of it that goes on, or
            there are more than `capacity` positions.
    """
    if game.simultaneous or game.num_players != 2 or "rng" in (game.state.names or ()):
        raise ValueError(f"only sequential two-player games without chance: not {game.spec}")
    if capacity < 1:
        raise ValueError(f"capacity must be at least 1, got {capacity}")
    start = batch_of_one(game, from_state)
    legal = game.legal(start.view(np.recarray)[0])
    if not legal:
        raise ValueError(f"the game is over: nothing is left to solve in {start[0]}")
    search, meaning = make_solver(game), meaningful_bytes(game.state)
    slots = 1 << (capacity * 4 // 3).bit_length()
    keys = np.zeros((slots, len(meaning)), np.uint8)
    taken, values, used = np.zeros(slots, np.bool_), np.zeros(slots), np.zeros(1, np.int64)
    stack = np.repeat(start, game.max_plies + 1)
    view = stack.view(np.uint8).reshape(len(stack), -1)
    assert game.player is not None
    mover, gains = int(game.player(start.view(np.recarray)[0])), {}
    for action in legal:
        stack[0] = start[0]
        value = search(stack, view, meaning, keys, taken, values, used, capacity, action)
        if value == FULL:
            raise ValueError(f"{game.spec} has more positions than the capacity, {capacity}")
        gains[game.action_names[action]] = float(value if mover == 0 else 0 - value)
    most = max(gains.values())
    best = tuple(name for name, gain in gains.items() if gain == most)
    returns = (most, 0 - most) if mover == 0 else (0 - most, most)
    return Solution(returns, gains, best, int(used[0]))


def meaningful_bytes(dtype: np.dtype[np.void]) -> NDArray[np.int64]:
    """Return which bytes of a record belong to a field: those between fields may hold anything."""
    assert dtype.fields is not None
    ranges = [
        np.arange(offset, offset + field.itemsize) for field, offset, *_ in dtype.fields.values()
    ]
    return np.concatenate(ranges)


@factory("solver")
def make_solver(game: Game) -> Any:
    """Return the compiled search below one action.

    `search(stack, view, meaning, keys, taken, values, used, capacity, action) -> value` plays
    `action` in `stack[0]` and returns what player 0 then gets with perfect play. `view` are the
    bytes of `stack`, `meaning` those that tell positions apart. The next three are a hash table
    with open addressing: the bytes of a position, whether there is one, and its value for player 0.
    """
    num_actions = game.num_actions
    legal_actions, step, is_terminal = game.legal_actions, game.step, game.is_terminal
    returns = game.returns
    player: Any = game.player

    @kernel
    def find(position: Any, meaning: Any, keys: Any, taken: Any) -> int:
        """Return the slot of a position: the one that holds it, or the free one where it fits."""
        hashed = np.uint64(0)
        for k in range(len(meaning)):
            hashed = (hashed ^ np.uint64(position[meaning[k]])) * MULTIPLIER
            hashed ^= hashed >> U29
        last = len(taken) - 1
        slot = int(np.int64(hashed >> U32)) & last
        while taken[slot]:
            k = 0
            while k < len(meaning) and keys[slot, k] == position[meaning[k]]:
                k += 1
            if k == len(meaning):
                break
            slot = (slot + 1) & last
        return slot

    @compiled
    def search(
        stack: Any,
        view: Any,
        meaning: Any,
        keys: Any,
        taken: Any,
        values: Any,
        used: Any,
        capacity: int,
        action: int,
    ) -> float:
        scores = np.zeros(2)
        legal = np.zeros((len(stack), num_actions), np.int16)
        left = np.zeros(len(stack), np.int64)  # how many legal actions are still to be tried
        slots = np.zeros(len(stack), np.int64)
        best = np.zeros(len(stack))  # for player 0, so far
        stack[1] = stack[0]
        step(stack[1], action)
        level = 1
        while True:
            # Enter the position of this level, unless its value is known at once.
            s = stack[level]
            if is_terminal(s):
                returns(s, scores)
                value = scores[0]
            else:
                slot = find(view[level], meaning, keys, taken)
                if taken[slot]:
                    value = values[slot]
                else:
                    if used[0] == capacity:
                        return FULL
                    used[0] += 1
                    taken[slot] = True
                    for k in range(len(meaning)):
                        keys[slot, k] = view[level, meaning[k]]
                    slots[level] = slot
                    left[level] = legal_actions(s, legal[level])
                    best[level] = np.inf if player(s) else -np.inf
                    value = np.nan
            # Hand values up, until a position has an action left that may be better.
            while True:
                if not np.isnan(value):
                    level -= 1
                    if level == 0:
                        return float(value)
                    if player(stack[level]) == 0:
                        best[level] = max(best[level], value)
                    else:
                        best[level] = min(best[level], value)
                wins = -1 if player(stack[level]) else 1
                if left[level] > 0 and best[level] != wins:
                    break
                value = best[level]
                values[slots[level]] = value
            left[level] -= 1
            stack[level + 1] = stack[level]
            step(stack[level + 1], int(legal[level, left[level]]))
            level += 1

    return search

"""Solver of small games: values of a position and of its moves by exhaustive search."""

from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled, factory, kernel
from ludoteca.envs.records import batch_of_one
from ludoteca.html_table import html_table

FULL = 10.0  # returned by a search when the transposition table is full
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
U29, U32 = np.uint64(29), np.uint64(32)


@dataclass(frozen=True)
class Solution:
    """Solution of a position.

    Attributes:
        returns: return of each player under perfect play.
        actions: value of each legal action for the player to move, by name.
        best: names of the actions with the highest value.
        positions: number of distinct positions that were searched.
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
            names = " ".join(name for name, other in self.actions.items() if other == value)
            text = f"moves with value {value:+g} for the player to move: {names}"
            lines += wrap(text, 80, subsequent_indent="  ", break_on_hyphens=False)
        return "\n".join([*lines, f"{self.positions:,} positions searched"])

    def _repr_html_(self) -> str:
        """Return the moves by their value as HTML, for notebooks."""
        results = (f"player {p} gets {value:+g}" for p, value in enumerate(self.returns))
        rows = [
            [f"{value:+g}", " ".join(name for name in self.actions if self.actions[name] == value)]
            for value in sorted(set(self.actions.values()), reverse=True)
        ]
        return html_table(
            ["value for the player to move", "moves"],
            rows,
            title=f"perfect play: {', '.join(results)}",
            notes=[f"{self.positions:,} positions searched"],
            text_columns=2,
        )


def solve(game: Game, *, from_state: Any = None, capacity: int = 1 << 22) -> Solution:
    """Solve a two-player, zero-sum game by depth-first search with a transposition table.

    A position is searched once, and its moves are tried until one wins. So games of a few million
    positions can be solved.

    Args:
        game: sequential game without chance. As it ends within `max_plies`, positions never repeat.
        from_state: the position to solve, one record; by default the initial position.
        capacity: maximum number of positions in the table.

    Raises:
        ValueError: if the game is not of this kind, `from_state` is final or not a position of it,
            or there are more than `capacity` positions.
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
    mover, action_values = int(game.player(start.view(np.recarray)[0])), {}
    for action in legal:
        stack[0] = start[0]
        value = search(stack, view, meaning, keys, taken, values, used, capacity, action)
        if value == FULL:
            raise ValueError(f"{game.spec} has more positions than the capacity, {capacity}")
        action_values[game.action_names[action]] = float(value if mover == 0 else 0 - value)
    value = max(action_values.values())
    best = tuple(name for name, other in action_values.items() if other == value)
    returns = (value, 0 - value) if mover == 0 else (0 - value, value)
    return Solution(returns, action_values, best, int(used[0]))


def meaningful_bytes(dtype: np.dtype[np.void]) -> NDArray[np.int64]:
    """Return the indices of a record's bytes that belong to a field; padding may hold anything."""
    assert dtype.fields is not None
    ranges = [
        np.arange(offset, offset + field.itemsize) for field, offset, *_ in dtype.fields.values()
    ]
    return np.concatenate(ranges)


@factory("solver")
def make_solver(game: Game) -> Any:
    """Return the compiled search below one action.

    `search(stack, view, meaning, keys, taken, values, used, capacity, action) -> value` plays
    `action` in `stack[0]` and returns the value for player 0. `view` are the bytes of `stack`,
    `meaning` the indices of those that identify positions. `keys`, `taken` and `values` are a hash
    table with open addressing: the bytes of a position, whether the slot is taken, and the value of
    the position for player 0.
    """
    num_actions = game.num_actions
    legal_actions, step, is_terminal = game.legal_actions, game.step, game.is_terminal
    returns = game.returns
    player: Any = game.player

    @kernel
    def find(position: Any, meaning: Any, keys: Any, taken: Any) -> int:
        """Return the slot that holds a position, or the free slot for it."""
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
        left = np.zeros(len(stack), np.int64)  # number of legal actions not tried yet
        slots = np.zeros(len(stack), np.int64)
        best = np.zeros(len(stack))  # for player 0, so far
        stack[1] = stack[0]
        step(stack[1], action)
        level = 1
        while True:
            # Enter the position of this level, unless its value is known.
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
            # Back up values until a position has an action left that may be better.
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

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

TABLE_FULL = 10.0  # returned by a search instead of a value if the transposition table is full
# Constants of the hash: 2^64 divided by the golden ratio, and shifts from high to low bits.
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
U29, U32 = np.uint64(29), np.uint64(32)


@dataclass(frozen=True)
class Solution:
    """Solution of a position.

    Attributes:
        returns: returns of the players under perfect play.
        actions: value of each legal action for the player to move, by the action's name.
        best: names of the actions with the highest value.
        positions: number of distinct positions searched.
    """

    returns: tuple[float, ...]
    actions: dict[str, float]
    best: tuple[str, ...]
    positions: int

    def __repr__(self) -> str:
        return f"Solution(returns={self.returns}, best={self.best}, positions={self.positions})"

    def __str__(self) -> str:
        """Return the returns and the moves by value, in lines of at most 80 characters."""
        results = (f"player {p} gets {value:+g}" for p, value in enumerate(self.returns))
        lines = [f"perfect play: {', '.join(results)}"]
        for value in sorted(set(self.actions.values()), reverse=True):
            names = " ".join(name for name, other in self.actions.items() if other == value)
            text = f"moves with value {value:+g} for the player to move: {names}"
            lines += wrap(text, 80, subsequent_indent="  ", break_on_hyphens=False)
        return "\n".join([*lines, f"{self.positions:,} positions searched"])

    def _repr_html_(self) -> str:
        """Return the moves by value as an HTML table, for notebooks."""
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

    Each position is searched once, and its moves are tried until one wins, which suffices for
    games of a few million positions.

    Args:
        game: sequential game of two players without chance events, with returns in [-1, 1]. As all
            games end within `max_plies`, no position repeats in a game.
        from_state: the position to solve, one record; by default the initial position.
        capacity: maximum number of positions in the transposition table.

    Raises:
        ValueError: if the game is simultaneous, not zero-sum, has chance events or not two players,
            if `from_state` is terminal or not a position of the game, or if there are more than
            `capacity` positions.
    """
    has_chance = game.has_chance
    if game.simultaneous or game.num_players != 2 or not game.zero_sum or has_chance:
        raise ValueError(
            "expected a sequential, zero-sum game for two players without chance events, got "
            f"{game.short_spec}"
        )
    if capacity < 1:
        raise ValueError(f"capacity must be at least 1, got {capacity}")
    start = batch_of_one(game, from_state)
    legal = game.legal(start.view(np.recarray)[0])
    if not legal:
        raise ValueError(f"the game is over: nothing is left to solve in {start[0]}")
    search, key_bytes = make_solver(game), field_bytes(game.state)
    slots = 1 << (capacity * 4 // 3).bit_length()  # a power of two, at most 3/4 of which are taken
    keys = np.zeros((slots, len(key_bytes)), np.uint8)
    taken, values, num_taken = np.zeros(slots, np.bool_), np.zeros(slots), np.zeros(1, np.int64)
    stack = np.repeat(start, game.max_plies + 1)
    stack_bytes = stack.view(np.uint8).reshape(len(stack), -1)
    assert game.player is not None
    mover, action_values = int(game.player(start.view(np.recarray)[0])), {}
    for action in legal:
        stack[0] = start[0]
        value = search(
            stack, stack_bytes, key_bytes, keys, taken, values, num_taken, capacity, action
        )
        if value == TABLE_FULL:
            raise ValueError(f"{game.short_spec} has more positions than the capacity, {capacity}")
        # 0 - value instead of -value, so that a draw is not -0.0.
        action_values[game.action_names[action]] = float(value if mover == 0 else 0 - value)
    value = max(action_values.values())
    best = tuple(name for name, other in action_values.items() if other == value)
    returns = (value, 0 - value) if mover == 0 else (0 - value, value)
    return Solution(returns, action_values, best, int(num_taken[0]))


def field_bytes(dtype: np.dtype[np.void]) -> NDArray[np.int64]:
    """Return the indices of a record's bytes that belong to fields, not to padding. `[bytes]`."""
    assert dtype.fields is not None
    ranges = [
        np.arange(offset, offset + field.itemsize) for field, offset, *_ in dtype.fields.values()
    ]
    return np.concatenate(ranges)


@factory("solver")
def make_solver(game: Game) -> Any:
    """Return the compiled search below one action.

    The search plays `action` in `stack[0]` and returns the value for player 0, in [-1, 1], or
    `TABLE_FULL`. Its arguments, with a stack of D positions and a hash table of S slots with open
    addressing:
        stack: positions from the root to the current one, records `[D]`.
        stack_bytes: the bytes of `stack`, uint8 `[D, bytes of a record]`.
        key_bytes: indices of the K bytes that identify a position, int64 `[K]`.
        keys: identifying bytes of the position in each slot, uint8 `[S, K]`.
        taken: whether each slot is taken, bool `[S]`.
        values: value of the position in each slot for player 0, float64 `[S]`.
        num_taken: number of taken slots, at most `capacity`, int64 `[1]`.
    """
    num_actions, action_dtype = game.num_actions, game.action_dtype
    legal_actions, step, is_terminal = game.legal_actions, game.step, game.is_terminal
    returns = game.returns
    player: Any = game.player

    @kernel
    def find_slot(position: Any, key_bytes: Any, keys: Any, taken: Any) -> int:
        """Return the slot that holds a position, given as its bytes, or the free slot for it."""
        hashed = np.uint64(0)
        for k in range(len(key_bytes)):
            hashed = (hashed ^ np.uint64(position[key_bytes[k]])) * MULTIPLIER
            hashed ^= hashed >> U29
        last = len(taken) - 1
        slot = int(np.int64(hashed >> U32)) & last
        while taken[slot]:
            k = 0
            while k < len(key_bytes) and keys[slot, k] == position[key_bytes[k]]:
                k += 1
            if k == len(key_bytes):
                break
            slot = (slot + 1) & last
        return slot

    @compiled
    def search(
        stack: Any,
        stack_bytes: Any,
        key_bytes: Any,
        keys: Any,
        taken: Any,
        values: Any,
        num_taken: Any,
        capacity: int,
        action: int,
    ) -> float:
        scores = np.zeros(2)
        legal = np.zeros((len(stack), num_actions), action_dtype)
        num_untried = np.zeros(len(stack), np.int64)  # number of legal actions not tried yet
        slots = np.zeros(len(stack), np.int64)
        best = np.zeros(len(stack))  # value for player 0 of the best action so far
        stack[1] = stack[0]
        step(stack[1], action)
        depth = 1
        while True:
            # Add the position at this depth to the table, unless its value is known.
            s = stack[depth]
            if is_terminal(s):
                returns(s, scores)
                value = scores[0]
            else:
                slot = find_slot(stack_bytes[depth], key_bytes, keys, taken)
                if taken[slot]:
                    value = values[slot]
                else:
                    if num_taken[0] == capacity:
                        return TABLE_FULL
                    num_taken[0] += 1
                    taken[slot] = True
                    for k in range(len(key_bytes)):
                        keys[slot, k] = stack_bytes[depth, key_bytes[k]]
                    slots[depth] = slot
                    num_untried[depth] = legal_actions(s, legal[depth])
                    best[depth] = np.inf if player(s) else -np.inf
                    value = np.nan  # unknown: its actions are tried first
            # Back up the value until a position has an untried action that may be better.
            while True:
                if not np.isnan(value):
                    depth -= 1
                    if depth == 0:
                        return float(value)
                    if player(stack[depth]) == 0:
                        best[depth] = max(best[depth], value)
                    else:
                        best[depth] = min(best[depth], value)
                winning_value = -1 if player(stack[depth]) else 1
                if num_untried[depth] > 0 and best[depth] != winning_value:
                    break
                value = best[depth]
                values[slots[depth]] = value
            num_untried[depth] -= 1
            stack[depth + 1] = stack[depth]
            step(stack[depth + 1], int(legal[depth, num_untried[depth]]))
            depth += 1

    return search

"""Alpha-beta search of Connect Four for win, draw or loss, without recursion.

After Pons, "Solving Connect 4: how to build a perfect AI" (2017): bitboards, alpha-beta search with
moves ordered by the number of winning squares that they create, a transposition table, and no
search of moves that let the opponent win immediately. Bitboards are those of the game: bit
`column * (rows + 1) + height`; the bit above each column is never set.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.games.endgame.limits import STOPPED, UNKNOWN
from ludoteca.envs.games.bitboards import U0, U1, count
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel

MAX_COLUMNS = 32
MAX_PLIES = 64
MIN_BITS, MAX_BITS = 10, 22  # of an index: at most 4 million entries of 16 bytes
ENTRY = np.dtype([("key", np.uint64), ("lower", np.int8), ("upper", np.int8)], align=True)
FRAME = np.dtype(
    [
        ("own", np.uint64),  # discs of the player to move
        ("discs", np.uint64),  # discs of both players
        ("moves", np.uint64, MAX_COLUMNS),  # moves not searched yet, the best last
        ("move_scores", np.int32, MAX_COLUMNS),  # ordering scores
        ("num_moves", np.int32),
        ("best", np.int32),  # best score so far
        ("alpha", np.int32),
        ("beta", np.int32),
        ("initial_alpha", np.int32),  # alpha on entry
    ],
    align=True,
)
WORK = np.dtype([("nodes", np.int64), ("level", np.int64)], align=True)
MULTIPLIER, U32 = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


def make_workspace(empty: int) -> tuple[NDArray[np.void], NDArray[np.void], NDArray[np.void]]:
    """Return the frames, the table and the counters of a search with `empty` empty squares."""
    entries = 1 << min(max(empty, MIN_BITS), MAX_BITS)
    return np.zeros(MAX_PLIES + 1, FRAME), np.zeros(entries, ENTRY), np.zeros(1, WORK)


def board_bits(rows: int, columns: int) -> tuple[np.uint64, np.uint64]:
    """Return the bitboards of the lowest squares and of all squares."""
    bottom = sum(1 << column * (rows + 1) for column in range(columns))
    return np.uint64(bottom), np.uint64(bottom * ((1 << rows) - 1))


@kernel
def winning_squares(own: Any, empty_squares: Any, rows: int, connect: int) -> Any:
    """Return the squares of `empty_squares` where a disc completes a line of `own`."""
    cells = U0
    for direction in (1, rows + 1, rows, rows + 2):
        for gap in range(connect):
            line = empty_squares  # squares that are number `gap` of a line with all others own
            for k in range(connect):
                if k < gap:
                    line &= own << np.uint64((gap - k) * direction)
                elif k > gap:
                    line &= own >> np.uint64((k - gap) * direction)
            cells |= line
    return cells


@factory("endgame search")
def make_search(rows: int, columns: int, connect: int) -> Any:
    """Return the compiled function `search(frames, table, works, limit) -> score`.

    The score is 1, 0 or -1 for the player to move. The caller sets `own`, `discs`, `alpha` and
    `beta` of `frames[0]`, an unfinished position, and the level in `works[0]` to 0. Once
    `works[0].nodes` has reached `limit` it returns `STOPPED`; the same call with a higher limit
    continues from there.
    """
    bottom, board = board_bits(rows, columns)
    squares = rows * columns

    @kernel
    def table_index(s: Any, table: Any) -> int:
        hashed = (s.own + s.discs + bottom) * MULTIPLIER
        return int(np.int64((hashed >> U32) & np.uint64(len(table) - 1)))

    @kernel
    def expand(s: Any, table: Any) -> int:
        """Return the score of a position if known; else list its moves and return `UNKNOWN`."""
        s.num_moves, s.best, s.initial_alpha = 0, -1, s.alpha
        other = s.own ^ s.discs
        moves = (s.discs + bottom) & board
        empty_squares = board & ~s.discs
        if winning_squares(s.own, empty_squares, rows, connect) & moves != U0:
            return 1
        threats = winning_squares(other, empty_squares, rows, connect)
        forced = threats & moves
        if forced != U0:
            if forced & (forced - U1) != U0:
                return -1
            moves = forced
        moves &= ~(threats >> U1)  # below a square where the opponent would win
        if moves == U0:
            return -1
        if squares - count(s.discs) <= 2:
            return 0  # neither player can win with the last two discs
        key = s.own + s.discs + bottom
        entry = table[table_index(s, table)]
        if entry.key == key:
            if entry.lower >= s.beta or entry.lower == entry.upper:
                return int(entry.lower)
            if entry.upper <= s.alpha:
                return int(entry.upper)
        # Insertion sort; among equal scores the most central column is last and searched first.
        for n in range(columns):
            column = (columns // 2 + (2 * (n % 2) - 1) * ((n + 1) // 2)) % columns
            move = moves & (((U1 << np.uint64(rows)) - U1) << np.uint64(column * (rows + 1)))
            if move != U0:
                wins = winning_squares(s.own | move, empty_squares & ~move, rows, connect)
                move_score = count(wins)
                k = s.num_moves
                while k > 0 and s.move_scores[k - 1] >= move_score:
                    s.moves[k], s.move_scores[k] = s.moves[k - 1], s.move_scores[k - 1]
                    k -= 1
                s.moves[k], s.move_scores[k] = move, move_score
                s.num_moves += 1
        return UNKNOWN

    @kernel
    def store(s: Any, table: Any) -> None:
        entry, key = table[table_index(s, table)], s.own + s.discs + bottom
        if entry.key != key:
            entry.key, entry.lower, entry.upper = key, -1, 1
        if s.best >= s.beta:
            entry.lower = max(entry.lower, s.best)
        elif s.best <= s.initial_alpha:
            entry.upper = min(entry.upper, s.best)
        else:
            entry.lower = entry.upper = s.best

    @compiled_without_allocation
    def search(frames: Any, table: Any, works: Any, limit: int) -> int:
        work = works[0]
        level = work.level
        while True:
            s = frames[level]
            if work.nodes >= limit:
                work.level = level
                return STOPPED
            work.nodes += 1
            score = expand(s, table)
            while True:
                if score != UNKNOWN:
                    level -= 1
                    if level < 0:
                        work.level = 0
                        return score
                    s = frames[level]
                    s.best = max(s.best, -score)
                    s.alpha = max(s.alpha, s.best)
                if s.num_moves > 0 and s.best < s.beta:
                    s.num_moves -= 1
                    child = frames[level + 1]
                    child.own = s.own ^ s.discs
                    child.discs = s.discs | s.moves[s.num_moves]
                    child.alpha, child.beta = -s.beta, -s.alpha
                    break
                score = int(s.best)
                store(s, table)
            level += 1

    return search

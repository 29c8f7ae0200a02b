"""Alpha-beta search of Connect Four for win, draw or loss, without recursion.

After Pons, "Solving Connect 4: how to build a perfect AI" (2017): bitboards, alpha-beta search with
moves ordered by the number of winning squares that they create, a transposition table, and no
search of moves that let the opponent win immediately. Bitboards are those of the game: bit
`column * (rows + 1) + height`; the bit above each column is never set. The stack of positions is an
array of frames, one per ply (the level).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.games.endgame.limits import STOPPED, UNKNOWN
from ludoteca.envs.games.bitboards import U0, U1, count
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel

# For all boards that fit 64 bits, with an extra bit per column: (rows + 1) * columns <= 64.
MAX_COLUMNS = 32
MAX_PLIES = 64
MIN_BITS, MAX_BITS = 10, 22  # bits of a table index: at most 4 million entries of 16 bytes
# Entry of the transposition table: bounds of the score for the player to move. The key identifies a
# position: `own + discs + bottom`, see `FRAME` and `board_bits`; it is 0 in empty entries only.
ENTRY = np.dtype([("key", np.uint64), ("lower", np.int8), ("upper", np.int8)], align=True)
FRAME = np.dtype(
    [
        ("own", np.uint64),  # discs of the player to move
        ("discs", np.uint64),  # discs of both players
        ("moves", np.uint64, MAX_COLUMNS),  # squares of moves not searched yet, the best last
        ("move_scores", np.int32, MAX_COLUMNS),  # ordering scores
        ("num_moves", np.int32),  # number of moves not searched yet
        ("best", np.int32),  # best score so far
        ("alpha", np.int32),  # lower end of the window, raised to `best`
        ("beta", np.int32),  # upper end of the window
        ("initial_alpha", np.int32),  # alpha on entry
    ],
    align=True,
)
# Counters of a search: visited nodes, and the index of the current frame.
WORK = np.dtype([("nodes", np.int64), ("level", np.int64)], align=True)
# Multiplier (2**64 divided by the golden ratio) and shift of the hash function.
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
            # Squares at index `gap` of a line whose other squares are all own discs.
            line = empty_squares
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

    The score is 1, 0 or -1 for the player to move; arrays are those of `make_workspace`. The caller
    sets `own`, `discs`, `alpha` and `beta` of `frames[0]`, an unfinished position, and the level in
    `works[0]` to 0. Once `works[0].nodes` has reached `limit`, the function returns `STOPPED`; the
    same call with a higher limit continues the search.
    """
    bottom, board = board_bits(rows, columns)
    squares = rows * columns

    @kernel
    def table_index(frame: Any, table: Any) -> int:
        """Return the index of a frame's position in the transposition table."""
        hashed = (frame.own + frame.discs + bottom) * MULTIPLIER
        return int(np.int64((hashed >> U32) & np.uint64(len(table) - 1)))

    @kernel
    def expand(frame: Any, table: Any) -> int:
        """Return the score of a position if known; else list its moves and return `UNKNOWN`."""
        frame.num_moves, frame.best, frame.initial_alpha = 0, -1, frame.alpha
        other = frame.own ^ frame.discs
        moves = (frame.discs + bottom) & board
        empty_squares = board & ~frame.discs
        if winning_squares(frame.own, empty_squares, rows, connect) & moves != U0:
            return 1
        threats = winning_squares(other, empty_squares, rows, connect)
        forced = threats & moves
        if forced != U0:
            if forced & (forced - U1) != U0:
                return -1  # two threats: only one can be blocked
            moves = forced
        moves &= ~(threats >> U1)  # not below a square where the opponent would win
        if moves == U0:
            return -1
        if squares - count(frame.discs) <= 2:
            return 0  # neither player can win with the last two discs
        key = frame.own + frame.discs + bottom
        entry = table[table_index(frame, table)]
        if entry.key == key:
            if entry.lower >= frame.beta or entry.lower == entry.upper:
                return int(entry.lower)
            if entry.upper <= frame.alpha:
                return int(entry.upper)
        # Insertion sort; among equal scores the most central column is last and searched first.
        for n in range(columns):
            column = (columns // 2 + (2 * (n % 2) - 1) * ((n + 1) // 2)) % columns
            move = moves & (((U1 << np.uint64(rows)) - U1) << np.uint64(column * (rows + 1)))
            if move != U0:
                wins = winning_squares(frame.own | move, empty_squares & ~move, rows, connect)
                move_score = count(wins)
                k = frame.num_moves
                while k > 0 and frame.move_scores[k - 1] >= move_score:
                    frame.moves[k], frame.move_scores[k] = (
                        frame.moves[k - 1],
                        frame.move_scores[k - 1],
                    )
                    k -= 1
                frame.moves[k], frame.move_scores[k] = move, move_score
                frame.num_moves += 1
        return UNKNOWN

    @kernel
    def store(frame: Any, table: Any) -> None:
        """Store the score of a searched frame, exact or a bound, depending on its window."""
        entry, key = table[table_index(frame, table)], frame.own + frame.discs + bottom
        if entry.key != key:
            entry.key, entry.lower, entry.upper = key, -1, 1
        if frame.best >= frame.beta:
            entry.lower = max(entry.lower, frame.best)
        elif frame.best <= frame.initial_alpha:
            entry.upper = min(entry.upper, frame.best)
        else:
            entry.lower = entry.upper = frame.best

    @compiled_without_allocation
    def search(frames: Any, table: Any, works: Any, limit: int) -> int:
        work = works[0]
        level = work.level
        while True:
            frame = frames[level]
            if work.nodes >= limit:
                work.level = level
                return STOPPED
            work.nodes += 1
            score = expand(frame, table)
            while True:
                if score != UNKNOWN:
                    level -= 1
                    if level < 0:
                        work.level = 0
                        return score
                    frame = frames[level]
                    frame.best = max(frame.best, -score)
                    frame.alpha = max(frame.alpha, frame.best)
                if frame.num_moves > 0 and frame.best < frame.beta:
                    frame.num_moves -= 1
                    child = frames[level + 1]
                    child.own = frame.own ^ frame.discs
                    child.discs = frame.discs | frame.moves[frame.num_moves]
                    child.alpha, child.beta = -frame.beta, -frame.alpha
                    break
                score = int(frame.best)
                store(frame, table)
            level += 1

    return search

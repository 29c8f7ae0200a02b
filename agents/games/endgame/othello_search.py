"""Principal variation search of Othello's endgame, without recursion.

Every move but the first of a position is searched with a null window, which only decides whether it
is better than the best so far (Marsland and Campbell, "Parallel search of strongly ordered game
trees", 1982); if it is, it is searched again. Scores are final disc differences, empty squares
included for the winner, from the view of the player to move (negamax); a score outside of the
window is a bound (fail-soft). The stack of positions is an array of frames, one per ply (the
level), so that the search can stop and resume at any node.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.games.endgame.last_squares import NO_SCORE, make_last_squares
from ludoteca.agents.games.endgame.limits import STOPPED, UNKNOWN
from ludoteca.agents.games.endgame.othello_bitboards import (
    final_score,
    neighbors,
    odd_quarters,
    placements,
    stable_discs,
)
from ludoteca.agents.games.endgame.transposition_table import NO_SQUARE, NOT_FOUND, find, store
from ludoteca.envs.games.bitboards import U0, U1, count
from ludoteca.envs.games.othello import flipped
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel

MAX_MOVES = 64  # no board has more squares
MAX_PLIES = 128  # every square filled, with a pass before each

# Numbers of empty squares.
LAST_SQUARES = 5  # positions with so many are searched by `last_squares`
TABLE_SQUARES = 7  # minimum for the transposition table
CUTOFF_SQUARES = 8  # minimum for enhanced transposition cutoffs

# Stable discs of the opponent are counted if this many or fewer are enough for a cutoff.
STABLE_SQUARES = 24
TABLE_MOVE_SCORE = 1000  # ordering score of the table's best move, above all others

FRAME = np.dtype(
    [
        ("own", np.uint64),  # discs of the player to move
        ("other", np.uint64),  # discs of the opponent
        # Flips of a move: its square and the discs that it turns over; 0 for a pass.
        ("flips_of_moves", np.uint64, MAX_MOVES),  # moves not searched yet
        ("move_scores", np.int32, MAX_MOVES),  # ordering scores
        ("num_moves", np.int32),  # number of moves not searched yet
        ("empty", np.int32),  # number of empty squares
        ("flips", np.uint64),  # the move that is being searched
        ("best_flips", np.uint64),  # the best move so far
        ("best", np.int32),  # score of the best move so far
        ("alpha", np.int32),  # lower end of the window, raised to `best`
        ("beta", np.int32),  # upper end of the window
        ("initial_alpha", np.int32),  # alpha on entry
        ("null_window", np.int32),  # whether the child is searched with a null window
    ],
    align=True,
)
# Counters of a search: visited nodes, and the index of the current frame.
WORK = np.dtype([("nodes", np.int64), ("level", np.int64)], align=True)


def make_frames() -> NDArray[np.void]:
    """Return the workspace of a search, shape `[MAX_PLIES]`."""
    return np.zeros(MAX_PLIES, FRAME)


@factory("Othello endgame search")
def make_search() -> Any:
    """Return the compiled function `search(frames, table, boards, works, limit) -> score`.

    It searches the position in `frames[0]`, whose `own`, `other`, `empty`, `alpha` and `beta` the
    caller sets, and leaves the flips of the best move in its `best_flips`. The first ply is always
    searched, even if its score is in the table. The level in `works[0]` is 0 at the start. Once
    `works[0].nodes` has reached `limit`, the function returns `STOPPED`; the same call with a
    higher limit continues the search.

    `frames` is from `make_frames`, `table` from `transposition_table.make_table`, `boards` from
    `othello_bitboards.make_board`, and `works` an array of dtype `WORK` and shape `[1]`.
    """
    search_last = make_last_squares(LAST_SQUARES)

    @compiled_without_allocation
    def search(frames: Any, table: Any, boards: Any, works: Any, limit: int) -> int:
        board, work = boards[0], works[0]
        level = work.level
        while True:
            # Expand the position of this level, or find its score without search.
            frame = frames[level]
            if work.nodes >= limit:
                work.level = level
                return STOPPED
            if frame.empty == LAST_SQUARES and level > 0:
                empty = board.region & ~(frame.own | frame.other)
                score = search_last(
                    frame.own, frame.other, empty, frame.alpha, frame.beta, board, work
                )
            else:
                work.nodes += 1
                score = expand(frame, level == 0, table, board)
            # Back up scores, until a position has another move to search.
            while True:
                if score != UNKNOWN:
                    level -= 1
                    if level < 0:
                        work.level = 0
                        return score
                    frame = frames[level]
                    if needs_research(frame, frames[level + 1], -score):
                        break
                if frame.num_moves > 0 and frame.best < frame.beta:
                    next_child(frame, frames[level + 1])
                    break
                score = int(frame.best)
                if frame.empty >= TABLE_SQUARES:
                    store(table, frame, score, board)
            level += 1

    return search


@kernel
def expand(frame: Any, at_root: Any, table: Any, board: Any) -> int:
    """Return the score of a position if it is known; else list its moves and return `UNKNOWN`.

    The score may be a bound that causes a cutoff.

    Args:
        frame: the frame of the position; its moves are listed in `flips_of_moves`.
        at_root: whether it is the first position, for which neither its score in the table nor
            stable discs cause a cutoff, so that its best move is found.
        table: the transposition table.
        board: the board.
    """
    frame.num_moves, frame.best, frame.best_flips, frame.initial_alpha = (
        0,
        NO_SCORE,
        U0,
        frame.alpha,
    )
    table_move = NO_SQUARE
    if not at_root:
        # With this number of stable discs of the opponent, the score is at most alpha.
        needed = (board.squares - frame.alpha + 1) // 2
        if needed <= STABLE_SQUARES:
            num_stable = count(
                stable_discs(frame.other, board.region & ~(frame.own | frame.other), board)
            )
            if num_stable >= needed:
                return board.squares - 2 * num_stable
    if frame.empty >= TABLE_SQUARES:
        k = find(table, frame.own, frame.other)
        if k != NOT_FOUND:
            table_move = int(table[k].square)
            if not at_root:
                lower, upper = int(table[k].lower), int(table[k].upper)
                if lower >= frame.beta or lower == upper:
                    return lower
                if upper <= frame.alpha:
                    return upper
    moves = placements(frame.own, frame.other, board)
    if moves != U0:
        return list_moves(frame, moves, table_move, table, board)
    if placements(frame.other, frame.own, board) == U0:
        return final_score(frame.own, frame.other, board)
    frame.flips_of_moves[0], frame.num_moves = U0, 1  # pass
    return UNKNOWN


@kernel
def list_moves(frame: Any, moves: Any, table_move: Any, table: Any, board: Any) -> int:
    """List the moves with their ordering scores; return the score if one causes a cutoff.

    `moves` is the bitboard of legal squares, `table_move` the bit index of the best move in the
    table, or `NO_SQUARE`. A cutoff is an enhanced transposition cutoff (Plaat, Schaeffer, Pijls and
    de Bruin, "Exploiting graph properties of game trees", 1996), or a move that leaves the opponent
    without discs.
    """
    odd = odd_quarters(board.region & ~(frame.own | frame.other), board)
    while moves != U0:
        square = moves & (~moves + U1)
        moves ^= square
        flips = square | flipped(square, frame.own, frame.other)
        # The position after the move, from the view of the opponent, who is to move.
        own, other = frame.other & ~flips, frame.own | flips
        if own == U0:
            frame.best_flips = flips
            return board.squares
        if frame.empty >= CUTOFF_SQUARES:
            k = find(table, own, other)
            if k != NOT_FOUND and -table[k].upper >= frame.beta:
                frame.best_flips = flips
                return -int(table[k].upper)
        frame.flips_of_moves[frame.num_moves] = flips
        if count(square - U1) == table_move:
            frame.move_scores[frame.num_moves] = TABLE_MOVE_SCORE
        else:
            frame.move_scores[frame.num_moves] = move_score(square, own, other, odd, board)
        frame.num_moves += 1
    return UNKNOWN


@kernel
def move_score(square: Any, own: Any, other: Any, odd: Any, board: Any) -> int:
    """Return the ordering score of a move: mainly the opponent's mobility, negated.

    The weights are heuristic: corners count more than other squares.

    Args:
        square: bitboard of the square where the disc is placed.
        own: discs of the opponent, the next player to move, after the move.
        other: discs of the player who moved.
        odd: quarters with an odd number of empty squares before the move.
        board: the board.
    """
    replies = placements(own, other, board)
    score = -4 * count(replies) - 8 * count(replies & board.corners)
    # Potential mobility: empty squares next to the player's discs.
    score -= count(neighbors(other) & board.region & ~(own | other))
    if square & board.corners != U0:
        score += 4
    if square & odd != U0:
        score += 1
    return score


@kernel
def needs_research(frame: Any, child: Any, score: Any) -> bool:
    """Record the score of a searched move, or return True if it must be searched again.

    It must if a null window shows only that the move is better than the best so far; the wider
    window is then set in `child`.

    Args:
        frame: the frame of a position.
        child: the frame of the position after the move.
        score: the score of `child`, for the player to move in `frame`.
    """
    if frame.null_window and frame.alpha < score and score < frame.beta:
        frame.null_window = 0
        # The score is a lower bound, and can be exact: the window begins one point below it.
        child.alpha, child.beta = -frame.beta, 1 - score
        return True
    if score > frame.best:
        frame.best, frame.best_flips = score, frame.flips
        frame.alpha = max(frame.alpha, score)
    return False


@kernel
def next_child(frame: Any, child: Any) -> None:
    """Remove the move of the highest ordering score from the list; initialize its child frame."""
    first = 0
    for k in range(1, frame.num_moves):
        if frame.move_scores[k] > frame.move_scores[first]:
            first = k
    flips = frame.flips_of_moves[first]
    frame.num_moves -= 1
    frame.flips_of_moves[first] = frame.flips_of_moves[frame.num_moves]
    frame.move_scores[first] = frame.move_scores[frame.num_moves]
    frame.flips = flips
    frame.null_window = frame.best > NO_SCORE and frame.beta - frame.alpha > 1
    child.own, child.other = frame.other & ~flips, frame.own | flips
    child.empty = frame.empty - (1 if flips != U0 else 0)
    child.alpha, child.beta = -frame.alpha - 1 if frame.null_window else -frame.beta, -frame.alpha
    child.null_window = 0

"""Principal variation search of Othello's endgame, without recursion.

Every move but the first of a position is searched with a null window, which only decides whether it
is better than the best so far (Marsland and Campbell, "Parallel search of strongly ordered game
trees", 1982); if it is, it is searched again. Scores are those of the player to move (negamax); a
score outside of the window is a bound (fail-soft). The stack of positions is in `frames`, one per
ply, so that the search can stop and resume at any node.
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
from ludoteca.envs.games.othello import turned
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel

MAX_MOVES = 64  # no board has more squares
MAX_PLIES = 128  # every square filled, with a pass before each

# Numbers of empty squares.
LAST_SQUARES = 5  # `last_squares` takes over
TABLE_SQUARES = 7  # minimum for the transposition table
CUTOFF_SQUARES = 8  # minimum for enhanced transposition cutoffs
# Stable discs of the opponent are counted if this many or fewer are enough for a cutoff.
STABLE_SQUARES = 24

FRAME = np.dtype(
    [
        ("own", np.uint64),
        ("other", np.uint64),
        # Flips of a move: its square and the discs that it turns over; 0 for a pass.
        ("flips_of_moves", np.uint64, MAX_MOVES),  # moves not searched yet
        ("move_scores", np.int32, MAX_MOVES),  # ordering scores
        ("num_moves", np.int32),  # number of moves not searched yet
        ("empty", np.int32),  # number of empty squares
        ("flips", np.uint64),  # the move that is being searched
        ("best_flips", np.uint64),  # the best move so far
        ("best", np.int32),  # its score
        ("alpha", np.int32),  # lower end of the window, raised to `best`
        ("beta", np.int32),
        ("initial_alpha", np.int32),  # alpha on entry
        ("null_window", np.int32),  # whether the child is searched with a null window
    ],
    align=True,
)
WORK = np.dtype([("nodes", np.int64), ("level", np.int64)], align=True)


def make_frames() -> NDArray[np.void]:
    """Return the workspace of a search, shape `[MAX_PLIES]`."""
    return np.zeros(MAX_PLIES, FRAME)


@factory("Othello endgame search")
def make_search() -> Any:
    """Return the compiled function `search(frames, table, boards, works, limit) -> score`.

    It searches the position in `frames[0]`, whose `own`, `other`, `empty`, `alpha` and `beta` the
    caller sets, and leaves the flips of the best move in its `best_flips`. The first ply is always
    searched, even if its score is in the table. Once `works[0].nodes` has reached `limit` it
    returns `STOPPED`; the same call with a higher limit continues from there.
    """
    search_last = make_last_squares(LAST_SQUARES)

    @compiled_without_allocation
    def search(frames: Any, table: Any, boards: Any, works: Any, limit: int) -> int:
        board, work = boards[0], works[0]
        level = work.level
        while True:
            # Expand the position of this level, or find its score without search.
            s = frames[level]
            if work.nodes >= limit:
                work.level = level
                return STOPPED
            if s.empty == LAST_SQUARES and level > 0:
                empty = board.region & ~(s.own | s.other)
                score = search_last(s.own, s.other, empty, s.alpha, s.beta, board, work)
            else:
                work.nodes += 1
                score = expand(s, level == 0, table, board)
            # Back up scores, until a position has another move to search.
            while True:
                if score != UNKNOWN:
                    level -= 1
                    if level < 0:
                        work.level = 0
                        return score
                    s = frames[level]
                    if needs_research(s, frames[level + 1], -score):
                        break
                if s.num_moves > 0 and s.best < s.beta:
                    next_child(s, frames[level + 1])
                    break
                score = int(s.best)
                if s.empty >= TABLE_SQUARES:
                    store(table, s, score, board)
            level += 1

    return search


@kernel
def expand(s: Any, at_root: Any, table: Any, board: Any) -> int:
    """Return the score of a position if it is known; else list its moves and return `UNKNOWN`."""
    s.num_moves, s.best, s.best_flips, s.initial_alpha = 0, NO_SCORE, U0, s.alpha
    table_move = NO_SQUARE
    if not at_root:
        needed = (board.squares - s.alpha + 1) // 2
        if needed <= STABLE_SQUARES:
            num_stable = count(stable_discs(s.other, board.region & ~(s.own | s.other), board))
            if num_stable >= needed:
                return board.squares - 2 * num_stable
    if s.empty >= TABLE_SQUARES:
        k = find(table, s.own, s.other)
        if k != NOT_FOUND:
            table_move = int(table[k].square)
            if not at_root:
                lower, upper = int(table[k].lower), int(table[k].upper)
                if lower >= s.beta or lower == upper:
                    return lower
                if upper <= s.alpha:
                    return upper
    moves = placements(s.own, s.other, board)
    if moves != U0:
        return list_moves(s, moves, table_move, table, board)
    if placements(s.other, s.own, board) == U0:
        return final_score(s.own, s.other, board)
    s.flips_of_moves[0], s.num_moves = U0, 1  # pass
    return UNKNOWN


@kernel
def list_moves(s: Any, moves: Any, table_move: Any, table: Any, board: Any) -> int:
    """List the moves with their ordering scores; return the score if one causes a cutoff.

    That is an enhanced transposition cutoff (Plaat, Schaeffer, Pijls and de Bruin, "Exploiting
    graph properties of game trees", 1996), or a move that leaves the opponent without discs.
    """
    odd = odd_quarters(board.region & ~(s.own | s.other), board)
    while moves != U0:
        square = moves & (~moves + U1)
        moves ^= square
        flips = square | turned(square, s.own, s.other)
        # The position after the move, from the view of the opponent, who is to move.
        own, other = s.other & ~flips, s.own | flips
        if own == U0:
            s.best_flips = flips
            return board.squares
        if s.empty >= CUTOFF_SQUARES:
            k = find(table, own, other)
            if k != NOT_FOUND and -table[k].upper >= s.beta:
                s.best_flips = flips
                return -int(table[k].upper)
        s.flips_of_moves[s.num_moves] = flips
        if count(square - U1) == table_move:
            s.move_scores[s.num_moves] = 1000
        else:
            s.move_scores[s.num_moves] = move_score(square, own, other, odd, board)
        s.num_moves += 1
    return UNKNOWN


@kernel
def move_score(square: Any, own: Any, other: Any, odd: Any, board: Any) -> int:
    """Return the ordering score of a move: mainly the opponent's mobility, negated.

    Args:
        square: where the disc is placed.
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
def needs_research(s: Any, child: Any, score: Any) -> bool:
    """Record the score of a searched move; return whether to search it again with a wider window.

    Args:
        s: the frame of a position.
        child: the frame of the position after the move.
        score: the score of `child`, for the player to move in `s`.
    """
    if s.null_window and s.alpha < score and score < s.beta:
        s.null_window = 0
        child.alpha, child.beta = -s.beta, 1 - score
        return True
    if score > s.best:
        s.best, s.best_flips = score, s.flips
        s.alpha = max(s.alpha, score)
    return False


@kernel
def next_child(s: Any, child: Any) -> None:
    """Remove the move of the highest ordering score from the list; initialize its child frame."""
    first = 0
    for k in range(1, s.num_moves):
        if s.move_scores[k] > s.move_scores[first]:
            first = k
    flips = s.flips_of_moves[first]
    s.num_moves -= 1
    s.flips_of_moves[first] = s.flips_of_moves[s.num_moves]
    s.move_scores[first] = s.move_scores[s.num_moves]
    s.flips = flips
    s.null_window = s.best > NO_SCORE and s.beta - s.alpha > 1
    child.own, child.other = s.other & ~flips, s.own | flips
    child.empty = s.empty - (1 if flips != U0 else 0)
    child.alpha, child.beta = -s.alpha - 1 if s.null_window else -s.beta, -s.alpha
    child.null_window = 0

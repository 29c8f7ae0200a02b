"""Principal variation search of Othello's endgame, without recursion.

Every move but the first of a position is searched with a null window, which only decides whether it
is better than the best so far (Marsland and Campbell, "Parallel search of strongly ordered game
trees", 1982); if it is, it is searched again. Scores are those of the player to move (negamax),
and may lie outside of the window (fail-soft): they are then bounds. The current line
is in `frames`, one per ply, so that the search can stop and resume at any node.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.games.endgame.boards import (
    final_score,
    neighbors,
    odd_quarters,
    placements,
    stable,
)
from ludoteca.agents.games.endgame.last import NONE, make_last
from ludoteca.agents.games.endgame.limits import STOPPED, UNKNOWN
from ludoteca.agents.games.endgame.transposition_table import NO_SQUARE, NOT_FOUND, find, store
from ludoteca.envs.games.bitboards import U0, U1, count
from ludoteca.envs.games.othello import turned
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel

MOST_MOVES = 64  # no board has more squares
MOST_PLIES = 128  # every square filled, and a pass before each

# Empty squares: of positions searched by the functions in `last`, and from which on positions are
# kept in the table, or the positions after all moves are looked up before any is searched.
LAST = 5
KEPT = 7
LOOKED_UP = 8
# Stable discs are counted when the opponent needs no more of them than this to refute the window.
STABLE_SQUARES = 24

FRAME = np.dtype(
    [
        ("own", np.uint64),
        ("other", np.uint64),
        # Flips of a move: its square and the discs that it turns over; 0 for a pass.
        ("flips_of_moves", np.uint64, MOST_MOVES),  # of the moves that are still to be searched
        ("points", np.int32, MOST_MOVES),  # how soon to search them
        ("count", np.int32),  # how many they are
        ("empty", np.int32),
        ("flips", np.uint64),  # of the move that is being searched
        ("best_flips", np.uint64),  # of the best move so far
        ("best", np.int32),  # its score
        ("alpha", np.int32),  # the window, which the best move narrows
        ("beta", np.int32),
        ("floor", np.int32),  # alpha as it was at first
        ("scouting", np.int32),  # whether the move is only compared with the best
    ],
    align=True,
)
WORK = np.dtype([("nodes", np.int64), ("level", np.int64)], align=True)


def make_frames() -> NDArray[np.void]:
    """Return the workspace of a search, shape `[MOST_PLIES]`."""
    return np.zeros(MOST_PLIES, FRAME)


@factory("Othello endgame search")
def make_search() -> Any:
    """Return the compiled function `search(frames, table, boards, works, limit) -> score`.

    It searches the position in `frames[0]`, whose `own`, `other`, `empty`, `alpha` and `beta` the
    caller sets, and leaves the flips of the best move in its `best_flips`. The first ply is always
    searched, even if the table knows its score. Once `works[0].nodes` has reached `limit` it
    returns `STOPPED`; the same call with a higher limit continues from there.
    """
    last = make_last(LAST)

    @compiled_without_allocation
    def search(frames: Any, table: Any, boards: Any, works: Any, limit: int) -> int:
        board, work = boards[0], works[0]
        level = work.level
        while True:
            # Enter the position of this level, unless its score is known at once.
            s = frames[level]
            if work.nodes >= limit:
                work.level = level
                return STOPPED
            if s.empty == LAST and level > 0:
                empty = board.region & ~(s.own | s.other)
                score = last(s.own, s.other, empty, s.alpha, s.beta, board, work)
            else:
                work.nodes += 1
                score = enter(s, level == 0, table, board)
            # Back up scores, until a position has a move left that may be better.
            while True:
                if score != UNKNOWN:
                    level -= 1
                    if level < 0:
                        work.level = 0
                        return score
                    s = frames[level]
                    if search_again(s, frames[level + 1], -score):
                        break
                if s.count > 0 and s.best < s.beta:
                    play_next(s, frames[level + 1])
                    break
                score = int(s.best)
                if s.empty >= KEPT:
                    store(table, s, score, board)
            level += 1

    return search


@kernel
def enter(s: Any, at_root: Any, table: Any, board: Any) -> int:
    """Return the score of a position if it is known; else list its moves and return `UNKNOWN`."""
    s.count, s.best, s.best_flips, s.floor = 0, NONE, U0, s.alpha
    known = NO_SQUARE
    if not at_root:
        needed = (board.squares - s.alpha + 1) // 2
        if needed <= STABLE_SQUARES:
            safe = count(stable(s.other, board.region & ~(s.own | s.other), board))
            if safe >= needed:
                return board.squares - 2 * safe
    if s.empty >= KEPT:
        k = find(table, s.own, s.other)
        if k != NOT_FOUND:
            known = int(table[k].square)
            if not at_root:
                lower, upper = int(table[k].lower), int(table[k].upper)
                if lower >= s.beta or lower == upper:
                    return lower
                if upper <= s.alpha:
                    return upper
    moves = placements(s.own, s.other, board)
    if moves != U0:
        return list_moves(s, moves, known, table, board)
    if placements(s.other, s.own, board) == U0:
        return final_score(s.own, s.other, board)
    s.flips_of_moves[0], s.count = U0, 1  # pass
    return UNKNOWN


@kernel
def list_moves(s: Any, moves: Any, known: Any, table: Any, board: Any) -> int:
    """List the moves with their points; return the score if one is known to be good enough.

    That is an enhanced transposition cutoff (Plaat, Schaeffer, Pijls and de Bruin, "Exploiting
    graph properties of game trees", 1996), or a move that leaves the opponent without discs.
    """
    odd = odd_quarters(board.region & ~(s.own | s.other), board)
    while moves != U0:
        square = moves & (~moves + U1)
        moves ^= square
        flips = square | turned(square, s.own, s.other)
        # The position after it, in which the opponent is to move.
        own, other = s.other & ~flips, s.own | flips
        if own == U0:
            s.best_flips = flips
            return board.squares
        if s.empty >= LOOKED_UP:
            k = find(table, own, other)
            if k != NOT_FOUND and -table[k].upper >= s.beta:
                s.best_flips = flips
                return -int(table[k].upper)
        s.flips_of_moves[s.count] = flips
        if count(square - U1) == known:
            s.points[s.count] = 1000
        else:
            s.points[s.count] = points(square, own, other, odd, board)
        s.count += 1
    return UNKNOWN


@kernel
def points(square: Any, own: Any, other: Any, odd: Any, board: Any) -> int:
    """Return the move ordering score: above all, few replies of the opponent (fastest first).

    Args:
        square: where the disc is placed.
        own: after the move, the discs of the opponent, who is now to move.
        other: those of the player who has moved.
        odd: the quarters in which the number of empty squares was odd.
        board: the board.
    """
    answers = placements(own, other, board)
    score = -4 * count(answers) - 8 * count(answers & board.corners)
    # Empty squares next to one's own discs are where the opponent may move later.
    score -= count(neighbors(other) & board.region & ~(own | other))
    if square & board.corners != U0:
        score += 4
    if square & odd != U0:
        score += 1
    return score


@kernel
def search_again(s: Any, later: Any, score: Any) -> bool:
    """Record the score of the move that was searched; return whether it needs a wider window.

    Args:
        s: the frame of a position.
        later: the frame of the position after the move.
        score: the score of `later`, for the player to move in `s`.
    """
    if s.scouting and s.alpha < score and score < s.beta:
        s.scouting = 0
        later.alpha, later.beta = -s.beta, 1 - score
        return True
    if score > s.best:
        s.best, s.best_flips = score, s.flips
        s.alpha = max(s.alpha, score)
    return False


@kernel
def play_next(s: Any, later: Any) -> None:
    """Take the most promising move out of the list, and set up the position after it."""
    first = 0
    for k in range(1, s.count):
        if s.points[k] > s.points[first]:
            first = k
    flips = s.flips_of_moves[first]
    s.count -= 1
    s.flips_of_moves[first], s.points[first] = s.flips_of_moves[s.count], s.points[s.count]
    s.flips = flips
    s.scouting = s.best > NONE and s.beta - s.alpha > 1
    later.own, later.other = s.other & ~flips, s.own | flips
    later.empty = s.empty - (1 if flips != U0 else 0)
    later.alpha, later.beta = -s.alpha - 1 if s.scouting else -s.beta, -s.alpha
    later.scouting = 0

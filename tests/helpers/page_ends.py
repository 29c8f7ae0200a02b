"""Meanings of the texts about returns and ends of games on their pages."""

from collections.abc import Callable

import numpy as np
from page_planes import captures, connected, sheet_goals, spread
from page_views import View, piece_name

from ludoteca.envs.games.goose_positions import geese
from ludoteca.envs.symmetry import DIRECTIONS


def has_line(view: View, q: int) -> bool:
    """Return whether player `q` has a line."""
    own = view.owners == q
    length = view.game.params.get("connect") or view.game.params["line"]
    for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for row, column in np.argwhere(own):
            run = [(row + k * dr, column + k * dc) for k in range(length)]
            inside = all(0 <= r < own.shape[0] and 0 <= c < own.shape[1] for r, c in run)
            if inside and all(own[cell] for cell in run):
                return True
    return False


def any_line(view: View) -> bool:
    """Return whether a player has a line."""
    return has_line(view, 0) or has_line(view, 1)


def full_board(view: View) -> bool:
    """Return whether every cell has a piece."""
    return bool((view.codes != 0).all())


def can_place(view: View, q: int) -> bool:
    """Return whether player `q` of Othello can turn over a disc."""
    owners = np.pad(view.owners, 1, constant_values=-1)
    for row, column in np.argwhere(view.owners == -1) + 1:
        for dr, dc in np.argwhere(np.ones((3, 3))) - 1:
            k = 1
            while owners[row + k * dr, column + k * dc] == 1 - q and (dr or dc):
                k += 1
            if k > 1 and owners[row + k * dr, column + k * dc] == q:
                return True
    return False


def edges_connected(view: View, q: int) -> bool:
    """Return whether player `q` of Hex has connected both own edges."""
    black = piece_name(view, q) == "black"
    plane = connected(view, 1, "north") if black else connected(view, 2, "west")
    last = plane[-2, 1:-1] if black else plane[1:-1, -2]
    return bool(last.any())


def has_group_without_liberties(view: View, q: int) -> bool:
    """Return whether player `q` has a group without liberties."""
    own, todo = view.owners == q, view.owners == q
    while todo.any():
        stone = np.zeros_like(own)
        stone[tuple(np.argwhere(todo)[0])] = True
        group = spread(stone, own, DIRECTIONS)
        todo &= ~group
        if not (spread(group, ~own & (view.owners == -1), DIRECTIONS) & (view.owners == -1)).any():
            return True
    return False


def wins_by_capture(view: View, q: int) -> bool:
    """Return whether player `q` captured a group, or the opponent only killed its own."""
    mover = (view.t - 1) % 2
    return (
        has_group_without_liberties(view, 1 - mover)
        if mover == q
        else not has_group_without_liberties(view, q)
    )


def on_far_row(view: View, q: int) -> bool:
    """Return whether White has a piece on the top row, or Black on the bottom row."""
    return bool((view.owners[0 if q == 0 else -1] == q).any())


def without_pieces(view: View, q: int) -> bool:
    """Return whether player `q` has no pieces."""
    return not (view.owners == q).any()


def has_no_step(view: View, q: int) -> bool:
    """Return whether player `q` is to move and has no legal step."""
    ahead = -1 if q == 0 else 1
    for row, column in np.argwhere(view.owners == q):
        for right in (-1, 0, 1):
            r, c = row + ahead, column + right
            if 0 <= r < view.codes.shape[0] and 0 <= c < view.codes.shape[1]:
                free = view.codes[r, c] == 0 or (right and view.owners[r, c] == 1 - q)
                if free:
                    return False
    return view.t % 2 == q


def can_step(view: View, code: int, ahead: tuple[int, ...]) -> bool:
    """Return whether the wolf (code 1) or a sheep (code 2) can step to a row of `ahead`."""
    codes = np.pad(view.codes, 1, constant_values=9)
    steps = [(down, right) for down in ahead for right in (-1, 1)]
    return any(
        codes[r + dr, c + dc] == 0 for r, c in np.argwhere(codes == code) for dr, dc in steps
    )


def wolf_has_passed(view: View) -> bool:
    """Return whether no sheep is below the wolf."""
    (wolf,), sheep = np.argwhere(view.codes == 1), np.argwhere(view.codes == 2)
    return bool((sheep[:, 0] <= wolf[0]).all())


def wolf_won(view: View) -> bool:
    """Return whether the wolf can move, and has passed the sheep or they cannot move."""
    return can_step(view, 1, (-1, 1)) and (wolf_has_passed(view) or not can_step(view, 2, (-1,)))


def crashed(view: View, q: int) -> bool:
    """Return whether rider `q` crashed in the last step."""
    if view.t == 0:
        return False
    last = view.at(view.t - 1)
    ends = [tuple(last.s.head[r] + DIRECTIONS[last.action[r]]) for r in range(2)]
    row, column = ends[q]
    inside = 0 <= row < last.codes.shape[0] and 0 <= column < last.codes.shape[1]
    return bool(not inside or last.codes[row, column] != 0 or ends[0] == ends[1])


def opponent_difference(view: View) -> int:
    """Return the number of the opponents of a goose that are behind it, minus those ahead of it."""
    scores = [(0, 0)] * view.game.num_players
    for t in range(1, view.t + 1):
        for q, body in enumerate(geese(view.at(t).s)):
            if body:
                scores[q] = (t, len(body))
    own = scores[view.p]
    return sum(own > other for other in scores) - sum(own < other for other in scores)


def disc_difference(view: View) -> int:
    """Return the player's discs minus the opponent's."""
    return int((view.owners == view.p).sum() - (view.owners == 1 - view.p).sum())


def capture_difference(view: View) -> int:
    """Return the player's captures minus the opponent's."""
    return captures(view, view.p) - captures(view, 1 - view.p)


PIECES = "(?:pawn|knight)"
RETURN_CONDITIONS: dict[str, Callable[..., bool]] = {
    r"the player's goal is (\d+)": lambda v, goal: sheet_goals(v) == (int(goal),),
    "(?:the player )?has a line": lambda v: has_line(v, v.p),
    "the opponent has a line": lambda v: has_line(v, 1 - v.p),
    "the board is full, without a line": lambda v: full_board(v) and not any_line(v),
    "more discs than the opponent": lambda v: disc_difference(v) > 0,
    "fewer discs than the opponent": lambda v: disc_difference(v) < 0,
    "as many discs as the opponent": lambda v: disc_difference(v) == 0,
    "the player has connected both own edges": lambda v: edges_connected(v, v.p),
    "the opponent has connected both edges": lambda v: edges_connected(v, 1 - v.p),
    "captured a group, or the opponent left an own group without liberties and captured nothing": (
        lambda v: wins_by_capture(v, v.p)
    ),
    "lost a group, or left an own group without liberties and captured nothing": (
        lambda v: wins_by_capture(v, 1 - v.p)
    ),
    f"has a {PIECES} on the far row, or the opponent has no {PIECES}s": (
        lambda v: on_far_row(v, v.p) or without_pieces(v, 1 - v.p)
    ),
    f"the opponent has a {PIECES} on the far row, or the player has no {PIECES}s": (
        lambda v: on_far_row(v, 1 - v.p) or without_pieces(v, v.p)
    ),
    "has a pawn on the far row, or the opponent is to move and cannot": (
        lambda v: on_far_row(v, v.p) or has_no_step(v, 1 - v.p)
    ),
    "the opponent has a pawn on the far row, or the player is to move and cannot": (
        lambda v: on_far_row(v, 1 - v.p) or has_no_step(v, v.p)
    ),
    "the sheep: the wolf cannot move; "
    "the wolf: it can, but no sheep is below its row or none can move": (
        lambda v: wolf_won(v) if v.p == 0 else not can_step(v, 1, (-1, 1))
    ),
    "the other side has won": (lambda v: wolf_won(v) if v.p == 1 else not can_step(v, 1, (-1, 1))),
    "more captures than the opponent": lambda v: capture_difference(v) > 0,
    "fewer captures than the opponent": lambda v: capture_difference(v) < 0,
    "as many captures as the opponent": lambda v: capture_difference(v) == 0,
    "only the opponent has crashed": lambda v: crashed(v, 1 - v.p) and not crashed(v, v.p),
    "only this player has crashed": lambda v: crashed(v, v.p) and not crashed(v, 1 - v.p),
    "both have crashed": lambda v: crashed(v, 0) and crashed(v, 1),
    r"(\d) more opponents? behind than ahead": lambda v, n: opponent_difference(v) == int(n),
    r"(\d) more opponents? ahead than behind": lambda v, n: opponent_difference(v) == -int(n),
    "as many opponents behind as ahead": lambda v: opponent_difference(v) == 0,
}
END_CONDITIONS: dict[str, Callable[..., bool]] = {
    "a player has a line": any_line,
    "the board is full": full_board,
    "neither player can place a disc": lambda v: not can_place(v, 0) and not can_place(v, 1),
    "a player has connected both edges": lambda v: edges_connected(v, 0) or edges_connected(v, 1),
    "a group has no liberties": lambda v: (
        has_group_without_liberties(v, 0) or has_group_without_liberties(v, 1)
    ),
    f"a {PIECES} is on its far row": lambda v: on_far_row(v, 0) or on_far_row(v, 1),
    f"a side has no {PIECES}s": lambda v: without_pieces(v, 0) or without_pieces(v, 1),
    "the side to move cannot move": lambda v: has_no_step(v, v.t % 2),
    "the wolf cannot move": lambda v: not can_step(v, 1, (-1, 1)),
    "no sheep is on a row below the wolf's": wolf_has_passed,
    "no sheep can move": lambda v: not can_step(v, 2, (-1,)),
    r"(\d+) (?:plies|steps) have been played": lambda v, n: v.t == int(n),
    "a rider has crashed": lambda v: crashed(v, 0) or crashed(v, 1),
    "at most one goose is alive": lambda v: sum(map(bool, geese(v.s))) <= 1,
}

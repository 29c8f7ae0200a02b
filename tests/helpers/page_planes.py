"""Meanings of the texts about planes on the pages of games."""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from page_views import View, piece_name

from ludoteca.envs.games.goose_positions import geese
from ludoteca.envs.gdl.game import rules
from ludoteca.evaluate.gdl.machine import RuleMachine


def goose(view: View, part: str, seat_offset: str | None) -> Any:
    """Return the plane of a part of a goose, `seat_offset` seats after the observer."""
    q = (view.p + int(seat_offset or 0)) % view.game.num_players
    body = geese(view.s)[q]
    if part == "last head":
        return view.marked(geese(view.at(view.t - 1).s)[q][:1] if body and view.t else [])
    return view.marked({"head": body[:1], "tail": body[-1:], "body": body}[part])


def connected(view: View, color: int, side: str) -> Any:
    """Return the stones of a color, or only those connected to a side of the padded board."""
    stones = np.pad(view.codes == color, 1)
    sides = {"north": np.s_[0, :], "south": np.s_[-1, :], "west": np.s_[:, 0], "east": np.s_[:, -1]}
    edges = ("north", "south") if color == 1 else ("west", "east")
    shown = np.zeros_like(stones)
    for edge in [side] if side else edges:
        shown[sides[edge]] = True
    return shown | stones if not side else spread(shown, stones, HEXAGON)


def spread(reached: Any, among: Any, steps: Any) -> Any:
    """Return the cells `reached` and the cells of `among` that `steps` lead to from them."""
    todo, reached = list(map(tuple, np.argwhere(reached))), reached.copy()
    while todo:
        row, column = todo.pop()
        for dr, dc in steps:
            r, c = row + dr, column + dc
            inside = 0 <= r < among.shape[0] and 0 <= c < among.shape[1]
            if inside and among[r, c] and not reached[r, c]:
                reached[r, c] = True
                todo.append((r, c))
    return reached


HEXAGON = ((-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1))


def captures(view: View, q: int) -> int:
    """Return the number of captures of player `q` so far."""
    return captures_of_both(view.of(0))[q]


@cache
def captures_of_both(view: View) -> tuple[int, int]:
    """Count the pieces that the opponent of each player has lost."""
    owners = [view.at(t).owners for t in range(view.t + 1)]
    lost = [
        sum(max(0, int((a == q).sum() - (b == q).sum())) for a, b in pairwise(owners))
        for q in range(2)
    ]
    return lost[1], lost[0]


def true_fluents(view: View) -> list[str]:
    """Return the true fluents (facts of a position) of a game from a rule sheet in GDL."""
    fluents = rules(view.game).fluents
    return [f for i, f in enumerate(fluents) if int(view.s.fluents[i // 64]) >> i % 64 & 1]


def sheet_goals(view: View) -> tuple[int, ...]:
    """Return the goals of the player, by evaluating the rules of the sheet without its kernels."""
    machine = RuleMachine(rules(view.game))
    machine.set_fluents(true_fluents(view))
    return machine.goals()[view.p]


PLANE_MEANINGS: dict[str, Callable[..., Any]] = {
    # By regular expression of a text: the function of a view and the groups that returns the plane.
    "1 if the fluent `(.+)` is true": lambda v, fluent: v.full(fluent in true_fluents(v)),
    "1 everywhere if the (player|opponent) is in control": lambda v, who: v.full(
        f"(control {rules(v.game).roles[v.p if who == 'player' else 1 - v.p]})" in true_fluents(v)
    ),
    r"1 if player (\d) observes": lambda v, p: v.full(v.p == int(p)),
    "own (?:discs|marks|stones|pawns|knights)": lambda v: v.owners == v.p,
    "the opponent's (?:discs|marks|stones|pawns|knights)": lambda v: v.owners == 1 - v.p,
    "own pieces, the spawned one included": lambda v: v.owners == v.p,
    "the opponent's pieces, the spawned one included": lambda v: v.owners == 1 - v.p,
    "plies left, everywhere": lambda v: v.full(v.game.max_plies - v.t),
    "own captures, everywhere": lambda v: v.full(captures(v, v.p)),
    "the opponent's captures, everywhere": lambda v: v.full(captures(v, 1 - v.p)),
    "1 for White, 0 for Black, everywhere": lambda v: v.full(piece_name(v, v.p) == "white"),
    "holes": lambda v: v.codes == 3,
    "(black|white) discs": lambda v, color: v.codes == ("black", "white").index(color) + 1,
    "black stones and the north and south edges": lambda v: connected(v, 1, ""),
    "white stones and the west and east edges": lambda v: connected(v, 2, ""),
    "black stones connected to the (north|south) edge, and that edge": lambda v, e: connected(
        v, 1, e
    ),
    "white stones connected to the (west|east) edge, and that edge": lambda v, e: connected(
        v, 2, e
    ),
    "sheep": lambda v: v.codes == 2,
    "the wolf": lambda v: v.codes == 1,
    "1 when the wolf is to move, else 0, everywhere": lambda v: v.full(v.t % 2 == 0),
    "own head": lambda v: cell_of(v, v.s.head[v.p]),
    "the opponent's head": lambda v: cell_of(v, v.s.head[1 - v.p]),
    "own walls, head included": lambda v: v.s.walls == v.p + 1,
    "the opponent's walls, head included": lambda v: v.s.walls == 2 - v.p,
    r"(head|tail|body|last head) of goose p(?: \+ (\d))?": goose,
    "food": lambda v: v.codes == 1,
    "percent of the game that is over, everywhere": lambda v: v.full(100 * v.t // 199),
    "percent of the time between two hungers that is over, everywhere": (
        lambda v: v.full(100 * (v.t % 40) // 40)
    ),
}


def cell_of(view: View, cell: Any) -> Any:
    """Return the plane with 1 in a cell (row, column)."""
    return view.marked([cell[0] * view.game.observation_shape[2] + cell[1]])

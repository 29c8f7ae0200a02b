"""What chance did in games that others recorded, in place of what our generators draw.

In Hungry Geese chance only ever chooses cells: one for each head, then one for each food, in the
order in which food is placed. So a list of cells tells all that chance did in a game.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ludoteca.envs.games.hungry_geese import FOOD, NONE
from ludoteca.envs.jit import kernel
from ludoteca.envs.rng import GAMMA

NOT_SO = -1  # chance cannot have chosen so


@dataclass(frozen=True)
class Chance:
    """Kernels that put recorded chance in its place, in one game.

    Attributes:
        begin: `begin(s, cells, at, end) -> at` turns a fresh position into the one that
            `cells[at:end]` tells of. Returns which cell comes next, or `NOT_SO`.
        redraw: `redraw(s, before, cells, at, end) -> at`: after a step, which found the generator
            of `s` at `before`, replaces what was drawn in it. Returns likewise.
    """

    begin: Callable[..., int]
    redraw: Callable[..., int]


@kernel
def begin(s: Any, cells: Any, at: int, end: int) -> int:
    """Set heads and food."""
    s.occupied[:] = 0
    s.food[:] = NONE
    s.num_food = 0
    players = s.body.shape[0]
    for p in range(players):
        if at >= end or not is_free(s, int(cells[at])):
            return NOT_SO
        s.body[p, 0] = cells[at]
        put(s, int(cells[at]), 1)
        at += 1
    return put_food(s, min(s.food.shape[0], s.occupied.size - players), cells, at, end)


@kernel
def redraw(s: Any, before: Any, cells: Any, at: int, end: int) -> int:
    """Replace the food that was drawn in a step."""
    drawn = count_drawn(s, before)
    for _ in range(drawn):
        s.num_food -= 1
        put(s, int(s.food[s.num_food]), 0)
        s.food[s.num_food] = NONE
    return put_food(s, drawn, cells, at, end)


@kernel
def count_drawn(s: Any, before: Any) -> int:
    """Return how many foods were drawn since the generator of `s` was at `before`.

    Each takes one number, and the generator advances by `GAMMA` with each.
    """
    drawn = 0
    while before != s.rng[0] and drawn < s.num_food:
        before += GAMMA
        drawn += 1
    return drawn


@kernel
def put_food(s: Any, count: int, cells: Any, at: int, end: int) -> int:
    """Put food on the next `count` cells; return which one comes next, or `NOT_SO`."""
    for _ in range(count):
        if at >= end or not is_free(s, int(cells[at])):
            return NOT_SO
        put(s, int(cells[at]), FOOD)
        s.food[s.num_food] = cells[at]
        s.num_food += 1
        at += 1
    return at


@kernel
def is_free(s: Any, cell: int) -> bool:
    """Tell whether there is such a cell, with neither goose nor food."""
    columns = s.occupied.shape[1]
    if cell < 0 or cell >= s.occupied.size:
        return False
    return bool(s.occupied[cell // columns, cell % columns] == 0)


@kernel
def put(s: Any, cell: int, what: int) -> None:
    """Set what is on a cell."""
    s.occupied[cell // s.occupied.shape[1], cell % s.occupied.shape[1]] = what


# The games that others record.
CHANCE: dict[str, Chance] = {"hungry_geese": Chance(begin, redraw)}

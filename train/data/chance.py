"""Recorded chance outcomes in place of those that `Game.init` and `Game.step` sample.

Chance in Hungry Geese chooses cells only: the initial cell of each goose, then the cell of each
food, in the order of placement. A list of cells therefore records all chance outcomes of a game.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ludoteca.envs.games.goose_positions import FOOD, NONE
from ludoteca.envs.jit import kernel
from ludoteca.envs.rng import GAMMA

INVALID = -1  # in place of an index: the chance outcome is impossible


@dataclass(frozen=True)
class Chance:
    """Kernels that substitute recorded chance outcomes in one game.

    Attributes:
        set_initial: `set_initial(s, cells, at, end) -> at` turns an initial state into the one
            that `cells[at:end]` records. Returns the index of the next cell, or `INVALID`.
        redraw: `redraw(s, before, cells, at, end) -> at` replaces the chance outcomes of a step, in
            which the generator's state was `before` at first. Returns likewise.
    """

    set_initial: Callable[..., int]
    redraw: Callable[..., int]


@kernel
def set_initial(s: Any, cells: Any, at: int, end: int) -> int:
    """Set the geese and the food."""
    s.occupied[:] = 0
    s.food[:] = NONE
    s.num_food = 0
    players = s.body.shape[0]
    for p in range(players):
        if at >= end or not is_free(s, int(cells[at])):
            return INVALID
        s.body[p, 0] = cells[at]
        set_cell(s, int(cells[at]), 1)
        at += 1
    return place_food(s, min(s.food.shape[0], s.occupied.size - players), cells, at, end)


@kernel
def redraw(s: Any, before: Any, cells: Any, at: int, end: int) -> int:
    """Replace the food that was drawn in a step."""
    drawn = count_drawn(s, before)
    for _ in range(drawn):
        s.num_food -= 1
        set_cell(s, int(s.food[s.num_food]), 0)
        s.food[s.num_food] = NONE
    return place_food(s, drawn, cells, at, end)


@kernel
def count_drawn(s: Any, before: Any) -> int:
    """Return the number of foods drawn since the generator's state was `before`.

    Each food takes one random number, which advances the generator by `GAMMA`.
    """
    drawn = 0
    while before != s.rng[0] and drawn < s.num_food:
        before += GAMMA
        drawn += 1
    return drawn


@kernel
def place_food(s: Any, count: int, cells: Any, at: int, end: int) -> int:
    """Place food on the next `count` cells; return the index of the next cell, or `INVALID`."""
    for _ in range(count):
        if at >= end or not is_free(s, int(cells[at])):
            return INVALID
        set_cell(s, int(cells[at]), FOOD)
        s.food[s.num_food] = cells[at]
        s.num_food += 1
        at += 1
    return at


@kernel
def is_free(s: Any, cell: int) -> bool:
    """Return whether a cell exists and holds neither a goose nor food."""
    columns = s.occupied.shape[1]
    if cell < 0 or cell >= s.occupied.size:
        return False
    return bool(s.occupied[cell // columns, cell % columns] == 0)


@kernel
def set_cell(s: Any, cell: int, content: int) -> None:
    """Set the content of a cell."""
    s.occupied[cell // s.occupied.shape[1], cell % s.occupied.shape[1]] = content


# Games with recorded chance outcomes, by name.
CHANCE: dict[str, Chance] = {"hungry_geese": Chance(set_initial, redraw)}

"""Substitution of recorded chance outcomes for those that `Game.init` and `Game.step` sample.

Chance in Hungry Geese chooses cells only: the initial cell of each goose, then the cell of each
food, in the order of placement. A list of cells therefore records all chance outcomes of a game.
In the kernels, `s` is the state, and `cells` such lists of one or more games, int16 `[C]`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ludoteca.envs.games.goose_positions import FOOD, NONE
from ludoteca.envs.jit import kernel
from ludoteca.envs.rng import GOLDEN_GAMMA

INVALID = -1  # in place of an index: the chance outcome is impossible


@dataclass(frozen=True)
class ChanceKernels:
    """Kernels that substitute recorded chance outcomes in one game.

    Attributes:
        set_initial: `set_initial(s, cells, start, end)` sets the initial state recorded in
            `cells[start:end]`. Returns the index of the next cell, or `INVALID`.
        redraw: `redraw(s, rng_state, cells, start, end)` replaces the chance outcomes of a step,
            before which the generator's state was `rng_state`. Returns the index of the next cell,
            or `INVALID`.
    """

    set_initial: Callable[..., int]
    redraw: Callable[..., int]


@kernel
def set_initial(s: Any, cells: Any, start: int, end: int) -> int:
    """Set the geese and the food of the initial state, see `ChanceKernels`."""
    s.occupied[:] = 0
    s.food[:] = NONE
    s.num_food = 0
    players = s.body.shape[0]
    for p in range(players):
        if start >= end or not is_free(s, int(cells[start])):
            return INVALID
        s.body[p, 0] = cells[start]
        set_cell(s, int(cells[start]), 1)
        start += 1
    return place_food(s, min(s.food.shape[0], s.occupied.size - players), cells, start, end)


@kernel
def redraw(s: Any, rng_state: Any, cells: Any, start: int, end: int) -> int:
    """Replace the food that was sampled in a step, see `ChanceKernels`."""
    drawn = count_drawn(s, rng_state)
    for _ in range(drawn):
        s.num_food -= 1
        set_cell(s, int(s.food[s.num_food]), 0)
        s.food[s.num_food] = NONE
    return place_food(s, drawn, cells, start, end)


@kernel
def count_drawn(s: Any, rng_state: Any) -> int:
    """Return the number of foods sampled since the generator's state was `rng_state`.

    Each food takes one random number, which advances the generator by `GOLDEN_GAMMA`.
    """
    drawn = 0
    while rng_state != s.rng[0] and drawn < s.num_food:
        rng_state += GOLDEN_GAMMA
        drawn += 1
    return drawn


@kernel
def place_food(s: Any, count: int, cells: Any, start: int, end: int) -> int:
    """Place food on the next `count` cells of `cells[start:end]`; return the index after them.

    Return `INVALID` if there are fewer cells, or one is not free.
    """
    for _ in range(count):
        if start >= end or not is_free(s, int(cells[start])):
            return INVALID
        set_cell(s, int(cells[start]), FOOD)
        s.food[s.num_food] = cells[start]
        s.num_food += 1
        start += 1
    return start


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


# Kernels of games whose chance outcomes can be recorded, by name of the game.
CHANCE_KERNELS: dict[str, ChanceKernels] = {"hungry_geese": ChanceKernels(set_initial, redraw)}

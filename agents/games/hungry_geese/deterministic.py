"""Deterministic goose of Martín Miralles: valid moves, corridors, food that it is nearest to.

Source: Martín Miralles, "Hungry Geese" (master's thesis, UIB, 2021), section 2.2.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ludoteca.agents.agent import Policy, PolicyAgent
from ludoteca.agents.games.hungry_geese.policies import beside_rival
from ludoteca.envs.game import Game
from ludoteca.envs.games.goose_positions import FOOD, NONE
from ludoteca.envs.games.hungry_geese import turns_back
from ludoteca.envs.games.torus import beside, neighbor
from ludoteca.envs.jit import factory, kernel
from ludoteca.envs.params import choice, integer, real
from ludoteca.envs.symmetry import DIRECTIONS

LONGEST = 32  # cells of a corridor: its directions, of two bits each, fill one number
PATIENCE = 500  # maximum number of cells searched for a corridor
FAR = 10_000  # farther than any cell
TWO_BITS, LAST = np.uint64(2), np.uint64(3)


def deterministic(
    game: Game,
    corridor: float = 0.5,
    reach: int | None = None,
    hungry: int | None = None,
    variant: str = "default",
    tail: bool | None = None,
) -> PolicyAgent:
    """Avoids dead ends and takes the food that it is nearest to (Hungry Geese).

    The goose of fixed rules of Martín Miralles (UIB, 2021), section 2.2: literally with
    `variant=thesis`, with two rules of our own by default.

    Criteria in order of priority:

    1. A move must not collide. A tail that moves leaves its cell free in time, unless its goose
       may eat, which is when food is beside its head.
    2. Cells beside a rival's head are left alone as long as there are others.
    3. The deepest corridor is taken, a path over cells that will be free when the goose comes
       there, as bodies move on. It is followed to a depth of half the goose's length.
    4. A goose goes for a food only if it is nearest to it, on the torus, nearer than all others.
    5. Without such a food it follows its own tail (`tail`).

    The thesis' agent ignores a food that another goose is nearer to, always, "and simply moves to a
    valid position". Its corridors do not depend on where rivals may go, and are as long as half the
    goose. The default is stronger: it looks for corridors of two cells at least, counts them twice,
    with rivals that stand still and without the cells where a rival may be as soon (`reach`), of
    which the sum decides; a short goose without a food of its own goes for the nearest one
    (`hungry`); and rule 5, which the thesis describes, but as the behavior of others. Nothing is
    random; of equally good moves the first is taken.

    Args:
        game: Hungry Geese.
        corridor: depth of the search for corridors, in lengths of the goose, 0 to 1; at most 32
            cells.
        reach: how many steps rivals are expected to go, 0 (they stand still) to 100; 3 by default,
            0 in the thesis' variant.
        hungry: up to this length a goose takes any food, 0 to 10,000; 3 by default, 0 in the
            thesis' variant.
        variant: "default", or "thesis" for the rules of the thesis and no others.
        tail: whether rule 5 is played, not in the thesis' variant by default. Without it a goose
            takes, of the safest moves with the deepest corridors, the first of north, east, south
            and west.

    Raises:
        ValueError: if the game is not Hungry Geese, or a parameter is out of range.
    """
    if game.name != "hungry_geese":
        raise ValueError(f"the deterministic agent is for hungry_geese, not for {game.name}")
    rules = VARIANTS[choice("variant", variant, tuple(VARIANTS))]
    corridor = real("corridor", corridor, 0, 1)
    reach = integer("reach", rules.reach if reach is None else reach, 0, 100)
    hungry = integer("hungry", rules.hungry if hungry is None else hungry, 0, 10_000)
    tail = choice("tail", rules.tail if tail is None else tail, (False, True))
    return PolicyAgent(game, make_choose(corridor, rules.shortest, reach, hungry, tail))


@dataclass(frozen=True)
class GooseRules:
    """Parameters of a variant of the goose.

    Attributes:
        reach: default of the agent's parameter `reach`.
        hungry: default of the agent's parameter `hungry`.
        tail: default of the agent's parameter `tail`.
        shortest: minimum depth of the search for corridors, in cells.
    """

    reach: int
    hungry: int
    tail: bool
    shortest: int


VARIANTS = {
    "default": GooseRules(reach=3, hungry=3, tail=True, shortest=2),
    "thesis": GooseRules(reach=0, hungry=0, tail=False, shortest=1),
}


@factory()
def make_choose(corridor: float, shortest: int, reach: int, hungry: int, tail: bool) -> Policy:
    """Return the policy kernel `choose(s, player, legal, n, rng) -> action`; it is deterministic.

    Args:
        corridor: see `deterministic`.
        shortest: minimum depth of the search for corridors, in cells.
        reach: see `deterministic`.
        hungry: see `deterministic`.
        tail: see `deterministic`.
    """

    @kernel
    def choose(s: Any, player: int, legal: Any, n: int, rng: Any) -> int:
        columns = s.occupied.shape[1]
        length = int(s.length[player])
        head, last = s.body[player, s.start[player]], s.last_action[player]
        eaters = geese_that_may_eat(s)
        goal = food_to_get(s, player, length <= hungry)
        if goal == NONE and tail:
            goal = s.body[player, (s.start[player] + length - 1) % s.body.shape[1]]
        limit = min(LONGEST, max(shortest, int(length * corridor)))
        best_safety, best_depth, best_distance, chosen = -1, 0, 0, 0
        for action in range(4):
            if turns_back(last, action):
                continue
            row, column = neighbor(head, action, s.occupied.shape)
            safety, depth = 0, 0
            if is_free(s, player, row, column, 1, 0, eaters):
                safety = 1 if beside_rival(s, player, row, column) else 2
                depth = corridor_depth(s, player, action, limit, reach, eaters)
                if reach > 0 and depth == limit:
                    depth += limit  # it is at least as deep while the rivals stand still
                elif reach > 0:
                    depth += corridor_depth(s, player, action, limit, 0, eaters)
            elif is_free(s, player, row, column, 1, 0, 0):
                safety = 1  # a tail that stays only if its goose eats
            distance = 0
            if goal != NONE:
                distance = torus_distance(s, row * columns + column, goal)
            if safety > best_safety or (
                safety == best_safety
                and (depth > best_depth or (depth == best_depth and distance < best_distance))
            ):
                best_safety, best_depth, best_distance = safety, depth, distance
                chosen = action
        return chosen

    return choose


@kernel
def geese_that_may_eat(s: Any) -> int:
    """Return a bit for each goose that has food beside its head, and can still grow."""
    eaters = 0
    for p in range(s.length.shape[0]):
        if 0 < s.length[p] < s.max_length:
            for i in range(s.num_food):
                if torus_distance(s, s.body[p, s.start[p]], s.food[i]) == 1:
                    eaters |= 1 << p
    return eaters


@kernel
def food_to_get(s: Any, player: int, any_food: bool) -> int:
    """Return the nearest food that no other goose is as near to, or NONE.

    With `any_food`, if there is none, the nearest of all.
    """
    own, others = NONE, NONE
    own_distance, others_distance = FAR, FAR
    for i in range(s.num_food):
        food = int(s.food[i])
        distance, theirs = torus_distance(s, s.body[player, s.start[player]], food), FAR
        for p in range(s.length.shape[0]):
            if p != player and s.length[p] > 0:
                theirs = min(theirs, torus_distance(s, s.body[p, s.start[p]], food))
        if distance < theirs and distance < own_distance:
            own, own_distance = food, distance
        elif distance < others_distance:
            others, others_distance = food, distance
    return others if own == NONE and any_food else own


@kernel
def corridor_depth(s: Any, player: int, first: int, limit: int, reach: int, eaters: int) -> int:
    """Return how many cells a path has that begins with the action `first`, at most `limit`.

    It is found by depth-first search, which tries the actions in order and gives up after
    `PATIENCE` cells: the longest path up to then counts.
    """
    rows, columns = s.occupied.shape
    head = s.body[player, s.start[player]]
    row, column = neighbor(head, first, s.occupied.shape)
    path = np.uint64(first)  # the last action in the lowest bits
    depth, deepest, action = 1, 1, 0
    eaten = int(s.occupied[row, column] == FOOD)
    looks = 0
    while deepest < limit and looks < PATIENCE:
        if action < 4:
            looks += 1
            next_row, next_column = beside(row, column, action, s.occupied.shape)
            if (
                is_free(s, player, next_row, next_column, depth + 1, eaten, eaters)
                and not within_reach(s, player, next_row, next_column, min(reach, depth + 1))
                and not on_path(s, row, column, path, depth, next_row, next_column)
            ):
                row, column = next_row, next_column
                path = path << TWO_BITS | np.uint64(action)
                depth += 1
                deepest = max(deepest, depth)
                eaten += int(s.occupied[row, column] == FOOD)
                action = 0
            else:
                action += 1
        elif depth > 1:  # backtrack, and continue with the next action
            eaten -= int(s.occupied[row, column] == FOOD)
            action = int(path & LAST)
            row = (row - DIRECTIONS[action][0]) % rows
            column = (column - DIRECTIONS[action][1]) % columns
            path >>= TWO_BITS
            depth -= 1
            action += 1
        else:
            break
    return deepest


@kernel
def is_free(
    s: Any, player: int, row: int, column: int, steps: int, eaten: int, eaters: int
) -> bool:
    """Return whether no body lies on a cell after some steps, if no goose turns into it.

    Geese move, so that a step takes a segment from each tail, or none if the goose eats:
        `player`
    eats `eaten` times before it comes there, `eaters` (a bit for each goose) eat once.
    """
    if s.occupied[row, column] <= 0:
        return True
    room = s.body.shape[1]
    cell = row * s.occupied.shape[1] + column
    for p in range(s.length.shape[0]):
        length = int(s.length[p])
        stays = min(eaten, int(s.max_length) - length) if p == player else eaters >> p & 1
        for k in range(max(0, length - max(0, steps - stays)), length):
            if s.body[p, (s.start[p] + k) % room] == cell:
                return True
    return False


@kernel
def within_reach(s: Any, player: int, row: int, column: int, steps: int) -> bool:
    """Return whether a rival's head is at most so many steps away, ignoring bodies."""
    if steps == 0:
        return False
    cell = row * s.occupied.shape[1] + column
    for p in range(s.length.shape[0]):
        rival = p != player and s.length[p] > 0
        if rival and torus_distance(s, s.body[p, s.start[p]], cell) <= steps:
            return True
    return False


@kernel
def on_path(
    s: Any, row: int, column: int, path: Any, depth: int, wanted_row: int, wanted_column: int
) -> bool:
    """Return whether a path that ends at (row, column) contains a cell, its start included."""
    rows, columns = s.occupied.shape
    for _ in range(depth):
        action = int(path & LAST)
        path >>= TWO_BITS
        row = (row - DIRECTIONS[action][0]) % rows
        column = (column - DIRECTIONS[action][1]) % columns
        if row == wanted_row and column == wanted_column:
            return True
    return False


@kernel
def torus_distance(s: Any, cell: int, other: int) -> int:
    """Return how many steps lead from a cell to another one around bodies that are not there."""
    rows, columns = s.occupied.shape
    down = abs(int(cell) // columns - int(other) // columns)
    right = abs(int(cell) % columns - int(other) % columns)
    return int(min(down, rows - down) + min(right, columns - right))

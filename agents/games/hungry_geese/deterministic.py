"""Deterministic agent for Hungry Geese: safe moves, corridors, nearest food.

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
from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.envs.symmetry import DIRECTIONS

MAX_DEPTH = 32  # cells of a corridor: its actions of two bits each fit one uint64
MAX_CELLS = 500  # maximum number of cells searched for a corridor
FAR = 10_000  # greater than any distance
ACTION_BITS, ACTION_MASK = np.uint64(2), np.uint64(3)  # size and mask of an action in a path


def deterministic(
    game: Game,
    corridor: float = 0.5,
    reach: int | None = None,
    hungry: int | None = None,
    variant: str = "default",
    tail: bool | None = None,
) -> PolicyAgent:
    """Return the agent that avoids dead ends and takes the food it is closest to (Hungry Geese).

    This is the rule-based agent of Martín Miralles, "Hungry Geese" (UIB, 2021), section 2.2:
    unchanged with `variant=thesis`, with additional rules by default.

    Criteria in order of priority:

    1. A move must not collide. The cell of a tail becomes free when its goose moves, unless the
       goose may eat: unless there is food beside its head.
    2. Cells beside a rival's head are avoided if other cells are free.
    3. The goose enters the deepest corridor: a path over cells that will be free when the goose
       reaches them, as bodies move. It is searched to a depth of half the goose's length.
    4. A goose heads for the closest food, by distance on the torus, to which no other goose is as
       close.
    5. If there is no such food, it heads for its own tail (`tail`).

    The agent of the thesis ignores food to which another goose is closer "and simply moves to a
    valid position". Its corridors do not depend on the moves of rivals. The default is stronger:
    corridors are searched to a depth of two cells or more, scored by the sum of two depths: with
    rivals that stand still, and without cells that a rival may reach no later than the goose
    (`reach`); a short goose without food by rule 4 heads for the closest food (`hungry`); and there
    is rule 5, which the thesis describes as the behavior of other agents. The agent is
    deterministic: ties go to the first move.

    Args:
        game: Hungry Geese.
        corridor: depth of the search for corridors, as a fraction of the goose's length, 0 to 1; at
            most 32 cells.
        reach: number of steps that rivals are expected to move, 0 (they stand still) to 100; by
            default 3, or 0 with `variant=thesis`.
        hungry: maximum length at which a goose heads for any food, 0 to 10,000; by default 3, or 0
            with `variant=thesis`.
        variant: "default", or "thesis" for the rules of the thesis.
        tail: whether to use rule 5; by default True, or False with `variant=thesis`. Without it,
            ties go to the first move in the order north, east, south, west.

    Raises:
        ValueError: if the game is not Hungry Geese, or a parameter is out of range.
    """
    if game.name != "hungry_geese":
        raise ValueError(f"the deterministic agent needs the game hungry_geese, got {game.name}")
    rules = VARIANTS[check_choice("variant", variant, tuple(VARIANTS))]
    corridor = check_real("corridor", corridor, 0, 1)
    reach = check_integer("reach", rules.reach if reach is None else reach, 0, 100)
    hungry = check_integer("hungry", rules.hungry if hungry is None else hungry, 0, 10_000)
    tail = check_choice("tail", rules.tail if tail is None else tail, (False, True))
    return PolicyAgent(game, make_choose(corridor, rules.min_depth, reach, hungry, tail))


@dataclass(frozen=True)
class GooseRules:
    """Default parameters of a variant of the agent.

    Attributes:
        reach: default of the agent's parameter `reach`.
        hungry: default of the agent's parameter `hungry`.
        tail: default of the agent's parameter `tail`.
        min_depth: minimum depth of the search for corridors, in cells.
    """

    reach: int
    hungry: int
    tail: bool
    min_depth: int


VARIANTS = {
    "default": GooseRules(reach=3, hungry=3, tail=True, min_depth=2),
    "thesis": GooseRules(reach=0, hungry=0, tail=False, min_depth=1),
}


@factory()
def make_choose(corridor: float, min_depth: int, reach: int, hungry: int, tail: bool) -> Policy:
    """Return the deterministic policy kernel `choose(s, player, legal, n, rng) -> action`.

    Args:
        corridor: see `deterministic`.
        min_depth: minimum depth of the search for corridors, in cells.
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
        limit = min(MAX_DEPTH, max(min_depth, int(length * corridor)))
        best_safety, best_depth, best_distance, best_action = -1, 0, 0, 0
        for action in range(4):
            if turns_back(last, action):
                continue
            row, column = neighbor(head, action, s.occupied.shape)
            safety, depth = 0, 0  # safety: 0: collision, 1: possible collision, 2: none
            if is_free(s, player, row, column, 1, 0, eaters):
                safety = 1 if beside_rival(s, player, row, column) else 2
                depth = corridor_depth(s, player, action, limit, reach, eaters)
                if reach > 0 and depth == limit:
                    depth += limit  # if rivals stand still, the depth is at least as large
                elif reach > 0:
                    depth += corridor_depth(s, player, action, limit, 0, eaters)
            elif is_free(s, player, row, column, 1, 0, 0):
                safety = 1  # the cell of a tail, which stays occupied only if its goose eats
            distance = 0
            if goal != NONE:
                distance = torus_distance(s, row * columns + column, goal)
            if safety > best_safety or (
                safety == best_safety
                and (depth > best_depth or (depth == best_depth and distance < best_distance))
            ):
                best_safety, best_depth, best_distance = safety, depth, distance
                best_action = action
        return best_action

    return choose


@kernel
def geese_that_may_eat(s: Any) -> int:
    """Return the geese that have food beside their head and can grow, as a bit set."""
    eaters = 0
    for p in range(s.length.shape[0]):
        if 0 < s.length[p] < s.max_length:
            for i in range(s.num_food):
                if torus_distance(s, s.body[p, s.start[p]], s.food[i]) == 1:
                    eaters |= 1 << p
    return eaters


@kernel
def food_to_get(s: Any, player: int, any_food: bool) -> int:
    """Return the cell of the closest food to which no other goose is as close, or NONE.

    With `any_food`, return the closest food of all if there is no such food.
    """
    own, contested = NONE, NONE
    own_distance, contested_distance = FAR, FAR
    for i in range(s.num_food):
        food = int(s.food[i])
        distance, rival_distance = torus_distance(s, s.body[player, s.start[player]], food), FAR
        for p in range(s.length.shape[0]):
            if p != player and s.length[p] > 0:
                rival_distance = min(rival_distance, torus_distance(s, s.body[p, s.start[p]], food))
        if distance < rival_distance and distance < own_distance:
            own, own_distance = food, distance
        elif distance < contested_distance:
            contested, contested_distance = food, distance
    return contested if own == NONE and any_food else own


@kernel
def corridor_depth(s: Any, player: int, first: int, limit: int, reach: int, eaters: int) -> int:
    """Return the length in cells of the longest path with first action `first`, at most `limit`.

    A depth-first search tries the actions in order, and stops after `MAX_CELLS` cells with the
    longest path so far. The path avoids cells that rivals may enter no later than the goose, in up
    to `reach` steps; `eaters` are the geese of `geese_that_may_eat`.
    """
    rows, columns = s.occupied.shape
    head = s.body[player, s.start[player]]
    row, column = neighbor(head, first, s.occupied.shape)
    path = np.uint64(first)  # the last action in the lowest bits
    depth, max_depth, action = 1, 1, 0
    eaten = int(s.occupied[row, column] == FOOD)
    num_cells = 0
    while max_depth < limit and num_cells < MAX_CELLS:
        if action < 4:
            num_cells += 1
            next_row, next_column = beside(row, column, action, s.occupied.shape)
            if (
                is_free(s, player, next_row, next_column, depth + 1, eaten, eaters)
                and not within_reach(s, player, next_row, next_column, min(reach, depth + 1))
                and not on_path(s, row, column, path, depth, next_row, next_column)
            ):
                row, column = next_row, next_column
                path = path << ACTION_BITS | np.uint64(action)
                depth += 1
                max_depth = max(max_depth, depth)
                eaten += int(s.occupied[row, column] == FOOD)
                action = 0
            else:
                action += 1
        elif depth > 1:  # backtrack, and continue with the next action
            eaten -= int(s.occupied[row, column] == FOOD)
            action = int(path & ACTION_MASK)
            row = (row - DIRECTIONS[action][0]) % rows
            column = (column - DIRECTIONS[action][1]) % columns
            path >>= ACTION_BITS
            depth -= 1
            action += 1
        else:
            break
    return max_depth


@kernel
def is_free(
    s: Any, player: int, row: int, column: int, steps: int, eaten: int, eaters: int
) -> bool:
    """Return whether the current bodies have left a cell after some steps.

    A step removes the last segment of each goose, unless the goose eats: `player` eats `eaten`
    times on the path, each goose of the bit set `eaters` once.
    """
    if s.occupied[row, column] <= 0:
        return True
    capacity = s.body.shape[1]
    cell = row * s.occupied.shape[1] + column
    for p in range(s.length.shape[0]):
        length = int(s.length[p])
        delay = min(eaten, int(s.max_length) - length) if p == player else eaters >> p & 1
        for k in range(max(0, length - max(0, steps - delay)), length):
            if s.body[p, (s.start[p] + k) % capacity] == cell:
                return True
    return False


@kernel
def within_reach(s: Any, player: int, row: int, column: int, steps: int) -> bool:
    """Return whether a rival's head is at most `steps` from a cell, ignoring bodies."""
    if steps == 0:
        return False
    cell = row * s.occupied.shape[1] + column
    for p in range(s.length.shape[0]):
        is_rival = p != player and s.length[p] > 0
        if is_rival and torus_distance(s, s.body[p, s.start[p]], cell) <= steps:
            return True
    return False


@kernel
def on_path(
    s: Any, row: int, column: int, path: Any, depth: int, other_row: int, other_column: int
) -> bool:
    """Return whether a path contains a cell, its start included.

    The path of `depth` actions, two bits each in `path` with the last one lowest, ends at
    (row, column).
    """
    rows, columns = s.occupied.shape
    for _ in range(depth):
        action = int(path & ACTION_MASK)
        path >>= ACTION_BITS
        row = (row - DIRECTIONS[action][0]) % rows
        column = (column - DIRECTIONS[action][1]) % columns
        if row == other_row and column == other_column:
            return True
    return False


@kernel
def torus_distance(s: Any, cell: int, other: int) -> int:
    """Return the Manhattan distance of two cells on the torus, ignoring bodies."""
    rows, columns = s.occupied.shape
    down = abs(int(cell) // columns - int(other) // columns)
    right = abs(int(cell) % columns - int(other) % columns)
    return int(min(down, rows - down) + min(right, columns - right))

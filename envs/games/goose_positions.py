"""Positions of Hungry Geese: bodies as lists of cells, codes of the board's cells, validation."""

from typing import Any

import numpy as np

NONE = -1  # in place of an action or a cell
FOOD = -1  # in `occupied`, in place of a number of segments


def geese(s: Any) -> list[list[int]]:
    """Return the cells of each goose, head first, as in kaggle-environments."""
    capacity = s.body.shape[1]
    return [
        [int(s.body[p, (s.start[p] + k) % capacity]) for k in range(s.length[p])]
        for p in range(len(s.length))
    ]


def cells(s: Any) -> Any:
    """Return the codes of the cells: 1 for food, 2 + 2p, 3 + 2p for head and body of goose p."""
    codes = np.zeros(s.occupied.size, np.int8)
    codes[s.food[: s.num_food]] = 1
    for p, goose in enumerate(geese(s)):
        codes[goose] = 3 + 2 * p
        codes[goose[:1]] = 2 + 2 * p  # a dead goose has no head
    return codes.reshape(s.occupied.shape)


def validate(s: Any) -> str:
    """Return the reason why a position is invalid, or an empty string."""
    capacity = s.body.shape[1]
    size = s.occupied.size
    if (s.length < 0).any() or (s.length > min(capacity, s.max_length)).any():
        return f"lengths {s.length} must be from 0 to {min(capacity, s.max_length)}"
    if (s.start < 0).any() or (s.start >= capacity).any():
        return f"start {s.start} must be from 0 to {capacity - 1}"
    bodies = [cell for goose in geese(s) for cell in goose]
    if not all(0 <= cell < size for cell in bodies):
        return "a goose lies outside the board"
    if len(set(bodies)) < len(bodies):
        return "two segments share a cell"
    if not 0 <= s.num_food <= len(s.food):
        return f"num_food {s.num_food} must be from 0 to {len(s.food)}"
    food = s.food[: s.num_food].tolist()
    if not all(0 <= cell < size for cell in food) or len(set(food) - set(bodies)) < len(food):
        return f"food {food} must lie on distinct free cells"
    expected = np.zeros(size, np.int8)
    expected[bodies], expected[food] = 1, FOOD
    if not np.array_equal(expected, s.occupied.ravel()):
        return "occupied does not count the segments of the geese, or does not mark the food"
    if (s.last_action < NONE).any() or (s.last_action > 3).any():
        return f"last_action {s.last_action} must be from -1 to 3"
    if (s.last_head < NONE).any() or (s.last_head >= size).any():
        return f"last_head {s.last_head} lies outside the board"
    if not 0 <= s.steps <= s.max_steps:
        return f"steps {s.steps} must be from 0 to {s.max_steps}"
    return ""

"""Positions of Hungry Geese, drawn as text.

On the boards goose 0 is `0123...` from head to tail, goose 1 `abcd...`, goose 2 `ABCD...`, goose 3
`klmn...`, and `*` is food. Moves are letters of `NESW`, one for each goose; `-` for a dead one. New
food that a step places at random is not shown.
"""

from typing import Any

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.games.goose_positions import FOOD, NONE, geese
from ludoteca.envs.games.hungry_geese import hungry_geese

LETTERS = ("0123456789", "abcdefghij", "ABCDEFGHIJ", "klmnopqrst")


def position(
    lines: list[str], *, steps: int = 1, last: str = "----", **params: Any
) -> tuple[Game, Any]:
    """Return the game and the position drawn as text; `last` are the last actions."""
    cells = "".join(lines)
    bodies = [[cells.index(x) for x in letters if x in cells] for letters in LETTERS]
    food = [i for i, letter in enumerate(cells) if letter == "*"]
    params.setdefault("num_players", max(p + 1 for p in range(4) if bodies[p]))
    params.setdefault("min_food", max(1, len(food)))
    game = hungry_geese(rows=len(lines), columns=len(lines[0]), **params)
    s = game.new()
    s.occupied[:], s.num_food, s.steps, s.start[:] = 0, len(food), steps, 0
    s.food[:] = NONE
    s.food[: len(food)] = food
    s.occupied.ravel()[food] = FOOD
    for p in range(game.num_players):
        s.body[p, : len(bodies[p])], s.length[p] = bodies[p], len(bodies[p])
        s.occupied.ravel()[bodies[p]] = 1
        s.last_action[p] = "NESW".find(last[p])
        if bodies[p] and steps > 0:
            s.score[p] = (steps + 1) * (int(s.max_length) + 1) + len(bodies[p])
    assert game.validate(s) == ""
    return game, s


def play(game: Game, s: Any, moves: str) -> list[str]:
    """Play one step; return the drawing of the new position without new food."""
    rows, columns = s.occupied.shape
    old = s.food[: s.num_food].tolist()
    with np.errstate(over="ignore"):  # SplitMix64 wraps around
        game.step(s, ["NESW".find(move) for move in moves])
    assert game.validate(s) == ""
    shown = ["*" if i in old and i in s.food else "." for i in range(rows * columns)]
    for letters, goose in zip(LETTERS, geese(s), strict=False):
        for letter, cell in zip(letters, goose, strict=False):
            shown[cell] = letter
    return ["".join(shown[r * columns : (r + 1) * columns]) for r in range(rows)]

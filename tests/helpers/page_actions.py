"""Meanings of the texts about effects of actions on the pages of games."""

import re

import numpy as np
import pytest
from page_views import PROVEN, View

from ludoteca.envs.game import Game
from ludoteca.envs.games.goose_positions import geese


def fills_cell(view: View, row: str, column: str) -> bool:
    """Return whether the action fills the cell of two formulas, its row and its column."""
    names = {"__builtins__": {}, "action": view.action}
    cell = eval(row, names), eval(column, names)
    return bool(view.owners[cell] == -1 and view.at(view.t + 1).owners[cell] == view.mover)


def drops_disc(view: View, column: str) -> bool:
    """Return whether the action drops a disc into the column of a formula."""
    column = eval(column, {"__builtins__": {}, "action": view.action})
    before, after = view.owners, view.at(view.t + 1).owners
    (changed,) = np.argwhere(before != after)
    below_filled = (before[changed[0] + 1 :, column] != -1).all()
    return bool(changed[1] == column and below_filled and after[tuple(changed)] == view.mover)


def moves_head(view: View, q: int, number: str, direction: str) -> bool:
    """Return whether the head of player `q` moves in a direction, or True after a crash."""
    heads = [
        [goose[:1] for goose in geese(v.s)]
        if "occupied" in view.s.dtype.names
        else [[int(row) * v.codes.shape[1] + int(column)] for row, column in v.s.head]
        for v in (view, view.at(view.t + 1))
    ]
    start, end = heads[0][q], heads[1][q]
    if not start or not end or start == end:
        return True
    columns, rows = view.codes.shape[1], view.codes.shape[0]
    down, right = step_of(number, direction, "0", "")
    row, column = (start[0] // columns + down) % rows, (start[0] % columns + right) % columns
    return end == [row * columns + column]


def step_of(ahead: str, way: str, aside: str, side: str) -> tuple[int, int]:
    """Return the step (rows, columns) of `ahead` cells one way, and `aside` cells to a side."""
    directions = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
    steps = int(ahead) * np.array(directions[way])
    if side:
        steps = steps + int(aside) * np.array(directions[side])
    return int(steps[0]), int(steps[1])


def named_cells(game: Game, action: int) -> list[tuple[int, int]]:
    """Return the two cells, (row, column), of a name like `a1-b2`."""
    names = re.split("[-x]", game.action_names[action])
    return [(game.layout.rows - int(name[1:]), ord(name[0]) - ord("a")) for name in names]


def moves_piece(view: View, start: tuple[int, int], end: tuple[int, int], takes: bool) -> bool:
    """Return whether the mover's piece moves from `start` to `end`, with a capture if `takes`."""
    before, after = view.owners, view.at(view.t + 1).owners
    moved = before[start] == view.mover and after[end] == view.mover
    return bool(moved and (before[end] == 1 - view.mover or not takes))


# Texts about effects of actions.
PLACES = re.compile("(?:a disc|a mark|a stone) on row `(.*)`, column `(.*)`")
DROPS = re.compile("a disc into column `(.*)`")
RIDES = re.compile("(1) (up|right|down|left)")
STEPS = re.compile(
    r"(?:(White|Black|a jump|a capture): )?(\d) (up|down|left|right)(?:, (\d) (left|right))?"
)
EITHER = re.compile("1 (up|down), 1 left or 1 right")
PASSES = "pass, legal when nothing else is"
SWAPS = "swap"


def check_action(view: View, text: str) -> None:
    """Check that the played action has the effect that the page describes."""
    if text == PASSES:
        assert np.array_equal(view.owners, view.at(view.t + 1).owners)
        assert view.trajectory.legal[view.i, view.t].sum() == 1
    elif text == SWAPS:
        (old,), (new,) = (np.argwhere(v.owners != -1) for v in (view, view.at(view.t + 1)))
        assert view.t == view.mover == 1
        assert new.tolist() == old[::-1].tolist()
        assert view.at(2).owners[tuple(new)] == 1
    elif match := PLACES.fullmatch(text):
        assert fills_cell(view, *match.groups())
    elif match := DROPS.fullmatch(text):
        assert drops_disc(view, *match.groups())
    else:
        if view.game.name not in PROVEN and not STEPS.fullmatch(text):
            pytest.skip(f"no function for {text!r}")
        assert STEPS.fullmatch(text) or EITHER.fullmatch(text), f"unknown action text {text!r}"
        assert moves_piece(view, *named_cells(view.game, view.action), takes="capture" in text)


def check_step(game: Game, actions: range, text: str) -> None:
    """Check the steps of all the actions of a row, legal or not."""
    starts = [named_cells(game, action)[0] for action in actions]
    for action in actions:
        (row, column), (end_row, end_column) = named_cells(game, action)
        step = end_row - row, end_column - column
        if match := EITHER.fullmatch(text):
            assert step in [step_of("1", match[1], "1", side) for side in ("left", "right")]
        elif match := STEPS.fullmatch(text):
            assert step == step_of(match[2], match[3], match[4] or "", match[5] or "")
            assert ("x" in game.action_names[action]) == (match[1] == "a capture")
            assert starts == sorted(starts)
        assert game.layout.moves[action] == tuple(
            r * game.layout.columns + c for r, c in named_cells(game, action)
        )

"""Comparison of learned and exact action values of the grid world, as text and as image."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle
from numpy.typing import NDArray

from ludoteca.envs.grid_world import CELLS, COLUMNS, FREE, GOAL, OBSTACLE, ROWS, TRAP
from ludoteca.evaluate.figures import figure_png

Table = NDArray[np.float64]
"""Action values, or another number for each state and action, `[12, 4]`; NaN is drawn blank."""

# Actions 0 to 3 are north, east, south and west.
ARROWS = "↑→↓←"
NAMES = {GOAL: "goal", TRAP: "trap", OBSTACLE: "#"}
EQUAL = 1e-9  # values closer than this count as equally good

COLORS = LinearSegmentedColormap.from_list("values", ["#d6452b", "#ffffff", "#2e9e5b"])
COUNTS = LinearSegmentedColormap.from_list("counts", ["#ffffff", "#7aa8d8"])
FILLS = {GOAL: "#2e9e5b", TRAP: "#d6452b", OBSTACLE: "#3a3a3a"}
# Offsets (x, y) from the center of a cell, whose sides are 1 long. The side in the direction of
# action a joins the corners a and (a + 1) % 4; texts and markers are in the order of the actions.
CORNERS = ((-0.5, 0.5), (0.5, 0.5), (0.5, -0.5), (-0.5, -0.5))
TEXTS = ((0, 0.34), (0.3, 0), (0, -0.34), (-0.3, 0))
MARKERS = ((0, 0.07, "^"), (0.07, 0, ">"), (0, -0.07, "v"), (-0.07, 0, "<"))


def describe(q: Table, exact: Table, updates: NDArray[np.int64]) -> str:
    """Return learned and exact values, their differences, and both policies as text.

    Args:
        q: learned values, `[12, 4]`.
        exact: optimal values, `[12, 4]`, NaN where an action is illegal.
        updates: number of updates of each value, `[12, 4]`.
    """
    q, counts = mask_illegal(q, exact), mask_illegal(updates, exact)
    visited = [cell for cell in FREE if updates[cell].any()]
    optimal = [
        cell
        for cell in visited
        if not (greedy_actions(q)[cell] & ~greedy_actions(exact)[cell]).any()
    ]
    cells, actions = np.nonzero(updates)
    sections = [
        "learned\n" + board(q, "{:.3f}"),
        "exact\n" + board(exact, "{:.3f}"),
        "learned - exact\n" + board(q - exact, "{:+.3f}"),
        "updates\n" + board(counts, "{:.0f}"),
        # Ones, because the optimal policy is known in all cells.
        policies(policy(q, updates), policy(exact, np.ones_like(updates))),
        f"the greedy action is optimal in {len(optimal)} of {len(visited)} visited cells\n"
        f"largest error of an updated value: "
        f"{np.abs(q - exact)[cells, actions].max():.2g}\n",
    ]
    return "\n".join(sections)


def mask_illegal(table: NDArray[np.generic], exact: Table) -> Table:
    """Return the table with NaN where an action is illegal."""
    return np.where(np.isnan(exact), np.nan, table.astype(np.float64))


def greedy_actions(values: Table) -> NDArray[np.bool_]:
    """Return a mask of the greedy actions, ties included, `[12, 4]`."""
    masked = np.where(np.isnan(values), -np.inf, values)
    greedy: NDArray[np.bool_] = masked >= masked.max(axis=1, keepdims=True) - EQUAL
    return greedy & np.isfinite(masked)


def board(table: Table, form: str) -> str:
    """Return a board with the four numbers of each cell, placed by direction, as text.

    Args:
        table: a number for each state and action, `[12, 4]`.
        form: format string of a number, such as `"{:.3f}"`.
    """
    width = 15  # of a cell, in characters
    edge = "+" + "+".join(["-" * width] * COLUMNS) + "+\n"
    text = edge
    for row in range(ROWS):
        lines = ["", "", ""]
        for cell in range(row * COLUMNS, (row + 1) * COLUMNS):
            north, east, south, west = (format_number(number, form) for number in table[cell])
            middle = NAMES[cell].center(width) if cell in NAMES else f" {west:6} {east:>6} "
            for line, text_row in enumerate((north.center(width), middle, south.center(width))):
                lines[line] += "|" + text_row
        text += "".join(line + "|\n" for line in lines) + edge
    return text


def format_number(number: float, form: str) -> str:
    """Return a number as text: nothing for NaN, and a rounded zero without a sign."""
    text = "" if np.isnan(number) else form.format(number)
    return text.lstrip("+-") if text and float(text) == 0 else text


def policy(values: Table, updates: NDArray[np.int64]) -> list[str]:
    """Return the rows of a board of arrows, the greedy actions; `?` in cells never visited.

    Args:
        values: action values, `[12, 4]`.
        updates: number of updates of each value, `[12, 4]`.
    """
    lines = ["" for _ in range(ROWS)]
    for cell in range(len(CELLS)):
        arrows = "".join(ARROWS[action] for action in np.flatnonzero(greedy_actions(values)[cell]))
        text = NAMES.get(cell) or (arrows if updates[cell].any() else "?")
        lines[cell // COLUMNS] += f"{text:5}"
    return lines


def policies(learned: list[str], exact: list[str]) -> str:
    """Return the learned and the optimal policy, rows of `policy`, in two columns."""
    heads = f"{'greedy policy, learned':32}optimal policy\n"
    return heads + "".join(
        f"{left:32}{right}".rstrip() + "\n" for left, right in zip(learned, exact, strict=True)
    )


def draw(q: Table, exact: Table, updates: NDArray[np.int64], title: str) -> bytes:
    """Return the content of `describe`, with a title, as a PNG file."""
    q, counts = mask_illegal(q, exact), mask_illegal(updates, exact)
    limit = max(np.nanmax(np.abs(exact)), np.nanmax(np.abs(q)), EQUAL)
    log_max = np.log1p(max(np.nanmax(counts), 1))
    visited = updates.sum(axis=1, keepdims=True) > 0

    def by_value(value: float) -> Any:
        return COLORS(0.5 + 0.5 * np.clip(value / limit, -1, 1))

    def by_count(count: float) -> Any:
        return COUNTS(np.log1p(count) / log_max)

    figure = Figure(figsize=(10, 8), dpi=90, layout="constrained")
    panels = figure.subplots(2, 2).flat
    figure.suptitle(title, fontsize=11)
    draw_board(next(panels), "learned", q, "{:.3f}", by_value, greedy_actions(q) & visited)
    draw_board(next(panels), "exact", exact, "{:.3f}", by_value, greedy_actions(exact))
    draw_board(next(panels), "learned minus exact", q - exact, "{:+.3f}", by_value, None)
    draw_board(next(panels), "updates of each value", counts, "{:.0f}", by_count, None)
    return figure_png(figure, 256)  # colors


def draw_board(
    axes: Axes,
    title: str,
    table: Table,
    form: str,
    color: Callable[[float], Any],
    arrows: NDArray[np.bool_] | None,
) -> None:
    """Draw a board: four triangles per cell with a number each, and arrows for greedy actions.

    Args:
        axes: axes of the board.
        title: title of the board.
        table: a number for each state and action, `[12, 4]`.
        form: format string of a number, such as `"{:.3f}"`.
        color: function that returns the color of a number.
        arrows: mask of the actions with an arrow, `[12, 4]`; None: no arrows.
    """
    axes.set_title(title, fontsize=12)
    axes.set_xlim(-0.02, COLUMNS + 0.02)
    axes.set_ylim(-0.02, ROWS + 0.02)
    axes.set_aspect("equal")
    axes.axis("off")
    for cell in range(len(CELLS)):
        x, y = cell % COLUMNS + 0.5, ROWS - cell // COLUMNS - 0.5
        fill = FILLS.get(cell, "#e4e4e4")
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=fill, edgecolor="none"))
        if cell in (GOAL, TRAP):
            axes.text(x, y, NAMES[cell], color="white", fontsize=15, ha="center", va="center")
        for action in np.flatnonzero(~np.isnan(table[cell])):
            number = table[cell, action]
            greedy = arrows is not None and bool(arrows[cell, action])
            draw_action(axes, x, y, int(action), format_number(number, form), color(number), greedy)
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, edgecolor="#555555"))


def draw_action(
    axes: Axes, x: float, y: float, action: int, text: str, color: Any, greedy: bool
) -> None:
    """Draw the triangle of an action in the cell around (x, y), with an arrow if it is greedy."""
    corners = (CORNERS[action], CORNERS[(action + 1) % 4], (0, 0))
    points = [(x + dx, y + dy) for dx, dy in corners]
    axes.add_patch(Polygon(points, facecolor=color, edgecolor="#b0b0b0", linewidth=0.5))
    axes.text(
        x + TEXTS[action][0],
        y + TEXTS[action][1],
        text,
        fontsize=8,
        fontweight="bold" if greedy else "normal",
        ha="center",
        va="center",
    )
    if greedy:
        dx, dy, marker = MARKERS[action]
        axes.plot(x + dx, y + dy, marker=marker, color="#1f3a5f", markersize=6)

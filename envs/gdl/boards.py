"""Boards of rule sheets: the cell and the plane of each fluent.

A board is found without the names of relations: in terms such as `(cell 1 2 white)`, two adjacent
arguments have ordered constants, and neither is determined by the other. The first is the column,
from left to right, the second the row, from bottom to top; of letters and numbers, the letters name
the columns. A constant such as `a1` is split into both. Without such terms, terms such as
`(cell 3 white)` give a board of one row, if they are at least half of all fluents.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.gdl.network import Network
from ludoteca.envs.gdl.orders import Pairs, find_order, relation_order
from ludoteca.envs.gdl.term_shapes import ATOM, TermGroup, group_terms

MIN_CELLS, MAX_SIDE = 3, 64
MIN_FILLED = 1 / 4  # of the cells, for which there are fluents
MIN_ON_LINE = 1 / 2  # of the fluents, on a board of one row
NO_CELL = -1
Order = tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """Positions of the coordinates of one cell among the constants of a term.

    Attributes:
        column: position of the column.
        row: position of the row; None on a board of one row.
    """

    column: int
    row: int | None


@dataclass(frozen=True, eq=False)
class Board:
    """Board of a network with F fluents.

    Attributes:
        column_names: constants of the columns, from left to right.
        row_names: constants of the rows, from bottom to top; empty on a board of one row.
        places: by shape of fluents, the place of the cell; other fluents have no cell.
        planes: the fluents of each plane as text, with `?x` and `?y` in place of the coordinates,
            such as `"(cell ?x ?y white)"`; fluents without a cell are planes of their own, after
            those of cells.
        num_cell_planes: number of planes whose fluents have cells.
        plane_of: plane of each fluent. Shape `[F]`.
        cell_of: cell of each fluent, `row * columns + column` with row 0 at the top, or `NO_CELL`.
            Shape `[F]`.
    """

    column_names: Order
    row_names: Order
    places: dict[str, Place]
    planes: tuple[str, ...]
    num_cell_planes: int
    plane_of: NDArray[np.int32]
    cell_of: NDArray[np.int32]

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.column_names)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return max(len(self.row_names), 1)

    def cell(self, constants: Sequence[str], place: Place) -> int:
        """Return the cell that the constants of a term name at a place."""
        row = "" if place.row is None else constants[place.row]
        return self._cell_of[constants[place.column], row]

    @cached_property
    def _cell_of(self) -> dict[tuple[str, str], int]:
        """Number of the cell with each pair of coordinates."""
        return {self.coordinates(cell): cell for cell in range(self.rows * self.columns)}

    def coordinates(self, cell: int) -> tuple[str, str]:
        """Return the constants of the column and the row of a cell; the only row is ""."""
        row, column = divmod(cell, self.columns)
        return self.column_names[column], self.row_names[-1 - row] if self.row_names else ""

    def places_in(self, group: TermGroup) -> tuple[Place, ...]:
        """Return the places of cells in the terms of a group, from left to right."""
        if group.shape == ATOM:
            return ()
        columns, rows = set(self.column_names), set(self.row_names)
        on_columns = [columns.issuperset(group.values(i)) for i in range(group.size)]
        if not self.row_names:
            return tuple(Place(i, None) for i in range(group.size) if on_columns[i])
        on_rows = [rows.issuperset(group.values(i)) for i in range(group.size)]
        places, i = [], 0
        while i + 1 < group.size:
            if on_columns[i] and on_rows[i + 1]:
                places.append(Place(i, i + 1))
                i += 2
            elif on_rows[i] and on_columns[i + 1]:
                places.append(Place(i + 1, i))
                i += 2
            else:
                i += 1
        return tuple(places)


class Grid(NamedTuple):
    """Cells that the terms of one group name: a candidate for the board.

    Attributes:
        group: the terms.
        place: the place of the cell in each term.
        columns: constants of the columns.
        rows: constants of the rows; empty if there is one row.
        is_shared: whether columns and rows can both hold several fluents at once.
    """

    group: TermGroup
    place: Place
    columns: Order
    rows: Order
    is_shared: bool


def find_board(
    network: Network, relations: Iterable[Pairs], states: NDArray[np.bool_]
) -> Board | None:
    """Return the board of a network, or None if there is none.

    Args:
        network: the network.
        relations: facts of binary relations, which may order constants.
        states: reachable states, S columns: which fluents are true. Shape `[F, S]`.
    """
    groups = group_terms(network.fluents)
    orders = _Orders(tuple(relations), network.roles)
    candidates = [group for group in groups if group.shape != ATOM]
    found = [_find_grid(group, orders, states) for group in candidates]
    if not any(found):
        found = [_find_line(group, orders, states) for group in candidates]
    grids = [grid for grid in found if grid is not None]
    if not grids:
        return None
    sizes: dict[tuple[Order, Order], tuple[bool, int]] = {}
    for grid in grids:
        is_shared, size = sizes.get((grid.columns, grid.rows), (False, 0))
        sizes[grid.columns, grid.rows] = (
            is_shared or grid.is_shared,
            size + len(grid.group.numbers),
        )
    columns, rows = max(sizes, key=lambda names: sizes[names])
    chosen = {g.group.shape: g.place for g in grids if (g.columns, g.rows) == (columns, rows)}
    if not rows and sizes[columns, rows][1] < MIN_ON_LINE * len(network.fluents):
        return None  # such as the cards of each player
    if rows:
        columns, rows = _with_border(network, orders, columns, rows)
    return _make_board(network, groups, columns, rows, chosen)


@dataclass(frozen=True)
class _Orders:
    """Orders of the constants of a sheet, in which roles are not coordinates."""

    relations: tuple[Pairs, ...]
    roles: tuple[str, ...]

    def find(self, values: Sequence[str]) -> Order | None:
        """Return constants in their order, or None if they have none."""
        return None if set(values) <= set(self.roles) else find_order(values, self.relations)

    def is_named(self, order: Order) -> bool:
        """Return whether constants are ordered by their names, such as letters, only."""
        return order[0].isalpha() and relation_order(order, self.relations) is None


def _find_grid(group: TermGroup, orders: _Orders, states: NDArray[np.bool_]) -> Grid | None:
    """Return the cells of the terms of a group, if two neighboring constants are coordinates.

    Of several such pairs, the first that is shared is returned, else the first.
    """
    found = []
    for i, (first, second) in enumerate(
        pairwise(orders.find(group.values(i)) for i in range(group.size))
    ):
        if first is None or second is None or not 1 < len(first) <= MAX_SIDE >= len(second) > 1:
            continue
        if orders.is_named(first) and orders.is_named(second):
            continue  # names of blocks, such as a, b and c
        cells = {(constants[i], constants[i + 1]) for constants in group.constants}
        if len(cells) < max(MIN_CELLS, MIN_FILLED * len(first) * len(second)):
            continue
        grid = Grid(group, Place(i, i + 1), first, second, False)
        if second[0].isalpha() and not first[0].isalpha():
            grid = Grid(group, Place(i + 1, i), second, first, False)
        occupied = _occupied(grid, states)
        by_column, by_row = occupied.sum(1), occupied.sum(0)
        if (by_column == 1).all() or (by_row == 1).all():
            continue  # a function of the other coordinate, such as the size of each heap
        found.append(grid._replace(is_shared=bool(by_column.max() > 1 and by_row.max() > 1)))
    return next((grid for grid in found if grid.is_shared), found[0] if found else None)


def _occupied(grid: Grid, states: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return whether a fluent of each cell is true in each state, 0 or 1.

    Returns:
        Shape `[columns, rows, S]`.
    """
    occupied = np.zeros((len(grid.columns), len(grid.rows), states.shape[1]), np.int32)
    column_of = {name: i for i, name in enumerate(grid.columns)}
    row_of = {name: i for i, name in enumerate(grid.rows)}
    for number, constants in zip(grid.group.numbers, grid.group.constants, strict=True):
        column = column_of[constants[grid.place.column]]
        occupied[column, row_of[constants[grid.place.row or 0]]] |= states[number]
    return occupied


def _find_line(group: TermGroup, orders: _Orders, states: NDArray[np.bool_]) -> Grid | None:
    """Return the cells of the terms of a group, on a board of one row.

    In some state, two terms that differ only in the cell are both true: pieces are alike, while a
    counter has one value. There are no more kinds of pieces than cells.
    """
    for i in range(group.size):
        order = orders.find(group.values(i))
        if order is None or not MIN_CELLS <= len(order) <= MAX_SIDE or orders.is_named(order):
            continue
        alike: dict[tuple[str, ...], list[int]] = {}
        for number, constants in zip(group.numbers, group.constants, strict=True):
            alike.setdefault((*constants[:i], *constants[i + 1 :]), []).append(number)
        shares_line = any(states[numbers].sum(0).max() > 1 for numbers in alike.values())
        if shares_line and len(alike) <= len(order):
            return Grid(group, Place(i, None), order, (), True)
    return None


def _with_border(
    network: Network, orders: _Orders, columns: Order, rows: Order
) -> tuple[Order, Order]:
    """Return columns and rows with those on the border that only moves name."""
    for group in group_terms(network.moves):
        for i in range(group.size - 1):
            values = group.values(i), group.values(i + 1)
            for j, order in enumerate((columns, rows)):
                other = set((rows, columns)[j])
                extra = set(values[j]) - set(order)
                if not (other <= set(values[1 - j]) and set(order) <= set(values[j])):
                    continue
                longer = orders.find(values[j])
                if longer and 0 < len(extra) <= 2 and extra <= {longer[0], longer[-1]}:
                    columns, rows = (longer, rows) if j == 0 else (columns, longer)
    return columns, rows


def _make_board(
    network: Network,
    groups: tuple[TermGroup, ...],
    columns: Order,
    rows: Order,
    chosen: dict[str, Place],
) -> Board:
    """Return the board with these columns and rows, on which fluents of other shapes may be, too.

    `chosen` has the places by which the board was found.
    """
    empty = np.zeros(0, np.int32)
    board = Board(columns, rows, {}, (), 0, empty, empty)
    places = dict(chosen)
    for group in groups:
        found = board.places_in(group) if rows and group.shape not in chosen else ()
        if found:
            places[group.shape] = found[0]
    cell_of = np.full(len(network.fluents), NO_CELL, np.int32)
    plane_of = np.zeros(len(network.fluents), np.int32)
    planes: dict[str, int] = {}
    for with_cells in (True, False):
        for group in groups:
            place = places.get(group.shape)
            if (place is not None) != with_cells:
                continue
            for number, constants in zip(group.numbers, group.constants, strict=True):
                names = list(constants)
                if place is not None:
                    cell_of[number] = board.cell(constants, place)
                    names[place.column] = "?x"
                    if place.row is not None:
                        names[place.row] = "?y"
                plane_of[number] = planes.setdefault(group.text(names), len(planes))
        if with_cells:
            num_cell_planes = len(planes)
    return Board(columns, rows, places, tuple(planes), num_cell_planes, plane_of, cell_of)

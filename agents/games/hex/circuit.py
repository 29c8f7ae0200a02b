"""Electric circuits of Hex: the resistance between a player's edges, and that after each stone.

After Anshelevich, "A hierarchical approach to computer Hex" (Artificial Intelligence 134, 2002),
section 4 (the program Hexy). In a player's circuit, a cell has resistance 0 with an own stone, 1 if
empty, and an infinite one with an enemy stone. The link of two neighbors has the sum of their
resistances; the link of a cell to an own edge has the cell's resistance. The resistance between a
player's two edges is 0 once they are connected, and infinite once the opponent's edges are.

The circuit is solved exactly. Adjacent stones are one node, and so are an edge and the stones
connected to it. With one edge grounded, the inverse of the circuit's Laplacian has the potentials
under unit currents. The effect of another stone is a low-rank update of this inverse.

A player's near edge is north or west (the source of the current), the far edge south or east (the
ground). `work` is a record of `work_dtype`, `s` a position of Hex, whose `cells` have a border, and
`color` that of the circuit's player, `BLACK` or `WHITE`.
"""

from typing import Any

import numpy as np

from ludoteca.envs.games.hex import BLACK, EAST, NEIGHBORS, NORTH, SOUTH, WEST, WHITE
from ludoteca.envs.jit import kernel

SOURCE = 0  # node of the north or west edge
# Marks of cells without a node: cells that get none, and cells that may get one, before and after
# they are found to be connected to the near edge.
OUTSIDE, NEW, REACHED = -1, -2, -3
MAX_LINKS = 6  # links of a cell, including one to an edge
# Pivots below this are zero up to rounding. Others are above 1e-3: no path between two nodes has a
# resistance above 2 * 19**2, and the conductances of a cell's links sum to 6 at most.
ZERO = 1e-9


def work_dtype(size: int) -> np.dtype[np.void]:
    """Return the record dtype of the workspace for boards of `size` rows.

    After `solve`, `resistance` `[2]`, `joined` and `blocked` `[2, size * size]` hold the
    results by player.
    """
    cells, nodes = size * size, size * size + 2
    return np.dtype(
        [
            # Potential of a node, by the node where unit current enters.
            ("potential", np.float64, (nodes, nodes)),
            ("pivot", np.float64, (nodes,)),  # row of the pivot, in `invert`
            ("small", np.float64, (MAX_LINKS, MAX_LINKS)),  # matrix of the low-rank update
            ("drop", np.float64, (MAX_LINKS,)),  # potential differences along the links of a cell
            ("conductance", np.float64, (MAX_LINKS,)),  # conductances of the links of a cell
            ("resistance", np.float64, (2,)),  # resistance between a player's edges
            ("joined", np.float64, (2, cells)),  # resistance after an own stone on a cell
            ("blocked", np.float64, (2, cells)),  # resistance after a stone of the opponent on it
            # Values of the moves, see `ludoteca.agents.games.hex.resistance.write_values`.
            ("values", np.float64, (cells,)),
            ("other", np.int16, (MAX_LINKS,)),  # nodes that a cell is linked to
            ("node", np.int16, (size + 2, size + 2)),  # node of each cell, or a mark
            ("front", np.int16, (nodes,)),  # last node linked to this one or an earlier one
            ("stack", np.int16, (cells,)),  # cells to visit, in `flood_fill`
            ("legal", np.int16, (cells + 1,)),  # legal actions
        ],
        align=True,
    )


@kernel
def solve(s: Any, player: int, work: Any) -> None:
    """Compute `work.resistance[player]`, and the resistance after a stone on each cell.

    Entries of `joined` and `blocked` are undefined on occupied cells.
    """
    size = s.cells.shape[0] - 2
    color = BLACK if player == s.white_first else WHITE
    nodes = number_nodes(s, color, work)
    if nodes <= 0:
        resistance = 0.0 if nodes == 0 else np.inf
        work.resistance[player] = resistance
        work.joined[player, :] = resistance
        work.blocked[player, :] = resistance
        return
    write_laplacian(s, color, nodes, work)
    invert(nodes, work)
    resistance = work.potential[SOURCE, SOURCE]
    work.resistance[player] = resistance
    for row in range(size):
        for column in range(size):
            cell = row * size + column
            work.joined[player, cell] = resistance
            work.blocked[player, cell] = resistance
            # A stone where no current can flow has no effect.
            if s.cells[row + 1, column + 1] == 0 and work.node[row + 1, column + 1] >= 0:
                count = find_links(s, color, row + 1, column + 1, work)
                work.joined[player, cell] = updated_resistance(
                    resistance, True, count, row, column, work
                )
                work.blocked[player, cell] = updated_resistance(
                    resistance, False, count, row, column, work
                )


@kernel
def number_nodes(s: Any, color: int, work: Any) -> int:
    """Assign nodes to the cells; return the number of nodes without the grounded edge.

    Nodes are numbered from one edge to the other, which keeps the band of the Laplacian narrow. The
    grounded edge is the last row of `work.potential`. The result is 0 if the edges are connected,
    and -1 if they are separated.
    """
    size = s.cells.shape[0] - 2
    ground = size * size + 1
    near, far = (NORTH, SOUTH) if color == BLACK else (WEST, EAST)
    work.node[:] = OUTSIDE
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            cell = s.cells[row, column]
            if cell == 0 or cell & color:
                if cell & near and cell & far:
                    return 0
                work.node[row, column] = NEW
    # Mark the cells that are connected to the near edge: current can reach them.
    reached = False
    for i in range(1, size + 1):
        row, column = (1, i) if color == BLACK else (i, 1)
        if work.node[row, column] == NEW:
            reached |= flood_fill(s, color, row, column, False, REACHED, work)
    if not reached:
        return -1
    nodes = SOURCE + 1
    for i in range(1, size + 1):
        for j in range(1, size + 1):
            row, column = (i, j) if color == BLACK else (j, i)
            if work.node[row, column] == REACHED:
                cell = s.cells[row, column]
                if cell & near:
                    work.node[row, column] = SOURCE
                elif cell & far:
                    work.node[row, column] = ground
                else:
                    if cell == 0:
                        work.node[row, column] = nodes
                    else:
                        flood_fill(s, color, row, column, True, nodes, work)
                    nodes += 1
    return nodes


@kernel
def flood_fill(
    s: Any, color: int, row: int, column: int, stones: bool, mark: int, work: Any
) -> bool:
    """Mark the cells connected to (row, column); return whether they reach the far edge.

    The flood fill passes only through cells with the same mark as (row, column) before, and with
    `stones` only through cells with stones.
    """
    size = s.cells.shape[0] - 2
    old_mark = work.node[row, column]
    work.node[row, column] = mark
    work.stack[0] = (row - 1) * size + column - 1
    n, far = 1, False
    while n > 0:
        n -= 1
        row, column = work.stack[n] // size + 1, work.stack[n] % size + 1
        far |= (row if color == BLACK else column) == size
        for down, right in NEIGHBORS:
            r, c = row + down, column + right
            if work.node[r, c] == old_mark and (not stones or s.cells[r, c] != 0):
                work.node[r, c] = mark
                work.stack[n] = (r - 1) * size + c - 1
                n += 1
    return far


@kernel
def find_links(s: Any, color: int, row: int, column: int, work: Any) -> int:
    """Write the links of an empty cell to `work.other`, `work.conductance`; return their number.

    (row, column) is an index of `s.cells`, with the border.
    """
    size = s.cells.shape[0] - 2
    n = 0
    for down, right in NEIGHBORS:
        other = work.node[row + down, column + right]
        if other >= 0:
            work.other[n] = other
            # The resistances of two empty cells sum to 2, those of an empty cell and a stone to 1.
            work.conductance[n] = 0.5 if s.cells[row + down, column + right] == 0 else 1.0
            n += 1
    line = row if color == BLACK else column
    if line == 1 or line == size:
        work.other[n] = SOURCE if line == 1 else size * size + 1
        work.conductance[n] = 1.0
        n += 1
    return n


@kernel
def write_laplacian(s: Any, color: int, nodes: int, work: Any) -> None:
    """Write the Laplacian of the circuit to the lower triangle of `work.potential`."""
    size = s.cells.shape[0] - 2
    ground = size * size + 1
    laplacian, front = work.potential, work.front
    for node in range(nodes):
        front[node] = node
        for other in range(node + 1):
            laplacian[node, other] = 0.0
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            node = work.node[row, column]
            if s.cells[row, column] == 0 and node >= 0:
                for k in range(find_links(s, color, row, column, work)):
                    other, conductance = work.other[k], work.conductance[k]
                    laplacian[node, node] += conductance
                    if other == ground:
                        continue
                    first, last = min(node, other), max(node, other)
                    front[first] = max(front[first], last)
                    # A link to a stone or an edge is only found from this side.
                    if conductance == 1.0:
                        laplacian[other, other] += conductance
                        laplacian[last, first] -= conductance
                    elif node == last:
                        laplacian[last, first] -= conductance
    for node in range(1, nodes):
        front[node] = max(front[node], front[node - 1])


@kernel
def invert(nodes: int, work: Any) -> None:
    """Replace the matrix in the lower triangle of `work.potential` by its full inverse.

    By the sweep operator: Goodnight, "A tutorial on the SWEEP operator" (The American Statistician
    33, 1979). Beyond `front` the rows swept so far are zero.
    """
    matrix, pivot = work.potential, work.pivot
    for k in range(nodes):
        end = work.front[k] + 1
        for j in range(k):
            pivot[j] = matrix[k, j]
        for j in range(k, end):
            pivot[j] = matrix[j, k]
        scale = 1.0 / pivot[k]
        for i in range(end):
            factor = pivot[i] * scale
            row = matrix[i]
            for j in range(i + 1):
                row[j] -= factor * pivot[j]
        for j in range(k):
            matrix[k, j] = pivot[j] * scale
        for j in range(k, end):
            matrix[j, k] = pivot[j] * scale
        matrix[k, k] = -scale
    ground = matrix.shape[0] - 1
    for i in range(nodes):
        for j in range(i + 1):
            matrix[i, j] = -matrix[i, j]
            matrix[j, i] = matrix[i, j]
        matrix[i, ground] = matrix[ground, i] = 0.0
    matrix[ground, ground] = 0.0


@kernel
def updated_resistance(
    resistance: float, own: bool, count: int, row: int, column: int, work: Any
) -> float:
    """Return the resistance after a stone on an empty cell, by Woodbury's formula.

    (row, column) does not count the border; `count` is the result of `find_links` for the cell. An
    `own` stone doubles the conductance of links to empty cells, and makes that of links to
    stones and edges infinite; an enemy stone removes all links. For links `e` (differences of two
    nodes) whose conductances change by `d`, potentials `G` under unit currents, and the source `s`,
    the result is `G_ss - G_se (1/d + G_ee)^-1 G_es`. The small matrix is semidefinite, so Gaussian
    elimination needs no pivoting.
    """
    ground = work.potential.shape[0] - 1
    potential, small, drop = work.potential, work.small, work.drop
    node = work.node[row + 1, column + 1]
    here = potential[node]
    to_source, to_ground = False, False
    for k in range(count):
        other = work.other[k]
        drop[k] = here[SOURCE] - potential[other, SOURCE]
        for m in range(k + 1):
            previous = work.other[m]
            small[k, m] = here[node] - here[previous] - here[other] + potential[other, previous]
        # Add 1 / d: d is minus the conductance, infinite, or 1/2 (from 1/2 to 1).
        if not own:
            small[k, k] -= 1.0 / work.conductance[k]
        elif work.conductance[k] == 1.0:
            to_source |= other == SOURCE
            to_ground |= other == ground
        else:
            small[k, k] += 2.0
    if to_source and to_ground:
        return 0.0
    for k in range(count):
        pivot = small[k, k]
        if abs(pivot) < ZERO:
            # Two links of infinite conductance to one node, or the removal of the last link of a
            # part of the circuit: the drop is 0, or 1 / conductance if it carries all current.
            if abs(drop[k]) > 0.5:
                return np.inf
            continue
        resistance -= drop[k] * drop[k] / pivot
        for i in range(k + 1, count):
            factor = small[i, k] / pivot
            drop[i] -= factor * drop[k]
            for m in range(k + 1, i + 1):
                small[i, m] -= factor * small[m, k]
    return resistance

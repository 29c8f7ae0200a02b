"""Hex as an electric circuit: resistances between the players' edges, and after each stone.

After Anshelevich, "A hierarchical approach to computer Hex" (Artificial Intelligence 134, 2002),
section 4, whose program is Hexy. For each player a cell has a resistance: 0 with an own stone, 1 if
empty, infinite with an enemy stone. Neighboring cells are linked by the sum of their two
resistances, and the cells beside an own edge are linked to that edge by their own. The resistance
between a player's two edges is 0 once they are joined, and infinite once the opponent's are.

The circuit is solved exactly. Stones that touch are one node, and so are an edge and the stones
joined to it. With one edge grounded, the inverse of the circuit's Laplacian gives the potentials
under unit currents; what another stone changes follows from it and the stone's few links.
"""

from typing import Any

import numpy as np

from ludoteca.envs.games.hex import BLACK, EAST, NEIGHBORS, NORTH, SOUTH, WEST, WHITE
from ludoteca.envs.jit import kernel

SOURCE = 0  # node of the north or west edge
OUTSIDE, NEW, REACHED = -1, -2, -3  # cells that are no node (yet)
LINKS = 6  # of one cell: a neighbor beyond an edge is that edge, and only one can be beside it
# Pivots that are zero but for rounding. Others are above 1e-3: no way between two nodes is longer
# than 2 * 19**2, and no cell's links add up to more than 6.
ZERO = 1e-9


def work_dtype(size: int) -> np.dtype[np.void]:
    """Return the record dtype of the workspace for boards of `size` rows.

    After `solve`, `resistance` `[2]`, `joined` and `blocked` `[2, size * size]` hold the
    results by player.
    """
    cells, nodes = size * size, size * size + 2
    return np.dtype(
        [
            ("potential", np.float64, (nodes, nodes)),  # of a node, by where unit current enters
            ("pivot", np.float64, (nodes,)),
            ("small", np.float64, (LINKS, LINKS)),
            ("drop", np.float64, (LINKS,)),
            ("conductance", np.float64, (LINKS,)),
            ("resistance", np.float64, (2,)),  # between a player's edges
            ("joined", np.float64, (2, cells)),  # the same after an own stone on a cell
            ("blocked", np.float64, (2, cells)),  # the same after a stone of the opponent there
            ("values", np.float64, (cells,)),
            ("other", np.int16, (LINKS,)),
            ("node", np.int16, (size + 2, size + 2)),
            ("front", np.int16, (nodes,)),  # the last node linked to this one or an earlier one
            ("stack", np.int16, (cells,)),
            ("legal", np.int16, (cells + 1,)),
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
    link(s, color, nodes, work)
    invert(nodes, work)
    resistance = work.potential[SOURCE, SOURCE]
    work.resistance[player] = resistance
    for row in range(size):
        for column in range(size):
            cell = row * size + column
            work.joined[player, cell] = resistance
            work.blocked[player, cell] = resistance
            # Where no current can come, nothing changes.
            if s.cells[row + 1, column + 1] == 0 and work.node[row + 1, column + 1] >= 0:
                count = find_links(s, color, row + 1, column + 1, work)
                work.joined[player, cell] = changed(resistance, True, count, row, column, work)
                work.blocked[player, cell] = changed(resistance, False, count, row, column, work)


@kernel
def number_nodes(s: Any, color: int, work: Any) -> int:
    """Number the nodes of the cells; return their number without the grounded edge.

    Nodes are numbered along the way between the edges, which keeps the Laplacian's band narrow. The
    grounded edge is the last row of `work.potential`. Returns 0 if the edges are joined, and -1 if
    they are cut off from each other.
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
    # Edges and their stones are known from the start; from there current reaches other cells.
    reached = False
    for i in range(1, size + 1):
        row, column = (1, i) if color == BLACK else (i, 1)
        if work.node[row, column] == NEW:
            reached |= spread(s, color, row, column, False, REACHED, work)
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
                        spread(s, color, row, column, True, nodes, work)
                    nodes += 1
    return nodes


@kernel
def spread(s: Any, color: int, row: int, column: int, stones: bool, mark: int, work: Any) -> bool:
    """Mark the cells joined to (row, column); return whether they include the far edge.

    Goes through cells that were marked alike before; with `stones` only through stones.
    """
    size = s.cells.shape[0] - 2
    was = work.node[row, column]
    work.node[row, column] = mark
    work.stack[0] = (row - 1) * size + column - 1
    n, far = 1, False
    while n > 0:
        n -= 1
        row, column = work.stack[n] // size + 1, work.stack[n] % size + 1
        far |= (row if color == BLACK else column) == size
        for dr, dc in NEIGHBORS:
            r, c = row + dr, column + dc
            if work.node[r, c] == was and (not stones or s.cells[r, c] != 0):
                work.node[r, c] = mark
                work.stack[n] = (r - 1) * size + c - 1
                n += 1
    return far


@kernel
def find_links(s: Any, color: int, row: int, column: int, work: Any) -> int:
    """Write the links of an empty cell to `work.other`, `work.conductance`; return their number."""
    size = s.cells.shape[0] - 2
    n = 0
    for dr, dc in NEIGHBORS:
        other = work.node[row + dr, column + dc]
        if other >= 0:
            work.other[n] = other
            work.conductance[n] = 0.5 if s.cells[row + dr, column + dc] == 0 else 1.0
            n += 1
    along = row if color == BLACK else column
    if along == 1 or along == size:
        work.other[n] = SOURCE if along == 1 else size * size + 1
        work.conductance[n] = 1.0
        n += 1
    return n


@kernel
def link(s: Any, color: int, nodes: int, work: Any) -> None:
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
                    if conductance == 1.0:  # to a stone or an edge: not seen from there
                        laplacian[other, other] += conductance
                        laplacian[last, first] -= conductance
                    elif node == last:
                        laplacian[last, first] -= conductance
    for node in range(1, nodes):
        front[node] = max(front[node], front[node - 1])


@kernel
def invert(nodes: int, work: Any) -> None:
    """Replace the matrix in the lower triangle of `work.potential` by its full inverse.

    The sweep operator, from Goodnight, "A tutorial on the SWEEP operator" (The American
    Statistician 33, 1979). Behind `front` the rows swept so far are still zero.
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
def changed(resistance: float, own: bool, count: int, row: int, column: int, work: Any) -> float:
    """Return the resistance after a stone on an empty cell, by Woodbury's formula.

    An `own` stone doubles the conductance of links to empty cells, and makes those to stones and
    edges perfect; an enemy stone takes all links away. With links `e` (differences of two nodes)
    that change by `d`, potentials `G` under unit currents and the source `s`, it is
    `G_ss - G_se (1/d + G_ee)^-1 G_es`. The small matrix is semidefinite, and eliminated in order.
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
            last = work.other[m]
            small[k, m] = here[node] - here[last] - here[other] + potential[other, last]
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
            # Two perfect links to one node, or the last link of a part of the circuit: there the
            # drop is 0, unless all current would have to pass, and then it is 1 / conductance.
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

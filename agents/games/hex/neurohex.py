"""Agent for Hex with the conductance heuristic of NeuroHex.

The heuristic is that of the published program of Young, Vasan and Hayward, "NeuroHex: a deep
Q-learning Hex agent" (arXiv:1604.07097, 2016). It also gives the values in figure 3.2 of Tanaka,
"Inteligencia artificial para o jogo de Hex" (University of Sao Paulo, 2018), whose words describe
the heuristic of `ludoteca.agents.games.hex.resistance` instead (docs/results/hex/figure_3_2.md).

In a player's circuit, the empty cells are the nodes. Neighbors are linked by a conductance of 1, as
are the cells around a group of the player's stones, and a cell and an edge if the cell, or a group
next to it, touches the edge. The potential difference of the edges is 1.

`ludoteca.agents.games.hex.conductance` and `stone_values` have the same heuristic, and others, in
plain NumPy. `s` is a position of Hex, `work` a record of `work_dtype`.
"""

from typing import Any

import numpy as np

from ludoteca.agents.games.hex.cell_values import CellValueAgent
from ludoteca.envs.game import Game
from ludoteca.envs.games.hex import BLACK, EAST, NEIGHBORS, NORTH, SOUTH, WEST, WHITE
from ludoteca.envs.games.winner import is_decided
from ludoteca.envs.jit import kernel

SEEN, NO_NODE = -2, -1  # marks of cells without a node: visited stones, and all others
ZERO = 1e-9  # smaller pivots and currents are zero up to rounding


class ConductanceAgent(CellValueAgent):
    """NeuroHex's conductance heuristic for Hex: the stone that favors the own circuit most.

    Let `w` be the conductance of the player's circuit and `b` that of the opponent's. A stone on a
    cell, through which the currents `i` and `j` flow in these circuits, is estimated to change them
    to `w' = w + i^2 / (3 (1 - i))`, infinite from `i = 1` on, and `b' = max(b - j, 0)`. The value
    is `1 - b' / w'` if `w' > b'`, and else `w' / b' - 1`. As in NeuroHex, `w` and `b` lack the
    current through cells that are linked to both edges. The first action of the highest value is
    played. The value of swapping has the same formula with `w' = b` and `b' = w`.

    A winning move has the value 1, but other moves may have it, too.
    """

    def __init__(self, game: Game, epsilon: float = 0.0):
        """Make the agent.

        Args:
            game: the game it plays.
            epsilon: probability of a uniformly random legal move.

        Raises:
            ValueError: if the game is not Hex, or `epsilon` is not a probability.
        """
        super().__init__(game, write_values, work_dtype, epsilon)


def work_dtype(size: int) -> np.dtype[np.void]:
    """Return the record dtype of the workspace for boards of `size` rows."""
    cells = size * size
    return np.dtype(
        [
            ("matrix", np.float64, (cells, cells)),  # Laplacian, in the lower triangle
            ("potential", np.float64, (cells,)),  # by node
            ("current", np.float64, (2, cells)),  # through each cell, by player
            ("conductance", np.float64, (2,)),  # by player, see `ConductanceAgent`
            ("values", np.float64, (cells,)),  # by cell
            ("links", np.int8, (cells, cells)),  # whether two nodes are linked
            ("near", np.int8, (cells,)),  # whether a node is linked to the north or west edge
            ("far", np.int8, (cells,)),  # whether it is linked to the south or east edge
            ("front", np.int16, (cells,)),  # last node linked to this one or an earlier one
            ("cell", np.int16, (cells,)),  # cell of each node
            ("node", np.int16, (size + 2, size + 2)),  # node of each cell, or a mark
            ("stack", np.int16, (cells,)),  # stones to visit
            ("around", np.int16, (cells,)),  # nodes around a group
            ("legal", np.int16, (cells + 1,)),
        ],
        align=True,
    )


@kernel
def write_values(s: Any, player: int, work: Any) -> float:
    """Write the values of the empty cells to `work.values`; return the value of swapping."""
    if is_decided(s):
        return 0.0
    solve(s, 0, work)
    nodes = solve(s, 1, work)
    own, other = work.conductance[player], work.conductance[1 - player]
    for node in range(nodes):
        cell = work.cell[node]
        current = work.current[player, cell]
        more = current * current / (3 * (1 - current)) if 1 - current >= ZERO else np.inf
        other_after = max(other - work.current[1 - player, cell], 0.0)
        work.values[cell] = compare(own + more, other_after)
    return compare(other, own)


@kernel
def compare(own: float, other: float) -> float:
    """Return the value of two conductances for the player of the first, 0 if both are 0."""
    if own == other:
        return 0.0
    if own > other:
        return float(max(1 - other / own, -1.0))
    return float(max(own / other - 1, -1.0))


@kernel
def solve(s: Any, player: int, work: Any) -> int:
    """Write the conductance of a player's circuit, and the current through each empty cell.

    Return the number of nodes, the empty cells.
    """
    color = BLACK if player == s.white_first else WHITE
    nodes = number_nodes(s, color, work)
    find_links(s, color, nodes, work)
    find_potentials(nodes, work)
    potential, conductance = work.potential, 0.0
    for node in range(nodes):
        flow = work.near[node] * (1 - potential[node]) + work.far[node] * potential[node]
        for other in range(nodes):
            if work.links[node, other]:
                drop = potential[node] - potential[other]
                flow += abs(drop)
                if work.near[node] and not work.near[other]:
                    conductance += drop
        work.current[player, work.cell[node]] = flow / 2 if flow >= ZERO else 0.0
    work.conductance[player] = conductance if conductance >= ZERO else 0.0
    return nodes


@kernel
def number_nodes(s: Any, color: int, work: Any) -> int:
    """Number the empty cells from one edge of the player to the other; return their number."""
    size = s.cells.shape[0] - 2
    work.node[:] = NO_NODE
    nodes = 0
    for i in range(1, size + 1):
        for j in range(1, size + 1):
            row, column = (i, j) if color == BLACK else (j, i)
            if s.cells[row, column] == 0:
                work.node[row, column] = nodes
                work.cell[nodes] = (row - 1) * size + column - 1
                nodes += 1
    return nodes


@kernel
def find_links(s: Any, color: int, nodes: int, work: Any) -> None:
    """Write the links of the nodes to each other and to the edges."""
    size = s.cells.shape[0] - 2
    near, far = (NORTH, SOUTH) if color == BLACK else (WEST, EAST)
    work.links[:nodes, :nodes] = 0
    work.near[:nodes] = 0
    work.far[:nodes] = 0
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            node = work.node[row, column]
            if node >= 0:
                # Edges have the bits of the cells in the padding.
                for down, right in NEIGHBORS:
                    cell = s.cells[row + down, column + right]
                    other = work.node[row + down, column + right]
                    if other >= 0:
                        work.links[node, other] = 1
                    elif cell & color:
                        work.near[node] |= int(cell & near != 0)
                        work.far[node] |= int(cell & far != 0)
            elif node == NO_NODE and s.cells[row, column] & (color | near | far) == color:
                link_around(s, color, row, column, work)


@kernel
def link_around(s: Any, color: int, row: int, column: int, work: Any) -> None:
    """Link the nodes around a group of stones, which begins at (row, column), to each other."""
    size, count, n = s.cells.shape[0] - 2, 0, 1
    work.node[row, column] = SEEN
    work.stack[0] = (row - 1) * size + column - 1
    while n > 0:
        n -= 1
        row, column = work.stack[n] // size + 1, work.stack[n] % size + 1
        for down, right in NEIGHBORS:
            r, c = row + down, column + right
            node = work.node[r, c]
            if node >= 0:
                is_new = True
                for k in range(count):
                    is_new &= work.around[k] != node
                if is_new:
                    work.around[count] = node
                    count += 1
            elif node == NO_NODE and s.cells[r, c] & color and 1 <= r <= size and 1 <= c <= size:
                work.node[r, c] = SEEN
                work.stack[n] = (r - 1) * size + c - 1
                n += 1
    for i in range(count):
        for k in range(count):
            work.links[work.around[i], work.around[k]] = int(i != k)


@kernel
def find_potentials(nodes: int, work: Any) -> None:
    """Write the potentials of the nodes, by Kirchhoff's current law and Gaussian elimination.

    The Laplacian is semidefinite, so no pivoting is needed. Beyond `front` its rows are zero.
    """
    matrix, potential, front = work.matrix, work.potential, work.front
    last = 0
    for node in range(nodes):
        degree = work.near[node] + work.far[node]
        for other in range(nodes):
            degree += work.links[node, other]
            if work.links[node, other]:
                last = max(last, other)
        for other in range(node):
            matrix[node, other] = -work.links[node, other]
        last = max(last, node)
        matrix[node, node], potential[node], front[node] = degree, work.near[node], last
    for k in range(nodes):
        if matrix[k, k] < ZERO:  # no edge is linked to this part of the circuit: no current
            continue
        for i in range(k + 1, front[k] + 1):
            factor = matrix[i, k] / matrix[k, k]
            potential[i] -= factor * potential[k]
            for j in range(k + 1, i + 1):
                matrix[i, j] -= factor * matrix[j, k]
    for k in range(nodes - 1, -1, -1):
        if matrix[k, k] < ZERO:
            potential[k] = 0.0
            continue
        for i in range(k + 1, front[k] + 1):
            potential[k] -= matrix[i, k] * potential[i]
        potential[k] /= matrix[k, k]

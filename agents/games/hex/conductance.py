"""Conductance of a player's circuit in Hex, with several kinds of links between cells.

The cells without stones of the opponent are resistors between the player's edges. The module
`ludoteca.agents.games.hex.circuit` solves the circuit of one kind of links, fast. This module is
for comparisons on small boards, in plain NumPy.

NeuroHex is the program of Young, Vasan and Hayward, "NeuroHex: a deep Q-learning Hex agent",
arXiv:1604.07097, 2016.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.games.hex import NEIGHBORS

# Resistance of the links of a circuit.
#   sum:      a link between neighbors has the sum of both cells' resistances (1 if empty, 0 with an
#             own stone), a link to an edge that of the cell; adjacent own stones are one node. That
#             is `ludoteca.agents.games.hex.circuit`.
#   unit:     every link has resistance 1; adjacent own stones are one node.
#   pairwise: every link has resistance 1, and stones are no nodes: the empty cells around a group
#             of own stones are linked to each other. That is the program NeuroHex.
LINKS = ("sum", "unit", "pairwise")
NEAR, FAR = -1, -2  # nodes of the first and the last row's edge
ROUNDING = 1e-12  # conductances below this are considered 0


class Circuit(NamedTuple):
    """Solved circuit between two edges at a potential difference of 1.

    Attributes:
        conductance: the current between the edges; 0 if the opponent separates them, infinite if
            own stones connect them.
        counted: conductance as NeuroHex counts it: the current from the cells that are linked to
            the first edge to those that are not. It lacks the current through cells that are linked
            to both edges.
        currents: current through each cell; 0 in cells with stones. Shape `[n, n]`.
    """

    conductance: float
    counted: float
    currents: NDArray[np.float64]


def solve(own: NDArray[np.bool_], enemy: NDArray[np.bool_], links: str) -> Circuit:
    """Solve the circuit of the player whose edges are the first and the last row.

    Args:
        own: stones of the player. Shape `[n, n]`.
        enemy: stones of the opponent. Shape `[n, n]`.
        links: one of `LINKS`.
    """
    n = len(own)
    nodes = number_nodes(own, enemy)
    no_current = np.zeros((n, n))
    if any(nodes.get((n - 1, k)) == NEAR for k in range(n)):
        return Circuit(np.inf, np.inf, no_current)
    # The edges are the last two nodes, which the indices -1 and -2 address.
    count = max(nodes.values(), default=-1) + 3
    weights = np.zeros((count, count))  # conductance of the link between two nodes, 0 without one
    for (row, column), node in nodes.items():
        if own[row, column]:
            continue
        for edge, at_edge in ((NEAR, row == 0), (FAR, row == n - 1)):
            weights[node, edge] += at_edge
            weights[edge, node] += at_edge
        for cell in neighbors(row, column):
            if cell in nodes:
                other = nodes[cell]
                if own[cell]:  # the loop skips own stones, so the link is set in both directions
                    weights[node, other] += 1.0
                    weights[other, node] += 1.0
                else:
                    weights[node, other] = 0.5 if links == "sum" else 1.0
    if links == "pairwise":
        weights = join_neighbors_of_groups(np.minimum(weights, 1.0), nodes, own)
    return potentials(weights, nodes, own)


def number_nodes(own: NDArray[np.bool_], enemy: NDArray[np.bool_]) -> dict[tuple[int, int], int]:
    """Return the node of each cell without an enemy stone; adjacent own stones share one.

    Stones that are connected to an edge have the node of the edge, `NEAR` or `FAR`; `NEAR` if they
    are connected to both.
    """
    n, nodes, count = len(own), dict[tuple[int, int], int](), 0
    first = [(0, k) for k in range(n)]
    last = [(n - 1, k) for k in range(n)]
    others = list(np.ndindex(n, n))
    for node, cells in ((NEAR, first), (FAR, last), (None, others)):
        for cell in cells:
            if enemy[cell] or cell in nodes or (node is not None and not own[cell]):
                continue
            nodes[cell] = count if node is None else node
            count += node is None
            stack = [cell] if own[cell] else []
            while stack:
                for other in neighbors(*stack.pop()):
                    if inside(other, n) and own[other] and other not in nodes:
                        nodes[other] = nodes[cell]
                        stack.append(other)
    return nodes


def join_neighbors_of_groups(
    weights: NDArray[np.float64], nodes: dict[tuple[int, int], int], own: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Replace the node of each group of stones by links of 1 between the cells around it."""
    weights = weights.copy()
    for group in {node for cell, node in nodes.items() if own[cell] and node >= 0}:
        around = np.flatnonzero(weights[group])
        weights[np.ix_(around, around)] = 1.0
        weights[group, :] = weights[:, group] = 0.0
    np.fill_diagonal(weights, 0.0)
    return weights


def potentials(
    weights: NDArray[np.float64], nodes: dict[tuple[int, int], int], own: NDArray[np.bool_]
) -> Circuit:
    """Return the solution of a circuit by Kirchhoff's current law.

    Args:
        weights: conductance of each link, 0 without one; the last two of the k nodes are the edges.
            Shape `[k, k]`.
        nodes: node of each cell.
        own: stones of the player. Shape `[n, n]`.
    """
    laplacian = np.diag(weights.sum(axis=1)) - weights
    potential = np.zeros(len(weights))
    potential[NEAR] = 1.0
    # Parts of the circuit without a link to the rest may have any potential: the equations are
    # singular, and least squares chooses one.
    potential[:FAR] = np.linalg.lstsq(laplacian[:FAR, :FAR], weights[:FAR, NEAR], rcond=None)[0]
    flow = weights * (potential[:, None] - potential[None, :])
    at_near = weights[:FAR, NEAR] > 0
    counted = flow[:FAR, :FAR][np.ix_(at_near, ~at_near)].sum()
    currents = np.zeros(own.shape)
    for cell, node in nodes.items():
        if not own[cell]:
            currents[cell] = np.abs(flow[node]).sum() / 2
    conductance, counted = (0.0 if x < ROUNDING else float(x) for x in (flow[NEAR].sum(), counted))
    return Circuit(conductance, counted, currents)


def neighbors(row: int, column: int) -> list[tuple[int, int]]:
    """Return the six neighbors of a cell, on the board or not."""
    return [(row + down, column + right) for down, right in NEIGHBORS]


def inside(cell: tuple[int, int], n: int) -> bool:
    """Return whether a cell is on a board of n rows."""
    return 0 <= cell[0] < n and 0 <= cell[1] < n

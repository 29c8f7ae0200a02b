"""Values of a white stone on each empty cell in Hex, by the conductances of both players' circuits.

Heuristics of Hex programs differ in how they find the conductances after a stone (`AFTER`), and in
the formula of the value (`SCORES`).
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.games.hex.conductance import Circuit, solve

ROUNDING = 1e-9  # smaller differences are numerical errors
Array = NDArray[np.float64]


class Conductances(NamedTuple):
    """Conductances of both players' circuits in a position with k empty cells.

    Attributes:
        white: conductance of white's circuit.
        black: conductance of black's circuit.
        white_after: white's conductance after a white stone on each empty cell. Shape `[k]`.
        black_after: black's conductance after a white stone on each empty cell. Shape `[k]`.
    """

    white: float
    black: float
    white_after: Array
    black_after: Array


# Formulas for the values of the empty cells, in [-1, 1]: w and b are the conductances of white and
# black, w' and b' those after a white stone on the cell.
SCORES: dict[str, Callable[[Conductances], Array]] = {
    "1 - b'/w', or w'/b' - 1": lambda c: np.where(
        c.white_after > c.black_after,
        1 - c.black_after / c.white_after,
        c.white_after / c.black_after - 1,
    ),
    "(w' - b') / (w' + b')": lambda c: relative(c.black_after / c.white_after),
    "(q' - q) / (q' + q), q = w/b": lambda c: relative(
        c.black_after / c.white_after * c.white / c.black
    ),
    "1 - w/w'": lambda c: 1 - c.white / c.white_after,
    "the mean of 1 - w/w' and 1 - b'/b": lambda c: (
        (2 - c.white / c.white_after - c.black_after / c.black) / 2
    ),
    "1 - w/w', the largest scaled to 1": lambda c: to_one(1 - c.white / c.white_after),
}  # fmt: skip


def relative(ratio: Array) -> Array:
    """Return `(1 - x) / (1 + x)`, the relative difference of two numbers with the ratio x."""
    return np.asarray((1 - ratio) / (1 + ratio))


def to_one(values: Array) -> Array:
    """Return values divided by the largest."""
    return np.asarray(values / values.max())


@np.errstate(divide="ignore", invalid="ignore")  # undefined values become NaN
def stone_values(score: str, conductances: Conductances) -> Array:
    """Return the values of the empty cells by one of `SCORES`; NaN if undefined. Shape `[k]`."""
    return SCORES[score](conductances).clip(-1, 1)


def solved(white: NDArray[np.bool_], black: NDArray[np.bool_], links: str) -> Conductances:
    """Return the conductances; those after a stone are solved again.

    The arguments are those of `estimated`.
    """
    after = []
    for cell in np.argwhere(~(white | black)):
        stone = np.zeros_like(white)
        stone[tuple(cell)] = True
        after.append([circuit.conductance for circuit in both(white | stone, black, links)])
    own, other = (circuit.conductance for circuit in both(white, black, links))
    return Conductances(own, other, *np.array(after).T)


@np.errstate(divide="ignore", invalid="ignore")  # undefined values become NaN
def estimated(
    white: NDArray[np.bool_], black: NDArray[np.bool_], links: str, counted: bool = False
) -> Conductances:
    """Return the conductances; those after a stone are estimated by the current through its cell.

    NeuroHex (see `conductance`) does it this way. If the current I of white's circuit flows through
    the cell, a stone there adds `I^2 / (3 (1 - I))` to white's conductance; black's conductance
    loses the current of black's circuit through the cell.

    Args:
        white: white's stones. Shape `[n, n]`.
        black: black's stones. Shape `[n, n]`.
        links: one of `LINKS`.
        counted: whether conductances are those that NeuroHex counts, see `Circuit`.
    """
    circuits = both(white, black, links)
    own, other = (one.counted if counted else one.conductance for one in circuits)
    empty = ~(white | black)
    current, other_current = (one.currents[empty] for one in circuits)
    # If the whole current flows through the cell, a stone there makes the conductance infinite.
    missing = np.where(1 - current < ROUNDING, 0.0, 1 - current)
    more = current**2 / (3 * missing)
    return Conductances(own, other, own + more, np.maximum(other - other_current, 0))


def both(white: NDArray[np.bool_], black: NDArray[np.bool_], links: str) -> tuple[Circuit, Circuit]:
    """Return white's circuit, from west to east, and black's, from north to south."""
    across = solve(white.T, black.T, links)
    return across._replace(currents=across.currents.T), solve(black, white, links)


# Methods for the conductances after a stone.
AFTER: dict[str, Callable[..., Conductances]] = {
    "solved again": solved,
    "estimated": estimated,
    "estimated, conductance as counted by NeuroHex": partial(estimated, counted=True),
}

"""Heat map of visit shares or values of moves over the cells of a board."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.render.status import board_codes
from ludoteca.evaluate.play.action_picker import cells_of
from ludoteca.evaluate.play.analysis import MoveAnalysis

MIN_SHARE = 0.005  # smaller shares, which would round to 0.00, are not shown


class HeatMap(NamedTuple):
    """Numbers on cells.

    Attributes:
        values: numbers of empty cells, or NaN. Shape `[rows, columns]`.
        labels: numbers of cells with pieces, by `row * columns + column`.
    """

    values: NDArray[np.float64]
    labels: dict[int, str]

    def covers(self, cell: int) -> bool:
        """Return whether an empty cell has a number."""
        return bool(np.isfinite(self.values.flat[cell]))


def heat_map(game: Game, s: object, analysis: MoveAnalysis, selected: int | None) -> HeatMap:
    """Return the weights of moves by the cell that a player clicks to select them.

    For moving pieces, it is the piece, with the sum of the visit fractions of all its moves, or the
    maximum of their values. With a `selected` piece, it is the target of each move.
    """
    codes = board_codes(game, s).ravel()
    numbers = np.full(codes.size, np.nan)
    weights = analysis.action_weights
    for action in np.flatnonzero(np.isfinite(weights)) if weights is not None else ():
        cells = cells_of(game, s, int(action))
        weight = float(weights[action]) if weights is not None else 0.0
        if selected is not None and cells[:1] != (selected,):
            continue
        if not cells or (analysis.shares is not None and weight < MIN_SHARE):
            continue
        cell = cells[0 if selected is None else -1]
        reduce = np.nansum if analysis.shares is not None else np.nanmax
        numbers[cell] = reduce([numbers[cell], weight])
    on_pieces = np.flatnonzero(np.isfinite(numbers) & (codes != 0))
    labels = {int(cell): f"{numbers[cell]:.2f}" for cell in on_pieces}
    values = np.where(codes == 0, numbers, np.nan).reshape(game.layout.rows, game.layout.columns)
    return HeatMap(values, labels)

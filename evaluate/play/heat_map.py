"""Heat map of visit shares or values of moves over the cells of a board."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.render.status import board_codes
from ludoteca.evaluate.play.action_picker import cells_of
from ludoteca.evaluate.play.analysis import MoveAnalysis

MIN_SHARE = 0.005  # smaller visit shares, which would be displayed as 0.00, are omitted


class HeatMap(NamedTuple):
    """Numbers that are drawn on cells.

    Attributes:
        values: numbers on empty cells, NaN elsewhere. Shape `[rows, columns]`.
        labels: numbers on cells with pieces, as text, by `row * columns + column`.
    """

    values: NDArray[np.float64]
    labels: dict[int, str]

    def covers(self, cell: int) -> bool:
        """Return whether an empty cell has a number."""
        return bool(np.isfinite(self.values.flat[cell]))


def heat_map(game: Game, s: object, analysis: MoveAnalysis, selected: int | None) -> HeatMap:
    """Return the weights of moves (`MoveAnalysis.action_weights`), each on the cell to click.

    Where pieces move, that is the cell of the piece, with the sum of the visit shares of its moves
    or the maximum of their values. Once a piece is selected, it is the target of each move.

    Args:
        game: the game.
        s: the position, a record.
        analysis: the analysis of the position.
        selected: cell of the selected piece, or None.
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

"""Selection of actions by clicks and keys, for every game.

Cells are numbered `row * columns + column`. The layout of a game says what a click on a cell means:
in `column_actions` games it selects the action with the number of the column, in `cell_actions`
games that with the number of the cell, and in other games it selects the start or the target of a
move: `layout.moves[action]` is the pair of both. If both are the same cell, one click is enough,
unless a piece there can move elsewhere.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.render.status import board_codes

COMMAND_KEYS = "hnqsuv"  # letters of the commands in the window, see `GameController.commands`


class ActionPicker:
    """Incomplete selection of the player to move, and the cells and keys that can complete it.

    If actions are cells or columns, one click selects an action. Pieces are moved by two clicks: on
    the piece and on its target. If several legal actions have the same start and target, such as
    promotions, the user chooses among them by a key. Other actions, such as a pass, are buttons.

    Attributes:
        game: the game.
        s: the position, a record.
        legal: the legal actions; none if the user is not to move.
        selected: cell of the piece that was clicked, or None.
        options: actions with the clicked start and target that the user has to choose from.
    """

    def __init__(self, game: Game, s: Any, legal: list[int]):
        self.game, self.s, self.legal = game, s, tuple(legal)
        self.selected: int | None = None
        self.options: tuple[int, ...] = ()

    def click(self, row: int, column: int) -> int | None:
        """Return the action that a click on a cell completes, or None."""
        cell = row * self.game.layout.columns + column
        actions = tuple(action for action in self.legal if self._is_completed_by(action, cell))
        if actions:
            if len(actions) == 1:
                return actions[0]
            self.options = actions
            return None
        is_start = cell != self.selected and any(start == cell for start, _ in self._moves())
        self.selected, self.options = cell if is_start else None, ()
        return None

    def targets(self) -> tuple[int, ...]:
        """Return the cells to click: pieces that can move, or targets of the selected one."""
        layout = self.game.layout
        if layout.column_actions or layout.cell_actions:
            return tuple(cell for a in self.legal for cell in cells_of(self.game, self.s, a))
        has_selection = self.selected is not None
        cells = (
            target if has_selection else start
            for start, target in self._moves()
            if not has_selection or start == self.selected
        )
        return tuple(dict.fromkeys(cells))

    def buttons(self) -> tuple[int, ...]:
        """Return the legal actions that no click on the board selects."""
        return tuple(a for a in self.legal if not is_on_board(self.game, a))

    def keys(self) -> dict[str, int]:
        """Return actions by key: a digit for each of the first nine options, if there are options.

        Else a letter for each button: the first of the action's name that is free.
        """
        if self.options:
            return {str(k): action for k, action in enumerate(self.options[:9], 1)}
        keys: dict[str, int] = {}
        for action in self.buttons():
            letters = (c for c in self.game.action_names[action].lower() if c.isalnum())
            key = next((c for c in letters if c not in COMMAND_KEYS and c not in keys), None)
            if key is not None:
                keys[key] = action
        return keys

    def _is_completed_by(self, action: int, cell: int) -> bool:
        """Return whether a click on `cell` completes the selection of `action`."""
        layout = self.game.layout
        if not is_on_board(self.game, action):
            return False
        if layout.column_actions:
            return action == cell % layout.columns
        if layout.cell_actions:
            return action == cell
        start, target = layout.moves[action]
        return target == cell and (
            start == self.selected or (start == cell and not self._is_piece(cell))
        )

    def _is_piece(self, cell: int) -> bool:
        """Return whether a legal move leads from the cell to another one."""
        return any(start == cell != target for start, target in self._moves())

    def _moves(self) -> Iterator[tuple[int, int]]:
        """Yield the start and target of every legal action that moves a piece."""
        layout = self.game.layout
        if not (layout.cell_actions or layout.column_actions):
            yield from (layout.moves[a] for a in self.legal if a < len(layout.moves))


def is_on_board(game: Game, action: int) -> bool:
    """Return whether clicks on cells can select an action."""
    layout = game.layout
    if layout.column_actions:
        return action < layout.columns
    if layout.cell_actions:
        return action < layout.rows * layout.columns
    return action < len(layout.moves)


def cells_of(game: Game, s: Any, action: int) -> tuple[int, ...]:
    """Return the cells of an action: its cell, that of the dropped disc, or start and target.

    Actions off the board, such as a pass, and discs dropped into a full column have none.
    """
    layout = game.layout
    if not is_on_board(game, action):
        return ()
    if layout.column_actions:
        empty = np.flatnonzero(board_codes(game, s)[:, action] == 0)
        return (int(empty[-1]) * layout.columns + action,) if len(empty) else ()
    return (action,) if layout.cell_actions else layout.moves[action]

"""Client of an engine for Hex in GTP."""

from typing import Any

from ludoteca.agents.external.engines.gtp_client import GTPEngine, Move
from ludoteca.envs.game import Game
from ludoteca.envs.games.hex import BLACK

SWAP_NAMES = ("swap-pieces", "swap")  # names of swaps; the first is sent


class HexEngine(GTPEngine):
    """Client of a GTP engine for Hex. Swaps are sent as `swap-pieces`."""

    def color(self, player: int) -> str:
        """Return the color of a player."""
        return _color(self.game, player)

    def moves_to(self, s: Any) -> list[Move]:
        """See `GTPEngine`; moves that do not continue the known ones are in any order."""
        added = moves_between(self.game, s, self.moves)
        return moves_to(self.game, s) if added is None else [*(self.moves or ()), *added]

    def name_of(self, move: str) -> str:
        """Return the name of the action that a move stands for."""
        return "swap" if move in SWAP_NAMES else move


def moves_between(game: Game, s: Any, known: list[Move] | None) -> list[Move] | None:
    """Return the opponent's moves between the position after known moves and another position.

    Args:
        game: Hex.
        s: the other position.
        known: moves from the empty board, or None.

    Returns:
        No move or one move; None if more moves are between them, or `known` is None.
    """
    if known is None:
        return None
    before, after = stones_after(known), stones_of(game, s)
    opponent = _color(game, 1 - int(s.to_move))
    added = [(color, cell) for cell, color in after.items() if before.get(cell) != color]
    # Players alternate, so the number of moves determines who is to move after the known ones.
    if before == after and len(known) % 2 == int(s.to_move):
        return []
    if len(known) % 2 == int(s.to_move):
        return None
    swap = (opponent, SWAP_NAMES[0])
    for moves in ([swap], added):
        if len(moves) == 1 and moves[0][0] == opponent and stones_after([*known, *moves]) == after:
            return moves
    return None


def moves_to(game: Game, s: Any) -> list[Move]:
    """Return moves of alternating colors that lead from the empty board to a position."""
    by_color: dict[str, list[str]] = {"black": [], "white": []}
    for cell, color in stones_of(game, s).items():
        by_color[color].append(cell)
    first, second = _color(game, 0), _color(game, 1)
    moves: list[Move] = []
    if s.swapped:
        moves = [(first, _mirrored(by_color[second].pop())), (second, SWAP_NAMES[0])]
    count = len(by_color["black"]) + len(by_color["white"])
    for k in range(count):
        color = second if k % 2 else first
        moves.append((color, by_color[color].pop()))
    return moves


def stones_after(moves: list[Move]) -> dict[str, str]:
    """Return the colors of the stones by cell after moves from the empty board."""
    stones: dict[str, str] = {}
    for color, name in moves:
        if name in SWAP_NAMES:
            stones = {_mirrored(cell): color for cell in stones}
        else:
            stones[name] = color
    return stones


def stones_of(game: Game, s: Any) -> dict[str, str]:
    """Return the colors of the stones of a position by cell."""
    codes = game.layout.cells(s).reshape(-1).tolist()
    names = zip(game.action_names, codes, strict=False)
    return {cell: "black" if code == BLACK else "white" for cell, code in names if code}


def _color(game: Game, player: int) -> str:
    """Return the color of a player, by the game's parameter `first`."""
    return "black" if (game.params["first"] == "black") == (player == 0) else "white"


def _mirrored(cell: str) -> str:
    """Return the name of the cell that is mirrored at the main diagonal: row and column swapped."""
    column, row = ord(cell[0]) - ord("a"), int(cell[1:]) - 1
    return f"{chr(ord('a') + row)}{column + 1}"

"""Hex in SGF, GM[11]: https://www.red-bean.com/sgf/hex.html.

Black connects top and bottom. The format has two kinds of swap. A swap of pieces replaces the stone
by one of the other color on the mirrored cell, as in this package. In a swap of sides the stone
remains and the players exchange colors: the second player becomes black, and the next move is
white's. A game with a swap of sides is read as its mirror image with a swap of pieces. A plain
`swap`, as the server Little Golem writes it, is one of the two: the color of the next move shows
which.
"""

import re
from collections.abc import Iterator, Sequence
from typing import cast

from ludoteca.envs.formats.record import ClaimedResult, GameRecord, RecordText, make_record
from ludoteca.envs.formats.sgf_game import (
    COLORS,
    SGFMove,
    board_size,
    claimed_result,
    moves_of,
    parse_cell,
    players_of,
    root_text,
    variation_notes,
)
from ludoteca.envs.formats.sgf_tree import GameTree
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay

SIZES = range(2, 20)
SWAPS = ("swap", "swap-pieces", "swap-sides")
GAME_ENDS = ("resign", "forfeit")
EXPECTED = "a cell such as a1, swap-pieces, swap-sides, resign or forfeit"


def read_hex(source: RecordText, tree: GameTree) -> GameRecord:
    """Return the record of a game of Hex.

    Raises:
        ValueError: if it does not begin with an empty board, or violates the rules.
    """
    size = board_size(source, tree, 11, SIZES)
    for name in ("AB", "AW", "AE"):
        if name in tree.nodes[0]:
            raise source.error(
                tree.nodes[0][name].offset, f"{name} sets up stones: expected an empty board"
            )
    moves = list(moves_of(source, tree))
    notes = variation_notes(tree)
    for k, move in enumerate(moves):
        if move.value in GAME_ENDS:
            if k + 1 < len(moves):
                raise source.error(moves[k + 1].offset, f"expected no move after {move.value}")
            notes.append(
                f"{COLORS[move.color]}[{move.value}] ends the game before the rules decide it"
            )
            moves.pop()
    first = _first_color(source, tree, moves)
    swap = any(move.value in SWAPS for move in moves) or _rules_allow_swap(root_text(tree, "RU"))
    game = make_game("hex", board_size=size, first="white" if first else "black", swap=swap)
    sides_swapped = _swaps_sides(moves)
    claimed = claimed_result(tree, first)
    # After a swap of sides, programs differ in which player a color in RE means.
    if claimed is not None and sides_swapped:
        claimed = ClaimedResult(claimed.text, None, claimed.offset)
    actions = _actions(source, moves, size, first, sides_swapped)
    return make_record(source, game, actions, players_of(tree, first), claimed, notes)


def hex_header(game: Game) -> dict[str, str]:
    """Return the properties of the root node for a game of Hex."""
    first = COLORS[int(game.params["first"] == "white")]
    rules = {"RU": "swap"} if game.params["swap"] else {}
    return {"SZ": str(game.params["board_size"]), "PL": first, **rules}


def hex_moves(game: Game, replay: Replay) -> Sequence[tuple[str, str]]:
    """Return the color (B or W) and the value of each move."""
    first = int(game.params["first"] == "white")
    actions = cast(Sequence[int], replay.actions)
    names = [game.action_names[action] for action in actions]
    return [
        (COLORS[(k % 2) ^ first], "swap-pieces" if name == "swap" else name)
        for k, name in enumerate(names)
    ]


def _first_color(source: RecordText, tree: GameTree, moves: list[SGFMove]) -> int:
    """Return the color of player 0 (0 or 1): that of the first move, without moves that of PL."""
    text = root_text(tree, "PL")[:1].upper()
    if text and text not in COLORS:
        raise source.error(tree.nodes[0]["PL"].offset, f"expected PL[B] or PL[W], got PL[{text}]")
    if moves:
        return moves[0].color
    return COLORS.index(text or "B")


def _rules_allow_swap(rules: str) -> bool:
    """Return whether the value of a file's property RU, a free text, allows the swap."""
    return re.search(r"\b(swap|pie)\b", rules, re.IGNORECASE) is not None and not re.search(
        r"\bno\b", rules, re.IGNORECASE
    )


def _swaps_sides(moves: list[SGFMove]) -> bool:
    """Return whether the second move swaps sides, so that the players exchange colors."""
    if len(moves) < 2 or moves[1].value not in SWAPS:
        return False
    if moves[1].value == "swap" and len(moves) > 2:
        return moves[2].color == moves[1].color
    return moves[1].value == "swap-sides"


def _actions(
    source: RecordText, moves: list[SGFMove], size: int, first: int, sides_swapped: bool
) -> Iterator[tuple[int, int]]:
    """Yield the action and the offset of each move.

    Args:
        source: the text, for errors.
        moves: the moves, without a resignation.
        size: the board size.
        first: color of player 0, 0 for black, 1 for white.
        sides_swapped: whether the second move swaps sides.
    """
    for k, move in enumerate(moves):
        exchanged = sides_swapped and k > 1
        color = (k % 2) ^ first ^ exchanged
        if move.color != color:
            raise source.error(
                move.offset, f"expected a move of {COLORS[color]}, got {COLORS[move.color]}"
            )
        if move.value in SWAPS:
            if k != 1:
                raise source.error(move.offset, "only the second move may be a swap")
            yield size * size, move.offset
            continue
        row, column = parse_cell(source, move.value, move.offset, size, EXPECTED)
        if exchanged:
            row, column = column, row
        yield row * size + column, move.offset

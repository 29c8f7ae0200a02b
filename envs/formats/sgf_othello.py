"""Othello in SGF, GM[2].

Squares are written as a letter and a number, a1 at the top left; two letters, as in Go, are read,
too. A pass is an empty value or `pass`; it may be omitted.
"""

from collections.abc import Sequence

from ludoteca.envs.formats.othello import (
    PASSES,
    OthelloMove,
    moves_with_passes,
    with_passes,
)
from ludoteca.envs.formats.record import GameRecord, RecordText, make_record
from ludoteca.envs.formats.sgf_game import (
    COLORS,
    board_size,
    claimed_result,
    moves_of,
    parse_cell,
    players_of,
    root_text,
    variation_notes,
)
from ludoteca.envs.formats.sgf_tree import GameTree, simple_text
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay

SIZES = (4, 6, 8)
EXPECTED = "a square such as d3, or a pass"


def read_othello(source: RecordText, tree: GameTree) -> GameRecord:
    """Return the record of a game of Othello.

    Raises:
        ValueError: if it does not begin with the standard position, or violates the rules.
    """
    size = board_size(source, tree, 8, SIZES)
    game = make_game("othello", board_size=size)
    _check_start(source, tree, game)
    moves = []
    for move in moves_of(source, tree):
        action = None
        if move.value not in (*PASSES, "tt"):  # `tt` is a pass in Go
            row, column = parse_cell(source, move.value, move.offset, size, EXPECTED)
            action = row * size + column
        moves.append(OthelloMove(move.color, action, move.offset))
    actions = with_passes(source, game, moves)
    notes = variation_notes(tree)
    return make_record(source, game, actions, players_of(tree), claimed_result(tree), notes)


def othello_header(game: Game) -> dict[str, str]:
    """Return the properties of the root node for a game of Othello."""
    return {"SZ": str(game.params["board_size"])}


def write_othello_moves(game: Game, replay: Replay) -> Sequence[tuple[str, str]]:
    """Return the color (B or W) and the value of each move."""
    return [
        (COLORS[color], "" if name == "pass" else name)
        for color, name in moves_with_passes(game, replay)
    ]


def _check_start(source: RecordText, tree: GameTree, game: Game) -> None:
    """Raise a `ValueError` unless the root node sets up no discs, or the standard position."""
    root, size = tree.nodes[0], int(game.params["board_size"])
    if root_text(tree, "PL")[:1].upper() not in ("", "B"):
        raise source.error(root["PL"].offset, "expected black to move first")
    board = game.layout.cells(game.new(0)).reshape(-1)
    # Properties that add black discs, white discs and empty squares, with the codes of `board`.
    for name, piece in (("AB", 1), ("AW", 2), ("AE", None)):
        if name not in root:
            continue
        prop = root[name]
        cells = set()
        for value in prop.values:
            cell = simple_text(value).lower()
            row, column = parse_cell(source, cell, prop.offset, size, "a square such as d3")
            cells.add(row * size + column)
        if piece is None or cells != {k for k in range(size * size) if board[k] == piece}:
            raise source.error(
                prop.offset,
                f"{name} sets up discs: expected only the four in the center",
            )

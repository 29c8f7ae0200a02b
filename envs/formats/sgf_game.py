"""Properties that all games in SGF share: board size, players, result, moves.

A property is a name with values, such as `B[d3]`: black (B) moves to d3. Other
properties are SZ (board size), PB and PW (players), RE (result), PL (color to move), and AB, AW and
AE, which set up black stones, white stones and empty cells.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ludoteca.envs.formats.record import ClaimedResult, RecordText
from ludoteca.envs.formats.sgf_tree import GameTree, escape, simple_text
from ludoteca.envs.game import Game
from ludoteca.envs.replay import Replay

COLORS = "BW"  # black is color 0, white is color 1
# A cell is a letter and a number, or two letters as in Go: a1 is the same as aa.
LETTER_NUMBER = re.compile(r"([a-z])([1-9][0-9]?)")
TWO_LETTERS = re.compile(r"([a-z])([a-z])")
MOVES_PER_LINE = 10


@dataclass(frozen=True)
class SGFMove:
    """Move of the main line of a game tree.

    Attributes:
        color: 0 for black, 1 for white.
        value: value of the property (the cell, or a word such as `pass`), in lower case.
        offset: offset of the value in the text.
    """

    color: int
    value: str
    offset: int


def root_text(tree: GameTree, name: str) -> str:
    """Return the first value of the root node's property `name` as text, `""` if it is missing."""
    prop = tree.nodes[0].get(name)
    return "" if prop is None else simple_text(prop.values[0])


def board_size(source: RecordText, tree: GameTree, default: int, sizes: Sequence[int]) -> int:
    """Return the size of a square board, from the property SZ.

    Args:
        source: the text that contains the tree, for errors.
        tree: the game.
        default: the size if the root node has no such property.
        sizes: the valid sizes.

    Raises:
        ValueError: if the size is not one of `sizes`.
    """
    text = root_text(tree, "SZ")
    if not text:
        return default
    columns, _, rows = text.partition(":")
    if columns in map(str, sizes) and rows in ("", columns):
        return int(columns)
    raise source.error(
        tree.nodes[0]["SZ"].offset,
        f"expected a square board of {', '.join(map(str, sizes))}, got SZ[{text:.40}]",
    )


def moves_of(source: RecordText, tree: GameTree) -> Iterator[SGFMove]:
    """Yield the moves of the main line.

    Stones that the root sets up are not checked here: each game accepts other positions.

    Args:
        source: the text that contains the tree, for errors.
        tree: the game.

    Raises:
        ValueError: if a node has several moves, or if a node after the root sets up stones.
    """
    for k, node in enumerate(tree.nodes):
        for name in ("AB", "AW", "AE"):
            if k > 0 and name in node:
                raise source.error(
                    node[name].offset,
                    f"{name} changes the board: expected only moves after the root",
                )
        move_colors = [color for color in COLORS if color in node]
        for color in move_colors:
            prop = node[color]
            if len(move_colors) > 1 or len(prop.values) > 1:
                raise source.error(prop.offset, "expected one move per node, got several")
            value = simple_text(prop.values[0]).lower()
            yield SGFMove(COLORS.index(color), value, prop.offset)


def parse_cell(
    source: RecordText, value: str, offset: int, size: int, expected: str
) -> tuple[int, int]:
    """Return the row and column of a cell.

    Args:
        source: the text that contains the cell, for errors.
        value: the cell as text.
        offset: its offset in the text.
        size: the board size.
        expected: description of valid values, for errors.

    Raises:
        ValueError: if it is not a cell of a board of this size.
    """
    if match := LETTER_NUMBER.fullmatch(value):
        row = int(match[2]) - 1
    elif match := TWO_LETTERS.fullmatch(value):
        row = ord(match[2]) - ord("a")
    else:
        raise source.error(offset, f"expected {expected}, got {value[:40]!r}")
    column = ord(match[1]) - ord("a")
    if row >= size or column >= size:
        raise source.error(offset, f"{value} is not a cell of a board of {size} x {size}")
    return row, column


def claimed_result(tree: GameTree, first: int = 0) -> ClaimedResult | None:
    """Return the result of the property RE, or None if it is missing.

    Args:
        tree: the game.
        first: color of player 0: 0 for black, 1 for white.
    """
    text = root_text(tree, "RE")
    if not text:
        return None
    winner: int | None = None
    if match := re.match(r"([BW])\+", text, re.IGNORECASE):
        winner = COLORS.index(match[1].upper()) ^ first  # the player with this color
    elif text.lower() in ("0", "draw"):
        winner = -1
    return ClaimedResult(f"RE[{text:.40}]", winner, tree.nodes[0]["RE"].offset)


def players_of(tree: GameTree, first: int = 0) -> tuple[str, ...]:
    """Return the names of players 0 and 1; `first` is the color of player 0, 0 or 1."""
    names = (root_text(tree, "PB"), root_text(tree, "PW"))
    return names[first], names[1 - first]


def variation_notes(tree: GameTree) -> list[str]:
    """Return a note for the user if the tree has variations, else an empty list."""
    if not tree.variations:
        return []
    skipped = "1 variation is" if tree.variations == 1 else f"{tree.variations} variations are"
    return [f"{skipped} skipped: only the main line was read"]


def write_tree(
    game: Game, replay: Replay, root: dict[str, str], moves: Sequence[tuple[str, str]]
) -> str:
    """Return the game tree of a replay as text.

    Args:
        game: the game, for two players.
        replay: the replay.
        root: values of the properties of the root node, by name, except players and result; the
            property PL is the color of player 0, `"B"` by default.
        moves: color (B or W) and value of each move.

    The values of `root` and `moves` are written as they are: the caller escapes them, see `escape`.
    """
    first = COLORS.index(root.get("PL", "B"))
    properties = dict(root)
    for player, name in enumerate(replay.players[:2]):
        properties[f"P{COLORS[player ^ first]}"] = escape(name)
    if replay.returns is not None:
        difference = replay.returns[0] - replay.returns[1]
        winner = COLORS[int(difference < 0) ^ first]
        properties["RE"] = f"{winner}+" if difference else "0"
    head = "".join(f"{name}[{value}]" for name, value in properties.items())
    lines = [
        "".join(f";{color}[{value}]" for color, value in moves[k : k + MOVES_PER_LINE])
        for k in range(0, len(moves), MOVES_PER_LINE)
    ]
    return "\n".join([f"(;{head}", *lines]) + ")\n"

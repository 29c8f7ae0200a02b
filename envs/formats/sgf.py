"""SGF files: collections of games of Hex and Othello."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ludoteca.envs.formats.record import GameRecord, RecordText
from ludoteca.envs.formats.sgf_game import write_tree
from ludoteca.envs.formats.sgf_hex import hex_header, hex_moves, read_hex
from ludoteca.envs.formats.sgf_othello import othello_header, read_othello, write_othello_moves
from ludoteca.envs.formats.sgf_tree import GameTree, parse_collection, simple_text
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay


@dataclass(frozen=True)
class SGFGame:
    """Game that SGF files may contain.

    Attributes:
        number: value of the property GM.
        read: function that returns the record of a game tree.
        header: function that returns the game's own properties of the root node.
        moves: function that returns each move of a replay as a property: color (B or W) and value.
    """

    number: str
    read: Callable[[RecordText, GameTree], GameRecord]
    header: Callable[[Game], dict[str, str]]
    moves: Callable[[Game, Replay], Sequence[tuple[str, str]]]


SGF_GAMES = {
    "hex": SGFGame("11", read_hex, hex_header, hex_moves),
    "othello": SGFGame("2", read_othello, othello_header, write_othello_moves),
}
GAME = re.compile(r"\(\s*;")


def is_sgf(text: str) -> bool:
    """Return whether a text begins like SGF."""
    return GAME.match(text.lstrip("\ufeff \t\r\n")) is not None


def read_sgf(source: RecordText) -> list[GameRecord]:
    """Return the games of an SGF text.

    Raises:
        ValueError: if it is not SGF, a game is neither Hex nor Othello, or a move is illegal; the
            message begins with the line and the column.
    """
    return [_read_tree(source, tree) for tree in parse_collection(source)]


def write_sgf(replays: Sequence[Replay]) -> str:
    """Return replays as SGF, FF[4].

    Raises:
        ValueError: if a game is neither Hex nor Othello, or a replay is invalid.
    """
    texts = []
    for replay in replays:
        game = make_game(replay.game)
        sgf_game = SGF_GAMES[game.name]
        root = {"FF": "4", "GM": sgf_game.number, "CA": "UTF-8", **sgf_game.header(game)}
        texts.append(write_tree(game, replay, root, sgf_game.moves(game, replay)))
    return "".join(texts)


def _read_tree(source: RecordText, tree: GameTree) -> GameRecord:
    """Return the record of a game tree, whose property GM is the number of the game."""
    prop = tree.nodes[0].get("GM")
    number = "1" if prop is None else simple_text(prop.values[0])
    for sgf_game in SGF_GAMES.values():
        if sgf_game.number == number:
            return sgf_game.read(source, tree)
    supported = " or ".join(f"{game.number} ({name})" for name, game in SGF_GAMES.items())
    found = "no GM, which means GM[1], Go" if prop is None else f"GM[{number:.40}]"
    offset = tree.offset if prop is None else prop.offset
    raise source.error(offset, f"expected a game with GM {supported}, got {found}")

"""Positions of Othello in the format of the FFO test suite of endgames, one position per line.

A line has 64 squares, the player to move, and optionally moves with their scores (final disc
differences):

    --XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X; G8:+18; H1:+12; H7:+6

A black disc is X, * or B, a white one is O, 0 or W, an empty square is - or a period; the player
may also be a word, `black` or `white`. The program Edax writes scores after `;` (its .obf files),
Zebra comments after `%`.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ludoteca.envs.formats.othello import othello_position
from ludoteca.envs.formats.record import RecordText
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game

BLACK, WHITE, EMPTY = "XxBb*@", "Oo0Ww", "-."
LINE = re.compile(r"\s*([-.XxBb*@Oo0Ww]{64})(.*)")
PLAYERS = {"x": 0, "*": 0, "b": 0, "@": 0, "black": 0, "o": 1, "0": 1, "w": 1, "white": 1}
SCORE = re.compile(r"\s*([A-Ha-h][1-8])\s*:\s*([+-]?\d{1,2})\s*")


@dataclass(frozen=True)
class FFOLine:
    """Position in FFO format, one line of a file.

    Attributes:
        line: number of the line, from 1.
        state: the position, a record of Othello on 8x8.
        scores: final disc difference for the player to move, by the name of the move, such as
            `"g8"`; moves without a score are left out.
        comment: the comment after `%`.
    """

    line: int
    state: Any
    scores: dict[str, int]
    comment: str


def is_ffo(text: str) -> bool:
    """Return whether the first line that is neither blank nor a comment is a position."""
    for line in text.removeprefix("\ufeff").splitlines():
        if line.strip() and not line.lstrip().startswith(("%", "#")):
            return LINE.match(line) is not None
    return False


def read_positions(source: RecordText) -> list[FFOLine]:
    """Return the positions of a text, one per line; lines that begin with % or # are skipped.

    Raises:
        ValueError: if a line is not a position; the message begins with the line and the column.
    """
    game, positions, offset = make_game("othello"), [], 0
    for number, line in enumerate(source.text.splitlines(keepends=True), 1):
        if line.strip() and not line.lstrip().startswith(("%", "#")):
            positions.append(_read_line(source, game, number, line, offset))
        offset += len(line)
    if not positions:
        raise source.error(0, "expected a position of 64 squares, got none")
    return positions


def position_line(s: Any) -> str:
    """Return a position of Othello on 8x8 in FFO format.

    Raises:
        ValueError: if the board has another size.
    """
    if s.board.shape[1] != 8:  # `board` has no elements, only the board size in its shape
        raise ValueError(f"FFO format is for boards of 8x8, got a board of size {s.board.shape[1]}")
    black, white = int(s.discs[0]), int(s.discs[1])
    squares = ["X" if black >> k & 1 else "O" if white >> k & 1 else "-" for k in range(64)]
    return f"{''.join(squares)} {'XO'[int(s.to_move)]}"


def _read_line(source: RecordText, game: Game, number: int, line: str, offset: int) -> FFOLine:
    """Return the position in a line.

    Args:
        source: the text, for errors.
        game: Othello on 8x8.
        number: number of the line, from 1.
        line: the line.
        offset: offset of the line in the text.
    """
    match = LINE.match(line)
    if match is None:
        raise source.error(offset, f"expected 64 squares and the player, got {line.strip()[:80]!r}")
    content, _, comment = match[2].partition("%")
    mover, *scored_moves = content.split(";")
    player = PLAYERS.get(mover.strip().lower())
    item_offset = offset + match.start(2)  # of the present item between semicolons
    if player is None:
        raise source.error(
            item_offset, f"expected the player to move, X or O, got {mover.strip()[:40]!r}"
        )
    board = np.array(list(match[1])).reshape(8, 8)
    squares = np.isin(board, list(BLACK)) + 2 * np.isin(board, list(WHITE))
    try:
        state = othello_position(game, squares, player)
    except ValueError as error:
        raise source.error(offset, str(error)) from None
    legal = {game.action_names[action] for action in game.legal(state)}
    scores: dict[str, int] = {}
    item_offset += len(mover) + 1
    for item in scored_moves:
        score = SCORE.fullmatch(item)
        if score is not None and score[1].lower() in legal:
            scores[score[1].lower()] = int(score[2])
        elif item.strip():
            raise source.error(
                item_offset,
                f"expected a legal move and its score, such as g8:+18, got {item.strip()[:40]!r}",
            )
        item_offset += len(item) + 1
    return FFOLine(number, state, scores, comment.strip())

"""GGF, the format of the Generic Game Server, for Othello: https://skatgame.net/mburo/ggsa/ggf."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ludoteca.envs.formats.othello import (
    PASSES,
    OthelloMove,
    disc_difference,
    moves_with_passes,
    othello_position,
    with_passes,
)
from ludoteca.envs.formats.record import ClaimedResult, GameRecord, RecordText, make_record
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay

SIZES = ("4", "6", "8")
# A game begins with `(;`; two games played at once have a number 2 before it.
BEGIN = re.compile(r"\s*(?:\d+\s*)?\(;")
END = re.compile(r"\s*;\s*\)\s*")
PROPERTY = re.compile(r"\s*([A-Za-z]+)\s*\[([^\]]*)\]")
# Beginning of a game with the property GM[Othello] among its first properties.
GAME = re.compile(
    r"\s*(?:\d+\s*)?\(;(?:\s*[A-Za-z]+\s*\[[^\]]*\]){0,40}?\s*GM\s*\[\s*Othello\s*\]", re.I
)
# Type of a match: before the board size s (two games at once) or a color, after it a color and
# a random start (r20: of 20 discs); all but the size are optional.
TYPE = re.compile(r"[sbw]?(\d+)[bw]?(?:r\d+)?", re.IGNORECASE)
SQUARE = re.compile(r"([a-z])([1-9])")
# Disc difference for black, optionally with the ending (a key of ENDINGS).
RESULT = re.compile(r"([+-]?\d+(?:\.\d*)?)(?::([rts]))?")
ENDINGS = {"r": "by resignation", "t": "on time", "s": "by agreement"}
SQUARE_SYMBOLS = "-*O"  # empty, black, white
DISCS = {"*": 1, "O": 2, "-": 0, ".": 0}  # codes of squares, as in `othello_position`
MOVERS = {"*": 0, "O": 1}  # player to move
Properties = dict[str, tuple[str, int]]  # value and offset of each property, by name


@dataclass(frozen=True)
class GGFGame:
    """Game of a GGF text.

    Attributes:
        game: Othello on a board of its size.
        start: the starting position, a record.
        actions: the actions, passes included, each with its offset in the text.
        header: values and offsets of the properties that are not moves, by name.
    """

    game: Game
    start: Any
    actions: tuple[tuple[int, int], ...]
    header: Properties


def is_ggf(text: str) -> bool:
    """Return whether a text begins like a game of Othello in GGF."""
    return GAME.match(text.removeprefix("\ufeff")) is not None


def read_ggf(source: RecordText) -> list[GameRecord]:
    """Return the games of a GGF text.

    Raises:
        ValueError: if it is not GGF, a game is not Othello from the standard starting position, or
            a move is illegal; the message begins with the line and the column.
    """
    games: list[GameRecord] = []
    offset = 0
    while True:
        begin = BEGIN.match(source.text, offset)
        if begin is None:
            remaining = source.text[offset:].lstrip()
            if games and not remaining:
                return games
            raise source.error(
                len(source.text) - len(remaining), f"expected '(;', got {remaining[:20]!r}"
            )
        record, offset = _read_game(source, begin.end())
        games.append(record)


def write_ggf(replays: Sequence[Replay]) -> str:
    """Return replays of Othello as GGF, one game per line.

    Raises:
        ValueError: if a replay is invalid.
    """
    return "".join(_write_game(replay) for replay in replays)


def position_text(game: Game, s: Any) -> str:
    """Return a position of Othello as a game in GGF without moves."""
    size = game.params["board_size"]
    return (
        f"(;GM[Othello]PC[ludoteca]PB[black]PW[white]RE[?]TI[0]TY[{size}]"
        f"BO[{_board_text(game, s)}];)"
    )


def read_ggf_game(source: RecordText) -> GGFGame:
    """Return the only game of a GGF text, from any starting position.

    Raises:
        ValueError: if it is not one game in GGF, the starting position is impossible, or a move is
            illegal; the message begins with the line and the column.
    """
    begin = BEGIN.match(source.text)
    if begin is None:
        raise source.error(0, f"expected '(;', got {source.text.lstrip()[:20]!r}")
    ggf_game, offset = _parse_game(source, begin.end())
    if remaining := source.text[offset:].lstrip():
        raise source.error(
            len(source.text) - len(remaining), f"expected one game, got {remaining[:20]!r}"
        )
    game, s = ggf_game.game, ggf_game.start.copy()
    for action, action_offset in ggf_game.actions:
        if game.is_terminal(s) or action not in game.legal(s):
            raise source.error(action_offset, f"the move {game.action_names[action]} is illegal")
        with np.errstate(over="ignore"):  # kernels rely on integer overflow
            game.step(s, action)
    return ggf_game


def _read_game(source: RecordText, offset: int) -> tuple[GameRecord, int]:
    """Return the game whose properties begin at an offset, and the offset after it."""
    ggf_game, end = _parse_game(source, offset)
    game, start, header = ggf_game.game, ggf_game.start, ggf_game.header
    standard = game.new(0)
    if not (np.array_equal(start.discs, standard.discs) and start.to_move == standard.to_move):
        raise source.error(
            header["BO"][1],
            "expected the standard starting position with black to move: "
            "replays have no other starting position",
        )
    claimed, notes = _claimed_result(source, header)
    players = (header.get("PB", ("", 0))[0], header.get("PW", ("", 0))[0])
    return make_record(source, game, ggf_game.actions, players, claimed, notes), end


def _parse_game(source: RecordText, offset: int) -> tuple[GGFGame, int]:
    """Return the game whose properties begin at an offset, and the offset after it."""
    header: Properties = {}
    moves: list[tuple[str, str, int]] = []
    start = offset
    while (end := END.match(source.text, offset)) is None:
        match = PROPERTY.match(source.text, offset)
        if match is None:
            text = source.text[offset : offset + 20]
            raise source.error(offset, f"expected a property such as B[d3], or ';)', got {text!r}")
        name, value = match[1].upper(), match[2].strip()
        if name in ("B", "W"):
            moves.append((name, value, match.start(2)))
        elif name in ("KB", "KW"):
            raise source.error(
                match.start(1), f"{name} is a komi move: games with komi are not supported"
            )
        else:
            header[name] = value, match.start(2)
        offset = match.end()
    game_name, name_offset = header.get("GM", ("", start))
    if game_name.lower() != "othello":
        raise source.error(name_offset, f"expected GM[Othello], got GM[{game_name:.40}]")
    game = make_game("othello", board_size=_board_size(source, header, start))
    position = _start_position(source, header, game, start)
    size = int(game.params["board_size"])
    parsed_moves = [_parse_move(source, move, size) for move in moves]
    actions = tuple(with_passes(source, game, parsed_moves, position))
    return GGFGame(game, position, actions, header), end.end()


def _board_size(source: RecordText, header: Properties, start: int) -> int:
    """Return the board size of the property TY; the game begins at offset `start`."""
    text, offset = header.get("TY", ("8", start))
    match = TYPE.fullmatch(text)
    if match is None:
        raise source.error(
            offset,
            f"expected Othello without variants, such as TY[8] or TY[s8r20], got TY[{text:.40}]",
        )
    if match[1] not in SIZES:
        raise source.error(offset, f"expected board size {', '.join(SIZES)}, got TY[{text:.40}]")
    return int(match[1])


def _start_position(source: RecordText, header: Properties, game: Game, start: int) -> Any:
    """Return the position of the property BO, a record; the game begins at offset `start`."""
    if "BO" not in header:
        raise source.error(start, "expected the starting position, such as BO[8 -------- ... *]")
    text, offset = header["BO"]
    size = int(game.params["board_size"])
    first, *rows = text.split() or [""]
    squares = [DISCS.get(square) for square in "".join(rows)[:-1].upper()]
    mover = MOVERS.get("".join(rows)[-1:].upper())
    if first != str(size) or len(squares) != size * size or None in squares or mover is None:
        raise source.error(
            offset, f"expected BO with {size}, {size * size} squares and the player to move"
        )
    try:
        return othello_position(game, np.array(squares).reshape(size, size), mover)
    except ValueError as error:
        raise source.error(offset, str(error)) from None


def _claimed_result(
    source: RecordText, header: Properties
) -> tuple[ClaimedResult | None, list[str]]:
    """Return the result of the property RE, and notes about how the game ended."""
    text, offset = header.get("RE", ("?", 0))
    match = RESULT.fullmatch(text)
    if match is None:
        if text in ("", "?"):
            return None, []
        raise source.error(offset, f"expected a result such as RE[+12.000], got RE[{text:.40}]")
    if match[2]:
        return None, [f"RE[{text:.40}]: the game ended {ENDINGS[match[2]]}"]
    value = float(match[1])
    winner = -1 if value == 0 else int(value < 0)
    return ClaimedResult(f"RE[{text:.40}]", winner, offset), []


def _parse_move(source: RecordText, move: tuple[str, str, int], size: int) -> OthelloMove:
    """Return a move, given as the property's name (B or W), its value and its offset.

    A value is a square or pass, after slashes an evaluation and a time, which are ignored.
    """
    color, value, offset = "BW".index(move[0]), move[1].split("/")[0].strip().lower(), move[2]
    if value in PASSES:
        return OthelloMove(color, None, offset)
    match = SQUARE.fullmatch(value)
    column, row = (ord(match[1]) - ord("a"), int(match[2]) - 1) if match else (size, size)
    if row >= size or column >= size:
        raise source.error(offset, f"expected a square such as d3, or a pass, got {value[:40]!r}")
    return OthelloMove(color, row * size + column, offset)


def _write_game(replay: Replay) -> str:
    """Return a replay of Othello as one line of GGF."""
    game = make_game(replay.game)
    size = game.params["board_size"]
    result = "?" if replay.returns is None else f"{disc_difference(replay):+d}.000"
    # GGF has no escapes: surrogates, closing brackets and line breaks in names are replaced.
    names = [name.encode(errors="replace").decode() for name in (*replay.players, "", "")[:2]]
    black, white = (" ".join(name.replace("]", ")").split()) for name in names)
    moves = "".join(
        f"{'BW'[color]}[{'PA' if name == 'pass' else name.upper()}]"
        for color, name in moves_with_passes(game, replay)
    )
    return (
        f"(;GM[Othello]PC[ludoteca]PB[{black}]PW[{white}]TY[{size}]RE[{result}]"
        f"BO[{_board_text(game, game.new(0))}]{moves};)\n"
    )


def _board_text(game: Game, s: Any) -> str:
    """Return the value of the property `BO`: the board size, the rows and the player to move."""
    size = int(game.params["board_size"])
    board = game.layout.cells(s).reshape(size, size)
    rows = " ".join("".join(SQUARE_SYMBOLS[square] for square in row) for row in board)
    return f"{size} {rows} {SQUARE_SYMBOLS[1 + int(s.to_move)]}"

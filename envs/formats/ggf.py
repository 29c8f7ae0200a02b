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
from ludoteca.envs.formats.record import Claim, GameRecord, RecordText, make_record
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay

SIZES = ("4", "6", "8")
BEGIN = re.compile(r"\s*(?:\d+\s*)?\(;")  # games that were played together have their number first
END = re.compile(r"\s*;\s*\)\s*")
PROPERTY = re.compile(r"\s*([A-Za-z]+)\s*\[([^\]]*)\]")
GAME = re.compile(
    r"\s*(?:\d+\s*)?\(;(?:\s*[A-Za-z]+\s*\[[^\]]*\]){0,40}?\s*GM\s*\[\s*Othello\s*\]", re.I
)
TYPE = re.compile(r"[sbw]?(\d+)[bw]?(?:r\d+)?", re.IGNORECASE)
SQUARE = re.compile(r"([a-z])([1-9])")
RESULT = re.compile(r"([+-]?\d+(?:\.\d*)?)(?::([rts]))?")
ENDINGS = {"r": "by resignation", "t": "on time", "s": "by agreement"}
SQUARE_SYMBOLS = "-*O"  # empty, black, white
DISCS = {"*": 1, "O": 2, "-": 0, ".": 0}
MOVERS = {"*": 0, "O": 1}
Properties = dict[str, tuple[str, int]]


@dataclass(frozen=True)
class GGFGame:
    """Game of a GGF text.

    Attributes:
        game: Othello of its size.
        start: the first position, a record.
        actions: the actions with their offsets in the text, passes included.
        header: the properties that are not moves, with their offsets.
    """

    game: Game
    start: Any
    actions: tuple[tuple[int, int], ...]
    header: Properties


def is_ggf(text: str) -> bool:
    """Return whether a text begins as GGF of Othello."""
    return GAME.match(text.removeprefix("\ufeff")) is not None


def read_ggf(source: RecordText) -> list[GameRecord]:
    """Return the games of a GGF text.

    Raises:
        ValueError: if it is not GGF, a game is not Othello from the usual start, or a move is
            illegal; the message begins with the line and the column.
    """
    games: list[GameRecord] = []
    offset = 0
    while True:
        begin = BEGIN.match(source.text, offset)
        if begin is None:
            rest = source.text[offset:].lstrip()
            if games and not rest:
                return games
            raise source.error(len(source.text) - len(rest), f"expected '(;', got {rest[:20]!r}")
        record, offset = _read_game(source, begin.end())
        games.append(record)


def write_ggf(replays: Sequence[Replay]) -> str:
    """Return replays of Othello as GGF, one game in a line.

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
    """Return the only game of a GGF text, which may begin at any position.

    Raises:
        ValueError: if it is not one game in GGF, a position is impossible, or a move is illegal;
            the message begins with the line and the column.
    """
    begin = BEGIN.match(source.text)
    if begin is None:
        raise source.error(0, f"expected '(;', got {source.text.lstrip()[:20]!r}")
    read, offset = _parse_game(source, begin.end())
    if rest := source.text[offset:].lstrip():
        raise source.error(len(source.text) - len(rest), f"expected one game, got {rest[:20]!r}")
    s = read.start.copy()
    for action, place in read.actions:
        if read.game.is_terminal(s) or action not in read.game.legal(s):
            name = read.game.action_names[action]
            raise source.error(place, f"the move {name} is illegal")
        with np.errstate(over="ignore"):
            read.game.step(s, action)
    return read


def _read_game(source: RecordText, offset: int) -> tuple[GameRecord, int]:
    """Return the game whose properties begin at an offset, and the offset after it."""
    read, end = _parse_game(source, offset)
    usual = read.game.new(0)
    if not (np.array_equal(read.start.discs, usual.discs) and read.start.to_move == usual.to_move):
        raise source.error(
            read.header["BO"][1],
            "expected the usual start with black to move: a replay has no other start",
        )
    claim, notes = _claim(source, read.header)
    players = (read.header.get("PB", ("", 0))[0], read.header.get("PW", ("", 0))[0])
    return make_record(source, read.game, read.actions, players, claim, notes), end


def _parse_game(source: RecordText, offset: int) -> tuple[GGFGame, int]:
    """Return the game whose properties begin at an offset, and the offset after it."""
    header: Properties = {}
    moves: list[tuple[str, str, int]] = []
    start = offset
    while (end := END.match(source.text, offset)) is None:
        found = PROPERTY.match(source.text, offset)
        if found is None:
            rest = source.text[offset : offset + 20]
            raise source.error(offset, f"expected a property such as B[d3], or ';)', got {rest!r}")
        name, value = found[1].upper(), found[2].strip()
        if name in ("B", "W"):
            moves.append((name, value, found.start(2)))
        elif name in ("KB", "KW"):
            raise source.error(
                found.start(1), f"{name} is a komi move: games with komi are not read"
            )
        else:
            header[name] = value, found.start(2)
        offset = found.end()
    game_name, place = header.get("GM", ("", start))
    if game_name.lower() != "othello":
        raise source.error(place, f"expected GM[Othello], got GM[{game_name:.40}]")
    game = make_game("othello", board_size=_board_size(source, header, start))
    position = _start_position(source, header, game, start)
    size = int(game.params["board_size"])
    played = [_move(source, move, size) for move in moves]
    actions = tuple(with_passes(source, game, played, position))
    return GGFGame(game, position, actions, header), end.end()


def _board_size(source: RecordText, header: Properties, start: int) -> int:
    text, offset = header.get("TY", ("8", start))
    match = TYPE.fullmatch(text)
    if match is None:
        raise source.error(
            offset,
            f"expected Othello without variants, such as TY[8] or TY[s8r20], got TY[{text:.40}]",
        )
    if match[1] not in SIZES:
        raise source.error(offset, f"expected a board of {', '.join(SIZES)}, got TY[{text:.40}]")
    return int(match[1])


def _start_position(source: RecordText, header: Properties, game: Game, start: int) -> Any:
    """Return the position of the property BO, a record."""
    if "BO" not in header:
        raise source.error(start, "expected the start position, such as BO[8 -------- ... *]")
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


def _claim(source: RecordText, header: Properties) -> tuple[Claim | None, list[str]]:
    """Return the result by the property RE, and what it says besides the winner."""
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
    return Claim(f"RE[{text:.40}]", winner, offset), []


def _move(source: RecordText, move: tuple[str, str, int], size: int) -> OthelloMove:
    color, value, offset = "BW".index(move[0]), move[1].split("/")[0].strip().lower(), move[2]
    if value in PASSES:
        return OthelloMove(color, None, offset)
    match = SQUARE.fullmatch(value)
    column, row = (ord(match[1]) - ord("a"), int(match[2]) - 1) if match else (size, size)
    if row >= size or column >= size:
        raise source.error(offset, f"expected a square such as d3, or a pass, got {value[:40]!r}")
    return OthelloMove(color, row * size + column, offset)


def _write_game(replay: Replay) -> str:
    game = make_game(replay.game)
    size = game.params["board_size"]
    result = "?" if replay.returns is None else f"{disc_difference(replay):+d}.000"
    # GGF has no escapes.
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
    """Return the value of the property `BO`: the board size, the rows, and who is to move."""
    size = int(game.params["board_size"])
    board = game.layout.cells(s).reshape(size, size)
    rows = " ".join("".join(SQUARE_SYMBOLS[square] for square in row) for row in board)
    return f"{size} {rows} {SQUARE_SYMBOLS[1 + int(s.to_move)]}"

"""Plain transcripts of Othello on 8x8: one game per line, such as `f5d6c3d3c4`."""

import re
from collections.abc import Iterator, Sequence

from ludoteca.envs.formats.othello import OthelloMove, moves_with_passes, with_passes
from ludoteca.envs.formats.record import GameRecord, RecordText, make_record
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay

# White space, the number of a move, a square or a pass.
TOKEN = re.compile(r"\s+|\d+\.(?=\s|[A-Ha-h])|[A-Ha-h][1-8]|(?:pass|pa|ps|--)", re.IGNORECASE)
START = re.compile(r"(?:\s*#[^\n]*\n)*\s*(?:\d+\.\s*)?[A-Ha-h][1-8]")


def is_transcript(text: str) -> bool:
    """Return whether a text begins like a transcript."""
    return START.match(text.removeprefix("\ufeff")) is not None


def read_transcripts(source: RecordText) -> list[GameRecord]:
    """Return the games of a text, one per line; lines that begin with # are skipped.

    Moves may be separated by spaces and have numbers (`1. f5`); passes (`--`, `pass`) may be
    omitted.

    Raises:
        ValueError: if a line is not a game, or violates the rules; the message begins with the line
            and the column.
    """
    game, records, offset = make_game("othello"), [], 0
    for line in source.text.splitlines(keepends=True):
        if line.strip() and not line.lstrip().startswith("#"):
            moves = list(_moves(source, line, offset))
            records.append(make_record(source, game, with_passes(source, game, moves), ()))
        offset += len(line)
    if not records:
        raise source.error(0, "expected a transcript such as f5d6c3, got no moves")
    return records


def write_transcripts(replays: Sequence[Replay]) -> str:
    """Return replays of Othello as transcripts without passes, one game per line.

    Raises:
        ValueError: if a board is not 8x8, or a replay is invalid.
    """
    lines = []
    for replay in replays:
        game = make_game(replay.game)
        if game.params["board_size"] != 8:
            raise ValueError(
                f"transcripts are for Othello on 8x8, got {replay.game}: use .sgf or .ggf"
            )
        moves = moves_with_passes(game, replay)
        if not moves:
            raise ValueError("a transcript needs at least one move, got a game without moves")
        lines.append("".join(name for _, name in moves if name != "pass"))
    return "".join(f"{line}\n" for line in lines)


def _moves(source: RecordText, line: str, start: int) -> Iterator[OthelloMove]:
    """Yield the moves of a line that begins at offset `start`."""
    k = 0
    while k < len(line):
        token = TOKEN.match(line, k)
        if token is None:
            text = line[k : k + 20].strip()
            raise source.error(start + k, f"expected a move such as f5, got {text!r}")
        text = token[0].lower()
        if text[0] in "abcdefgh" and len(text) == 2 and text[1].isdigit():
            action = 8 * (int(text[1]) - 1) + ord(text[0]) - ord("a")
            yield OthelloMove(None, action, start + k)
        elif text[0] in "p-":
            yield OthelloMove(None, None, start + k)
        k = token.end()

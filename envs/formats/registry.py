"""Registry of the formats of game records, and functions to read and write files in all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ludoteca.envs.formats.ffo import is_ffo
from ludoteca.envs.formats.ggf import is_ggf, read_ggf, write_ggf
from ludoteca.envs.formats.record import GameRecord, RecordText
from ludoteca.envs.formats.sgf import is_sgf, read_sgf, write_sgf
from ludoteca.envs.formats.transcript import is_transcript, read_transcripts, write_transcripts
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay
from ludoteca.files import MAX_TEXT_BYTES, read_bytes, write_atomically

MAX_CHARACTERS = 16 << 20  # of a text in one of `FORMATS`; replays in JSON have another limit


@dataclass(frozen=True)
class GameFormat:
    """File format of game records.

    Attributes:
        name: name of the format, for messages.
        suffix: suffix of its files, with the dot.
        games: names of the games that it supports.
        recognizes: function that returns whether a text begins like this format.
        read: function that returns the games of a text.
        write: function that returns replays as text.
    """

    name: str
    suffix: str
    games: tuple[str, ...]
    recognizes: Callable[[str], bool]
    read: Callable[[RecordText], list[GameRecord]]
    write: Callable[[Sequence[Replay]], str]


# In the order in which they are tried: a text in GGF also looks like SGF.
FORMATS = (
    GameFormat("GGF", ".ggf", ("othello",), is_ggf, read_ggf, write_ggf),
    GameFormat("SGF", ".sgf", ("hex", "othello"), is_sgf, read_sgf, write_sgf),
    GameFormat(
        "transcript", ".txt", ("othello",), is_transcript, read_transcripts, write_transcripts
    ),
)
SUFFIXES = tuple(format_.suffix for format_ in FORMATS)


def format_of(text: str, suffix: str) -> GameFormat | None:
    """Return the format of a text, recognized by its content or else by the suffix of its file.

    Returns:
        The format, or None for a replay in JSON and for unknown texts.
    """
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return None
    for format_ in FORMATS:
        if format_.recognizes(text):
            return format_
    return next((format_ for format_ in FORMATS if format_.suffix == suffix.lower()), None)


def read_games(text: str, suffix: str = "") -> list[GameRecord]:
    """Return the games of a text in any format; a replay in JSON is one game.

    Args:
        text: the text.
        suffix: suffix of its file, such as `".sgf"`.

    Raises:
        ValueError: if the format is unknown, or if a game violates the rules; except for JSON, the
            message begins with the line and the column.
    """
    if is_ffo(text):
        raise ValueError("expected games, got positions in FFO format")
    format_ = format_of(text, suffix)
    if format_ is None:
        return [GameRecord(Replay.from_json(text))]
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"expected at most {MAX_CHARACTERS:,} characters, got {len(text):,}")
    return format_.read(RecordText(text))


def read_record_text(path: str | Path) -> str:
    """Return the text of a file, in UTF-8 or else in Latin-1, the default of SGF.

    Raises:
        OSError: if it cannot be read.
        ValueError: if it is not a regular file, is too large, or is JSON or binary and not UTF-8.
    """
    content = read_bytes(path, MAX_TEXT_BYTES)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        if content.lstrip()[:1] == b"{" or b"\0" in content[:1024]:
            raise ValueError(f"{path}: not text in UTF-8: {error}") from None
        return content.decode("latin-1")


def load_games(path: str | Path) -> list[GameRecord]:
    """Return the games of a file in any format.

    Raises:
        OSError: if it cannot be read.
        ValueError: as `read_games`; the message begins with the file's name.
    """
    text = read_record_text(path)
    try:
        return read_games(text, Path(path).suffix)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def write_games(replays: Sequence[Replay], suffix: str) -> str:
    """Return replays as text, in the format that a suffix denotes.

    Args:
        replays: the replays.
        suffix: `".sgf"`, `".ggf"` or `".txt"`.

    Raises:
        ValueError: if the format is unknown or does not support the game.
    """
    format_ = next((format_ for format_ in FORMATS if format_.suffix == suffix.lower()), None)
    if format_ is None:
        raise ValueError(f"expected one of {', '.join(SUFFIXES)}, got {suffix!r:.40}")
    for replay in replays:
        name = make_game(replay.game).name
        if name not in format_.games:
            games = " and ".join(format_.games)
            raise ValueError(f"{format_.name} supports {games}, got a game of {name}")
    return format_.write(replays)


def save_games(path: str | Path, replays: Sequence[Replay]) -> None:
    """Write replays to a file, in the format of its suffix.

    Raises:
        ValueError: as `write_games`.
        OSError: if it cannot be written.
    """
    write_atomically(path, write_games(replays, Path(path).suffix))

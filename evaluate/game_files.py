"""Files of game records and of FFO positions, as the commands load and show them.

The FFO format is that of a test suite of endgames of Othello, see `ludoteca.envs.formats.ffo`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ludoteca.envs.formats.ffo import FFOLine, is_ffo, position_line, read_positions
from ludoteca.envs.formats.record import GameRecord, RecordText
from ludoteca.envs.formats.registry import load_games, read_record_text
from ludoteca.envs.registry import make_game
from ludoteca.envs.render import board_text
from ludoteca.envs.render.status import player_name
from ludoteca.envs.replay import Replay
from ludoteca.files import write_atomically


def choose_games(path: Path, number: int | None) -> Sequence[GameRecord]:
    """Return all games of a file, or one of them.

    Args:
        path: the file.
        number: number of the game, counted from 1; by default all games are returned.

    Raises:
        ValueError: if the file cannot be read, or has fewer games.
    """
    games = load_games(path)
    if number is None:
        return games
    if not 1 <= number <= len(games):
        raise ValueError(
            f"{path} has {len(games)} games: expected --game from 1 to {len(games)}, got {number}"
        )
    return games[number - 1 : number]


def only_replay(path: Path, records: Sequence[GameRecord]) -> Replay:
    """Return the replay of the only game of a file.

    Raises:
        ValueError: if the file has several games.
    """
    if len(records) > 1:
        raise ValueError(f"{path} has {len(records)} games: expected one")
    return records[0].replay


def load_positions(path: Path) -> list[FFOLine] | None:
    """Return the positions of a file in FFO format, or None if the file has another format.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if a line is not a position.
    """
    text = read_record_text(path)
    if not is_ffo(text):
        return None
    try:
        return read_positions(RecordText(text))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def save_positions(path: Path, replays: Sequence[Replay], ply: int | None = None) -> int:
    """Write the positions of games of Othello on 8x8 to a file in FFO format.

    Final positions are left out. The comment after `%` has the game, from 1, and the ply.

    Args:
        path: the file.
        replays: the games.
        ply: only the position after this number of plies of each game.

    Returns:
        The number of positions.

    Raises:
        ValueError: if a replay is of another game, or has no such position.
    """
    lines = []
    for number, replay in enumerate(replays, 1):
        game = make_game(replay.game)
        if game.name != "othello":
            raise ValueError(f"FFO format has positions of othello, not of {game.name}")
        positions = [s for s in replay.positions() if not game.is_terminal(s)]
        if ply is not None and not 0 <= ply < len(positions):
            raise ValueError(
                f"--ply must be from 0 to {len(positions) - 1} in game {number}, got {ply}"
            )
        for k in range(len(positions)) if ply is None else (ply,):
            lines.append(f"{position_line(positions[k])} % game {number} ply {k}\n")
    write_atomically(path, "".join(lines))
    return len(lines)


def positions_text(positions: Sequence[FFOLine]) -> Iterator[str]:
    """Yield Othello positions as text: the board, and the legal moves with their known scores.

    A score is the final disc difference after the move, for the player to move.
    """
    game = make_game("othello")
    for position in positions:
        s = position.state
        comment = f": {position.comment}" if position.comment else ""
        yield f"line {position.line}{comment}"
        yield board_text(game, s)
        names = [game.action_names[action] for action in game.legal(s)]
        moves = " ".join(
            f"{name}{position.scores[name]:+d}" if name in position.scores else name
            for name in names
        )
        assert game.player is not None
        mover = player_name(game, game.player(s))
        yield f"{mover} to move: {moves}\n" if names else "the game is over\n"

"""Viewer of replays in the terminal, position by position."""

import time
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.style import Style
from rich.table import Table
from rich.text import Text

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.render import Standing
from ludoteca.envs.render.players import player_names
from ludoteca.envs.render.replay_scenes import last_move_text, replay_steps, seconds_per_position
from ludoteca.envs.render.status import player_piece
from ludoteca.envs.render.terminal import piece_symbol, terminal_board
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.replay_rendering import action_text

PANEL_WIDTH = 40  # width of the players' names and standings in characters


def watch_replay(
    replay: Replay, seconds: float | None = None, console: Console | None = None
) -> None:
    """Show a replay in the terminal as an animation; print all positions if output is no terminal.

    Args:
        replay: the replay.
        seconds: seconds per position; by default see `seconds_per_position`.
        console: the rich console to print to; by default standard output.

    Raises:
        ValueError: if the time is not positive, or the replay is invalid.
    """
    seconds = seconds_per_position(replay) if seconds is None else seconds
    if not seconds > 0:
        raise ValueError(f"seconds must be positive, got {seconds}")
    console = Console(highlight=False) if console is None else console
    frames = replay_frames(replay, console.width, console.options.ascii_only)
    if not console.is_terminal:
        for frame in frames:
            console.print(frame, Text())  # an empty line after each
        return
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        for frame in frames:
            live.update(frame, refresh=True)
            time.sleep(seconds)


def replay_frames(replay: Replay, width: int, plain: bool = False) -> list[RenderableType]:
    """Return a frame for every position: the board, with the players to its right or below it.

    Args:
        replay: the replay.
        width: width of the terminal in characters.
        plain: whether to use only ASCII characters.

    Raises:
        ValueError: if the replay is invalid.
    """
    game, frames = make_game(replay.game), []
    for ply, (s, action, standings) in enumerate(replay_steps(game, replay)):
        heading = f"ply {ply} of {len(replay.actions)}"
        if action is not None and not game.simultaneous:
            heading = f"{heading}: {action_text(game, action)}"
        board = terminal_board(game, s, plain=plain)
        panel = _panel(game, standings, replay.players, heading, last_move_text(game, s), plain)
        frames.append(_board_and_panel(board, panel, width))
    return frames


def _panel(
    game: Game,
    standings: Sequence[Standing],
    names: Sequence[str],
    heading: str,
    message: str,
    plain: bool,
) -> Text:
    """Return a heading, a piece, name and standing for each player, and a message below."""
    panel = Text(overflow="fold")
    panel.append(f"{heading}\n\n", Style(dim=True))
    for p, (name, standing) in enumerate(zip(player_names(game, names), standings, strict=True)):
        panel.append_text(piece_symbol(game, player_piece(game, p), plain=plain))
        panel.append(f" {name}\n")
        panel.append(
            f"    {standing.text}\n", Style(color="bright_red" if standing.is_out else None)
        )
    return panel.append(f"\n{message}", Style(bold=True))


def _board_and_panel(board: Text, panel: Text, width: int) -> RenderableType:
    """Return the board with the panel to its right, or below it if `width` is too small."""
    columns = max(line.cell_len for line in board.split())
    if columns + PANEL_WIDTH > width:
        return Group(board, Text(), panel)
    table = Table.grid(padding=(0, 3))
    table.add_column(width=columns)
    table.add_column(max_width=PANEL_WIDTH)
    table.add_row(board, panel)
    return table

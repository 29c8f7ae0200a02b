"""Rendering of replays as text, images and animations."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.render import board_text, gif, player_lines, png, svg, svg_animation
from ludoteca.envs.render.replay_scenes import (
    last_move_text,
    replay_scenes,
    replay_steps,
    seconds_per_position,
)
from ludoteca.envs.replay import Replay
from ludoteca.files import write_atomically

FORMATS = (".gif", ".png", ".svg")


def replay_text(replay: Replay, ply: int | None = None) -> Iterator[str]:
    """Yield a replay as text, ply by ply: actions, boards and standings of the players.

    Args:
        replay: the replay.
        ply: number of plies before the position to show; by default all positions are shown.

    Raises:
        ValueError: if the replay is invalid, or has fewer plies than `ply`.
    """
    validate_ply(replay, ply)
    game = make_game(replay.game)
    result = "not finished" if replay.returns is None else f"returns {list(replay.returns)}"
    players = ", ".join(f"seat {seat} {name}" for seat, name in enumerate(replay.players))
    yield f"{replay.game}, seed {replay.seed}{f', {players}' if players else ''}"
    for k, (s, action, standing) in enumerate(replay_steps(game, replay)):
        if ply is None or k == ply:
            yield f"\nply {k}: {action_text(game, action)}" if k > 0 else "\nstart"
            lines = [last_move_text(game, s), *player_lines(game, standing, replay.players)]
            yield board_text(game, s, captions=[line for line in lines if line])
    yield f"\n{len(replay.actions)} plies, {result}"


def draw_replay(
    replay: Replay, out: Path, ply: int | None = None, seconds: float | None = None
) -> None:
    """Draw a replay and its players: a GIF or SVG animation, or a PNG image.

    Args:
        replay: the replay.
        out: the file to write, in the format of its suffix.
        ply: number of plies before the position to draw; by default GIF and SVG are animations of
            all positions, and PNG shows the last one.
        seconds: seconds per position of an animation; by default see `seconds_per_position`.

    Raises:
        ValueError: if the suffix is unknown, or the game has fewer plies than `ply`.
        ImportError: if a package for drawing is missing.
        OSError: if the file cannot be written.
    """
    if out.suffix not in FORMATS:
        raise ValueError(f"expected a file name with the suffix {', '.join(FORMATS)}, got {out}")
    validate_ply(replay, ply)
    scenes = replay_scenes(replay)
    still = scenes[-1 if ply is None else ply]
    seconds = seconds_per_position(replay) if seconds is None else seconds
    if out.suffix == ".png":
        write_atomically(out, png(still))
    elif out.suffix == ".gif":
        write_atomically(out, gif(scenes if ply is None else [still], seconds))
    else:
        write_atomically(out, svg_animation(scenes, seconds) if ply is None else svg(still))


def validate_ply(replay: Replay, ply: int | None) -> None:
    """Validate that a replay has a position after `ply` plies.

    Raises:
        ValueError: if the game has fewer plies.
    """
    if ply is not None and not 0 <= ply <= len(replay.actions):
        raise ValueError(f"ply must be from 0 to {len(replay.actions)}, got {ply}")


def action_text(game: Game, action: Any) -> str:
    """Return the name of an action; for a joint action, the name by number of the player."""
    if not game.simultaneous:
        name: str = game.action_names[action]
        return name
    return ", ".join(
        f"{p} {'forfeits' if a == FORFEIT else game.action_names[a]}" for p, a in enumerate(action)
    )

"""Finished games as text, pictures and animations."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ludoteca.envs.files import write_whole
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay

FORMATS = (".gif", ".png", ".svg")


def replay_text(replay: Replay, final: bool = False) -> Iterator[str]:
    """Tell a game ply by ply: its actions and boards, or with `final` the last board only.

    Raises:
        ValueError: if the game cannot have gone so.
    """
    from ludoteca.envs.render import board_text

    game = make_game(replay.game)
    result = "not finished" if replay.returns is None else f"returns {list(replay.returns)}"
    players = ", ".join(f"seat {p} {name}" for p, name in enumerate(replay.players))
    yield f"{replay.game}, seed {replay.seed}{f', {players}' if players else ''}"
    for ply, (s, action) in enumerate(_positions(replay)):
        last = ply == len(replay.actions)
        if final and not last:
            continue
        if ply > 0:
            yield f"\nply {ply}: {_action_text(game, action)}"
        else:
            yield "\nstart"
        yield board_text(game, s)
    yield f"\n{len(replay.actions)} plies, {result}"


def draw_replay(replay: Replay, out: Path, ply: int | None = None, seconds: float = 0.6) -> None:
    """Draw a game into a file: GIF and SVG show all of it, PNG one position.

    Args:
        replay: the game.
        out: its ending decides the format.
        ply: how many plies have been played in the position to draw; by default GIF and SVG are
            animations, and PNG shows the last position.
        seconds: how long an animation shows each position.

    Raises:
        ValueError: if the ending is another, or the game is shorter.
        ImportError: if a package for drawing is missing.
        OSError: if the file cannot be written.
    """
    from ludoteca.envs.render import gif, png, scene, svg, svg_animation

    if out.suffix not in FORMATS:
        raise ValueError(f"{out} must end in one of {', '.join(FORMATS)}")
    if ply is not None and not 0 <= ply <= len(replay.actions):
        raise ValueError(f"ply must be from 0 to {len(replay.actions)}, got {ply}")
    game = make_game(replay.game)
    scenes = [scene(game, s, None if game.simultaneous else a) for s, a in _positions(replay)]
    still = scenes[-1 if ply is None else ply]
    if out.suffix == ".png":
        write_whole(out, png(still))
    elif out.suffix == ".gif":
        write_whole(out, gif(scenes if ply is None else [still], seconds))
    else:
        write_whole(out, svg_animation(scenes, seconds) if ply is None else svg(still))


def _positions(replay: Replay) -> Iterator[tuple[Any, Any]]:
    """Yield every position with the action that led to it, None at first."""
    yield from zip(replay.positions(), [None, *replay.actions], strict=True)


def _action_text(game: Game, action: Any) -> str:
    if not game.simultaneous:
        name: str = game.action_names[action]
        return name
    return ", ".join(f"{p} {game.action_names[a]}" for p, a in enumerate(action))

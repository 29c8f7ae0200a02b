"""The command `ludoteca replay`."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from ludoteca.evaluate.cli.options import File, Number, Seconds


def replay(
    file: Annotated[Positional[Path], arg(metavar="FILE")],
    final: bool = False,
    ply: Number = None,
    out: File = None,
    watch: bool = False,
    seconds: Seconds = None,
) -> None:
    """Verify a replay by playing it again, and print, draw or show the game.

    Args:
        file: the replay, as `match --replays` writes them.
        final: only the last position.
        ply: only the position after this number of plies.
        out: draw the game into this file: .gif and .svg are animations, .png shows the last
            position, and .html is a page with everything in it that steps and plays.
        watch: show the game in the terminal, position by position.
        seconds: time for each position; by default, long games are shown faster.
    """
    from ludoteca.envs.replay import Replay
    from ludoteca.evaluate.replay_rendering import draw_replay, replay_text
    from ludoteca.evaluate.replay_viewer import watch_replay

    if final and ply is not None:
        raise ValueError("either --final or --ply, not both")
    if watch and out is not None:
        raise ValueError("either --watch or --out, not both")
    if watch and (final or ply is not None):
        raise ValueError("--watch shows the whole game: no --final, no --ply")
    if seconds is not None and out is None and not watch:
        raise ValueError("--seconds is for --watch and --out")
    if ply is not None and out is not None and out.suffix == ".html":
        raise ValueError("an .html file has the whole game: no --ply")
    replayed = Replay.load(file)
    ply = len(replayed.actions) if final else ply
    if watch:
        watch_replay(replayed, seconds)
    elif out is not None:
        if out.suffix == ".html":
            from ludoteca.evaluate.arena.replay_page import replay_page
            from ludoteca.files import write_whole

            write_whole(out, replay_page(replayed, seconds))
        else:
            draw_replay(replayed, out, ply, seconds)
        print(f"{len(replayed.actions)} plies: {out}")
    else:
        for line in replay_text(replayed, ply):
            print(line)

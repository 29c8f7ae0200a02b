"""The command `ludoteca replay`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from ludoteca.evaluate.cli.options import OptionalFile, OptionalFloat, OptionalInt

if TYPE_CHECKING:
    from ludoteca.envs.formats.record import GameRecord


def replay(
    file: Annotated[Positional[Path], arg(metavar="FILE")],
    game: OptionalInt = None,
    final: bool = False,
    ply: OptionalInt = None,
    out: OptionalFile = None,
    watch: bool = False,
    seconds: OptionalFloat = None,
) -> None:
    """Verify replays by playing them again, and print, draw, show or convert the games.

    Args:
        file: a replay, as `match --replays` writes them, or a record of other programs: SGF (Hex,
            Othello), GGF or a transcript of Othello. Positions of Othello in FFO format are
            printed with their legal moves.
        game: number of the game, counted from 1, in a file with several; by default all.
        final: show only the last position.
        ply: show only the position after this number of plies.
        out: draw the game into this file: .gif and .svg are animations, .png shows the last
            position, and .html is a self-contained page to step through the game. Or write the
            games as .sgf, .ggf (Othello) or .txt (transcripts of Othello), or one as .json, or
            the positions of Othello as .obf (FFO format).
        watch: show the game in the terminal, position by position.
        seconds: seconds for each position; by default 0.6, or in games of more than 50 plies
            30 / plies, at least 0.15.
    """
    from ludoteca.evaluate.game_files import (
        choose_games,
        load_positions,
        only_replay,
        positions_text,
    )
    from ludoteca.evaluate.replay_rendering import replay_text
    from ludoteca.evaluate.replay_viewer import watch_replay

    if final and ply is not None:
        raise ValueError("expected either --final or --ply, got both")
    if watch and out is not None:
        raise ValueError("expected either --watch or --out, got both")
    if watch and (final or ply is not None):
        raise ValueError("--watch shows the whole game: expected no --final and no --ply")
    if seconds is not None and out is None and not watch:
        raise ValueError("--seconds needs --watch or --out")
    if ply is not None and out is not None and out.suffix == ".html":
        raise ValueError("an .html file has the whole game: expected no --ply")
    if positions := load_positions(file):
        if watch or final or out is not None or ply is not None or game is not None:
            raise ValueError(f"{file} has positions, not games: they are only printed")
        print("\n".join(positions_text(positions)))
        return
    records = choose_games(file, game)
    for number, record in enumerate(records, 1 if game is None else game):
        for note in record.notes:
            print(f"{file}, game {number}: {note}", file=sys.stderr)
    if watch:
        watch_replay(only_replay(file, records), seconds)
    elif out is not None:
        _write_out(file, records, out, final, ply, seconds)
    else:
        for number, record in enumerate(records, 1 if game is None else game):
            replayed = record.replay
            if len(records) > 1:
                if number > 1:
                    print()
                print(f"game {number}")
            for line in replay_text(replayed, len(replayed.actions) if final else ply):
                print(line)


def _write_out(
    file: Path,
    records: Sequence["GameRecord"],
    out: Path,
    final: bool,
    ply: int | None,
    seconds: float | None,
) -> None:
    """Draw a game into a file, or write games in the format of its suffix."""
    from ludoteca.envs.formats.registry import SUFFIXES, save_games
    from ludoteca.evaluate.arena.replay_page import replay_page
    from ludoteca.evaluate.game_files import only_replay, save_positions
    from ludoteca.evaluate.replay_rendering import draw_replay
    from ludoteca.files import write_atomically

    if out.suffix == ".obf":
        if final or seconds is not None:
            raise ValueError(
                "an .obf file has positions with a move to choose: expected no --final or --seconds"
            )
        count = save_positions(out, [record.replay for record in records], ply)
        print(f"{count} position{'s' * (count != 1)}: {out}")
        return
    if out.suffix in (*SUFFIXES, ".json"):
        if final or ply is not None or seconds is not None:
            raise ValueError(
                f"a {out.suffix} file has whole games: expected no --final, --ply or --seconds"
            )
        if out.suffix == ".json":
            only_replay(file, records).save(out)
        else:
            save_games(out, [record.replay for record in records])
        print(f"{len(records)} game{'s' * (len(records) != 1)}: {out}")
        return
    replayed = only_replay(file, records)
    if out.suffix == ".html":
        write_atomically(out, replay_page(replayed, seconds))
    else:
        draw_replay(replayed, out, len(replayed.actions) if final else ply, seconds)
    print(f"{len(replayed.actions)} plies: {out}")

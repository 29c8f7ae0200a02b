"""The commands `ludoteca render` and `ludoteca replay`."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from ludoteca.envs.registry import make_game
from ludoteca.evaluate.cli.options import Agents, File, Number, Seconds


def render_command(parameters: Any) -> Callable[..., None]:
    """Return the command `render`, with options for the game's parameters."""

    def render(
        game: Annotated[Positional[str], arg(metavar="GAME")],
        rules: parameters,
        out: Annotated[Path, arg(metavar="FILE")],
        replay: File = None,
        agents: Agents = ("random", "random"),
        seed: int = 0,
        ply: Number = None,
        seconds: Seconds = None,
    ) -> None:
        """Draw a game: a replay, or one that agents play for it.

        Args:
            game: the game, such as hex or hex:board_size=5.
            rules: Parameters of the game, if agents play it.
            out: file to write: .gif and .svg show the whole game, .png its last position.
            replay: file of the replay to draw, as `match --replays` writes them.
            agents: the agents that play, if there is no replay.
            seed: seed of the game that they play.
            ply: draw only the position after this number of plies.
            seconds: time for each position; long games are shown faster by default.
        """
        from ludoteca.envs.replay import Replay
        from ludoteca.evaluate.match import play_match
        from ludoteca.evaluate.replay_rendering import draw_replay

        rules_of = make_game(game, **rules)
        if replay is None:
            shown = play_match(rules_of, agents, 1, seed=seed, num_replays=1).replays[0]
        else:
            shown = Replay.load(replay)
            if make_game(shown.game).name != rules_of.name:
                raise ValueError(f"{replay} is a game of {shown.game}, not of {rules_of.name}")
        draw_replay(shown, out, ply, seconds)
        print(f"{len(shown.actions)} plies: {out}")

    return render


def replay(
    file: Annotated[Positional[Path], arg(metavar="FILE")],
    final: bool = False,
    ply: Number = None,
    out: File = None,
    watch: bool = False,
    seconds: Seconds = None,
) -> None:
    """Check a replay by playing it again, and print, draw or show the game.

    Args:
        file: the replay, as `match --replays` writes them.
        final: only the last position.
        ply: only the position after this number of plies.
        out: draw it into this file: .gif and .svg show the whole game, .png its last position.
        watch: show the game in the terminal, one position after the other.
        seconds: time for each position; long games are shown faster by default.
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
    shown = Replay.load(file)
    ply = len(shown.actions) if final else ply
    if watch:
        watch_replay(shown, seconds)
    elif out is not None:
        draw_replay(shown, out, ply, seconds)
        print(f"{len(shown.actions)} plies: {out}")
    else:
        for line in replay_text(shown, ply):
            print(line)

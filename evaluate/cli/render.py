"""The command `ludoteca render`."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from ludoteca.envs.registry import make_game
from ludoteca.evaluate.cli.options import Agents, OptionalFile, OptionalFloat, OptionalInt


def render_command(parameters: Any) -> Callable[..., None]:
    """Return the command `render`, with options for the game's parameters."""

    def render(
        game: Annotated[Positional[str], arg(metavar="GAME")],
        rules: parameters,
        out: Annotated[Path, arg(metavar="FILE")],
        replay: OptionalFile = None,
        agents: Agents = ("random", "random"),
        seed: int = 0,
        ply: OptionalInt = None,
        seconds: OptionalFloat = None,
    ) -> None:
        """Draw a replay, or a new game between agents.

        Args:
            game: the game, such as hex or hex:board_size=5.
            rules: Parameters of the new game.
            out: file to write: .gif and .svg are animations of the game, .png shows its last
                position.
            replay: file of the game to draw, in any format that `ludoteca replay` reads.
            agents: the agents that play a new game, without --replay.
            seed: seed of the new game.
            ply: draw only the position after this number of plies.
            seconds: seconds for each position; by default 0.6, or in games of more than 50 plies
                30 / plies, at least 0.15.
        """
        from ludoteca.evaluate.game_files import choose_games, only_replay
        from ludoteca.evaluate.match import play_match
        from ludoteca.evaluate.replay_rendering import draw_replay

        loaded_game = make_game(game, **rules)
        if replay is None:
            replayed = play_match(loaded_game, agents, 1, seed=seed, num_replays=1).replays[0]
        else:
            replayed = only_replay(replay, choose_games(replay, None))
            if make_game(replayed.game).name != loaded_game.name:
                raise ValueError(
                    f"{replay} is a game of {replayed.game}, not of {loaded_game.name}"
                )
        draw_replay(replayed, out, ply, seconds)
        print(f"{len(replayed.actions)} plies: {out}")

    return render

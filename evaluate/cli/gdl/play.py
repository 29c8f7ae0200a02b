"""The command `ludoteca gdl play`."""

from typing import Annotated

from tyro.conf import arg

from ludoteca.evaluate.cli.gdl.options import Sheet
from ludoteca.evaluate.cli.options import OptionalFile
from ludoteca.evaluate.cli.play import Agents, Seat, start_playing


def play(
    sheet: Sheet,
    agent: Agents = ("mcts:simulations=1000",),
    seat: Seat = "first",
    seed: int = 0,
    moves: Annotated[tuple[str, ...], arg(metavar="[MOVE ...]", help_behavior_hint="")] = (),
    replay: OptionalFile = None,
    terminal: bool = False,
) -> None:
    """Play a game by a rule sheet against an agent, in a window or in the terminal.

    Args:
        sheet: file of the rule sheet, or a sheet of this package, such as breakthrough; only games
            of two players who move in turn.
        agent: your opponent, which also gives hints; with --seat none, the two agents that play
            each other.
        seat: your seat, moving first or second; both for two people, none to watch agents.
        seed: the same seed and moves give the same game.
        moves: moves at the beginning, by name.
        replay: file to save the game to; by default the game is saved only on request.
        terminal: play in the terminal even if a window could be opened.
    """
    from ludoteca.envs.registry import make_game

    game = make_game("gdl", path=sheet)
    if game.simultaneous or game.num_players != 2:
        raise ValueError(
            f"{sheet} is {game.dynamics} with {game.num_players} players: only sequential games of "
            "two players can be played"
        )
    start_playing(game, agent, seat, seed=seed, moves=moves, replay=replay, terminal=terminal)

"""The command `ludoteca gdl play`."""

from typing import Annotated

from tyro.conf import arg

from ludoteca.envs.gdl.limits import MAX_INSTANCES, MAX_SECONDS
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
    max_seconds: float = MAX_SECONDS,
    max_instances: int = MAX_INSTANCES,
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
        max_seconds: limit on the CPU seconds of the compilation; beyond it, the sheet is
            interpreted.
        max_instances: limit on the ground instances of rules; beyond it, the sheet is interpreted.
    """
    from ludoteca.envs.gdl.errors import counted
    from ludoteca.envs.registry import make_game

    game = make_game("gdl", path=sheet, max_seconds=max_seconds, max_instances=max_instances)
    if game.simultaneous or game.num_players != 2:
        raise ValueError(
            f"{sheet} is {game.dynamics} with {counted(game.num_players, 'player')}: only "
            "sequential games of two players can be played"
        )
    start_playing(game, agent, seat, seed=seed, moves=moves, replay=replay, terminal=terminal)

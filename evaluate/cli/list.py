"""The command `ludoteca list`."""

from typing import Annotated

from tyro.conf import Positional, arg


def list_command(
    name: Annotated[Positional[str | None], arg(metavar="[NAME]", help_behavior_hint="")] = None,
) -> None:
    """List all games and agents, or show everything about one of them.

    Args:
        name: a game, such as hex or hex:board_size=5, or an agent, such as mcts; all by default.
    """
    from rich.console import Console

    from ludoteca.evaluate.cli.listing import agent_details, everything, game_details, listed_game

    if name is None:
        shown = everything()
    else:
        game = listed_game(name)
        shown = agent_details(name) if game is None else game_details(game)
    Console(highlight=False).print(shown, soft_wrap=True)

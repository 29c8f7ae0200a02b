"""Suggested next command for the user after a training run."""

import shlex
from pathlib import Path

from ludoteca.envs.game import Game
from ludoteca.envs.registry import default_game


def next_command(game: Game, kind: str, folder: Path) -> str:
    """Return the command that plays a game with the network of a run.

    In sequential games for two the user plays against the network; in other games the network plays
    a match against random moves, or in one-player games beside an agent of random moves.

    Args:
        game: the game.
        kind: name of the agent that plays the network, such as `"dqn"`.
        folder: folder of the run.
    """
    agent = f"{kind}:{folder}"
    if game.simultaneous or game.num_players != 2:
        arguments = ["match", *_arguments(game), "--agents", agent, "random", "--games", "100"]
    else:
        arguments = ["play", *_arguments(game), "--agent", agent]
    return shlex.join(["ludoteca", *arguments])


def _arguments(game: Game) -> list[str]:
    """Return the game and its non-default parameters as arguments."""
    defaults = default_game(game).params
    name = game.spec_name
    changed = {key: value for key, value in game.params.items() if value != defaults[key]}
    # The option of a flag takes no value, so that the parameters are in the spec string instead.
    if any(isinstance(value, bool) or value is None for value in changed.values()):
        return [f"{name}:{','.join(f'{key}={value}' for key, value in changed.items())}"]
    options = [(f"--{key.replace('_', '-')}", str(value)) for key, value in changed.items()]
    return [name, *(text for option in options for text in option)]

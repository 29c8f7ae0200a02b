"""Algorithms of `ludoteca train`, and the default algorithm of a game."""

from typing import Any

from ludoteca.envs.game import Game
from ludoteca.envs.targets import load_target

# From this number of actions on, deep Q-learning reaches AlphaZero's strength in the same time: it
# plays more games, since it does not search. Measured in Hex, see docs/training.md.
MANY_ACTIONS = 100

# One line per algorithm: its name, and its class.
ALGORITHMS = {
    "dqn": "ludoteca.train.dqn:DQN",
    "alphazero": "ludoteca.train.alphazero:AlphaZero",
    "ppo": "ludoteca.train.ppo:PPO",
    "search-imitation": "ludoteca.train.search_imitation:SearchImitation",
    "uib2021": "ludoteca.train.uib2021:UIB2021",
    "reinforce": "ludoteca.train.reinforce:Reinforce",
    "nfsp": "ludoteca.train.nfsp:NFSP",
}
# Algorithms that error messages suggest for simultaneous and for sequential games.
SIMULTANEOUS, SEQUENTIAL = ("ppo",), ("dqn", "alphazero")
SELF_PLAY_ONLY = ("alphazero", "nfsp")


def find_algorithm(name: str) -> Any:
    """Return the class of an algorithm, see `ludoteca.train.algorithm.Algorithm`.

    Args:
        name: a name in `ALGORITHMS`, or a target, `"module:class"`.

    Raises:
        ValueError: if there is no such algorithm.
        ImportError: if its module is missing.
    """
    if name not in ALGORITHMS and ":" not in name:
        raise ValueError(f"algorithm must be one of {', '.join(ALGORITHMS)}, got {name!r}")
    return load_target(ALGORITHMS.get(name, name))


def check_algorithm(name: str, game: Game) -> None:
    """Check that an algorithm learns a game.

    Args:
        name: as for `find_algorithm`.
        game: the game.

    Raises:
        ValueError: if it does not. The message names the reason and algorithms that do.
    """
    algorithm = find_algorithm(name)
    try:
        algorithm.check_game(game)
    except ValueError as error:
        suggested = SIMULTANEOUS if game.simultaneous else SEQUENTIAL
        others = [other for other in suggested if _learns(other, game)]
        instead = f"; use {' or '.join(others)}" if others else ""
        raise ValueError(f"{name} does not learn {game.name}: {error}{instead}") from None


def _learns(name: str, game: Game) -> bool:
    """Return whether an algorithm learns a game."""
    try:
        find_algorithm(name).check_game(game)
    except ValueError:
        return False
    return True


def choose_algorithm(game: Game, name: str = "auto", opponent: str = "self") -> str:
    """Return the name of the algorithm for a game.

    Args:
        game: the game.
        name: name in `ALGORITHMS`, or `"auto"`: PPO for simultaneous games, deep Q-learning against
            an opponent, with `MANY_ACTIONS` actions or more or with chance, else AlphaZero.
        opponent: training opponent, or `"self"`.

    Raises:
        ValueError: if the algorithm does not support the game, or the opponent.
    """
    if name not in ("auto", *ALGORITHMS):
        names = ", ".join(("auto", *ALGORITHMS))
        raise ValueError(f"algorithm must be one of {names}, got {name!r}")
    if not game.simultaneous and game.num_players != 2:
        raise ValueError(
            f"no algorithm learns sequential games of {game.num_players} players, as {game.spec} is"
        )
    if name == "auto":
        many = game.num_actions >= MANY_ACTIONS
        sequential = "dqn" if many or game.has_chance or opponent != "self" else "alphazero"
        return "ppo" if game.simultaneous else sequential
    check_algorithm(name, game)
    if name in SELF_PLAY_ONLY and opponent != "self":
        instead = "ppo" if game.simultaneous else "dqn"
        raise ValueError(
            f"{name} learns from games against itself, not against {opponent!r}: use {instead}"
        )
    return name

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
# Algorithms that error messages suggest: in sequential zero-sum games for two, and in others.
TWO_PLAYER_ZERO_SUM, OTHER_GAMES = ("dqn", "alphazero"), ("ppo",)
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
        suggested = TWO_PLAYER_ZERO_SUM if _is_two_player_zero_sum(game) else OTHER_GAMES
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


def _is_two_player_zero_sum(game: Game) -> bool:
    """Return whether a game is sequential, zero-sum and for two players."""
    return not game.simultaneous and game.num_players == 2 and game.zero_sum


def choose_algorithm(game: Game, name: str = "auto", opponent: str = "self") -> str:
    """Return the name of the algorithm for a game.

    Args:
        game: the game.
        name: name in `ALGORITHMS`, or `"auto"`: in sequential zero-sum games for two players deep
            Q-learning against an opponent, with `MANY_ACTIONS` actions or more or with chance, else
            AlphaZero; PPO in all other games.
        opponent: training opponent, or `"self"`.

    Raises:
        ValueError: if the algorithm does not support the game, or the opponent.
    """
    if name not in ("auto", *ALGORITHMS):
        names = ", ".join(("auto", *ALGORITHMS))
        raise ValueError(f"algorithm must be one of {names}, got {name!r}")
    if game.num_players == 1 and opponent != "self":
        raise ValueError(f"{game.short_spec} has one player, so it has no opponent {opponent!r}")
    two_player_zero_sum = _is_two_player_zero_sum(game)
    if name == "auto":
        if not two_player_zero_sum:
            return "ppo"
        many = game.num_actions >= MANY_ACTIONS
        return "dqn" if many or game.has_chance or opponent != "self" else "alphazero"
    check_algorithm(name, game)
    if name in SELF_PLAY_ONLY and opponent != "self":
        instead = "dqn" if two_player_zero_sum else "ppo"
        raise ValueError(
            f"{name} learns from games against itself, not against {opponent!r}: use {instead}"
        )
    return name

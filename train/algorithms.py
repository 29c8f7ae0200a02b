"""Algorithms of `ludoteca train`, and the default algorithm of a game."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ludoteca.envs.game import Game
from ludoteca.train.settings import RLConfig

# The number of actions from which a network that plays without search, and so sees more games in
# the same time, learns as much as one that searches; measured in Hex, see docs/training.md.
MANY_ACTIONS = 100


@dataclass(frozen=True)
class Algorithm:
    """Algorithm with a module of its own.

    Attributes:
        title: display name.
        module: module of `python -m`, with the function `main(config)`.
        defaults: default settings, as `"module:attribute"`.
        maker: factory of a run from settings, likewise.
        agent: name of the agent that plays its networks.
    """

    title: str
    module: str
    defaults: str
    maker: str
    agent: str

    @property
    def config(self) -> Any:
        """The default settings."""
        return _find(self.defaults)

    def make(self, config: RLConfig) -> Any:
        """Return a run with these settings, without TensorBoard files."""
        return _find(self.maker)(config, tensorboard=False)

    @property
    def main(self) -> Callable[[Any], dict[str, Any] | None]:
        """Train, evaluate and report; see the module."""
        main: Callable[[Any], dict[str, Any] | None] = _find(f"{self.module}.__main__:main")
        return main


ALGORITHMS = {
    "dqn": Algorithm(
        "deep Q-learning",
        "ludoteca.train.dqn",
        "ludoteca.train.dqn.config:DEFAULT",
        "ludoteca.train.dqn.training:DQNTraining",
        "dqn",
    ),
    "alphazero": Algorithm(
        "AlphaZero",
        "ludoteca.train.alphazero",
        "ludoteca.train.alphazero.config:DEFAULT",
        "ludoteca.train.alphazero.training:AlphaZeroTraining",
        "az",
    ),
    "actor-critic": Algorithm(
        "actor-critic (PPO)",
        "ludoteca.train.actor_critic",
        "ludoteca.train.actor_critic.config:DEFAULT",
        "ludoteca.train.actor_critic.methods:make_training",
        "ac",
    ),
}


def choose_algorithm(game: Game, wanted: str = "auto", opponent: str = "self") -> str:
    """Return the name of the algorithm for a game.

    Args:
        game: the game.
        wanted: name in `ALGORITHMS`, or `"auto"`: actor-critic for simultaneous games, deep
            Q-learning with an opponent or `MANY_ACTIONS`, else AlphaZero.
        opponent: training opponent, or `"self"`.

    Raises:
        ValueError: if the algorithm does not support the game, or the opponent.
    """
    if wanted not in ("auto", *ALGORITHMS):
        names = ", ".join(("auto", *ALGORITHMS))
        raise ValueError(f"algorithm must be one of {names}, got {wanted!r}")
    if game.simultaneous:
        fitting: tuple[str, ...] = ("actor-critic",)
    elif game.num_players == 2:
        fitting = ("dqn", "alphazero")
    else:
        fitting = ()
    if not fitting:
        raise ValueError(
            f"no algorithm learns sequential games of {game.num_players} players, as {game.spec} is"
        )
    if wanted != "auto" and wanted not in fitting:
        moves = "simultaneous" if game.simultaneous else "sequential"
        raise ValueError(
            f"{wanted} does not learn games with {moves} moves, as {game.name} is: "
            f"use {' or '.join(fitting)}"
        )
    if wanted == "alphazero" and opponent != "self":
        raise ValueError(
            f"alphazero learns from games against itself, not against {opponent!r}: use dqn"
        )
    if wanted != "auto":
        return wanted
    if len(fitting) == 1:
        return fitting[0]
    many = game.num_actions >= MANY_ACTIONS
    return "dqn" if many or opponent != "self" else "alphazero"


def _find(where: str) -> Any:
    module, _, attribute = where.partition(":")
    return getattr(import_module(module), attribute)

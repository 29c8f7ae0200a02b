"""Configuration of a decoupled search: compile time, run time, and scratch space."""

from dataclasses import dataclass

import numpy as np

from ludoteca.agents.search.policies import POLICIES
from ludoteca.envs.game import Game
from ludoteca.envs.params import choice


@dataclass(frozen=True)
class DecoupledSearchConfig:
    """Options that are compiled into a decoupled search.

    Attributes:
        policy: a name in `policies.POLICIES`.
        draw_is_loss: score a draw 0 for every player, rather than 1/2.
        playout: a name of `ludoteca.agents.playouts.playout_names`.
        evaluation: evaluation of truncated playouts, see
            `ludoteca.agents.evaluations.find_evaluation`.
    """

    policy: str = "ucb1"
    draw_is_loss: bool = False
    playout: str = "uniform"
    evaluation: str = ""

    def __post_init__(self) -> None:
        choice("policy", self.policy, tuple(POLICIES))


SEARCH_PARAMS = np.dtype(
    [
        ("c", np.float64, (4,)),  # the policy's parameters
        ("fpu", np.float64),  # first-play urgency: the score of an arm without visits
        ("playout_depth", np.int32),  # plies of a playout before the position is evaluated
    ],
    align=True,
)


def work_dtype(game: Game) -> np.dtype[np.void]:
    """Return the record dtype of one thread's scratch space."""
    players, actions, plies = game.num_players, game.num_actions, game.max_plies
    return np.dtype(
        [
            ("rng", np.uint64, (1,)),
            ("probability", np.float64),  # probability with which the last action was sampled
            ("weights", np.float64, (actions,)),
            ("scores", np.float64, (players,)),
            ("joint", np.int64, (players,)),  # the actions of one step
            # Of each step in the tree: the probabilities of its actions, the node, the actions.
            ("probabilities", np.float64, (plies, players)),
            ("path", np.int32, (plies,)),
            ("chosen", np.int16, (plies, players)),
            ("legal", np.int16, (actions,)),
        ],
        align=True,
    )

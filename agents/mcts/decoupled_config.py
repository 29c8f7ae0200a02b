"""What a search where all move at once is made of: its config, its params and its memory."""

from dataclasses import dataclass

import numpy as np

from ludoteca.agents.mcts.policies import POLICIES
from ludoteca.envs.game import Game
from ludoteca.envs.params import choice


@dataclass(frozen=True)
class DecoupledSearchConfig:
    """What is compiled into a search.

    Attributes:
        policy: a name in `policies.POLICIES`.
        draw_is_loss: score a draw 0 for every player, rather than 1/2.
        playout: a name of `ludoteca.agents.playouts.playout_names`.
        evaluation: of a playout cut short, see `ludoteca.agents.evaluations.find_evaluation`.
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
        ("playout_depth", np.int32),  # of a playout, before the position is evaluated
    ],
    align=True,
)


def work_dtype(game: Game) -> np.dtype[np.void]:
    """Return the record of working memory of one search of `game`."""
    players, actions, plies = game.num_players, game.num_actions, game.max_plies
    return np.dtype(
        [
            ("rng", np.uint64, (1,)),
            ("probability", np.float64),  # probability with which the last action was drawn
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

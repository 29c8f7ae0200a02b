"""Record types beside the position (episode state, scratch memory), and options of a step."""

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.records import CACHE_LINE

# Effect of an illegal action, see `ludoteca.envs.api.vector.GameVectorEnv`.
LOSE, RAISE, PENALIZE, RANDOM = range(4)
ILLEGAL_RULES = {"lose": LOSE, "raise": RAISE, "penalize": PENALIZE, "random": RANDOM}
# Time of the reset of a finished game; under DISABLED the caller resets it.
NEXT_STEP, SAME_STEP, DISABLED = range(3)
# Values of the option `seat_rule`; 0, 1, ... is the agent's fixed seat. The agent is the caller
# of `step`, which in self-play acts for every player.
EVERY_SEAT, RANDOM_SEAT = -2, -1
NO_SEAT = -1  # in `episode.seat`: self-play; as an action: the player does not act in this step


# Fields of games that are stepped together, see `step_together`: whether the game takes part in the
# next ply, and what remains to be done in this step.
TOGETHER = (("playing", np.bool_), ("status", np.int8))


def episode_state_dtype(game: Game) -> np.dtype[np.void]:
    """Return the dtype of the record that a batch keeps for each game beside its position."""
    return np.dtype(
        [
            ("rng", np.uint64, (1,)),  # random stream: episode seeds, seats, random actions
            ("game_seed", np.uint64),  # seed of the present episode
            ("rewards", np.float32, (game.num_players,)),  # of the last step, by player
            # Of the last step: the agent's, in self-play the mover's (simultaneous: player 0's).
            ("reward", np.float32),
            ("seat", np.int8),  # of the agent, or NO_SEAT in self-play
            ("mover", np.int8),  # player to move (sequential games)
            ("final_player", np.int8),  # observer of the last final observation, or NO_SEAT
            ("over", np.bool_),  # the game must be reset before the next step
            # The last step ended the game, or eliminated the agent (simultaneous games).
            ("terminated", np.bool_),
            ("illegal", np.bool_),  # an action of the last step was illegal
            *(TOGETHER if game.many is not None else ()),
        ],
        align=True,
    )


def scratch_dtype(game: Game) -> np.dtype[np.void]:
    """Return the dtype of the scratch record that each thread needs."""
    return np.dtype(
        [
            ("joint", np.int64, (game.num_players,)),  # one action per player
            ("returns_before", np.float32, (game.num_players,)),  # returns before the step
            # List of the legal actions of one player.
            ("legal", game.action_dtype, (game.num_actions,)),
            ("padding", np.uint8, (CACHE_LINE,)),  # so that no two threads share a cache line
        ],
        align=True,
    )

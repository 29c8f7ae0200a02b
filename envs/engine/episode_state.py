"""State of an episode beside its position, scratch memory of a thread, and options of a step."""

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.records import CACHE_LINE

# Effect of an illegal action.
LOSE, RAISE, PENALIZE, RANDOM = range(4)
ILLEGAL_RULES = {"lose": LOSE, "raise": RAISE, "penalize": PENALIZE, "random": RANDOM}
# Time of the reset of a finished game; under DISABLED the caller resets it.
NEXT_STEP, SAME_STEP, DISABLED = range(3)
# The agent's seat, as an option: every seat (self-play), a random one, or 0, 1, ...
EVERY_SEAT, RANDOM_SEAT = -2, -1
NO_SEAT = -1  # the agent's seat in self-play; as an action: no action in this step


def episode_state_dtype(game: Game) -> np.dtype[np.void]:
    """Return the type of the record kept beside each game of a batch."""
    return np.dtype(
        [
            ("rng", np.uint64, (1,)),  # random stream of episode seeds and of the opponents
            ("game_seed", np.uint64),  # seed of the present episode
            ("rewards", np.float32, (game.num_players,)),  # of the last step, by player
            ("reward", np.float32),  # of the last step: the agent's, or the mover's
            ("seat", np.int8),  # the agent's, or NO_SEAT in self-play
            ("mover", np.int8),  # player to move (sequential games)
            ("final_player", np.int8),  # observer of the last final observation, or NO_SEAT
            ("over", np.bool_),  # the game is over and must be reset
            ("terminated", np.bool_),  # the last step ended the game, for the agent at least
            ("illegal", np.bool_),  # an action of the last step was illegal
        ],
        align=True,
    )


def scratch_dtype(game: Game) -> np.dtype[np.void]:
    """Return the type of the scratch record that each thread needs."""
    return np.dtype(
        [
            ("joint", np.int64, (game.num_players,)),  # one action per player
            ("returns_before", np.float32, (game.num_players,)),  # before the step
            ("legal", np.int16, (game.num_actions,)),  # legal actions of one player
            ("padding", np.uint8, (CACHE_LINE,)),  # threads write to separate cache lines
        ],
        align=True,
    )

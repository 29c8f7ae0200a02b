"""State of an episode beside its position, scratch memory, and options of a step."""

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.records import CACHE_LINE

# What happens after an illegal action.
LOSE, RAISE, PENALIZE, RANDOM = range(4)
ILLEGAL_RULES = {"lose": LOSE, "raise": RAISE, "penalize": PENALIZE, "random": RANDOM}
# When a finished game is reset; under DISABLED the caller does it.
NEXT_STEP, SAME_STEP, DISABLED = range(3)
# The agent's seat: all players are the caller's (self-play), a random one, or 0, 1, ...
EVERY_SEAT, RANDOM_SEAT = -2, -1
NO_SEAT = -1


def episode_state_dtype(game: Game) -> np.dtype[np.void]:
    """Return the type of the record kept beside each game of a batch."""
    return np.dtype(
        [
            ("rng", np.uint64, (1,)),  # random stream: seeds episodes, feeds opponents
            ("game_seed", np.uint64),
            ("rewards", np.float32, (game.num_players,)),  # of the last step, by player
            ("reward", np.float32),  # of the last step: the agent's, or the mover's
            ("seat", np.int8),  # the agent's, or NO_SEAT in self-play
            ("mover", np.int8),  # player to move (sequential games)
            ("final_player", np.int8),  # observer of the last final observation, or NO_SEAT
            ("over", np.bool_),  # to be reset
            ("terminated", np.bool_),  # the last step ended the game, for the agent at least
            ("illegal", np.bool_),  # an action of the last step was illegal
        ],
        align=True,
    )


def scratch_dtype(game: Game) -> np.dtype[np.void]:
    """Return the type of the scratch record that each thread needs."""
    return np.dtype(
        [
            ("joint", np.int64, (game.num_players,)),
            ("before", np.float32, (game.num_players,)),
            ("legal", np.int16, (game.num_actions,)),
            ("apart", np.uint8, (CACHE_LINE,)),  # from the next thread's
        ],
        align=True,
    )

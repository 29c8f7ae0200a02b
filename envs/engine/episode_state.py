"""The records beside the games of a batch, and the rules that their steps follow."""

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.records import CACHE_LINE

# What happens after an illegal action.
LOSE, RAISE, PENALIZE, RANDOM = range(4)
ILLEGAL_RULES = {"lose": LOSE, "raise": RAISE, "penalize": PENALIZE, "random": RANDOM}
# When a finished game is restarted; the caller resets games itself under DISABLED.
NEXT_STEP, SAME_STEP, DISABLED = range(3)
# Whose view and actions the caller has: every mover's, or those of one seat (0, 1, ... or random).
EVERY_SEAT, RANDOM_SEAT = -2, -1
NO_SEAT = -1


def episode_state_dtype(game: Game) -> np.dtype[np.void]:
    """Return the record kept beside each game of a batch."""
    return np.dtype(
        [
            ("rng", np.uint64, (1,)),  # seeds the games at its index and feeds its opponents
            ("game_seed", np.uint64),
            ("rewards", np.float32, (game.num_players,)),  # of the last step, by player
            ("reward", np.float32),  # of the last step: the agent's, or the mover's
            ("seat", np.int8),  # the agent's, or NO_SEAT in self-play
            ("mover", np.int8),  # who is to move (sequential games)
            ("final_player", np.int8),  # whose view the last final observation shows, or NO_SEAT
            ("over", np.bool_),  # waits to be restarted
            ("terminated", np.bool_),  # the last step ended the game, for the agent at least
            ("illegal", np.bool_),  # the last step was offered an illegal action
        ],
        align=True,
    )


def scratch_dtype(game: Game) -> np.dtype[np.void]:
    """Return the record of working memory that each thread needs."""
    return np.dtype(
        [
            ("joint", np.int64, (game.num_players,)),
            ("before", np.float32, (game.num_players,)),
            ("legal", np.int16, (game.num_actions,)),
            ("apart", np.uint8, (CACHE_LINE,)),  # from the next thread's
        ],
        align=True,
    )

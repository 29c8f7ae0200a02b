"""Arrays of positions (records): a batch of one position, and views of positions as integers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game

CACHE_LINE = 64  # bytes; cores that write to the same line wait for each other


def batch_of_one(game: Game, from_state: Any = None) -> NDArray[np.void]:
    """Return an array of one record: a copy of `from_state`, by default the starting position.

    Raises:
        ValueError: if `from_state` is not a record of the game's dtype.
    """
    if from_state is None:
        from_state = game.new()
    state = np.asarray(from_state)
    # The dtype of a `recarray` has another scalar type, but the same fields.
    if state.shape != () or np.dtype((np.void, state.dtype)) != game.state:
        raise ValueError(
            f"from_state must be one record of {game.spec}, got shape {state.shape} and dtype "
            f"{state.dtype}"
        )
    copy = np.zeros(1, game.state)
    copy[0] = state[()]
    return copy


def as_words(states: NDArray[np.void]) -> NDArray[Any]:
    """Return the memory of positions as integers, which compiled code copies faster.

    Args:
        states: positions. Shape `[...]`.

    Returns:
        The same memory as the largest unsigned integers that fit, W per position. Shape `[..., W]`.
    """
    word_bytes = next(size for size in (8, 4, 2, 1) if states.itemsize % size == 0)
    return states.view(f"u{word_bytes}").reshape(*states.shape, states.itemsize // word_bytes)

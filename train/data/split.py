"""Train-validation split of recorded games."""

import numpy as np
from numpy.typing import NDArray

from ludoteca.train.data.dataset import GameDataset


def validation_games(dataset: GameDataset, fraction: float, seed: int) -> NDArray[np.bool_]:
    """Return the mask of validation games, about `fraction` of all. Shape `[G]`.

    Games with the same actions are on the same side of the split, and both sides have a game.

    Args:
        dataset: G games.
        fraction: fraction of validation games, 0 to 1.
        seed: seed of the random choice.

    Raises:
        ValueError: if there are fewer than two different games.
    """
    offsets = dataset.offsets
    indices: dict[bytes, int] = {}  # index of each distinct game, by its actions
    distinct_indices = np.zeros(len(dataset), np.int64)  # by game of the data set
    for k in range(len(dataset)):
        actions = dataset.actions[offsets[k] : offsets[k + 1]].tobytes()
        distinct_indices[k] = indices.setdefault(actions, len(indices))
    if len(indices) < 2:
        raise ValueError(
            "a split needs at least two different games: one for training, one for validation"
        )
    sizes = np.bincount(distinct_indices)  # number of games of the data set, by distinct game
    # Random stream 0 of the seed; training epoch k uses stream 1 + k.
    order = np.random.default_rng([seed, 0]).permutation(len(indices))
    # Distinct games are selected in random order until they make up `fraction` of all games.
    num_before = np.cumsum(sizes[order]) - sizes[order]
    count = int((num_before < fraction * len(dataset)).sum())
    selected = order[: max(1, min(count, len(indices) - 1))]
    mask: NDArray[np.bool_] = np.isin(distinct_indices, selected)
    return mask

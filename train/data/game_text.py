"""Text of generated games: agents, final position, result and label.

Sancho Cebrero and Fernández Limárquez, a report on Othello (University of Seville, 2019), section
III-C, step 5, print the final board and the discs of both players after every game.
"""

from collections.abc import Iterator

import numpy as np

from ludoteca.envs.render.status import player_name
from ludoteca.envs.render.text import board_text
from ludoteca.train.data.dataset import GameDataset
from ludoteca.train.data.positions import replay_positions


def game_texts(dataset: GameDataset, first: int = 0) -> Iterator[str]:
    """Yield a text for each game of a data set.

    Args:
        dataset: the games.
        first: number of games that were generated before these.

    Raises:
        ValueError: if a game is invalid.
    """
    game, names, labels = dataset.game, dataset.agent_names, dataset.labels().tolist()
    last = dataset.offsets[1:] + np.arange(len(dataset))  # a game has one position more than steps
    final_states = replay_positions(dataset).states[last]
    for k, length in enumerate(dataset.lengths.tolist()):
        agents = (
            f"{player_name(game, p)}: {names[a]}" for p, a in enumerate(dataset.agents[k].tolist())
        )
        yield "\n".join(
            [
                f"game {first + k + 1}: {length} plies, {length + 1} positions",
                *agents,
                board_text(game, final_states[k : k + 1]),
                f"label {labels[k]:g}",
                "",
            ]
        )

"""Bootstrap of a tournament's results: points of the agents in samples of the games."""

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.tournament.results import Results


def resampled_points(results: Results, samples: int, seed: int = 0) -> NDArray[np.float64]:
    """Return the points of agents in games in bootstrap samples, `[samples, games, agents]`.

    In each sample, every two agents play their games of each kind with the probabilities of a win,
    a draw and a loss that they had in the tournament.

    Args:
        results: results of the tournament.
        samples: number of bootstrap samples.
        seed: seed of the samples.
    """
    t, rng = results.tournament, np.random.default_rng(seed)
    draw_points = 0.0 if t.draws == "loss" else 0.5
    points = np.zeros((len(t.games), len(t.agents), samples))
    for pair in results.pair_results:
        probabilities = np.array([pair.wins, pair.draws, pair.losses]) / pair.games
        wins, draws, losses = rng.multinomial(pair.games, probabilities, samples).T
        a, b = pair.pair
        points[pair.game, a] += wins + draw_points * draws
        points[pair.game, b] += losses + draw_points * draws
    return np.moveaxis(points, -1, 0)

"""Softmax playout policy: moves are sampled in proportion to exp(sum of the weights of features).

Features are binary and part of a game's `Knowledge`; weights are trained by
`ludoteca.train.playout_policy`. Silver and Tesauro, "Monte-Carlo simulation balancing" (ICML 2009),
section 2.
"""

import math
from collections.abc import Callable
from typing import Any

from ludoteca.agents.games.knowledge import MoveFeatures
from ludoteca.agents.games.registry import find_knowledge, games_with
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel


def find_move_features(game: Game) -> MoveFeatures:
    """Return the features of a game's moves.

    Raises:
        ValueError: if the game has none.
    """
    make = find_knowledge(game).move_features
    if make is None:
        games = ", ".join(games_with("move_features"))
        raise ValueError(f"{game.name} has no features of moves; games with them are {games}")
    return make(game)


@factory()
def make_softmax(game: Game) -> tuple[Callable[..., None], Callable[..., int]]:
    """Return two kernels.

    `write_probabilities(s, legal, n, weights, features, out)` writes the probabilities of the
    actions `legal[:n]` in position `s` to `out[:n]`. `weights` are those of the features, float64
    `[num_features]`; `features` is scratch space, int16 `[max_active]`.

    `sample(probabilities, n, x) -> k` returns a sampled index, given x uniform in [0, 1).
    """
    write_features = find_move_features(game).write

    @kernel
    def write_probabilities(
        s: Any, legal: Any, n: int, weights: Any, features: Any, out: Any
    ) -> None:
        highest = -math.inf
        for k in range(n):
            logit = 0.0
            for i in range(write_features(s, legal[k], features)):
                logit += weights[features[i]]
            out[k] = logit
            highest = max(highest, logit)
        total = 0.0
        for k in range(n):
            out[k] = math.exp(out[k] - highest)
            total += out[k]
        for k in range(n):
            out[k] /= total

    @kernel
    def sample(probabilities: Any, n: int, x: float) -> int:
        for k in range(n - 1):
            x -= probabilities[k]
            if x < 0:
                return k
        return n - 1

    return write_probabilities, sample

"""Enumeration of chance events: all starting positions, and all positions after a step."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled, factory
from ludoteca.envs.records import batch_of_one


def starting_positions(game: Game) -> tuple[NDArray[np.void], NDArray[np.float64]]:
    """Return the positions in which a game can start, and their probabilities. Shapes `[K]`.

    Args:
        game: a game without chance, or with `Game.chance`.
    """
    if not game.has_chance:
        return batch_of_one(game), np.ones(1)
    states, no_actions = game.empty(1), np.zeros(1, np.bool_)
    make_kernels(game)[0](states)
    states, _, probabilities = after_chance(game, states, no_actions)
    return states, probabilities


def after_chance(
    game: Game, states: NDArray[np.void], begun: NDArray[np.bool_]
) -> tuple[NDArray[np.void], NDArray[np.int64], NDArray[np.float64]]:
    """Return the positions after all chance events that follow in some positions.

    Args:
        game: a game with `Game.chance`.
        states: positions. Shape `[K]`.
        begun: whether `ChanceKernels.begin` has noted actions in each position. Shape `[K]`.

    Returns:
        E positions in which no event is pending, for each the index of the position before, and its
        probability given that one. Shapes `[E]`.
    """
    _, count, play = make_kernels(game)
    parents, probabilities = np.arange(len(states)), np.ones(len(states))
    parts: list[tuple[NDArray[np.void], NDArray[np.int64], NDArray[np.float64]]] = []
    while len(parts) == 0 or len(states) > 0:
        counts = np.zeros(len(states), np.int64)
        count(states, begun, counts)
        complete = counts == 0
        parts.append((states[complete], parents[complete], probabilities[complete]))
        outcomes = game.empty(int(counts.sum()))
        play(states, counts, outcomes)
        parents = np.repeat(parents, counts)
        probabilities = np.repeat(probabilities / np.maximum(counts, 1), counts)
        states, begun = outcomes, np.zeros(len(outcomes), np.bool_)
    all_states, all_parents, all_probabilities = map(np.concatenate, zip(*parts, strict=True))
    return all_states, all_parents, all_probabilities


@factory("chance events")
def make_kernels(game: Game) -> tuple[Any, Any, Any]:
    """Return three compiled functions over positions, `states` `[K]`.

    `start(states)` writes the starting position before the first chance event.
    `count(states, begun, counts)` writes to `counts`, int64 `[K]`, the number of outcomes of the
    next event in each position: 0 if none follows, see `after_chance`. `play(states, counts,
    outcomes)` writes the positions after all of them to `outcomes`, `[sum of counts]`.
    """
    assert game.chance is not None
    write_start, _, count_outcomes, play_outcome, is_pending = game.chance

    @compiled
    def start(states: Any) -> None:
        for k in range(len(states)):
            write_start(states[k])

    @compiled
    def count(states: Any, begun: Any, counts: Any) -> None:
        for k in range(len(states)):
            follows = begun[k] or is_pending(states[k])
            counts[k] = count_outcomes(states[k]) if follows else 0

    @compiled
    def play(states: Any, counts: Any, outcomes: Any) -> None:
        row = 0
        for k in range(len(states)):
            for outcome in range(counts[k]):
                outcomes[row] = states[k]
                play_outcome(outcomes[row], outcome)
                row += 1

    return start, count, play

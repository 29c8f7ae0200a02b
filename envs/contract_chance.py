"""Check that `Game.chance` enumerates the chance events of `Game.step`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.contract_positions import require
from ludoteca.envs.engine.chance_outcomes import after_chance, starting_positions
from ludoteca.envs.engine.trajectory import record_trajectory
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled, factory

GAMES = 10


def check_chance(game: Game, seed: int = 0) -> None:
    """Check that every position of random games is among the enumerated ones.

    Games without `Game.chance` are not checked.

    Args:
        game: the game.
        seed: seed of the first game.

    Raises:
        ContractError: if a position is missing.
    """
    if game.chance is None:
        return
    trajectory = record_trajectory(game, GAMES, seed=seed)
    begin, starts = make_begin(game), starting_positions(game)[0]
    for i, plies in enumerate(trajectory.plies):
        positions, actions = trajectory.positions[i], trajectory.actions[i]
        where = f"{game.spec}: `chance` does not enumerate the position of seed {seed + i} at ply"
        require(_contains(starts, positions[0]), f"{where} 0")
        for t in range(plies):
            before = positions[t : t + 1].copy()
            begin(before, actions[t : t + 1])
            outcomes, _, _ = after_chance(game, before, np.ones(1, np.bool_))
            require(_contains(outcomes, positions[t + 1]), f"{where} {t + 1}")


def _contains(positions: NDArray[np.void], position: np.void) -> bool:
    """Return whether a position is among others, up to its random stream."""
    names = [name for name in position.dtype.names or () if name != "rng"]
    return any(all(np.array_equal(other[n], position[n]) for n in names) for other in positions)


@factory("beginnings of steps")
def make_begin(game: Game) -> Any:
    """Return `begin(states, actions)`: it begins a step of each game. Shapes `[K]`, `[K, S]`."""
    assert game.chance is not None
    begin_step, sequential = game.chance.begin, not game.simultaneous

    @compiled
    def begin(states: Any, actions: Any) -> None:
        for k in range(len(states)):
            if sequential:
                begin_step(states[k], int(actions[k, 0]))
            else:
                begin_step(states[k], actions[k])

    return begin

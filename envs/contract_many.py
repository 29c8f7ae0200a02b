"""Check that `Game.many` steps many games at once as `Game.step` does one by one."""

from typing import Any

import numpy as np

from ludoteca.envs.contract import require_same_fields
from ludoteca.envs.engine.trajectory import record_trajectory
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled, factory
from ludoteca.envs.record_views import view_records

GAMES = 70  # of the compiled check; rule sheets step fewer than 32 games one by one


def check_many(game: Game, seed: int = 0, interpreted: bool = False) -> None:
    """Step random games together, and compare each position with that of single steps.

    Games without `Game.many` are not checked.

    Args:
        game: the game.
        seed: seed of the first game.
        interpreted: whether the kernels run as plain Python, in fewer games.

    Raises:
        ContractError: if a position differs.
    """
    if game.many is None:
        return
    games = 3 if interpreted else GAMES
    trajectory = record_trajectory(game, games, seed=seed, interpreted=interpreted)
    states, step_many = trajectory.positions[:, 0].copy(), make_step_many(game)
    for t in range(int(trajectory.plies.max())):
        flags = trajectory.plies > t
        if interpreted:
            with np.errstate(over="ignore"):  # kernels may rely on integer overflow
                step_many.py_func(view_records(states), flags, trajectory.actions[:, t])
        else:
            step_many(states, flags, trajectory.actions[:, t])
        for i in np.flatnonzero(flags):
            where = f"{game.spec}: stepped together, the game of seed {seed + i} differs at ply {t}"
            require_same_fields(states[i], trajectory.positions[i, t + 1], where)


@factory("steps of many games")
def make_step_many(game: Game) -> Any:
    """Return `step_many(states, flags, actions)`, which steps the flagged games together.

    `states` is `[B]`, `flags` bool `[B]`, `actions` `[B, S]`, see `Trajectory`.
    """
    assert game.many is not None
    begin, play, end = game.many
    sequential = not game.simultaneous

    @compiled
    def step_many(states: Any, flags: Any, actions: Any) -> None:
        for i in range(len(states)):
            if flags[i]:
                if sequential:
                    begin(states[i], int(actions[i, 0]))
                else:
                    begin(states[i], actions[i])
        play(states, flags, 0, len(states))
        for i in range(len(states)):
            if flags[i]:
                end(states[i])

    return step_many

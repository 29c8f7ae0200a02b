"""Selection of the action to play after a decoupled search."""

from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.select import make_select_final
from ludoteca.agents.search.simultaneous.tree import ROOT
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel


@factory()
def make_best_action(game: Game, config: SearchConfig) -> Callable[..., int]:
    """Return the compiled form of `best_action_kernel(game, config)`."""
    run = best_action_kernel(game, config)

    @compiled_without_allocation
    def best_action(arms: Any, seat: int, action_selection: int, params: Any, work: Any) -> int:
        return run(arms, seat, action_selection, params[0], work[0])

    return best_action  # type: ignore[no-any-return]


@factory()
def make_is_max_robust(game: Game) -> Callable[..., bool]:
    """Return the compiled form of `is_max_robust_kernel(game)`."""
    run = is_max_robust_kernel(game)

    @compiled_without_allocation
    def is_max_robust(arms: Any, seat: int) -> bool:
        return run(arms, seat)

    return is_max_robust  # type: ignore[no-any-return]


@factory()
def best_action_kernel(game: Game, config: SearchConfig) -> Callable[..., int]:
    """Return `best_action(arms, seat, action_selection, params, work) -> action`.

    It returns the action to play of player `seat`, see `select.make_select_final`; 0 if the player
    is inactive. `arms`, `[nodes, players, actions]`, `params` and `work` are those of
    `ludoteca.agents.search.simultaneous.search.search_kernel`, `action_selection` is an index of
    `ludoteca.agents.search.select.ACTION_SELECTIONS`.
    """
    num_actions = game.num_actions
    select_final = make_select_final(config.policy, simultaneous=True)

    @kernel
    def best_action(arms: Any, seat: int, action_selection: int, params: Any, work: Any) -> int:
        visits, num_visited = 0, 0
        for action in range(num_actions):
            visits += arms[ROOT, seat, action].visits
            num_visited += int(arms[ROOT, seat, action].visits > 0)
        return select_final(
            arms[ROOT, seat], num_actions, visits, num_visited, action_selection, params, work
        )

    return best_action


@factory()
def is_max_robust_kernel(game: Game) -> Callable[..., bool]:
    """Return the kernel `is_max_robust(arms, seat) -> bool`.

    It returns whether one action at the root has both the highest sum of scores and most visits.
    """
    num_actions = game.num_actions

    @kernel
    def is_max_robust(arms: Any, seat: int) -> bool:
        max_value, max_visits = 0.0, 0
        for action in range(num_actions):
            max_value = max(max_value, arms[ROOT, seat, action].value)
            max_visits = max(max_visits, arms[ROOT, seat, action].visits)
        for action in range(num_actions):
            arm = arms[ROOT, seat, action]
            if arm.value == max_value and arm.visits == max_visits:
                return True
        return False

    return is_max_robust

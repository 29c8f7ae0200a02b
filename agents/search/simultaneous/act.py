"""Final move selection in decoupled search."""

import math
from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.policies import NO_BEST, POLICIES, leading
from ludoteca.agents.search.sequential.act import BY_POLICY, MAX, MEAN
from ludoteca.agents.search.sequential.tree import ROOT
from ludoteca.agents.search.simultaneous.config import DecoupledSearchConfig
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.rng import below


@factory()
def make_best_action(game: Game, config: DecoupledSearchConfig) -> Callable[..., int]:
    """Return the compiled form of `best_action_kernel(game, config)`."""
    run = best_action_kernel(game, config)

    @compiled_without_allocation
    def best_action(arms: Any, seat: int, action_selection: int, params: Any, work: Any) -> int:
        return run(arms, seat, action_selection, params[0], work[0])

    return best_action  # type: ignore[no-any-return]


@factory()
def make_settled(game: Game) -> Callable[..., bool]:
    """Return the compiled form of `settled_kernel(game)`."""
    run = settled_kernel(game)

    @compiled_without_allocation
    def settled(arms: Any, seat: int) -> bool:
        return run(arms, seat)

    return settled  # type: ignore[no-any-return]


@factory()
def best_action_kernel(game: Game, config: DecoupledSearchConfig) -> Callable[..., int]:
    """Return `best_action(arms, seat, action_selection, params, work) -> action`, the final move.

    Ties go to the action with more visits, then to a random one. Returns 0 if the player cannot
    act.
    """
    score = POLICIES[config.policy].score
    num_actions = game.num_actions

    @kernel
    def best_action(arms: Any, seat: int, action_selection: int, params: Any, work: Any) -> int:
        t, tried = 0, 0
        top = NO_BEST
        for action in range(num_actions):
            arm = arms[ROOT, seat, action]
            if arm.visits > 0:
                t += arm.visits
                tried += 1
                top = leading(top, arm, arm.value / arm.visits)
        best, best_points, ties = 0, -math.inf, 0
        for action in range(num_actions):
            arm = arms[ROOT, seat, action]
            if arm.visits == 0:
                continue
            mean = arm.value / arm.visits
            points = float(arm.visits)
            if action_selection == MAX:
                points = arm.value
            elif action_selection == MEAN:
                points = mean
            elif action_selection == BY_POLICY:
                points = score(arm, mean, t, math.log(t), tried, top, params.c, work.rng)
            visits = arms[ROOT, seat, best].visits
            if points > best_points or (points == best_points and arm.visits > visits):
                best, best_points, ties = action, points, 1
            elif points == best_points and arm.visits == visits:
                ties += 1
                if below(work.rng, ties) == 0:
                    best = action
        return best

    return best_action


@factory()
def settled_kernel(game: Game) -> Callable[..., bool]:
    """Return `settled(arms, seat) -> bool`: whether one action has most wins and most visits."""
    num_actions = game.num_actions

    @kernel
    def settled(arms: Any, seat: int) -> bool:
        most_wins, most_visits = 0.0, 0
        for action in range(num_actions):
            most_wins = max(most_wins, arms[ROOT, seat, action].value)
            most_visits = max(most_visits, arms[ROOT, seat, action].visits)
        for action in range(num_actions):
            arm = arms[ROOT, seat, action]
            if arm.value == most_wins and arm.visits == most_visits:
                return True
        return False

    return settled

"""Final move selection after a search, and the compiled loop over a batch of positions."""

import math
from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.policies import NO_BEST, POLICIES, leading
from ludoteca.agents.search.sequential.search import search_kernel
from ludoteca.agents.search.sequential.tree import DRAW, LOSS, ROOT, SIZE, START, WIN
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel

# Final move selection (Chaslot et al., "Progressive strategies for Monte-Carlo tree search", 2008,
# section 2.4): the child with the most wins, with the most visits, with both (the search continues
# until there is one, at most twice as long), with the highest mean, or the child that the selection
# policy would visit next.
ACTION_SELECTIONS = ("max", "robust", "max_robust", "mean", "policy")
MAX, ROBUST, MAX_ROBUST, MEAN, BY_POLICY = range(len(ACTION_SELECTIONS))


@factory("search")
def make_act(game: Game, config: SearchConfig) -> Any:
    """Return `act(trees, positions, rngs, params, simulations, action_selection, actions)`.

    The function searches each of `positions` with a new tree and writes the chosen `actions`, int64
    `[K]`; the search of position k uses the random stream `rngs[k]`, uint64 `[K, 1]`, advanced in
    place. `trees` are the first six arguments of the search, see `search.search_kernel`.
    """
    search, best_child = search_kernel(game, config), best_child_kernel(config)

    @compiled_without_allocation
    def act(
        trees: Any,
        positions: Any,
        rngs: Any,
        params_array: Any,
        simulations: int,
        action_selection: int,
        actions: Any,
    ) -> None:
        nodes, shared, table, states, words, works = trees
        work, params = works[0], params_array[0]
        for k in range(len(positions)):
            states[START] = positions[k]
            work.rng[0] = rngs[k, 0]
            shared[SIZE] = 0
            search(nodes, shared, table, states, words, work, params, simulations)
            extra = 0
            while action_selection == MAX_ROBUST and extra < simulations:
                most_wins = best_child(nodes, MAX, params, work)
                if most_wins == best_child(nodes, ROBUST, params, work):
                    break
                more = max(simulations // 10, 1)
                search(nodes, shared, table, states, words, work, params, more)
                extra += more
            actions[k] = nodes[best_child(nodes, action_selection, params, work)].action
            rngs[k, 0] = work.rng[0]

    return act


@factory()
def make_best_child(config: SearchConfig) -> Any:
    """Return the compiled form of `best_child_kernel(config)`."""
    run = best_child_kernel(config)

    @compiled_without_allocation
    def best_child(nodes: Any, action_selection: int, params: Any, work: Any) -> int:
        return run(nodes, action_selection, params[0], work[0])

    return best_child


@factory()
def best_child_kernel(config: SearchConfig) -> Callable[..., int]:
    """Return `best_child(nodes, action_selection, params, work) -> node`.

    It selects the child of the root to play.

    A proven win is always played, a proven loss only if nothing else is left; a proven draw is
    preferred to a child whose mean is below a draw. Ties go to the child with more visits.
    """
    policy = POLICIES[config.policy]
    score = policy.score
    draw_value = 0.0 if config.draw_is_loss else 0.5

    @kernel
    def best_child(nodes: Any, action_selection: int, params: Any, work: Any) -> int:
        root = nodes[ROOT]
        top = NO_BEST
        for k in range(root.first, root.first + nodes[root.first].opened):
            top = leading(top, nodes[k], nodes[k].value / nodes[k].visits)
        best, best_points = root.first, -math.inf
        proven_draw = -1
        for k in range(root.first, root.first + nodes[root.first].opened):
            child = nodes[k]
            mean = child.value / child.visits
            if child.proven == WIN:
                return k
            if action_selection == MAX:
                points = child.value
            elif action_selection == MEAN:
                points = mean
            elif action_selection == BY_POLICY:
                t = nodes[root.first].selections
                points = score(child, mean, t, math.log(t), root.count, top, params.c, work.rng)
            else:
                points = float(child.visits)
            if child.proven == LOSS:
                points -= 1e12
            if child.proven == DRAW:
                proven_draw = k
                points -= 1e6  # no longer visited: compared by its value alone, below
            if points > best_points or (
                points == best_points and child.visits > nodes[best].visits
            ):
                best, best_points = k, points
        if proven_draw >= 0 and nodes[best].value < draw_value * nodes[best].visits:
            return proven_draw
        return best

    return best_child

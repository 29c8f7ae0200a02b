"""Selection of the move to play, and the compiled search of a batch of positions."""

from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.select import MAX, MAX_ROBUST, ROBUST, make_select_final
from ludoteca.agents.search.sequential.search import search_kernel
from ludoteca.agents.search.sequential.tree import ROOT, SIZE, START
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel


@factory("search")
def make_act(game: Game, config: SearchConfig) -> Any:
    """Return `act(workspace, positions, rngs, params, simulations, action_selection, actions)`.

    It searches each of K `positions` with a new tree and writes the chosen `actions`, int64 `[K]`.
    The search of position k uses the random stream `rngs[k]`, uint64 `[K, 1]`, advanced in place.
    `workspace` is the tuple of a `ThreadWorkspace`, `params` that of
    `ludoteca.agents.search.sequential.search.search_kernel`, and `action_selection` an index of
    `ludoteca.agents.search.select.ACTION_SELECTIONS`.
    """
    search, best_child = search_kernel(game, config), best_child_kernel(config)
    scheduled = config.exploration_schedule

    @compiled_without_allocation
    def act(
        workspace: Any,
        positions: Any,
        rngs: Any,
        params_array: Any,
        simulations: int,
        action_selection: int,
        actions: Any,
    ) -> None:
        nodes, shared, table, states, words, works = workspace
        work, params = works[0], params_array[0]
        for k in range(len(positions)):
            states[START] = positions[k]
            work.rng[0] = rngs[k, 0]
            shared[SIZE] = 0
            if scheduled:
                params.completed_simulations, params.planned_simulations = 0, simulations
            search(nodes, shared, table, states, words, work, params_array, simulations)
            extra = 0
            if scheduled:
                params.completed_simulations = simulations
            while action_selection == MAX_ROBUST and extra < simulations:
                most_wins = best_child(nodes, MAX, params, work)
                if most_wins == best_child(nodes, ROBUST, params, work):
                    break
                additional = max(simulations // 10, 1)
                search(nodes, shared, table, states, words, work, params_array, additional)
                extra += additional
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

    It returns the child of the root to play, see `select.make_select_final`. `nodes` and `work` are
    those of `ludoteca.agents.search.sequential.search.search_kernel`, `params` is one record of its
    `params`.
    """
    draw_value = 0.0 if config.draw_is_loss else 0.5
    select_final = make_select_final(config.policy, config.solver, False, draw_value)

    @kernel
    def best_child(nodes: Any, action_selection: int, params: Any, work: Any) -> int:
        root = nodes[ROOT]
        block = nodes[root.first_child]
        arms = nodes[root.first_child : root.first_child + block.num_visited]
        return root.first_child + select_final(
            arms,
            block.num_visited,
            block.block_visits,
            root.num_children,
            action_selection,
            params,
            work,
        )

    return best_child

"""Monte Carlo tree search for simultaneous games: decoupled UCT.

In every node each player has a separate bandit problem over their own actions, and all choose
independently; the joint action leads to the next node. Chance is open-loop: a node stands for the
joint actions that led there, whatever the chance events were.

Tak, Lanctot and Winands, "Monte Carlo tree search variants for simultaneous move games", 2014,
section III.A; its use for Tron is due to Samothrakis, Robles and Lucas, "A UCT agent for Tron:
initial investigations", 2010.

The search has no solver and no decisive moves, since the result of an action depends on the actions
of the other players: a proof would need the solution of the node's matrix game. It has no
transpositions and no tree parallelization, since trees of joint actions have few nodes.
"""

from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.exploration import make_exploration
from ludoteca.agents.search.playouts import make_move_record
from ludoteca.agents.search.simultaneous.playout import make_playout
from ludoteca.agents.search.simultaneous.selection import NO_ACTION, NO_NODE, make_selection
from ludoteca.agents.search.simultaneous.tree import CURRENT, FULL, ROOT, START, make_table
from ludoteca.agents.search.statistics import make_statistics
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.rng import next_u64


@factory("search")
def make_search(game: Game, config: SearchConfig) -> Callable[..., int]:
    """Return the compiled form of `search_kernel(game, config)`."""
    run = search_kernel(game, config)

    @compiled_without_allocation
    def search(
        nodes: Any,
        arms: Any,
        table: Any,
        size: int,
        states: Any,
        work: Any,
        params: Any,
        simulations: int,
    ) -> int:
        return run(nodes, arms, table, size, states, work[0], params[0], simulations)

    return search  # type: ignore[no-any-return]


@factory()
def search_kernel(game: Game, config: SearchConfig) -> Callable[..., int]:
    """Return `search(nodes, arms, table, size, states, work, params, simulations) -> size`.

    The kernel continues a tree of `size` nodes, or starts one if that is 0.

    Arguments of the kernel:
        nodes: the tree, dtype `tree.NODE`; a full tree is searched without expansion.
        arms: statistics of the players' actions, dtype `statistics.arm_dtype(config.policy)`. Shape
            `[nodes, players, actions]`.
        table: the children, see `tree.make_table`.
        size: number of nodes.
        states: positions, `states[START]` the root's: `NUM_STATES` and those of playouts, see
            `ludoteca.agents.search.leaf_parallel.num_playout_states`.
        work: a record of `work_dtype(game, config)` of `ludoteca.agents.search.config`.
        params: a record of `config.SEARCH_PARAMS`.
        simulations: number of simulations.
    """
    step, is_terminal = game.step, game.is_terminal
    has_chance = game.has_chance
    grave = config.amaf == "grave"
    reset_tree, find_or_add_child = make_table(config.policy)
    select_joint_action = make_selection(game, config)
    begin_exploration, deepen_exploration, _ = make_exploration(config)
    play_out = make_playout(game, config)
    back_up = make_backup(game, config)

    @kernel
    def search(
        nodes: Any,
        arms: Any,
        table: Any,
        size: int,
        states: Any,
        work: Any,
        params: Any,
        simulations: int,
    ) -> int:
        if size == 0:
            reset_tree(nodes, arms)
            size = 1
            work.simulation = 0
            work.last_seen[:] = 0
            work.mast_visits[:] = 0
            work.mast_value[:] = 0.0
        s = states[CURRENT]
        for simulation in range(simulations):
            states[CURRENT] = states[START]
            if has_chance:
                s.rng[0] = next_u64(work.rng)
            # Select and expand.
            node, depth, reference = ROOT, 0, NO_NODE
            work.num_moves = 0
            begin_exploration(params, simulation, work)
            nodes[ROOT].visits += 1
            while not is_terminal(s) and (node == ROOT or nodes[node].visits > 1):
                if depth > 0 and depth == params.max_depth:  # a maximum of 0 is no limit
                    break
                if grave and nodes[node].visits > params.grave_reference:
                    reference = node
                work.path[depth] = node
                joint = select_joint_action(arms, node, reference, s, depth, work, params)
                step(s, work.joint)
                depth += 1
                deepen_exploration(params, work)
                child = find_or_add_child(nodes, arms, table, size, node, joint)
                if child == FULL:
                    break
                size = max(size, child + 1)
                node = child
                nodes[node].visits += 1
            play_out(states, s, work, params)
            back_up(arms, work, depth)
        return size

    return search


@factory()
def make_backup(game: Game, config: SearchConfig) -> Callable[..., None]:
    """Return `back_up(arms, work, depth)`.

    The kernel adds `work.scores` to the arms of the path, whose visits selection has incremented.
    """
    players, num_actions, amaf = game.num_players, game.num_actions, config.amaf != ""
    _, add_score = make_statistics(config.policy)
    _, mark_seen, update_mast = make_move_record(game, config)

    @kernel
    def back_up(arms: Any, work: Any, depth: int) -> None:
        if amaf:
            update_amaf(arms, work, depth)
        update_mast(work)
        for d in range(depth):
            for p in range(players):
                action = work.path_actions[d, p]
                if action != NO_ACTION:
                    arm = arms[work.path[d], p, action]
                    add_score(arm, work.scores[p], work.probabilities[d, p])

    @kernel
    def update_amaf(arms: Any, work: Any, depth: int) -> None:
        """Update every arm of the path's nodes whose player played its action there or later."""
        work.simulation += 1
        move = work.num_moves
        for d in range(depth - 1, -1, -1):
            move = mark_seen(work, move, d)
            for p in range(players):
                for action in range(num_actions):
                    if work.last_seen[p, action] == work.simulation:
                        arm = arms[work.path[d], p, action]
                        arm.amaf_visits += 1
                        arm.amaf_value += work.scores[p]

    return back_up

"""Monte Carlo tree search for sequential games, compiled per game and configuration.

Coulom, "Efficient selectivity and backup operators in Monte-Carlo tree search", 2006; Kocsis and
Szepesvari, "Bandit based Monte-Carlo planning", 2006. For any number of players: a node sums the
scores of the player who moved into it.
"""

from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.exploration import make_exploration
from ludoteca.agents.search.playouts import make_move_record
from ludoteca.agents.search.select import UNKNOWN
from ludoteca.agents.search.sequential.backup import make_backup
from ludoteca.agents.search.sequential.expansion import make_expansion
from ludoteca.agents.search.sequential.lock import acquire, release
from ludoteca.agents.search.sequential.selection import make_selection
from ludoteca.agents.search.sequential.simulation import make_simulation
from ludoteca.agents.search.sequential.tree import CURRENT, ROOT, SIZE, START, UNEXPANDED
from ludoteca.agents.search.tuner import make_tuner
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.rng import next_u64


@factory("search")
def make_search(game: Game, config: SearchConfig) -> Any:
    """Return the compiled form of `search_kernel(game, config)`."""
    run = search_kernel(game, config)

    @compiled_without_allocation
    def search(
        nodes: Any,
        shared: Any,
        table: Any,
        states: Any,
        words: Any,
        work: Any,
        params: Any,
        simulations: int,
    ) -> None:
        run(nodes, shared, table, states, words, work[0], params, simulations)

    return search


@factory()
def search_kernel(game: Game, config: SearchConfig) -> Callable[..., None]:
    """Return `search(nodes, shared, table, states, words, work, params, simulations)`.

    The kernel continues a tree, or starts one if `shared[SIZE]` is 0. With `config.shared_tree`
    several threads may run it on one tree, each with its own `states`, `words` and `work`.

    Arguments of the kernel:
        nodes: the tree, dtype `tree.node_dtype(config.policy, game.action_dtype)`; a full tree is
            searched without expansion, with chance also if the table is full.
        shared: size and lock of the tree, see `tree.SIZE`. int64, shape `[2]`.
        table: the transposition table, dtype `tree.entry_dtype(game.action_dtype)`; may be empty
            without transpositions and chance.
        states: positions, `states[START]` the root's: `NUM_STATES` and those of playouts, see
            `ludoteca.agents.search.leaf_parallel.num_playout_states`.
        words: the same memory as unsigned integers, one row for each position.
        work: a record of `work_dtype(game, config)` of `ludoteca.agents.search.config`.
        params: the parameters of all players, a record of `config.SEARCH_PARAMS`, shape `[1]`. With
            `config.tune` those of each player, records of
            `ludoteca.agents.search.tuning.TUNED_PARAMS`, shape `[players]`.
        simulations: number of simulations; fewer are run if the root is proven.
    """
    step, is_terminal = game.step, game.is_terminal
    solver, grave, shared_tree = config.solver, config.amaf == "grave", config.shared_tree
    has_chance, players = game.has_chance, game.num_players
    tuned = config.tune != ""
    # Without tuning, the kernels of any strategy: they are not called.
    reset_tuning, select_params, update_tuning = make_tuner(config.tune or "mab")
    reset_tree, expand, _ = make_expansion(game, config)
    choose, clear_references, set_reference = make_selection(game, config)
    begin_exploration, deepen_exploration, _ = make_exploration(config)
    play_out = make_simulation(game, config)
    record, _, _ = make_move_record(game, config)
    player: Any = game.player
    recorded = config.amaf != "" or config.mast != ""
    back_up, prove_terminal, write_proven_scores = make_backup(game, config)

    @kernel
    def descend(
        nodes: Any,
        shared: Any,
        table: Any,
        states: Any,
        s: Any,
        words: Any,
        work: Any,
        params: Any,
    ) -> int:
        """Select down to a leaf, expanding nodes; return the depth of the leaf, `work.path[depth]`.

        With chance, a node stands for an action, whose outcomes are sampled: its children are those
        of the present outcome, found in the table by the position.

        Visits are incremented here and scores are added later: a virtual loss for other threads
        (Chaslot, Winands and van den Herik, "Parallel Monte-Carlo tree search", 2008).
        """
        node, depth = ROOT, 0
        work.path[0], work.num_moves = ROOT, 0
        if grave:
            clear_references(work)
        nodes[ROOT].visits += 1
        while not (solver and nodes[node].proven != UNKNOWN):
            if has_chance and node != ROOT:
                nodes[node].first_child = UNEXPANDED
            if nodes[node].first_child == UNEXPANDED:
                if is_terminal(s) or (node != ROOT and nodes[node].visits == 1):
                    break
                if depth > 0 and depth == params[0].max_depth:  # a maximum of 0 is no limit
                    break
                expand(nodes, node, shared, table, states, s, words[CURRENT], work)
                if nodes[node].first_child == UNEXPANDED:
                    break
            if grave:
                mover = nodes[nodes[node].first_child].mover
                if nodes[node].visits > params[0].grave_reference:
                    work.reference_nodes[mover] = node
                set_reference(nodes, work.reference_nodes[mover], work)
            nodes[nodes[node].first_child].block_visits += 1
            node = choose(nodes, node, work, params[player(s) if tuned else 0])
            nodes[node].visits += 1
            if recorded:
                record(work, player(s), nodes[node].action)
            step(s, nodes[node].action)
            depth += 1
            deepen_exploration(params[0], work)
            work.path[depth] = node
            work.probabilities[depth] = work.probability
        return depth

    @kernel
    def search(
        nodes: Any,
        shared: Any,
        table: Any,
        states: Any,
        words: Any,
        work: Any,
        params: Any,
        simulations: int,
    ) -> None:
        s = states[CURRENT]
        if shared_tree:
            acquire(shared)
        if shared[SIZE] == 0:
            reset_tree(nodes, shared, table, work)
            if tuned:
                for p in range(players):
                    reset_tuning(params[p])
        for simulation in range(simulations):
            if solver and nodes[ROOT].proven != UNKNOWN:
                break
            states[CURRENT] = states[START]
            if has_chance:
                s.rng[0] = next_u64(work.rng)
            if tuned:
                for p in range(players):
                    select_params(params[p], work.rng)
            begin_exploration(params[0], simulation, work)
            depth = descend(nodes, shared, table, states, s, words, work, params)
            leaf = work.path[depth]
            if solver and depth > 0 and nodes[leaf].proven == UNKNOWN and is_terminal(s):
                prove_terminal(nodes, leaf, s, work)
            if solver and nodes[leaf].proven != UNKNOWN:
                write_proven_scores(nodes, leaf, work)
            else:
                if shared_tree:
                    release(shared)
                play_out(states, s, work, params[0])
                if shared_tree:
                    acquire(shared)
            back_up(nodes, work, depth)
            if tuned:
                for p in range(players):
                    update_tuning(params[p], work.scores[p])
        if shared_tree:
            release(shared)

    return search

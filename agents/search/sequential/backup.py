"""Backup of a simulation: scores, AMAF and MAST statistics, and proven results.

`nodes` and `work` are those of `ludoteca.agents.search.sequential.search.search_kernel`, `node` is
an index of `nodes`.
"""

from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.playouts import make_move_record
from ludoteca.agents.search.select import DRAW, LOSS, UNKNOWN, WIN
from ludoteca.agents.search.sequential.tree import ROOT, UNEXPANDED
from ludoteca.agents.search.statistics import make_statistics
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel


@factory()
def make_backup(game: Game, config: SearchConfig) -> tuple[Callable[..., None], ...]:
    """Return the kernels of backup and proofs.

    `back_up(nodes, work, depth)` adds `work.scores` to the nodes of `work.path[1:depth + 1]`, whose
    visits were incremented during selection.

    `prove_terminal(nodes, node, s, work)` marks `node`, with the terminal position `s`, as proven.

    `write_proven_scores(nodes, node, work)` writes the scores of a proven node to `work.scores`.
    """
    returns, players = game.returns, game.num_players
    solver, amaf, draw_is_loss = config.solver, config.amaf != "", config.draw_is_loss
    _, add_score = make_statistics(config.policy)
    _, mark_seen, update_mast = make_move_record(game, config)

    @kernel
    def back_up(nodes: Any, work: Any, depth: int) -> None:
        if amaf:
            update_amaf(nodes, work, depth)
        update_mast(work)
        for d in range(1, depth + 1):
            visited = nodes[work.path[d]]
            add_score(visited, work.scores[visited.mover], work.probabilities[d])
        if solver:
            for d in range(depth, 0, -1):
                if nodes[work.path[d]].proven == UNKNOWN or not prove(nodes, work.path[d - 1]):
                    break

    @kernel
    def update_amaf(nodes: Any, work: Any, depth: int) -> None:
        """Update every child of the path's nodes whose player played its action there or later."""
        work.simulation += 1
        move = work.num_moves
        for d in range(depth, -1, -1):
            move = mark_seen(work, move, d)
            parent = nodes[work.path[d]]
            if parent.first_child != UNEXPANDED:
                mover = nodes[parent.first_child].mover
                for k in range(parent.first_child, parent.first_child + parent.num_children):
                    if work.last_seen[mover, nodes[k].action] == work.simulation:
                        nodes[k].amaf_visits += 1
                        nodes[k].amaf_value += work.scores[mover]

    @kernel
    def prove(nodes: Any, node: int) -> bool:
        """Derive the proven result of `node` from its children; return whether there is one.

        Winands, Bjornsson and Saito, "Monte-Carlo tree search solver", 2008, section 3; draws as in
        Cazenave and Saffidine, "Score bounded Monte-Carlo tree search", 2010.
        """
        parent = nodes[node]
        best, unknown = LOSS, False
        for k in range(parent.first_child, parent.first_child + parent.num_children):
            proven = nodes[k].proven
            unknown |= proven == UNKNOWN
            best = max(best, proven)
        if unknown and best != WIN:
            return False
        if node == ROOT or nodes[parent.first_child].mover == parent.mover:
            parent.proven = best
        else:
            parent.proven = WIN + LOSS - best  # the result for the opponent
        return True

    @kernel
    def prove_terminal(nodes: Any, node: int, s: Any, work: Any) -> None:
        returns(s, work.scores)
        x = work.scores[nodes[node].mover]
        nodes[node].proven = WIN if x > 0 else (LOSS if x < 0 else DRAW)

    @kernel
    def write_proven_scores(nodes: Any, node: int, work: Any) -> None:
        for p in range(players):
            proven = int(nodes[node].proven)
            if p != nodes[node].mover:
                proven = WIN + LOSS - proven  # the result for the opponent
            if proven == DRAW:
                work.scores[p] = 0.0 if draw_is_loss else 0.5
            else:
                work.scores[p] = 1.0 if proven == WIN else 0.0

    return back_up, prove_terminal, write_proven_scores

"""Backup of a simulation: scores, AMAF and MAST statistics, and proven results."""

from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.sequential.tree import DRAW, LOSS, ROOT, UNEXPANDED, UNKNOWN, WIN
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel


@factory()
def make_backup(game: Game, config: SearchConfig) -> tuple[Callable[..., None], ...]:
    """Return three kernels.

    `back_up(nodes, work, depth, plies)` adds `work.scores` to the nodes of `work.path`; their
    visits were incremented during selection.

    `prove_end(nodes, node, s, work)` marks the node of a finished game as proven.

    `proven_scores(nodes, node, work)` writes the scores of a proven node.
    """
    returns, players = game.returns, game.num_players
    importance = POLICIES[config.policy].importance_weighted
    solver, amaf, mast = config.solver, config.amaf != "", config.mast != ""
    draw_is_loss = config.draw_is_loss

    @kernel
    def back_up(nodes: Any, work: Any, depth: int, plies: int) -> None:
        if amaf:
            update_amaf(nodes, work, depth, plies)
        if mast:
            for ply in range(plies):
                p, action = work.player[ply], work.played[ply]
                work.mast_visits[p, action] += 1
                work.mast_value[p, action] += work.scores[p]
        for d in range(1, depth + 1):
            visited = nodes[work.path[d]]
            x = work.scores[visited.mover]
            visited.value += x
            visited.square += x * x
            if importance:
                visited.reward_estimate += x / work.probabilities[d]
        if solver:
            for d in range(depth, 0, -1):
                if nodes[work.path[d]].proven == UNKNOWN or not prove(nodes, work.path[d - 1]):
                    break

    @kernel
    def update_amaf(nodes: Any, work: Any, depth: int, plies: int) -> None:
        """Credit every child of the path whose action its player played at that ply or later."""
        work.simulation += 1
        ply = plies
        for d in range(depth, -1, -1):
            while ply > d:
                ply -= 1
                work.seen[work.player[ply], work.played[ply]] = work.simulation
            parent = nodes[work.path[d]]
            if parent.first != UNEXPANDED:
                mover = nodes[parent.first].mover
                for k in range(parent.first, parent.first + parent.count):
                    if work.seen[mover, nodes[k].action] == work.simulation:
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
        for k in range(parent.first, parent.first + parent.count):
            proven = nodes[k].proven
            unknown |= proven == UNKNOWN
            best = max(best, proven)
        if unknown and best != WIN:
            return False
        if node == ROOT or nodes[parent.first].mover == parent.mover:
            parent.proven = best
        else:
            parent.proven = WIN + LOSS - best
        return True

    @kernel
    def prove_end(nodes: Any, node: int, s: Any, work: Any) -> None:
        returns(s, work.scores)
        x = work.scores[nodes[node].mover]
        nodes[node].proven = WIN if x > 0 else (LOSS if x < 0 else DRAW)

    @kernel
    def proven_scores(nodes: Any, node: int, work: Any) -> None:
        for p in range(players):
            proven = int(nodes[node].proven)
            if p != nodes[node].mover:
                proven = WIN + LOSS - proven
            if proven == DRAW:
                work.scores[p] = 0.0 if draw_is_loss else 0.5
            else:
                work.scores[p] = 1.0 if proven == WIN else 0.0

    return back_up, prove_end, proven_scores

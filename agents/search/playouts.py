"""Playouts: their policy or MAST, scores at their end, and the record of their moves."""

import math
from collections.abc import Callable
from typing import Any

from ludoteca.agents.evaluations import find_evaluation
from ludoteca.agents.playouts import playout_policy
from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.distributions import unit
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel
from ludoteca.envs.rng import below


@factory()
def make_playout_action(game: Game, config: SearchConfig) -> Callable[..., int]:
    """Return `playout_action(s, player, n, work, params)`, which chooses among `work.legal[:n]`."""
    mast, gibbs, uniform = config.mast != "", config.mast == "gibbs", config.playout == "uniform"
    policy = playout_policy(config.playout, game)

    @kernel
    def playout_action(s: Any, player: int, n: int, work: Any, params: Any) -> int:
        if not uniform:
            return policy(s, int(player), work.legal, n, work.rng)
        if not mast:
            return int(work.legal[below(work.rng, n)])
        if gibbs:
            return gibbs_action(player, n, work, params)
        if unit(work.rng) <= params.mast_parameter:
            return int(work.legal[below(work.rng, n)])
        return best_action(player, n, work)

    @kernel
    def gibbs_action(player: int, n: int, work: Any, params: Any) -> int:
        """Sample an action by the exponential of its mean over all simulations."""
        total = 0.0
        for k in range(n):
            action = work.legal[k]
            visits = work.mast_visits[player, action]
            mean = work.mast_value[player, action] / visits if visits > 0 else 0.5
            work.weights[k] = math.exp(mean / params.mast_parameter)
            total += work.weights[k]
        left = unit(work.rng) * total
        for k in range(n):
            left -= work.weights[k]
            if left <= 0:
                return int(work.legal[k])
        return int(work.legal[n - 1])

    @kernel
    def best_action(player: int, n: int, work: Any) -> int:
        """Return the action of the highest mean over all simulations; of equal ones, any."""
        chosen, best, ties = 0, -1.0, 0
        for k in range(n):
            action = work.legal[k]
            visits = work.mast_visits[player, action]
            mean = work.mast_value[player, action] / visits if visits > 0 else 1.0
            if mean > best:
                chosen, best, ties = k, mean, 1
            elif mean == best:
                ties += 1
                if below(work.rng, ties) == 0:
                    chosen = k
        return int(work.legal[chosen])

    return playout_action


@factory()
def make_scoring(game: Game, config: SearchConfig) -> Callable[..., None]:
    """Return `write_scores(s, work)`, which writes every player's score in [0, 1]."""
    is_terminal, returns, players = game.is_terminal, game.returns, game.num_players
    evaluate = find_evaluation(config.evaluation, game)
    draw_is_loss = config.draw_is_loss

    @kernel
    def write_scores(s: Any, work: Any) -> None:
        over = is_terminal(s)
        if over:
            returns(s, work.scores)
        else:
            evaluate(s, work.scores)
        for p in range(players):
            x = work.scores[p]
            if draw_is_loss and over:
                work.scores[p] = 1.0 if x > 0 else 0.0
            else:
                work.scores[p] = 0.5 + 0.5 * x

    return write_scores


@factory()
def make_record(
    game: Game, config: SearchConfig
) -> tuple[Callable[..., None], Callable[..., int], Callable[..., None]]:
    """Return three kernels.

    `record(work, player, action)` records a move of the simulation for AMAF and MAST; in
    simultaneous games one of each player at each ply, -1 for inactive ones. `work.moves` is set to
    0 before.

    `mark_played(work, end, ply) -> start` marks the moves from `ply` to the one before `end` in
    `work.seen`, and returns the first one.

    `update_mast(work)` adds `work.scores` to the statistics of all moves.
    """
    recorded, mast = config.amaf != "" or config.mast != "", config.mast != ""
    moves_per_ply = game.num_players if game.simultaneous else 1

    @kernel
    def record(work: Any, player: int, action: int) -> None:
        if recorded:
            work.player[work.moves] = player
            work.played[work.moves] = action
            work.moves += 1

    @kernel
    def mark_played(work: Any, end: int, ply: int) -> int:
        start = ply * moves_per_ply
        for move in range(start, end):
            if work.played[move] >= 0:
                work.seen[work.player[move], work.played[move]] = work.simulation
        return start

    @kernel
    def update_mast(work: Any) -> None:
        if mast:
            for move in range(work.moves):
                p, action = work.player[move], work.played[move]
                if action >= 0:
                    work.mast_visits[p, action] += 1
                    work.mast_value[p, action] += work.scores[p]

    return record, mark_played, update_mast

"""Playouts from a leaf of the tree, with MAST and decisive moves."""

import math
from collections.abc import Callable
from typing import Any

from ludoteca.agents.evaluations import find_evaluation
from ludoteca.agents.playouts import playout_policy
from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.policies import unit
from ludoteca.agents.search.sequential.expansion import make_expansion
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel
from ludoteca.envs.rng import below


@factory()
def make_simulation(
    game: Game, config: SearchConfig
) -> tuple[Callable[..., int], Callable[..., None]]:
    """Return two kernels.

    `play_out(states, s, plies, work, params) -> plies` plays `s` to the end, at most
    `params.playout_depth` plies, and writes every player's score in [0, 1] to `work.scores`.

    `note(work, plies, s, action)` records an action of the simulation for AMAF and MAST.
    """
    legal_actions, step, is_terminal = game.legal_actions, game.step, game.is_terminal
    returns, players = game.returns, game.num_players
    player: Any = game.player
    decisive, mast, gibbs = config.decisive != "", config.mast != "", config.mast == "gibbs"
    amaf = config.amaf != ""
    logged = amaf or mast
    draw_is_loss = config.draw_is_loss
    playout: Any = game.playout
    longest = game.max_plies
    uniform = config.playout == "uniform"
    has_playout = playout is not None and uniform and not mast and not decisive
    policy = playout_policy(config.playout, game)
    evaluate = find_evaluation(config.evaluation, game)
    _, _, wins_at_once = make_expansion(game, config)

    @kernel
    def note(work: Any, plies: int, s: Any, action: int) -> None:
        """Record an action of this simulation for AMAF and MAST."""
        if logged:
            work.player[plies] = player(s)
            work.played[plies] = action

    @kernel
    def playout_action(states: Any, s: Any, n: int, work: Any, params: Any) -> int:
        """Return the playout policy's choice among `work.legal[:n]`."""
        if decisive:
            for k in range(n):
                if wins_at_once(states, s, work.legal[k], work):
                    return int(work.legal[k])
        if not uniform:
            return policy(s, int(player(s)), work.legal, n, work.rng)
        if not mast:
            return int(work.legal[below(work.rng, n)])
        mover = player(s)
        if gibbs:
            total = 0.0
            for k in range(n):
                action = work.legal[k]
                visits = work.mast_visits[mover, action]
                mean = work.mast_value[mover, action] / visits if visits > 0 else 0.5
                work.weights[k] = math.exp(mean / params.mast_parameter)
                total += work.weights[k]
            left = unit(work.rng) * total
            for k in range(n):
                left -= work.weights[k]
                if left <= 0:
                    return int(work.legal[k])
            return int(work.legal[n - 1])
        if unit(work.rng) <= params.mast_parameter:
            return int(work.legal[below(work.rng, n)])
        chosen, best, ties = 0, -1.0, 0
        for k in range(n):
            action = work.legal[k]
            visits = work.mast_visits[mover, action]
            mean = work.mast_value[mover, action] / visits if visits > 0 else 1.0
            if mean > best:
                chosen, best, ties = k, mean, 1
            elif mean == best:
                ties += 1
                if below(work.rng, ties) == 0:
                    chosen = k
        return int(work.legal[chosen])

    @kernel
    def to_scores(s: Any, work: Any) -> None:
        """Write every player's score in [0, 1]."""
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

    @kernel
    def play_out(states: Any, s: Any, plies: int, work: Any, params: Any) -> int:
        if has_playout and params.playout_depth >= longest:
            if not is_terminal(s):
                mover = player(s)
                n = playout(s, work.legal, work.rng)
                if amaf:
                    for k in range(n):
                        work.player[plies + k] = (mover + k) % players
                        work.played[plies + k] = work.legal[k]
                    plies += n
        else:
            cut = plies + params.playout_depth
            while plies < cut and not is_terminal(s):
                n = legal_actions(s, work.legal)
                action = playout_action(states, s, n, work, params)
                note(work, plies, s, action)
                step(s, action)
                plies += 1
        to_scores(s, work)
        return plies

    return play_out, note

"""Playouts: action choice (a playout policy or MAST), final scores, and the move record.

The move record lists all moves of a simulation, for all-moves-as-first (AMAF) statistics and
move-average sampling (MAST). `work` is a record of `config.work_dtype`, `params` one of
`config.SEARCH_PARAMS`.
"""

import math
from collections.abc import Callable
from typing import Any

from ludoteca.agents.evaluations import find_evaluation
from ludoteca.agents.playouts import playout_policy
from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.distributions import sample_uniform
from ludoteca.agents.softmax_playouts import make_softmax
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel
from ludoteca.envs.rng import below


@factory()
def make_playout_action(game: Game, config: SearchConfig) -> Callable[..., int]:
    """Return `playout_action(s, player, n, work, params)`, which chooses from `work.legal[:n]`."""
    mast, gibbs, uniform = config.mast != "", config.mast == "gibbs", config.playout == "uniform"
    if config.playout == "softmax":
        return make_softmax_action(game)
    policy = playout_policy(config.playout, game)

    @kernel
    def playout_action(s: Any, player: int, n: int, work: Any, params: Any) -> int:
        if not uniform:
            return policy(s, int(player), work.legal, n, work.rng)
        if not mast:
            return int(work.legal[below(work.rng, n)])
        if gibbs:
            return gibbs_action(player, n, work, params)
        if sample_uniform(work.rng) <= params.mast_parameter:
            return int(work.legal[below(work.rng, n)])
        return best_action(player, n, work)

    @kernel
    def gibbs_action(player: int, n: int, work: Any, params: Any) -> int:
        """Sample an action with probability proportional to `exp(mean / temperature)`.

        Actions without visits have the mean 0.5.
        """
        total = 0.0
        for k in range(n):
            action = work.legal[k]
            visits = work.mast_visits[player, action]
            mean = work.mast_value[player, action] / visits if visits > 0 else 0.5
            work.weights[k] = math.exp(mean / params.mast_parameter)
            total += work.weights[k]
        remaining = sample_uniform(work.rng) * total
        for k in range(n):
            remaining -= work.weights[k]
            if remaining <= 0:
                return int(work.legal[k])
        return int(work.legal[n - 1])

    @kernel
    def best_action(player: int, n: int, work: Any) -> int:
        """Return the action of the highest mean over all simulations; break ties at random.

        Actions without visits have the mean 1, so that they are played first.
        """
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
def make_softmax_action(game: Game) -> Callable[..., int]:
    """Return `make_playout_action` of the softmax playout policy."""
    write_probabilities, sample = make_softmax(game)

    @kernel
    def softmax_action(s: Any, player: int, n: int, work: Any, params: Any) -> int:
        write_probabilities(s, work.legal, n, work.playout_weights, work.features, work.weights)
        return int(work.legal[sample(work.weights, n, sample_uniform(work.rng))])

    return softmax_action


@factory()
def make_scoring(game: Game, config: SearchConfig) -> Callable[..., None]:
    """Return the kernel `write_scores(s, work)`.

    It writes the players' scores in [0, 1] at the end of a playout in `s` to `work.scores`.
    """
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
            result = work.scores[p]  # in [-1, 1]
            if draw_is_loss and over:
                work.scores[p] = 1.0 if result > 0 else 0.0
            else:
                work.scores[p] = 0.5 + 0.5 * result

    return write_scores


@factory()
def make_move_record(
    game: Game, config: SearchConfig
) -> tuple[Callable[..., None], Callable[..., int], Callable[..., None]]:
    """Return the kernels of the move record.

    `record(work, player, action)` appends a move to the move record of AMAF and MAST, which the
    caller clears with `work.num_moves = 0`. Simultaneous games have one move per player and ply, -1
    for inactive players.

    `mark_seen(work, end, ply) -> start` marks the recorded moves `start:end` in `work.last_seen`,
    from the first move of `ply`, at index `start`, on.

    `update_mast(work)` adds `work.scores` to the MAST statistics of all recorded moves.
    """
    recorded, mast = config.amaf != "" or config.mast != "", config.mast != ""
    moves_per_ply = game.num_players if game.simultaneous else 1

    @kernel
    def record(work: Any, player: int, action: int) -> None:
        if recorded:
            work.move_players[work.num_moves] = player
            work.move_actions[work.num_moves] = action
            work.num_moves += 1

    @kernel
    def mark_seen(work: Any, end: int, ply: int) -> int:
        start = ply * moves_per_ply
        for move in range(start, end):
            if work.move_actions[move] >= 0:
                work.last_seen[work.move_players[move], work.move_actions[move]] = work.simulation
        return start

    @kernel
    def update_mast(work: Any) -> None:
        if mast:
            for move in range(work.num_moves):
                p, action = work.move_players[move], work.move_actions[move]
                if action >= 0:
                    work.mast_visits[p, action] += 1
                    work.mast_value[p, action] += work.scores[p]

    return record, mark_seen, update_mast

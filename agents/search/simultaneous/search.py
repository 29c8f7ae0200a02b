"""Monte Carlo tree search for simultaneous games: decoupled UCT.

In every node each player has a separate bandit problem over their own actions, and all choose
independently; the joint action leads to the next node. Chance is open-loop: a node stands for the
actions that led there, not for sampled chance events.

Tak, Lanctot and Winands, "Monte Carlo tree search variants for simultaneous move games", 2014,
section III.A; its use for Tron is due to Samothrakis, Robles and Lucas, 2010.
"""

import math
from collections.abc import Callable
from typing import Any

from ludoteca.agents.evaluations import find_evaluation
from ludoteca.agents.playouts import playout_policy
from ludoteca.agents.search.policies import NO_BEST, POLICIES, leading, unit
from ludoteca.agents.search.sequential.tree import ROOT
from ludoteca.agents.search.simultaneous.config import DecoupledSearchConfig
from ludoteca.agents.search.simultaneous.tree import FULL, find_child, start_tree
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.rng import below, next_u64

NO_ACTION = -1  # of an inactive player
START, PLAYED = range(2)  # positions of a search: the root's, and the one being played
STATES = 2


@factory("search")
def make_search(game: Game, config: DecoupledSearchConfig) -> Callable[..., int]:
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
def search_kernel(game: Game, config: DecoupledSearchConfig) -> Callable[..., int]:
    """Return `search(nodes, arms, table, size, states, work, params, simulations) -> size`.

    The kernel continues a tree of `size` nodes, or starts one if that is 0.

    Arguments of the kernel:
        nodes: the tree, dtype `decoupled_tree.NODE`; a full tree is searched without expansion.
        arms: statistics of the players' actions, dtype `decoupled_tree.ARM`. Shape `[nodes,
            players, actions]`.
        table: children by joint action, int32 `[decoupled_tree.table_size(nodes)]`.
        size: number of nodes of the tree.
        states: positions, `states[START]` the root's. Shape `[2]`.
        work: a record of `decoupled_config.work_dtype(game)`.
        params: a record of `decoupled_config.SEARCH_PARAMS`.
        simulations: number of simulations.
    """
    step, is_terminal = game.step, game.is_terminal
    has_chance = "rng" in (game.state.names or ())
    choose_all = make_selection(game, config)
    play_out = make_playout(game, config)
    players = game.num_players
    importance = POLICIES[config.policy].importance_weighted

    @kernel
    def back_up(arms: Any, work: Any, depth: int) -> None:
        for d in range(depth):
            for p in range(players):
                action = work.chosen[d, p]
                if action != NO_ACTION:
                    arm = arms[work.path[d], p, action]
                    x = work.scores[p]
                    arm.visits += 1
                    arm.value += x
                    arm.square += x * x
                    if importance:
                        arm.reward_estimate += x / work.probabilities[d, p]

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
            start_tree(nodes, arms)
            size = 1
        s = states[PLAYED]
        for _ in range(simulations):
            states[PLAYED] = states[START]
            if has_chance:
                s.rng[0] = next_u64(work.rng)
            # Select and expand.
            node, depth = ROOT, 0
            nodes[ROOT].visits += 1
            while not is_terminal(s) and (node == ROOT or nodes[node].visits > 1):
                work.path[depth] = node
                joint = choose_all(arms, node, s, depth, work, params)
                step(s, work.joint)
                depth += 1
                child = find_child(nodes, arms, table, size, node, joint)
                if child == FULL:
                    break
                size = max(size, child + 1)
                node = child
                nodes[node].visits += 1
            play_out(s, work, params)
            back_up(arms, work, depth)
        return size

    return search


@factory()
def make_selection(game: Game, config: DecoupledSearchConfig) -> Callable[..., int]:
    """Return the kernel `choose_all(arms, node, s, depth, work, params) -> joint`.

    It selects an action for every active player in `node`, whose position is `s`, and writes them
    to `work.chosen[depth]` and `work.joint`; `joint` is the index of the joint action, see
    `decoupled_tree.NODE`.
    """
    legal_actions, players, num_actions = game.legal_actions, game.num_players, game.num_actions
    policy = POLICIES[config.policy]
    score, is_sampled, importance = (
        policy.score,
        policy.kind == "weights",
        policy.importance_weighted,
    )
    needs_best = policy.needs_best

    @kernel
    def choose_all(arms: Any, node: int, s: Any, depth: int, work: Any, params: Any) -> int:
        joint = 0
        for p in range(players):
            n = legal_actions(s, p, work.legal)
            action = NO_ACTION
            if n > 0:
                action = choose(arms, node, p, n, work, params)
                work.probabilities[depth, p] = work.probability
            work.chosen[depth, p] = action
            work.joint[p] = max(action, 0)
            joint = joint * num_actions + max(action, 0)
        return joint

    @kernel
    def choose(arms: Any, node: int, p: int, n: int, work: Any, params: Any) -> int:
        """Choose among `work.legal[:n]`; write the action's probability to `work.probability`."""
        work.probability = 1.0
        t, new, untried = 0, -1, 0
        for k in range(n):
            visits = arms[node, p, work.legal[k]].visits
            t += visits
            if visits == 0:
                untried += 1
                if below(work.rng, untried) == 0:  # each is kept with equal probability
                    new = work.legal[k]
        if t == 0:
            for k in range(n):
                arms[node, p, work.legal[k]].prior = 1.0 / n
        if untried > 0 and (t == 0 or params.fpu == math.inf):
            return int(new)
        log_t = math.log(t)
        top = NO_BEST
        if needs_best:
            for k in range(n):
                arm = arms[node, p, work.legal[k]]
                if arm.visits > 0:
                    top = leading(top, arm, arm.value / arm.visits)
        best, best_score, ties, total = -1, -math.inf, 0, 0.0
        for k in range(n):
            arm = arms[node, p, work.legal[k]]
            if arm.visits == 0:
                work.weights[k] = -math.inf if importance else 0.0
                continue
            mean = arm.value / arm.visits
            points = score(arm, mean, t, log_t, n, top, params.c, work.rng)
            work.weights[k] = points
            total += points
            if points > best_score:
                best_score, ties = points, 0
            # Ties are broken at random, so that the players' choices are not correlated.
            ties += int(points == best_score)
            if points == best_score and (ties == 1 or below(work.rng, ties) == 0):
                best = k
        if untried > 0 and params.fpu >= best_score:
            return int(new)
        if is_sampled:
            best = sample(n, n - untried, best, best_score, total, work, params)
        return int(work.legal[best])

    @kernel
    def sample(
        n: int, tried: int, best: int, best_score: float, total: float, work: Any, params: Any
    ) -> int:
        """Sample an arm with probability proportional to its weight."""
        if importance:
            # The scores are exponents of EXP3's weights, shifted so that the largest weight is 1.
            total = 0.0
            for k in range(n):
                work.weights[k] = math.exp(work.weights[k] - best_score)
                total += work.weights[k]
            mix = params.c[0]
            for k in range(n):
                if work.weights[k] > 0:
                    work.weights[k] = (1 - mix) * work.weights[k] / total + mix / tried
            total = 1.0
        if not total > 0.0:
            return best
        left = unit(work.rng) * total
        for k in range(n):
            left -= work.weights[k]
            if left <= 0 and work.weights[k] > 0:
                work.probability = work.weights[k] / total
                return k
        return best

    return choose_all


@factory()
def make_playout(game: Game, config: DecoupledSearchConfig) -> Callable[..., None]:
    """Return the kernel `play_out(s, work, params)`.

    It plays `s` to the end, at most `params.playout_depth` plies, and writes every player's score
    in [0, 1] to `work.scores`.
    """
    legal_actions, step, is_terminal = game.legal_actions, game.step, game.is_terminal
    returns, players, draw_is_loss = game.returns, game.num_players, config.draw_is_loss
    choose = playout_policy(config.playout, game)
    evaluate = find_evaluation(config.evaluation, game)

    @kernel
    def play_out(s: Any, work: Any, params: Any) -> None:
        plies = 0
        while plies < params.playout_depth and not is_terminal(s):
            for p in range(players):
                n = legal_actions(s, p, work.legal)
                work.joint[p] = choose(s, p, work.legal, n, work.rng) if n > 0 else 0
            step(s, work.joint)
            plies += 1
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

    return play_out

"""Monte Carlo tree search for turn-based games, compiled per game, policy and set of enhancements.

Coulom, "Efficient selectivity and backup operators in Monte-Carlo tree search", 2006; Kocsis and
Szepesvari, "Bandit based Monte-Carlo planning", 2006. Any number of players: each node's score is
that of the player who moved into it.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ludoteca.agents.mcts.features import Features
from ludoteca.agents.mcts.policies import POLICIES, smoothed_variance, unit
from ludoteca.agents.mcts.tree import DRAW, LOSS, NO_PLAYER, ROOT, UNEXPANDED, UNKNOWN, WIN
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, kernel
from ludoteca.envs.rng import below, next_u64

STATES = 3  # positions a search works on: the root's, the one being played, and a spare one
START, PLAYED, SPARE = range(STATES)


@cache
def make_search(game: Game, features: Features) -> Callable[..., int]:
    """Return the compiled form of `search_kernel(game, features)`."""
    run = search_kernel(game, features)

    @compiled_without_allocation
    def search(nodes, size, states, work, settings, simulations):
        return run(nodes, size, states, work[0], settings[0], simulations)

    return search


@cache
def search_kernel(game: Game, features: Features) -> Callable[..., int]:
    """Return `search(nodes, size, states, work, settings, simulations) -> size`.

    Goes on with the tree in `nodes[:size]` (dtype `tree.NODE`), whose root is the position
    `states[0]`; with size 0 it starts a new one. `states` has 3 records, `work` is a record of
    `features.work_dtype(game)`, `settings` one of `features.SETTINGS`. A tree that is full grows no
    more, but is still searched.
    """
    legal_actions, step, is_terminal = game.legal_actions, game.step, game.is_terminal
    returns, player = game.returns, game.player
    policy = POLICIES[features.policy]
    score, draws, importance = policy.score, policy.kind == "weights", policy.importance_weighted
    policy_needs_best = policy.needs_best
    solver, decisive, anti = features.solver, features.decisive != "", features.decisive == "both"
    amaf, constant = features.amaf != "", features.amaf == "amaf"
    grave = features.amaf == "grave"
    mast, gibbs = features.mast != "", features.mast == "gibbs"
    draw_is_loss, players, num_actions = features.draw_is_loss, game.num_players, game.num_actions
    has_chance = "rng" in (game.state.names or ())
    logged = amaf or mast
    playout, max_plies = game.playout, game.max_plies
    fast_playout = playout is not None and not logged and not decisive

    @kernel
    def start_tree(nodes, work):
        root = nodes[ROOT]
        root.value = root.square = root.amaf_value = root.gain = 0.0
        root.visits = root.amaf_visits = 0
        root.first, root.count, root.opened = UNEXPANDED, 0, 0
        root.mover, root.proven, root.action, root.prior = NO_PLAYER, UNKNOWN, -1, 1.0
        work.simulation = 0
        work.seen[:] = 0
        work.mast_visits[:] = 0
        work.mast_value[:] = 0.0

    @kernel
    def wins_at_once(states, s, action, work):
        """Tell whether `action` wins in `s` for the player to move; spoils the spare position."""
        mover = player(s)
        states[SPARE] = s
        spare = states[SPARE]
        step(spare, action)
        if is_terminal(spare):
            returns(spare, work.scores)
            return work.scores[mover] > 0
        return False

    @kernel
    def lets_win(states, s, action, work):
        """Tell whether the next player could win at once after `action` in `s`."""
        mover = player(s)
        states[SPARE] = s
        spare = states[SPARE]
        step(spare, action)
        if is_terminal(spare) or player(spare) == mover:
            return False
        n = legal_actions(spare, work.replies)
        for k in range(n):
            if k > 0:
                states[SPARE] = s
                step(spare, action)
            replier = player(spare)
            step(spare, work.replies[k])
            if is_terminal(spare):
                returns(spare, work.scores)
                if work.scores[replier] > 0:
                    return True
        return False

    @kernel
    def candidates(states, s, work):
        """List the actions worth a child: all legal ones, less those the decisive rules exclude."""
        n = legal_actions(s, work.legal)
        if decisive:
            for k in range(n):
                if wins_at_once(states, s, work.legal[k], work):
                    work.legal[0] = work.legal[k]
                    return 1
            if anti:
                kept = 0
                for k in range(n):
                    if not lets_win(states, s, work.legal[k], work):
                        work.legal[kept] = work.legal[k]
                        kept += 1
                return kept if kept > 0 else legal_actions(s, work.legal)
        return n

    @kernel
    def expand(nodes, size, node, states, s, work):
        """Give `node` its children and return the tree's new size, the old one if it is full."""
        n = candidates(states, s, work)
        if size + n > len(nodes):
            return size
        mover = player(s)
        for k in range(n):
            child = nodes[size + k]
            child.value = child.square = child.amaf_value = child.gain = 0.0
            child.visits = child.amaf_visits = 0
            child.first, child.count, child.opened = UNEXPANDED, 0, 0
            child.prior = np.float32(1.0 / n)
            child.action = work.legal[k]
            child.mover, child.proven = mover, UNKNOWN
        nodes[node].first, nodes[node].count, nodes[node].opened = size, n, 0
        return size + n

    @kernel
    def open_child(nodes, node, work):
        """Choose a child without visits at random and move it to the end of the opened ones.

        With AMAF statistics the one they favor is chosen, so far as they know any.
        """
        parent = nodes[node]
        chosen = parent.opened + below(work.rng, parent.count - parent.opened)
        if amaf:
            best = -1.0
            for k in range(parent.opened, parent.count):
                child = nodes[parent.first + k]
                if child.amaf_visits > 0 and child.amaf_value / child.amaf_visits > best:
                    best = child.amaf_value / child.amaf_visits
                    chosen = k
        at, last = parent.first + chosen, parent.first + parent.opened
        if at != last:
            # Neither has visits or children: what differs is these fields alone.
            a, b = nodes[at], nodes[last]
            a.action, b.action = b.action, a.action
            a.prior, b.prior = b.prior, a.prior
            a.amaf_visits, b.amaf_visits = b.amaf_visits, a.amaf_visits
            a.amaf_value, b.amaf_value = b.amaf_value, a.amaf_value
        parent.opened += 1
        return last

    @kernel
    def mixed_mean(nodes, child, reference, work, settings):
        """Mean of a child with visits, mixed with its AMAF mean.

        "amaf": alpha-AMAF, Helmbold and Parker-Wood, 2009. "rave": Gelly and Silver, 2011, section
        4.3, with the weight of Silver's thesis, 2009, eq. 8.25. "grave": the same with statistics of
        an ancestor, Cazenave, "Generalized rapid action value estimation", 2015.
        """
        mean = child.value / child.visits
        visits, value = child.amaf_visits, child.amaf_value
        if grave and reference != UNEXPANDED:
            slot = work.reference[child.action]
            if slot >= 0:
                visits, value = nodes[slot].amaf_visits, nodes[slot].amaf_value
        if visits == 0:
            return mean
        if constant:
            weight = settings.amaf_weight
        else:
            bias = settings.amaf_weight
            weight = visits / (visits + child.visits + 4.0 * bias * bias * visits * child.visits)
        return (1 - weight) * mean + weight * value / visits

    @kernel
    def choose(nodes, node, reference, work, settings):
        """Return the child to visit; `work.chance` gets the probability it was drawn with."""
        parent = nodes[node]
        opened = parent.opened
        work.drawn = 1.0
        unopened = opened < parent.count
        if unopened and (opened == 0 or settings.fpu == math.inf):
            return open_child(nodes, node, work)
        t = max(parent.visits, 1)
        log_t = math.log(t)
        top_mean, top_variance = -1.0, 0.0
        if policy_needs_best:
            for child_index in range(parent.first, parent.first + opened):
                child = nodes[child_index]
                mean = child.value / child.visits
                if mean > top_mean:
                    top_mean, top_variance = mean, smoothed_variance(child) / child.visits
        best, best_score, total = -1, -math.inf, 0.0
        for child_index in range(parent.first, parent.first + opened):
            child = nodes[child_index]
            if solver and child.proven == LOSS:
                work.weights[child_index - parent.first] = -math.inf if importance else 0.0
                continue
            mean = child.value / child.visits
            if amaf:
                mean = mixed_mean(nodes, child, reference, work, settings)
            points = score(
                child, mean, t, log_t, parent.count, (top_mean, top_variance), settings.c, work.rng
            )
            if draws:
                work.weights[child_index - parent.first] = points
                total += points
            if points > best_score:
                best, best_score = child_index, points
        if unopened and (best < 0 or settings.fpu >= best_score):
            return open_child(nodes, node, work)
        if best < 0:
            return parent.first + below(work.rng, opened)
        if draws:
            return draw_child(parent, opened, best, best_score, total, work, settings)
        return best

    @kernel
    def draw_child(parent, opened, best, best_score, total, work, settings):
        """Draw a child with probability proportional to its weight."""
        if importance:
            # The weights are exponents of EXP3's: shifted, so that the largest becomes 1.
            total = 0.0
            for k in range(opened):
                work.weights[k] = math.exp(work.weights[k] - best_score)
                total += work.weights[k]
            mix = settings.c[0]
            for k in range(opened):
                work.weights[k] = (1 - mix) * work.weights[k] / total + mix / opened
            total = 1.0
        if not total > 0.0:
            return best
        left = unit(work.rng) * total
        for k in range(opened):
            left -= work.weights[k]
            if left <= 0 and work.weights[k] > 0:
                work.drawn = work.weights[k] / total
                return parent.first + k
        return best

    @kernel
    def playout_action(states, s, n, work, settings):
        """Choose among `work.legal[:n]` in a playout."""
        if decisive:
            for k in range(n):
                if wins_at_once(states, s, work.legal[k], work):
                    return int(work.legal[k])
        if not mast:
            return int(work.legal[below(work.rng, n)])
        mover = player(s)
        if gibbs:
            total = 0.0
            for k in range(n):
                action = work.legal[k]
                visits = work.mast_visits[mover, action]
                mean = work.mast_value[mover, action] / visits if visits > 0 else 0.5
                work.weights[k] = math.exp(mean / settings.mast_parameter)
                total += work.weights[k]
            left = unit(work.rng) * total
            for k in range(n):
                left -= work.weights[k]
                if left <= 0:
                    return int(work.legal[k])
            return int(work.legal[n - 1])
        if unit(work.rng) <= settings.mast_parameter:
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
    def note(work, plies, s, action):
        """Remember a move of this simulation, for AMAF and MAST."""
        if logged:
            work.player[plies] = player(s)
            work.played[plies] = action

    @kernel
    def to_scores(s, work):
        """Write every player's score in [0, 1]; a game cut short counts as a draw."""
        returns(s, work.scores)
        for p in range(players):
            x = work.scores[p]
            if draw_is_loss:
                work.scores[p] = 1.0 if x > 0 else 0.0
            else:
                work.scores[p] = 0.5 + 0.5 * x

    @kernel
    def proven_score(proven):
        if draw_is_loss:
            return 1.0 if proven == WIN else 0.0
        return 1.0 if proven == WIN else (0.5 if proven == DRAW else 0.0)

    @kernel
    def prove(nodes, node):
        """Draw conclusions for `node` from its children's proofs; tell whether there is one.

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
    def update_amaf(nodes, work, depth, plies):
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
    def remember_reference(nodes, node, work):
        """Find the children of the GRAVE ancestor by their actions."""
        for action in range(num_actions):
            work.reference[action] = -1
        for k in range(nodes[node].first, nodes[node].first + nodes[node].count):
            work.reference[nodes[k].action] = k

    @kernel
    def search(nodes, size, states, work, settings, simulations):
        if size == 0:
            start_tree(nodes, work)
            size = 1
        s = states[PLAYED]
        for _ in range(simulations):
            if solver and nodes[ROOT].proven != UNKNOWN:
                break
            states[PLAYED] = states[START]
            if has_chance:
                s.rng[0] = next_u64(work.rng)
            node, depth, plies, reference = ROOT, 0, 0, UNEXPANDED
            work.path[0] = ROOT
            # Select and expand.
            while True:
                if solver and nodes[node].proven != UNKNOWN:
                    break
                if nodes[node].first == UNEXPANDED:
                    if is_terminal(s) or (node != ROOT and nodes[node].visits == 0):
                        break
                    grown = expand(nodes, size, node, states, s, work)
                    if grown == size:
                        break
                    size = grown
                if grave and nodes[node].visits > settings.grave_reference:
                    reference = node
                    remember_reference(nodes, node, work)
                node = choose(nodes, node, reference, work, settings)
                action = nodes[node].action
                note(work, plies, s, action)
                step(s, action)
                depth += 1
                plies += 1
                work.path[depth] = node
                work.chance[depth] = work.drawn
            # Play out.
            if solver and nodes[node].proven != UNKNOWN:
                for p in range(players):
                    mine = p == nodes[node].mover
                    proven = nodes[node].proven
                    work.scores[p] = proven_score(proven if mine else WIN + LOSS - proven)
            else:
                over = is_terminal(s)
                if not over and fast_playout and settings.max_plies >= max_plies:
                    playout(s, work.legal, work.rng)
                elif not over:
                    cut = plies + settings.max_plies
                    while plies < cut and not over:
                        n = legal_actions(s, work.legal)
                        action = playout_action(states, s, n, work, settings)
                        note(work, plies, s, action)
                        step(s, action)
                        plies += 1
                        over = is_terminal(s)
                to_scores(s, work)
                if solver and over and plies == depth and node != ROOT:
                    returns(s, work.scores)
                    x = work.scores[nodes[node].mover]
                    nodes[node].proven = WIN if x > 0 else (LOSS if x < 0 else DRAW)
                    to_scores(s, work)
            # Back up.
            if amaf:
                update_amaf(nodes, work, depth, plies)
            if mast:
                for ply in range(plies):
                    p, action = work.player[ply], work.played[ply]
                    work.mast_visits[p, action] += 1
                    work.mast_value[p, action] += work.scores[p]
            nodes[ROOT].visits += 1
            for d in range(1, depth + 1):
                visited = nodes[work.path[d]]
                x = work.scores[visited.mover]
                visited.visits += 1
                visited.value += x
                visited.square += x * x
                if importance:
                    visited.gain += x / work.chance[d]
            if solver:
                for d in range(depth, 0, -1):
                    if nodes[work.path[d]].proven == UNKNOWN or not prove(nodes, work.path[d - 1]):
                        break
        return size

    return search

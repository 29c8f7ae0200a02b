"""Selection of a joint action: every player selects by the statistics of their own arms."""

import math
from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.exploration import make_exploration
from ludoteca.agents.search.playouts import make_move_record
from ludoteca.agents.search.select import UNVISITED, make_select
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel
from ludoteca.envs.rng import below

NO_ACTION = -1  # action of an inactive player
NO_NODE = -1  # instead of a reference node of GRAVE


@factory()
def make_selection(game: Game, config: SearchConfig) -> Callable[..., int]:
    """Return `select_joint_action(arms, node, reference, s, depth, work, params) -> joint`.

    It selects an action for every active player in `node`, whose position is `s`, increments the
    visits, and writes the actions to `work.path_actions[depth]` and `work.joint`. `joint` is the
    index of the joint action, see `ludoteca.agents.search.simultaneous.tree.NODE_FIELDS`;
    `reference` is the reference node of GRAVE, or `NO_NODE`. `arms`, `work` and `params` are those
    of `ludoteca.agents.search.simultaneous.search.search_kernel`.
    """
    legal_actions, players, num_actions = game.legal_actions, game.num_players, game.num_actions
    select = make_select(
        config.policy,
        config.amaf,
        simultaneous=True,
        scales_exploration=config.scales_exploration,
    )
    scales_exploration, uses_stdev = config.scales_exploration, config.exploration_stdev != ""
    _, _, scale_by_stdev = make_exploration(config)
    record, _, _ = make_move_record(game, config)
    amaf, grave = config.amaf != "", config.amaf == "grave"

    @kernel
    def select_joint_action(
        arms: Any, node: int, reference: int, s: Any, depth: int, work: Any, params: Any
    ) -> int:
        joint = 0
        for p in range(players):
            n = legal_actions(s, p, work.legal)
            action = NO_ACTION
            if n > 0:
                if grave:
                    set_reference(arms, reference, p, work)
                if scales_exploration:
                    write_exploration(arms[node, p], n, p, depth == 0, work)
                action = choose(arms[node, p], n, work, params)
                arms[node, p, action].visits += 1
                work.probabilities[depth, p] = work.probability
            record(work, p, action)
            work.path_actions[depth, p] = action
            work.joint[p] = max(action, 0)
            joint = joint * num_actions + max(action, 0)
        return joint

    @kernel
    def set_reference(arms: Any, reference: int, p: int, work: Any) -> None:
        """Copy the AMAF statistics of a player in the reference node of GRAVE."""
        for action in range(num_actions):
            work.reference_visits[action] = -1
            if reference != NO_NODE:
                work.reference_visits[action] = arms[reference, p, action].amaf_visits
                work.reference_value[action] = arms[reference, p, action].amaf_value

    @kernel
    def write_exploration(arms: Any, n: int, p: int, is_root: bool, work: Any) -> None:
        """Write the exploration factor of a player in a node to `work.exploration`."""
        visits, value, square = 0, 0.0, 0.0
        if uses_stdev:
            for k in range(n):
                arm = arms[work.legal[k]]
                visits += arm.visits
                value += arm.value
                square += arm.square
        scale_by_stdev(visits, value, square, p, is_root, work)

    @kernel
    def choose(arms: Any, n: int, work: Any, params: Any) -> int:
        """Choose among `work.legal[:n]`; write the action's probability to `work.probability`."""
        visits, unvisited, unvisited_action, best = 0, 0, NO_ACTION, -1.0
        for k in range(n):
            arm = arms[work.legal[k]]
            visits += arm.visits
            if arm.visits == 0:
                unvisited += 1
                if below(work.rng, unvisited) == 0 and best < 0:  # reservoir sampling
                    unvisited_action = work.legal[k]
                # If there are AMAF statistics: the action of the highest AMAF mean.
                if amaf and arm.amaf_visits > 0 and arm.amaf_value / arm.amaf_visits > best:
                    best = arm.amaf_value / arm.amaf_visits
                    unvisited_action = work.legal[k]
        if visits == 0:  # the first visit of the node: uniform priors of the legal actions
            for k in range(n):
                arms[work.legal[k]].prior = 1.0 / n
        if visits > 0 and not (unvisited > 0 and params.fpu == math.inf):
            k = select(arms, work.legal, n, unvisited, visits, n, params, work)
            if k != UNVISITED:
                return int(work.legal[k])
        work.probability = 1.0
        return int(unvisited_action)

    return select_joint_action

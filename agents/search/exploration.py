"""Exploration factor: a multiplier of the exploration term by time, depth and standard deviation.

A policy with an exploration term has the score mean + term; with the factor f it is mean + f term,
so its exploration constant C becomes f C (and alpha of UCB1, which is under the root, f^2 alpha).
The factor is the product of

    schedule    final + (1 - final) (1 - i / N)^exponent in simulation i = 0, 1, ... of N. Linear,
                with final = 0: Ruijl, Vermaseren, Plaat and van den Herik, "Combining simulated
                annealing and Monte Carlo tree search for expression simplification" (ICAART 2014),
                who call it SA-UCT. After N simulations: `final`.
    depth       depth_decay^d in nodes d plies below the root
    stdev       2 s, where s is the standard deviation of the scores of all simulations through the
                node, or the root, with one win and one loss added; 1 for the largest deviation of
                scores in [0, 1]. Schmoecker, Schnell and Dockhorn, "Investigating scale independent
                UCT exploration factor strategies" (2025), compare such factors and recommend 2 s,
                with s of all means of the tree.

UCB1-Tuned and UCB-V (`policies.py`) use the variance of each arm instead, not that of the node.
"""

import math
from collections.abc import Callable
from typing import Any

from ludoteca.agents.search.config import SearchConfig
from ludoteca.envs.jit import factory, kernel


@factory()
def make_exploration(config: SearchConfig) -> tuple[Callable[..., None], ...]:
    """Return the kernels of the exploration factor; without such options they do nothing.

    `begin(params, simulation, work)` sets the factor at the root; `simulation` is the number of
    simulations since the search was called. `params` is a record of `config.SEARCH_PARAMS`.

    `deepen(params, work)` sets the factor one ply deeper.

    `scale_by_stdev(visits, value, square, player, is_root, work)` writes the factor of a selection
    to `work.exploration`, given the visits, the sum of scores and the sum of squared scores in the
    node. `player` is the index in `work.root_stdev`: the player in simultaneous games, otherwise 0.
    """
    scheduled, by_depth = config.exploration_schedule, config.exploration_by_depth
    stdev, of_root = config.exploration_stdev != "", config.exploration_stdev == "root"
    enabled = config.scales_exploration

    @kernel
    def begin(params: Any, simulation: int, work: Any) -> None:
        if enabled:
            work.decay = 1.0
            if scheduled:
                done = (params.completed_simulations + simulation) / params.planned_simulations
                remaining = max(1.0 - done, 0.0) ** params.exploration_exponent
                work.decay = params.final_exploration + (1 - params.final_exploration) * remaining

    @kernel
    def deepen(params: Any, work: Any) -> None:
        if by_depth:
            work.decay *= params.depth_decay

    @kernel
    def scale_by_stdev(
        visits: int, value: float, square: float, player: int, is_root: bool, work: Any
    ) -> None:
        work.exploration = work.decay
        if stdev:
            mean = (value + 1) / (visits + 2)
            deviation = math.sqrt((square + 1) / (visits + 2) - mean * mean)
            if of_root:
                if is_root:
                    work.root_stdev[player] = deviation
                deviation = work.root_stdev[player]
            work.exploration *= 2 * deviation

    return begin, deepen, scale_by_stdev

"""Simulations of flat Monte Carlo that are played together, in games that have `Game.many`."""

from typing import Any

import numpy as np

from ludoteca.agents.playouts import playout_policy
from ludoteca.agents.random_ply import make_random_ply
from ludoteca.envs.game import MAX_TOGETHER, Game
from ludoteca.envs.jit import factory, kernel


def together_fields(game: Game, states: int) -> tuple[Any, ...]:
    """Return the fields of the workspace for each of so many states; none without `Game.many`."""
    if game.many is None:
        return ()
    return (
        ("running", np.uint8, (states,)),  # 1 if a simulation is played in the state, else 0
        ("plies", np.int32, (states,)),  # its number of plies
        ("first_actions", game.action_dtype, (states,)),  # its first action
    )


@factory()
def make_simulate_together(game: Game, playout: str, start: int, places: int) -> Any:
    """Return `simulate(states, seat, rng, work, finished, simulations, depth, n)`.

    It plays simulations from `states[start]` in the states from index `places` on, `MAX_TOGETHER`
    at once, and adds rewards and visits to `work`, whose first `n` entries of `first` are the legal
    actions of `seat`. See `ludoteca.agents.flat.simulate_kernel`.
    """
    assert game.many is not None
    begin, play, end = game.many
    is_terminal, returns = game.is_terminal, game.returns
    begin_ply = make_random_ply(game, playout_policy(playout, game), begin)

    @kernel
    def simulate(
        states: Any,
        seat: int,
        rng: Any,
        work: Any,
        finished: int,
        simulations: int,
        depth: int,
        n: int,
    ) -> None:
        last = places + min(simulations, MAX_TOGETHER)
        begun, num_running = 0, 0
        for k in range(len(work.running)):
            work.running[k] = 0
        while begun < simulations or num_running > 0:
            num_running = 0
            for k in range(places, last):
                s = states[k]
                if work.running[k]:
                    begin_ply(s, seat, -1, rng, work)
                elif begun < simulations:
                    states[k] = states[start]
                    first = work.first[(finished + begun) % n]
                    begun += 1
                    work.running[k] = 1
                    work.first_actions[k] = first
                    work.plies[k] = 0
                    begin_ply(s, seat, int(first), rng, work)
            play(states, work.running, places, last)
            for k in range(places, last):
                if work.running[k]:
                    s = states[k]
                    end(s)
                    work.plies[k] += 1
                    if is_terminal(s) or work.plies[k] >= depth:
                        returns(s, work.scores)
                        work.visits[work.first_actions[k]] += 1
                        work.total[work.first_actions[k]] += work.scores[seat]
                        work.running[k] = 0
                    else:
                        num_running += 1

    return simulate

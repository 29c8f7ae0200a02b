"""Probabilities of an agent's actions: exact where the agent knows them, else from samples."""

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.envs.params import integer
from ludoteca.envs.rng import next_u64

TOGETHER = 4096  # positions that an agent is asked about at once


def action_probabilities(
    agent: Agent,
    states: NDArray[np.void],
    seats: NDArray[np.int64],
    samples: int = 1,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Return with which probability an agent chooses each action.

    An agent that does not know its probabilities (see `Agent.action_probabilities`) is asked
    `samples` times for its action, with the same random streams in each position. So one sample is
    a deterministic policy, and what an agent with randomness of its own gets estimated is a
    policy near to its own.

    Args:
        agent: the agent. It must not need to see the moves before a position.
        states: positions in which the game is not over. Shape `[K]`.
        seats: whose action is wanted. Shape `[K]`.
        samples: how often an agent is asked that does not know its probabilities.
        seed: of the random streams.

    Returns:
        The probabilities, `[K, num_actions]`.

    Raises:
        ValueError: if `samples` is out of range, or an agent chooses what is no action of the game.
            An action that is illegal in a position has a probability above 0.
    """
    integer("samples", samples, 1, 10**6)
    found = np.zeros((len(states), agent.game.num_actions))
    together = min(TOGETHER, agent.max_games or TOGETHER)
    for begin in range(0, len(states), together):
        part = slice(begin, begin + together)
        known = agent.action_probabilities(states[part], seats[part])
        found[part] = _sampled(agent, states[part], seats[part], samples, seed, known)
    return found


def _sampled(
    agent: Agent,
    states: NDArray[np.void],
    seats: NDArray[np.int64],
    samples: int,
    seed: int,
    known: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    if known is not None:
        return known
    found = np.zeros((len(states), agent.game.num_actions))
    rows, stream = np.arange(len(states)), np.array([seed], np.uint64)
    for _ in range(samples):
        with np.errstate(over="ignore"):
            rngs = np.full((len(states), 1), next_u64(stream), np.uint64)
        agent.reset(rows)
        actions = agent.act(states, seats, rngs, rows)
        if actions.min() < 0 or actions.max() >= agent.game.num_actions:
            wrong = (actions < 0) | (actions >= agent.game.num_actions)
            raise ValueError(
                f"expected actions from 0 to {agent.game.num_actions - 1}, the agent chose "
                f"{np.unique(actions[wrong])}"
            )
        found[rows, actions] += 1 / samples
    return found

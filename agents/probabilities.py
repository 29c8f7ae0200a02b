"""Action probabilities of agents: exact if the agent returns them, otherwise estimated."""

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.envs.params import check_integer
from ludoteca.envs.rng import next_u64

BATCH_SIZE = 4096  # positions per call of an agent


def action_probabilities(
    agent: Agent,
    states: NDArray[np.void],
    seats: NDArray[np.int64],
    samples: int = 1,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Return the probability with which an agent chooses each action.

    For an agent that does not return its probabilities (see `Agent.action_probabilities`),
    `samples` actions per position are sampled, with the same random streams in each position, so
    that the result for a position does not depend on the other positions. One sample gives a
    deterministic policy; many samples estimate a stochastic one.

    Args:
        agent: the agent; its choice must depend only on the position and the random stream.
        states: unfinished positions. Shape `[K]`.
        seats: player to act in each position. Shape `[K]`.
        samples: samples per position, for agents that do not return their probabilities.
        seed: seed of the random streams.

    Returns:
        The probabilities, `[K, num_actions]`. Illegal actions that the agent chooses have a
        probability above 0, too.

    Raises:
        ValueError: if `samples` is out of range, or the agent's choice is not an action of the
            game, such as `ludoteca.envs.game.FORFEIT`.
    """
    check_integer("samples", samples, 1, 10**6)
    probabilities = np.zeros((len(states), agent.game.num_actions))
    batch_size = min(BATCH_SIZE, agent.max_games or BATCH_SIZE)
    for begin in range(0, len(states), batch_size):
        rows = slice(begin, begin + batch_size)
        exact = agent.action_probabilities(states[rows], seats[rows])
        probabilities[rows] = (
            _action_frequencies(agent, states[rows], seats[rows], samples, seed)
            if exact is None
            else exact
        )
    return probabilities


def _action_frequencies(
    agent: Agent,
    states: NDArray[np.void],
    seats: NDArray[np.int64],
    samples: int,
    seed: int,
) -> NDArray[np.float64]:
    """Return the share of each action in `samples` actions per position. `[K, num_actions]`."""
    frequencies = np.zeros((len(states), agent.game.num_actions))
    rows, stream = np.arange(len(states)), np.array([seed], np.uint64)
    for _ in range(samples):
        rngs = np.full((len(states), 1), next_u64(stream), np.uint64)
        agent.reset(rows)
        actions = agent.act(states, seats, rngs, rows)
        if actions.min() < 0 or actions.max() >= agent.game.num_actions:
            is_outside = (actions < 0) | (actions >= agent.game.num_actions)
            raise ValueError(
                f"expected actions from 0 to {agent.game.num_actions - 1}, the agent chose "
                f"{np.unique(actions[is_outside])}"
            )
        frequencies[rows, actions] += 1 / samples
    return frequencies

"""Value iteration for the exact action values of the grid world."""

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.grid_world import ACTIONS, CELLS, FREE, GridWorld, action_mask

MAX_SWEEPS = 100_000  # sweeps over all states before an error
TOLERANCE = 1e-12  # largest change of a value in a sweep at convergence


def optimal_q(world: GridWorld, gamma: float) -> NDArray[np.float64]:
    """Compute Q*, the optimal action values, by value iteration.

    Bellman's optimality equation as an assignment, from V = 0 until convergence:

        Q(s, a) <- sum over s' of P(s, a, s') (R(s, a, s') + gamma max over a' of Q(s', a'))

    Source: Russell and Norvig, "Artificial Intelligence: A Modern Approach", 3rd edition, section
    17.2, there in terms of V(s) = max over a of Q(s, a). The maximum is over legal actions.

    Args:
        world: environment, for its transitions and rewards.
        gamma: discount factor, 0 to 1.

    Returns:
        Q*, one row per cell and one column per action. Shape `[12, 4]`; NaN for illegal actions,
        and in cells without actions.

    Raises:
        ValueError: if the values do not converge: without a discount, a positive living reward
            has an infinite sum.
    """
    probabilities = np.zeros((len(CELLS), len(ACTIONS), len(CELLS)))
    rewards = np.full((len(CELLS), len(ACTIONS)), np.nan)  # expected rewards; NaN where illegal
    for cell in FREE:
        for action in np.flatnonzero(action_mask(cell)):
            rewards[cell, action] = 0.0
            for probability, next_cell, reward, _ in world.transitions(cell, int(action)):
                probabilities[cell, action, next_cell] += probability
                rewards[cell, action] += probability * reward
    free = np.array(FREE)
    values = np.zeros(len(CELLS))  # goal and trap are terminal and stay 0
    for _ in range(MAX_SWEEPS):
        q: NDArray[np.float64] = rewards + gamma * probabilities @ values
        best = np.nanmax(q[free], axis=1)
        converged = np.abs(best - values[free]).max() <= TOLERANCE
        values[free] = best
        if converged:
            return q
    raise ValueError(
        f"the values have not converged in {MAX_SWEEPS:,} sweeps with gamma={gamma:g}; "
        "a living reward above 0 needs a smaller gamma"
    )

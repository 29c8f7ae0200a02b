"""Bandit problems of the study: Auer's distributions, and problems as large as the games.

Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit problem" (2002),
section 4. The thesis in General Game Playing (Valencia, UAEMex, 2021), section 3.2, adds problems
with as many arms as games have moves, each arm with a random probability.
"""

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.bandits import random_problems

# Success probabilities by the number of the distribution in the paper.
AUER: dict[str, tuple[float, ...]] = {
    "1": (0.9, 0.6),
    "2": (0.9, 0.8),
    "3": (0.55, 0.45),
    "11": (0.9, *(9 * (0.6,))),
    "12": (0.9, *(3 * (0.8,)), *(3 * (0.7,)), *(3 * (0.6,))),
    "13": (0.9, *(9 * (0.8,))),
    "14": (0.55, *(9 * (0.45,))),
}
# Numbers of moves in the starting positions of the eight games of the thesis, of which two have 16.
GAME_ARMS = (2, 4, 10, 16, 25, 40, 49)
# Names of all problems: "auer-" and the name of a distribution, or "random-" and a number of arms.
PROBLEMS = (*(f"auer-{name}" for name in AUER), *(f"random-{arms}" for arms in GAME_ARMS))


def repeated_problem(name: str, repetitions: int, seed: int) -> NDArray[np.float64]:
    """Return the success probabilities of all repetitions of a problem, `[repetitions, K]`.

    A distribution of Auer is the same in each repetition; random problems are drawn anew.

    Args:
        name: a name in `PROBLEMS`.
        repetitions: number of repetitions.
        seed: seed of the random problems.
    """
    kind, _, rest = name.partition("-")
    if kind == "auer":
        return np.tile(AUER[rest], (repetitions, 1))
    return random_problems(repetitions, int(rest), seed)

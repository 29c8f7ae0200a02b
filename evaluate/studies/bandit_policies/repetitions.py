"""Repetitions of a policy in all problems.

The command is `python -m ludoteca.evaluate.studies.bandit_policies.repetitions`.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray

from ludoteca.agents.search.options import parse_nested
from ludoteca.agents.search.policies import POLICIES
from ludoteca.envs.clock import clock
from ludoteca.envs.params import check_choice, check_integer
from ludoteca.evaluate.bandits import bandit_curves
from ludoteca.evaluate.studies.bandit_policies.problems import PROBLEMS, repeated_problem
from ludoteca.files import write_atomically
from ludoteca.provenance import run_provenance


def repeat_policy(
    out: Path,
    policy: str,
    problems: tuple[str, ...] = PROBLEMS,
    repetitions: int = 100,
    random_repetitions: int = 100,
    rounds: int = 100_000,
    seed: int = 1,
) -> dict[str, Any]:
    """Play bandits with a policy, and write its regret and its share of pulls of the best arm.

    Args:
        out: the JSON file to write.
        policy: selection policy, such as ucb_tuned or ucb1:alpha=0.5.
        problems: names of the problems.
        repetitions: repetitions of each of Auer's distributions, with other random numbers.
        random_repetitions: number of random problems with each number of arms.
        rounds: number of pulls in each repetition.
        seed: seed of all random numbers.
    """
    check_integer("repetitions", repetitions, 2, 10**6)
    check_integer("random_repetitions", random_repetitions, 2, 10**6)
    for problem in problems:
        check_choice("problems", problem, PROBLEMS)
    name = check_choice("policy", policy.partition(":")[0], tuple(POLICIES))
    params = parse_nested("policy", policy, POLICIES[name].params)[1]
    at, start, results = checkpoints(rounds), clock(), dict[str, Any]()
    for problem in problems:
        count = repetitions if problem.startswith("auer") else random_repetitions
        curves = bandit_curves(
            name, repeated_problem(problem, count, seed), rounds, params=params, seed=seed,
            checkpoints=at,
        )  # fmt: skip
        results[problem] = {
            "regret": summary(curves.regrets), "share": summary(curves.shares),
        }  # fmt: skip
    content: dict[str, Any] = {"policy": policy, "checkpoints": at, "problems": results}
    content |= {"seconds": clock() - start, **run_provenance()}
    write_atomically(out, json.dumps(content) + "\n")
    return content


def checkpoints(rounds: int) -> list[int]:
    """Return numbers of rounds from about 10 to `rounds`, four for each factor of 10."""
    count = math.ceil(4 * math.log10(rounds))
    return sorted({round(rounds / 10 ** (k / 4)) for k in range(count - 3)} | {rounds})


def summary(values: NDArray[np.float64]) -> dict[str, list[float]]:
    """Return the mean over the repetitions and its standard error after each checkpoint."""
    errors = values.std(axis=0, ddof=1) / math.sqrt(len(values))
    return {
        "mean": [float(f"{x:.6g}") for x in values.mean(axis=0)],
        "error": [float(f"{x:.3g}") for x in errors],
    }


if __name__ == "__main__":
    tyro.cli(repeat_policy)

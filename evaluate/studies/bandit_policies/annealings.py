"""Cooling schedules of simulated annealing, compared by the constants of UCB1 that they find.

The command is `python -m ludoteca.evaluate.studies.bandit_policies.annealings`.
"""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import tyro

from ludoteca.envs.clock import clock
from ludoteca.envs.params import check_choice, check_integer
from ludoteca.evaluate.bandits import play_bandits, random_problems
from ludoteca.evaluate.tuning.annealing import COOLING, DEFAULT_COOLING, annealing
from ludoteca.files import write_atomically
from ludoteca.provenance import run_provenance


def anneal(
    out: Path,
    cooling: str = DEFAULT_COOLING,
    arms: tuple[int, ...] = (2, 10, 100),
    searches: int = 20,
    steps: int = 40,
    problems: int = 20,
    rounds: int = 5_000,
    seed: int = 1,
) -> dict[str, Any]:
    """Search for the constant of UCB1 with the lowest regret, and write what each search found.

    Args:
        out: the JSON file to write.
        cooling: cooling schedule: geometric, logarithmic, linear or arithmetic_geometric.
        arms: numbers of arms of the problems.
        searches: searches for each number of arms; the first value of a search does not depend on
            the schedule.
        steps: steps of each search.
        problems: random problems that evaluate a constant, the same in all searches.
        rounds: number of pulls in each problem.
        seed: seed of all random numbers.
    """
    check_choice("cooling", cooling, tuple(COOLING))
    check_integer("searches", searches, 2, 10**6)
    start, found = clock(), dict[str, list[dict[str, float]]]()
    for k in arms:
        bandits = random_problems(problems, k, seed)
        found[str(k)] = []
        for number in range(searches):
            search = annealing(steps, [seed, k, number], COOLING[cooling]())
            tried, alpha = list[tuple[float, float]](), next(search)
            with suppress(StopIteration):
                while True:
                    regrets = play_bandits(
                        "ucb1", bandits, rounds, params={"alpha": alpha}, seed=seed
                    )
                    tried.append((float(regrets.mean()), alpha))
                    alpha = search.send(tried[-1][0])
            regret, alpha = min(tried)
            found[str(k)].append({"alpha": alpha, "regret": regret})
    content = {"cooling": cooling, "found": found, "seconds": clock() - start}
    content |= run_provenance()
    write_atomically(out, json.dumps(content) + "\n")
    return content


if __name__ == "__main__":
    tyro.cli(anneal)

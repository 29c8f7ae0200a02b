"""Study of softmax playouts trained by simulation balancing and by maximum likelihood.

Silver and Tesauro, "Monte-Carlo simulation balancing" (ICML 2009), train playouts of Go on small
boards whose mean results are the values of positions; Huang, Coulom and Lin, "Monte-Carlo
simulation balancing in practice" (2010), find them stronger in tree search than playouts trained by
maximum likelihood. Here the game is Breakthrough 6x6, and the values are those of tree search.
"""

from typing import Any

from ludoteca.evaluate.statistics.differences import mean_interval
from ludoteca.evaluate.studies.amaf.study import is_better, score
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.study import Records, Study, Task

GAME, SEEDS = "breakthrough", (1, 2, 3)
METHODS = {"balancing": "simulation balancing", "likelihood": "maximum likelihood"}
BUDGETS = {"simulations": "equal simulations", "cpu_time": "equal CPU time"}
SIMULATIONS, GAMES_PER_MATCH = 200, 300


def make_study(fast: bool = False) -> Study:
    """Return the study.

    Args:
        fast: train with few positions and play matches of 10 games, to check that everything runs.
    """
    training = {"positions": 300, "test_positions": 100, "epochs": 10, "search_simulations": 1500}
    if fast:
        training = {"positions": 10, "test_positions": 5, "epochs": 1, "search_simulations": 50}
    matches = {"simulations": SIMULATIONS, "games": 10 if fast else GAMES_PER_MATCH}
    trainings, plays = dict[str, Task](), dict[str, Task]()
    for seed in SEEDS:
        name, settings = f"training-{seed}", {"methods": tuple(METHODS), "seed": seed, **training}
        trainings[name] = Task(
            name, "ludoteca.train.playout_policy", {**settings, "run_dir": f"{{folder}}/{name}"},
            {"game": GAME, **settings}, positional_arguments=(GAME,),
            record_keys=("test", "weights", "about", "versions"), label=f"seed {seed}",
        )  # fmt: skip
        options = {"game": GAME, **matches, "seed": seed}
        files = tuple(f"{{folder}}/{name}/{method}.safetensors" for method in METHODS)
        plays[f"matches-{seed}"] = Task(
            f"matches-{seed}", "ludoteca.evaluate.studies.playout_policy.matches",
            {**options, "weights": files, "out": "{artifact}"}, options, requires=(name,),
            label=f"seed {seed}",
        )  # fmt: skip
    names = {
        "training": training, "simulations": SIMULATIONS, "games": matches["games"],
        "methods": METHODS, "budgets": BUDGETS, "is_better": is_better, "cells": cells,
        "over_seeds": over_seeds,
    }  # fmt: skip
    return Study("playout_policy", {"training": trainings, "matches": plays}, names, fast=fast)


def cells(records: Records, method: str, budget: str) -> list[dict[str, Any]]:
    """Return the matches of a method with a budget, one of each seed."""
    return [
        each
        for record in records.values()
        for each in record["cells"]
        if (each["method"], each["budget"]) == (method, budget)
    ]


def over_seeds(matches: list[dict[str, Any]]) -> tuple[float, float, float, str]:
    """Return the mean score of matches with different seeds, its 95 % interval, and a verdict.

    The interval is Student's over the seeds of training. The verdict is "helps" or "harms" if it
    excludes one half, otherwise "inconclusive".
    """
    mean, low, high = mean_interval([score(each) for each in matches])
    return mean, low, high, "helps" if low > 0.5 else "harms" if high < 0.5 else "inconclusive"


reproduce = study_command(make_study, "Train softmax playouts and compare them with uniform ones.")

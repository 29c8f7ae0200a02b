"""Recorder of statistics by other libraries: rliable, arch, and OpenSpiel with cvxpy.

Run it in a virtual environment of its own: rliable needs pandas older than 3, and all of them
install half a gigabyte of packages that nothing else here needs. `make statistics-oracle` does:

    python -m venv .venv-statistics
    .venv-statistics/bin/pip install rliable==1.2.0 'pandas<3' cvxpy==1.9.3 networkx open_spiel
    .venv-statistics/bin/python tests/oracles/record_statistics.py

The file has the versions, the number of resamples of all intervals, and three lists, each with the
inputs and the results of the other libraries:

- `comparisons`: scores of two groups of training runs, `[runs, tasks]`; each aggregate of the
  first group, and the probability of improvement over the second, as value, low and high end of
  the 95 % interval, by rliable;
- `single_tasks`: scores of runs in one task, `[runs]`, and value, low and high of their mean, by
  arch;
- `rankings`: advantages of agents over each other, `[agents, agents]`; Nash averaging and
  alpha-rank with infinite alpha, by OpenSpiel, and alpha-rank with finite alpha.
"""

import argparse
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
from arch.bootstrap import IIDBootstrap
from open_spiel.python.algorithms import nash_averaging
from open_spiel.python.egt import alpharank
from rliable import library, metrics

ROOT = Path(__file__).parents[2]
OUT = ROOT / "evaluate/studies/statistics/libraries.json"
TOURNAMENT = "docs/results/ggp_extended/policies"  # tournament of seventeen selection policies
RESAMPLES = 1_000
AGGREGATES = {
    "interquartile mean": metrics.aggregate_iqm,
    "median": metrics.aggregate_median,
    "mean": metrics.aggregate_mean,
    "optimality gap": metrics.aggregate_optimality_gap,
}
CYCLE = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])  # rock, paper, scissors
ALPHA, POPULATION = 3.0, 20  # of alpha-rank with finite alpha


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=OUT)
    out = parser.parse_args().out
    rng = np.random.default_rng(0)
    content = {
        "versions": {
            name: version(name) for name in ("rliable", "arch", "open-spiel", "cvxpy", "numpy")
        },
        "resamples": RESAMPLES,
        "comparisons": [
            # Some scores are above 1, where the optimality gap ends.
            comparison(rng.uniform(0, 1.3, (7, 5)), rng.uniform(0, 1.1, (4, 5))),
            comparison(rng.uniform(0, 1, (10, 3)), rng.uniform(0, 1, (10, 3))),
            # Rounded scores have ties.
            comparison(rng.beta(6, 3, (20, 4)).round(1), rng.beta(6, 4, (20, 4)).round(1)),
        ],
        "single_tasks": [single_task(rng.uniform(0, 1, runs)) for runs in (5, 10, 30)],
        "rankings": [
            ranking("rock, paper, scissors", CYCLE),
            ranking("with copies", copies(CYCLE, [1, 2, 3])),
            ranking("equal agents", np.zeros((4, 4))),
            *(ranking("random", random_advantages(rng, 6)) for _ in range(4)),
            *(ranking("with ties", (2 * random_advantages(rng, 5)).round() / 2) for _ in range(4)),
            ranking(TOURNAMENT, *tournament(ROOT / TOURNAMENT / "results.json")),
        ],
    }
    out.write_text(json.dumps(content) + "\n", encoding="utf-8")


def comparison(first: np.ndarray, second: np.ndarray) -> dict[str, Any]:
    """Return the aggregates of a group, and its probability of improvement over another one."""

    def estimate(function: Any, scores: Any) -> list[float]:
        values, intervals = library.get_interval_estimates(
            {"first": scores}, lambda *arrays: np.array([function(*arrays)]), reps=RESAMPLES
        )
        return [float(x) for x in (values["first"][0], *intervals["first"][:, 0])]

    estimates = {name: estimate(function, first) for name, function in AGGREGATES.items()}
    improved = estimate(metrics.probability_of_improvement, (first, second))
    return {
        "first": first.tolist(),
        "second": second.tolist(),
        "estimates": estimates | {"probability of improvement": improved},
    }


def single_task(scores: np.ndarray) -> dict[str, Any]:
    """Return the mean of the scores of one task with its percentile interval by arch."""
    interval = IIDBootstrap(scores, seed=1).conf_int(np.mean, RESAMPLES, method="percentile")
    return {"scores": scores.tolist(), "mean": [float(scores.mean()), *interval.ravel().tolist()]}


def ranking(name: str, advantages: np.ndarray, agents: Any = None) -> dict[str, Any]:
    """Return OpenSpiel's Nash averaging and alpha-rank of agents."""
    game = pyspiel.create_matrix_game(advantages.tolist(), (-advantages).tolist())
    probabilities, ratings = nash_averaging.nash_averaging(game)
    infinite = alpharank.compute([advantages], use_inf_alpha=True, inf_alpha_eps=0.01)[2]
    finite = alpharank.compute([advantages], m=POPULATION, alpha=ALPHA)[2]
    return {
        "name": name,
        "agents": list(agents or map(str, range(len(advantages)))),
        "advantages": advantages.tolist(),
        "probabilities": probabilities.ravel().tolist(),
        "ratings": ratings.ravel().tolist(),
        "alpha_rank": infinite.tolist(),
        "finite": {"alpha": ALPHA, "population": POPULATION},
        "finite_alpha_rank": finite.tolist(),
    }


def copies(advantages: np.ndarray, numbers: list[int]) -> np.ndarray:
    """Return the advantages of `numbers[a]` copies of each agent a."""
    rows = np.repeat(np.arange(len(advantages)), numbers)
    return advantages[np.ix_(rows, rows)]


def random_advantages(rng: np.random.Generator, agents: int) -> np.ndarray:
    """Return random advantages of agents over each other, antisymmetric, `[agents, agents]`."""
    upper = np.triu(rng.uniform(-1, 1, (agents, agents)), 1)
    return upper - upper.T


def tournament(file: Path) -> tuple[np.ndarray, list[str]]:
    """Return the wins minus losses per game of a tournament's agents, and their names."""
    content = json.loads(file.read_text(encoding="utf-8"))
    names = content["tournament"]["names"]
    wins, games = np.zeros((len(names), len(names))), 0
    for pair in content["pairs"]:
        a, b = (names.index(pair[key]) for key in ("agent_a", "agent_b"))
        wins[a, b] += pair["wins_a"]
        wins[b, a] += pair["wins_b"]
        games = max(games, pair["games"])
    return (wins - wins.T) / (games * len(content["tournament"]["games"])), names


if __name__ == "__main__":
    main()

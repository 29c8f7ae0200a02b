"""Benchmark of self-play actors and their learner, with a simulation of larger clusters.

`python -m ludoteca.train.throughput` measures the costs of rollout parts (the games of one actor),
updates and messages, and games per second with one and two actors. With these costs, a simulation
estimates the games per second of more actors, and the bottleneck: actors, the learner, the work for
both in the driver (the process of the learner), the driver's network, its object store, or the
replay buffer.
"""

import itertools
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

import tyro
from rich.console import Console

from ludoteca.envs.params import check_integer, check_real
from ludoteca.executor import LOCAL
from ludoteca.files import write_atomically
from ludoteca.provenance import run_info
from ludoteca.train.command import run_command
from ludoteca.train.equivalent_command import with_settings
from ludoteca.train.throughput.measure import bench_config, measure_costs, measure_throughput
from ludoteca.train.throughput.report import (
    MEASURED,
    SIMULATED,
    cost_rows,
    describe,
    measured_rows,
    simulated_rows,
    terminal_table,
)
from ludoteca.train.throughput.simulation import Cluster, Costs, simulate

NAME = "ludoteca.train.throughput"
SIMULATED_ITERATIONS = 30  # iterations of each simulated run


def main(
    algorithm: Literal["alphazero", "dqn", "ppo"] = "alphazero",
    game: str = "connect4",
    executor: str = "local",
    games_per_part: int = 16,
    parts: int = 4,
    iterations: int = 6,
    measured: tuple[int, ...] = (1, 2),
    simulated: tuple[int, ...] = (1, 2, 4, 16, 64, 256, 1000),
    learner_speeds: tuple[float, ...] = (1, 100),
    max_staleness: int = 2,
    per_node: int = 16,
    gigabits: float = 10.0,
    store_gigabytes: float = 10.0,
    settings: tuple[str, ...] = (),
    costs: Path | None = None,
    json_file: Path | None = None,
    page: Path | None = None,
) -> dict[str, Any]:
    """Measure and simulate throughput, print tables, and return all numbers.

    Args:
        algorithm: learning algorithm.
        game: spec string of the game.
        executor: executor of the actors: local, ray, or ray:ADDRESS.
        games_per_part: games of each actor in each rollout.
        parts: number of rollout parts played to measure costs.
        iterations: iterations of each measurement of throughput.
        measured: numbers of actors to measure.
        simulated: numbers of actors to simulate.
        learner_speeds: speeds of the simulated learner, as multiples of the measured speed.
        max_staleness: number of rollouts that actors may be ahead of the learner.
        per_node: simulated actors on each machine.
        gigabits: bandwidth of the simulated driver's network, in Gbit/s.
        store_gigabytes: size of the simulated object store, in GB.
        settings: settings of the algorithm other than its defaults, as NAME=VALUE.
        costs: JSON file of an earlier run, whose measurements are used instead of new ones.
        json_file: file for all numbers, as JSON.
        page: file for the results, as Markdown.
    """
    for name, value in (
        ("games_per_part", games_per_part),
        ("parts", parts),
        ("iterations", iterations),
    ):
        check_integer(name, value, 1, 10**6)
    for speed in learner_speeds:
        check_real("learner_speeds", speed, 1e-6, 1e9)
    check_integer("per_node", per_node, 1, 10**6)
    check_integer("max_staleness", max_staleness, 1, 10**6)
    check_real("gigabits", gigabits, 1e-6, 1e9)
    check_real("store_gigabytes", store_gigabytes, 1e-6, 1e9)
    if costs is not None:
        results: dict[str, Any] = json.loads(costs.read_text())
        measured_costs = Costs(
            **results["costs"] | {"part_seconds": tuple(results["costs"]["part_seconds"])}
        )
    else:
        config = with_settings(
            bench_config(algorithm, game, games_per_part), settings, f"python -m {NAME}"
        )
        results = {"algorithm": algorithm, "game": game, "executor": executor}
        results["about"] = run_info()
        measured_costs, results["messages"] = measure_costs(algorithm, config, executor, parts)
        results["costs"] = asdict(measured_costs)
        # With one local worker, this process plays.
        results["measured"] = [
            measure_throughput(algorithm, config, executor, actors, staleness, iterations)
            for actors in measured
            if actors > 1 or executor != LOCAL
            for staleness in (0, max_staleness)
        ]
    hardware = {
        "max_staleness": max_staleness,
        "per_node": per_node,
        "bandwidth": gigabits * 1e9 / 8,
        "store": store_gigabytes * 1e9,
    }
    predicted = []
    for speed, actors in itertools.product(learner_speeds, simulated):
        faster = replace(measured_costs, update_seconds=measured_costs.update_seconds / speed)
        cluster = Cluster(
            actors,
            max_staleness,
            per_node,
            hardware["bandwidth"],
            hardware["store"],
            results["messages"]["buffer_positions"] or float("inf"),
        )
        result = simulate(faster, cluster, SIMULATED_ITERATIONS)
        predicted.append({"actors": actors, "learner_speed": speed} | asdict(result))
    results |= {"cluster": hardware, "simulated": predicted}
    console = Console(highlight=False)
    console.print(terminal_table(("cost", "measured"), cost_rows(results), "costs"))
    console.print(
        terminal_table(MEASURED, measured_rows(results), "measured, games learned from per second")
    )
    console.print(terminal_table(SIMULATED, simulated_rows(results), "simulated"))
    if json_file is not None:
        write_atomically(json_file, json.dumps(results, indent=2) + "\n")
    if page is not None:
        write_atomically(page, describe(results))
    return results


if __name__ == "__main__":
    run_command(NAME, lambda: tyro.cli(main, prog=f"python -m {NAME}", description=__doc__))

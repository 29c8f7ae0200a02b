"""Benchmark of self-play actors and their learner, with a simulation of larger clusters.

`python -m ludoteca.train.throughput` measures the costs of rollout parts, updates and messages,
and games per second with one and two actors. With these costs, a simulation estimates the games per
second of more actors, and the bottleneck: actors, the learner, the driver's work for them, its
network, the object store, or the replay buffer.
"""

import itertools
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

import tyro
from rich.console import Console

from ludoteca.envs.params import integer, real
from ludoteca.executor import LOCAL
from ludoteca.files import write_whole
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
    show,
    simulated_rows,
)
from ludoteca.train.throughput.simulation import Cluster, Costs, simulate

NAME = "ludoteca.train.throughput"


def main(
    algorithm: Literal["alphazero", "dqn", "actor-critic"] = "alphazero",
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
    """Measure and simulate throughput, and print tables.

    Args:
        algorithm: learning algorithm.
        game: as a spec string.
        executor: executor of the actors: local, ray, or ray:ADDRESS.
        games_per_part: games of each actor in each rollout.
        parts: rollout parts that are played to measure costs.
        iterations: iterations of each measurement of throughput.
        measured: numbers of actors to measure.
        simulated: numbers of actors to simulate.
        learner_speeds: speeds of the simulated learner, as multiples of the measured speed.
        max_staleness: rollouts that actors may be ahead of the learner.
        per_node: simulated actors on each machine.
        gigabits: bandwidth of the simulated driver's network, in Gbit/s.
        store_gigabytes: size of the simulated object store, in GB.
        settings: settings of the algorithm other than its defaults, as NAME=VALUE.
        costs: JSON file of an earlier run, whose measurements are used instead of new ones.
        json_file: file to write all numbers to.
        page: file to write the page of results to.
    """
    for name, value in (
        ("games_per_part", games_per_part),
        ("parts", parts),
        ("iterations", iterations),
    ):
        integer(name, value, 1, 10**6)
    for speed in learner_speeds:
        real("learner_speeds", speed, 1e-6, 1e9)
    integer("per_node", per_node, 1, 10**6)
    integer("max_staleness", max_staleness, 1, 10**6)
    real("gigabits", gigabits, 1e-6, 1e9)
    real("store_gigabytes", store_gigabytes, 1e-6, 1e9)
    if costs is not None:
        found: dict[str, Any] = json.loads(costs.read_text())
        known = Costs(**found["costs"] | {"part_seconds": tuple(found["costs"]["part_seconds"])})
    else:
        config = with_settings(
            bench_config(algorithm, game, games_per_part), settings, f"python -m {NAME}"
        )
        found = {"algorithm": algorithm, "game": game, "executor": executor}
        found["about"] = run_info()
        known, found["messages"] = measure_costs(algorithm, config, executor, parts)
        found["costs"] = asdict(known)
        # With one local worker, this process plays.
        found["measured"] = [
            measure_throughput(algorithm, config, executor, actors, staleness, iterations)
            for actors in measured
            if actors > 1 or executor != LOCAL
            for staleness in (0, max_staleness)
        ]
    room = {
        "max_staleness": max_staleness,
        "per_node": per_node,
        "bandwidth": gigabits * 1e9 / 8,
        "store": store_gigabytes * 1e9,
    }
    predicted = []
    for speed, actors in itertools.product(learner_speeds, simulated):
        faster = replace(known, update_seconds=known.update_seconds / speed)
        cluster = Cluster(
            actors,
            max_staleness,
            per_node,
            room["bandwidth"],
            room["store"],
            found["messages"]["buffer_positions"] or float("inf"),
        )
        outcome = simulate(faster, cluster, 30)
        predicted.append({"actors": actors, "learner_speed": speed} | asdict(outcome))
    found |= {"cluster": room, "simulated": predicted}
    out = Console(highlight=False)
    out.print(show(("cost", "measured"), cost_rows(found), "costs"))
    out.print(show(MEASURED, measured_rows(found), "measured, games learned from per second"))
    out.print(show(SIMULATED, simulated_rows(found), "simulated"))
    if json_file is not None:
        write_whole(json_file, json.dumps(found, indent=2) + "\n")
    if page is not None:
        write_whole(page, describe(found))
    return found


if __name__ == "__main__":
    run_command(NAME, lambda: tyro.cli(main, prog=f"python -m {NAME}", description=__doc__))

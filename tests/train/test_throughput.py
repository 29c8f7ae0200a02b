"""Tests of the throughput simulation, by hand and against measured runs."""

import json
import time
from dataclasses import asdict, replace

import numpy as np
import pytest
from counting_actor import network
from sleeping_actor import LEARNING, PLAYING, SleepingActor

from ludoteca.local_executor import LocalExecutor
from ludoteca.train.actors import MultiprocessActor
from ludoteca.train.settings import RLConfig
from ludoteca.train.throughput.__main__ import main
from ludoteca.train.throughput.simulation import Cluster, Costs, simulate

# Recorded costs of messages between processes.
MESSAGES = ("task_seconds", "driver_seconds", "part_transfer_seconds")
ONLY_PLAY = Costs(part_seconds=(10.0,), games_per_part=4)
PLAY_AND_LEARN = replace(ONLY_PLAY, updates_per_part=2, update_seconds=1.0)


# Expected are parts per second; a part has 4 games.
@pytest.mark.parametrize(
    ("costs", "cluster", "expected"),
    [
        (ONLY_PLAY, Cluster(1), 1 / 10),
        (ONLY_PLAY, Cluster(3), 3 / 10),
        # Alternately 10 s of play, then 2 updates of 1 s for each part.
        (PLAY_AND_LEARN, Cluster(1), 1 / 12),
        (PLAY_AND_LEARN, Cluster(3), 3 / 16),
        (replace(PLAY_AND_LEARN, put_seconds=0.5, keep_seconds=0.25), Cluster(2), 2 / 15),
        # In parallel, the slower of play and learning decides: 3 actors play 3 parts in 10 s, and
        # the learner needs 6 s for them. For the 8 parts of 8 actors it needs 16 s.
        (PLAY_AND_LEARN, Cluster(3, max_staleness=1), 3 / 10),
        (PLAY_AND_LEARN, Cluster(8, max_staleness=1), 8 / 16),
        (PLAY_AND_LEARN, Cluster(8, max_staleness=5), 8 / 16),
        # The driver dispatches 4 parts, one per second: the last one starts after 4 s and ends
        # after 14 s, when the others have been collected. The same holds for collecting.
        (replace(ONLY_PLAY, dispatch_seconds=1.0), Cluster(4), 4 / 14),
        (replace(ONLY_PLAY, collect_seconds=1.0), Cluster(4), 4 / 14),
        # Three machines with 2 actors each receive 100 bytes of weights after 1, 2 and 3 s.
        (replace(ONLY_PLAY, weights_bytes=100), Cluster(6, 0, 2, bandwidth=100.0), 6 / 13),
        # Parts are finished together and sent over the network one by one.
        (replace(ONLY_PLAY, part_bytes=100), Cluster(6, bandwidth=100.0), 6 / 16),
        (replace(ONLY_PLAY, receive_seconds=2.0, latency_seconds=1.0), Cluster(1), 1 / 13),
    ],
)
def test_simulation_matches_hand_computation(costs, cluster, expected):
    result = simulate(costs, cluster)
    assert result.games_per_second == pytest.approx(4 * expected, rel=1e-6)
    assert result.updates_per_second == pytest.approx(costs.updates_per_part * expected, rel=1e-6)


def test_bandwidth_limits_throughput():
    costs = replace(ONLY_PLAY, part_bytes=100)
    result = simulate(costs, Cluster(500, max_staleness=2, bandwidth=1000.0), iterations=20)
    assert result.games_per_second == pytest.approx(4 * 10, rel=0.05)
    assert result.limit == "network"
    assert result.network_busy == pytest.approx(1, abs=0.05)


def test_actors_wait_for_the_slowest_part_only_without_staleness():
    """By hand: of two parts of 1 or 3 s, the slower one takes 2.5 s on average."""
    costs = Costs(part_seconds=(1.0, 3.0))
    synchronous = simulate(costs, Cluster(2), iterations=1500).games_per_second
    assert synchronous == pytest.approx(2 / 2.5, rel=0.03)
    asynchronous = simulate(costs, Cluster(2, max_staleness=100), iterations=1500).games_per_second
    assert asynchronous == pytest.approx(2 / 2, rel=0.03)


def test_limiting_factor():
    assert simulate(PLAY_AND_LEARN, Cluster(2, 1)).limit == "actors"
    assert simulate(PLAY_AND_LEARN, Cluster(64, 1)).limit == "learner"
    assert simulate(replace(ONLY_PLAY, collect_seconds=1.0), Cluster(64, 1)).limit == "driver"
    kept = replace(PLAY_AND_LEARN, positions_per_part=50.0, part_bytes=1000)
    full = simulate(kept, Cluster(64, 1, buffer=1600.0))
    assert (full.limit, full.buffer_share) == ("buffer", 2.0)
    # All 64 parts arrive at once and wait in the object store.
    full = simulate(replace(kept, collect_seconds=0.01), Cluster(64, 0, store=32_000.0))
    assert (full.limit, full.store_peak) == ("object store", 2.0)


@pytest.mark.parametrize("bound", [0, 1, 2])
def test_staleness_is_the_bound_where_the_learner_is_the_limit(bound):
    result = simulate(PLAY_AND_LEARN, Cluster(50, max_staleness=bound), iterations=30)
    # The first rollout is played by the first network.
    assert 0.9 * bound <= result.staleness <= bound
    # A fast learner has a staleness of 1: a rollout is played while it learns.
    assert simulate(PLAY_AND_LEARN, Cluster(3, max_staleness=5)).staleness == pytest.approx(
        1, abs=0.05
    )


@pytest.mark.slow
def test_simulation_predicts_two_processes():
    """Compare with actors and a learner that only sleep, whose times are those of any machine."""
    iterations, config = 8, RLConfig(games=100, games_per_iteration=4, num_actors=2)
    costs = Costs(
        part_seconds=(PLAYING,), update_seconds=LEARNING, updates_per_part=0.5, games_per_part=2
    )
    with LocalExecutor(2) as executor:
        for bound in (0, 1):
            actors = MultiprocessActor(
                replace(config, max_staleness=bound), SleepingActor, 1.0, executor=executor
            )
            rng, times = np.random.default_rng(0), []
            for k in range(iterations):
                actors.load(network(k))
                actors.play(rng, 4 * k)
                time.sleep(LEARNING)
                times.append(time.monotonic())
            actors.close()
            # Without the first iterations, in which processes start.
            measured = 4 * (iterations - 3) / (times[-1] - times[2])
            expected = simulate(costs, Cluster(2, bound)).games_per_second
            assert measured == pytest.approx(expected, rel=0.2), bound


def test_recorded_costs_are_simulated_again(tmp_path):
    recorded = {
        "about": {
            "command": "COMMAND",
            "date": "DATE",
            "cpu": "CPU",
            "cores": 2,
            "load_average_at_start": [1.0, 1.0, 1.0],
        },
        "algorithm": "alphazero",
        "game": "connect4",
        "executor": "ray",
        "costs": asdict(PLAY_AND_LEARN),
        "messages": {"buffer_positions": 1000} | dict.fromkeys(MESSAGES, 0.001),
        "measured": [],
    }
    costs_file, json_file, page = (
        tmp_path / name for name in ("costs.json", "new.json", "page.md")
    )
    costs_file.write_text(json.dumps(recorded))
    main(costs=costs_file, simulated=(3, 8), learner_speeds=(1, 4), json_file=json_file, page=page)
    simulated = json.loads(json_file.read_text())["simulated"]
    assert [(row["actors"], row["learner_speed"]) for row in simulated] == [
        (3, 1), (8, 1), (3, 4), (8, 4),
    ]  # fmt: skip
    rates = [row["games_per_second"] / 4 for row in simulated]
    assert rates == pytest.approx([3 / 10, 8 / 16, 3 / 10, 8 / 10], rel=0.02)
    assert [row["limit"] for row in simulated] == ["actors", "learner", "actors", "actors"]
    assert "| 8 | x 4 | 3.2 |" in page.read_text()
    with pytest.raises(ValueError, match="learner_speeds must be a number"):
        main(costs=costs_file, learner_speeds=(0,))


@pytest.mark.slow
def test_costs_and_throughput_are_measured(tmp_path):
    small = "num_simulations=4 network.filters=8 network.blocks=1 batch_size=32 eval_games=1"
    report = main(
        game="tictactoe", games_per_part=8, parts=2, iterations=3, settings=tuple(small.split())
    )
    costs = report["costs"]
    assert len(costs["part_seconds"]) == 2
    assert min(costs["part_seconds"]) > 0
    assert costs["games_per_part"] == 8
    assert 8 * 5 <= costs["positions_per_part"] <= 8 * 9
    # Each position is learned from `replay_ratio` times, 3 by default.
    updates = 3 * costs["positions_per_part"] / 32
    assert costs["updates_per_part"] == pytest.approx(updates, abs=1)
    assert [(row["actors"], row["max_staleness"]) for row in report["measured"]] == [(2, 0), (2, 2)]
    assert report["measured"][0]["staleness"] == 0
    assert 0 < report["measured"][1]["staleness"] <= 2

"""Tests of self-play actors in several processes and of asynchronous rollouts.

Each actor plays a part of a rollout. `CountingActor` plays no games: its parts hold the number of
the network that it has (`network(5)`), the number of games before, and random numbers.
"""

import time
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from counting_actor import CountedGames, CountingActor, network

from ludoteca.agents.networks.pv_network import PVConfig, make_pv_network
from ludoteca.agents.networks.q_network import QConfig, make_q_network
from ludoteca.envs.registry import make_game
from ludoteca.local_executor import InlineExecutor
from ludoteca.train.actors import (
    AlgorithmWorker,
    LocalActor,
    MultiprocessActor,
    concatenate_rollouts,
)
from ludoteca.train.alphazero import AlphaZero, AlphaZeroConfig
from ludoteca.train.dqn import DQNConfig
from ludoteca.train.monitor import Monitor, Stopped
from ludoteca.train.settings import RLConfig

COUNTING = RLConfig(games=40, games_per_iteration=4, num_actors=2)
TINY = AlphaZeroConfig(
    game="tictactoe",
    games=20,
    games_per_iteration=8,
    network=PVConfig(filters=8, blocks=1),
    num_simulations=4,
    fast_simulations=2,
    precision="float32",
)


def counting(monitor: Monitor | None = None, **changes: object) -> MultiprocessActor[CountedGames]:
    """Return two counting actors in this process."""
    config = replace(COUNTING, **changes)
    return MultiprocessActor(config, CountingActor, 1.0, monitor, InlineExecutor())


def equal_rollouts(first: object, second: object) -> bool:
    """Return whether all arrays of two rollouts are equal."""
    return all(
        np.array_equal(getattr(first, field.name), getattr(second, field.name))
        for field in fields(first)
    )


def test_rollout_concatenates_the_parts_of_all_workers():
    parts = [
        CountedGames(np.full(n, 1), np.arange(n, dtype=np.int32), *(np.full(n, n),) * 3)
        for n in (2, 3)
    ]
    whole = concatenate_rollouts(parts)
    assert whole.env_indices.tolist() == [0, 1, 2, 3, 4]
    assert whole.env_indices.dtype == np.int32
    assert whole.networks.tolist() == [2, 2, 3, 3, 3]
    assert concatenate_rollouts(parts[:1]) is parts[0]


def test_every_part_has_its_own_random_stream():
    actors = counting()
    actors.load(network(5))
    played = actors.play(np.random.default_rng(1), 12)
    seeds = np.random.default_rng(1).integers(2**63, size=2)
    expected = [np.random.default_rng(int(seed)).random(2) for seed in seeds]
    assert played.random_numbers.tolist() == np.concatenate(expected).tolist()
    assert played.networks.tolist() == [5] * 4
    assert played.games_before.tolist() == [12] * 4
    assert actors.summary() == {}


@pytest.mark.parametrize("bound", [1, 3])
def test_staleness_is_bounded(bound):
    actors, rng = counting(max_staleness=bound), np.random.default_rng(0)
    rollouts = []
    for k in range(10):
        actors.load(network(k))
        rollouts.append(actors.play(rng, 4 * k))
        time.sleep(0.05)  # in which the learner would update, and actors play ahead
    actors.close()
    for k, rollout in enumerate(rollouts):
        assert (k - rollout.networks <= bound).all()
        assert (rollout.networks <= k).all()
        assert rollout.games_before.tolist() == [4 * k] * 4
    # At least half of the rollouts have the maximum staleness.
    assert (
        bound == np.array([k - rollout.networks.min() for k, rollout in enumerate(rollouts)])
    ).sum() >= 5
    assert len(np.unique(np.concatenate([rollout.random_numbers for rollout in rollouts]))) == 40
    summary = actors.summary()
    assert summary["staleness_max"] == bound
    assert 0 < summary["staleness"] <= bound
    assert actors.summary() == {"staleness": None, "staleness_max": None}


def test_actor_errors_are_raised_by_the_next_rollout():
    actors = counting(max_staleness=1)
    actors.load(network(-1))
    with pytest.raises(ValueError, match="this network cannot play"):
        actors.play(np.random.default_rng(0), 0)
    actors.load(network(1))  # the failed rollout is not counted
    assert actors.play(np.random.default_rng(0), 0).networks.tolist() == [1] * 4
    actors.close()


@pytest.mark.parametrize("bound", [0, 1])
def test_stopped_rollout_is_dropped(bound):
    monitor = Monitor()
    actors = counting(monitor, max_staleness=bound)
    monitor.stop("because")
    actors.load(network(1))
    with pytest.raises(Stopped):
        actors.play(np.random.default_rng(0), 0)
    monitor.extend(float("inf"))
    assert actors.play(np.random.default_rng(0), 0).networks.tolist() == [1] * 4
    actors.close()


@pytest.mark.slow
def test_single_actor_equals_local_self_play():
    game = make_game("tictactoe")
    torch.set_num_threads(1)
    first = make_pv_network(TINY.network, game)
    local_rng, actor_rng = np.random.default_rng(7), np.random.default_rng(7)
    local = LocalActor(AlphaZero(TINY, game, first))
    actors = MultiprocessActor(TINY, AlgorithmWorker, 1.0, executor=InlineExecutor())
    actors.load(first)
    for _ in range(2):
        assert equal_rollouts(local.play(local_rng), actors.play(actor_rng, 0))
        local.load(first)  # clears the evaluation cache, as actors do before each part
    assert local_rng.bit_generator.state == actor_rng.bit_generator.state


@pytest.mark.interpreted
def test_actors_play_part_of_the_games_against_the_opponent():
    config = DQNConfig(
        game="tictactoe",
        games_per_iteration=40,
        num_actors=2,
        network=QConfig(filters=(4,), blocks=1),
        opponent="random",
        opponent_prob=0.5,
        precision="float32",
    )
    actors = MultiprocessActor(config, AlgorithmWorker, 1.0, executor=InlineExecutor())
    actors.load(make_q_network(config.network, make_game("tictactoe")))
    rng = np.random.default_rng(0)
    first, second = (actors.play(rng, games).seats for games in (0, 40))
    for seats in (first[:20], first[20:], second[:20], second[20:]):
        assert set(seats.tolist()) == {-1, 0, 1}
    assert not np.array_equal(first[:20], first[20:])
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"max_staleness": 2}, "max_staleness=2 needs actor processes"),
        ({"max_staleness": -1, "num_actors": 2}, "max_staleness"),
        ({"inference": "central", "num_actors": 2}, "inference=central needs a Ray cluster"),
        ({"executor": "slurm"}, "executor must be local, ray"),
        ({"num_actors": 3, "games_per_iteration": 256}, "must be a multiple of num_actors=3"),
    ],
)
@pytest.mark.parametrize("make", [AlphaZeroConfig, DQNConfig])
def test_invalid_settings_raise(make, settings, problem):
    with pytest.raises(ValueError, match=problem):
        make(**settings)

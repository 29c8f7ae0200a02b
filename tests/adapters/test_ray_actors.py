"""Tests of training with Ray actors, which equals training in one process bit for bit."""

import json
import os
import re
import signal
import threading
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch

ray = pytest.importorskip("ray")

from ludoteca.agents.networks.ac_network import ACConfig  # noqa: E402
from ludoteca.agents.networks.pv_network import PVConfig  # noqa: E402
from ludoteca.agents.networks.q_network import QConfig  # noqa: E402
from ludoteca.agents.networks.weights import load_weights  # noqa: E402
from ludoteca.local_executor import InlineExecutor  # noqa: E402
from ludoteca.train import actors as actors_module  # noqa: E402
from ludoteca.train.alphazero import AlphaZeroConfig  # noqa: E402
from ludoteca.train.dqn import DQNConfig  # noqa: E402
from ludoteca.train.loop import RLTraining  # noqa: E402
from ludoteca.train.ppo import PPOConfig  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")
SMALL = {
    "games": 48,
    "games_per_iteration": 16,
    "batch_size": 32,
    "log_interval": 16,
    "eval_interval": 48,
    "eval_games": 2,
    "final_eval_games": 2,
    "threads": 1,
    "precision": "float32",
    "overlap_actor_learner": False,
    "eval_opponents": ("random",),
}
MAKERS = {
    "alphazero": (
        RLTraining,
        AlphaZeroConfig(
            game="tictactoe",
            network=PVConfig(filters=8, blocks=1),
            num_simulations=4,
            fast_simulations=2,
            buffer_size=1000,
            learning_starts=30,
            eval_simulations=2,
            **SMALL,
        ),
    ),
    "dqn": (
        RLTraining,
        DQNConfig(
            game="tictactoe",
            network=QConfig(filters=(8,), blocks=1),
            buffer_size=1000,
            learning_starts=30,
            opponent="random",
            **SMALL,
        ),
    ),
    "ppo": (
        RLTraining,
        PPOConfig(
            game="tron:rows=5,columns=5",
            network=ACConfig(kind="residual", view="plain", filters=8, blocks=1),
            opponent_pool=("random_safe",),
            opponent_pool_prob=0.5,
            num_past_opponents=2,
            past_opponent_interval=16,
            **SMALL,
        ),
    ),
}


@pytest.fixture(scope="module", autouse=True)
def cluster(tmp_path_factory):
    """Run Ray on this machine, with two processors."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    before = os.getcwd()
    os.chdir("/")  # workers look for modules where this process is
    ray.init(
        num_cpus=2,
        object_store_memory=200_000_000,
        include_dashboard=False,
        log_to_driver=False,
        _temp_dir=str(tmp_path_factory.mktemp("r")),
    )
    os.chdir(before)
    yield
    ray.shutdown()


@pytest.fixture(autouse=True)
def _threads():
    """Restore PyTorch's number of threads."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def trained(name: str, folder: Path, **changes: object) -> tuple[dict, list]:
    """Run a training; return its weights and rows of metrics."""
    make, config = MAKERS[name]
    training = make(replace(config, run_dir=folder, **changes), tensorboard=False)
    list(training.run())
    assert training.finished
    weights, _ = load_weights(folder / "network.safetensors")
    rows = [{k: v for k, v in row.items() if k != "seconds"} for row in training.metrics.rows]
    return {k: v.numpy() for k, v in weights.items()}, json.loads(json.dumps(rows))


def assert_same(one: tuple[dict, list], other: tuple[dict, list]) -> None:
    """Assert that two trainings have the same weights and metrics."""
    assert one[1] == other[1]
    assert one[0].keys() == other[0].keys()
    for key in one[0]:
        np.testing.assert_array_equal(one[0][key], other[0][key], key)


@pytest.mark.parametrize("name", MAKERS)
def test_one_ray_actor_plays_what_one_process_plays(name, tmp_path):
    local = trained(name, tmp_path / "one")
    other = trained(name, tmp_path / "ray", executor="ray", num_actors=1)
    if name == "alphazero":  # in one process, too, evaluations are kept from rollout to rollout
        np.testing.assert_allclose(local[1][-1]["policy_loss"], other[1][-1]["policy_loss"])
    assert_same(local, other)


@pytest.mark.parametrize("name", MAKERS)
def test_two_ray_actors_play_what_one_process_plays(name, tmp_path, monkeypatch):
    """One of the two is killed, and its games are played again."""
    reruns = []
    make, executors = actors_module.make_executor, []

    def executor_of(spec: str, workers: int) -> object:
        executors.append(InlineExecutor() if spec == "local" else make(spec, workers))
        return executors[-1]

    monkeypatch.setattr(actors_module, "make_executor", executor_of)
    local = trained(name, tmp_path / "one", num_actors=2)  # both parts in this process
    assert isinstance(executors[0], InlineExecutor)

    def kill() -> None:
        while len(executors) < 2 or not all(slot.state == "busy" for slot in executors[1].slots):
            time.sleep(0.01)
        location = executors[1].slots[1].worker.location
        os.kill(int(re.fullmatch(r".*process (\d+)", location)[1]), signal.SIGKILL)
        while executors[1].reruns == 0:
            time.sleep(0.01)
        reruns.append(executors[1].reruns)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    other = trained(name, tmp_path / "ray", executor="ray", num_actors=2)
    killer.join(60)
    assert reruns == [1]
    assert_same(local, other)


def test_rollouts_are_played_ahead_within_the_bound(tmp_path):
    _, rows = trained(
        "alphazero", tmp_path, executor="ray", num_actors=2, max_staleness=2, games=96
    )
    stale = [row["staleness_max"] for row in rows if row.get("staleness_max") is not None]
    assert len(stale) == 6
    assert stale[0] == 0
    assert max(stale) <= 2
    assert max(row["staleness"] for row in rows[1:]) > 0


@pytest.mark.parametrize("name", MAKERS)
def test_central_inference_plays_the_same_first_rollout(name, tmp_path, monkeypatch):
    """Only first rollouts are compared, of equal networks: results may differ by rounding."""
    make, config = MAKERS[name]
    rollouts, make_executor = [], actors_module.make_executor
    monkeypatch.setattr(
        actors_module,
        "make_executor",
        lambda spec, workers: InlineExecutor() if spec == "local" else make_executor(spec, workers),
    )
    central = {"executor": "ray", "inference": "central"}
    for k, where in enumerate(({}, central)):
        settings = replace(config, run_dir=tmp_path / str(k), num_actors=2, **where)
        training = make(settings, tensorboard=False)
        training.actor.load(training.network)
        rollouts.append(training.play(0))
        if where:
            server = training.multiprocess_actor.server
            counts = ray.get(server.counts.remote())
            assert counts["requests"] >= counts["batches"] > 0
            assert counts["positions"] >= counts["requests"]
            if name == "dqn":  # a killed server is restarted, and receives the network again
                ray.kill(server, no_restart=False)
                assert len(training.play(16).lengths) == 16
        training.multiprocess_actor.close()
        training.metrics.close()
    local, remote = rollouts
    for field in fields(local):
        expected, actual = getattr(local, field.name), getattr(remote, field.name)
        np.testing.assert_allclose(expected, actual, rtol=1e-2, atol=1e-2, err_msg=field.name)

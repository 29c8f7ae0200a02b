"""Tests of the executor of a Ray cluster: the same games as in one process, even if workers die."""

import json
import operator
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

ray = pytest.importorskip("ray")
yaml = pytest.importorskip("yaml")  # which comes with Ray

from ends import are_gone, start  # noqa: E402
from executor_tasks import Counted, count_up, kill_once, total_of  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402

from ludoteca import ray_executor, worker_pool  # noqa: E402
from ludoteca.evaluate.studies.runner import run_tasks  # noqa: E402
from ludoteca.evaluate.studies.solved.study import match_task  # noqa: E402
from ludoteca.evaluate.studies.study import GAMES_FILE, Task  # noqa: E402
from ludoteca.evaluate.tournament import run  # noqa: E402
from ludoteca.evaluate.tournament.game_log import GameLog  # noqa: E402
from ludoteca.evaluate.tournament.plan import Tournament  # noqa: E402
from ludoteca.evaluate.tournament.run import run_tournament  # noqa: E402
from ludoteca.executor import WorkerDiedError, make_executor  # noqa: E402
from ludoteca.train.data import generate as generation  # noqa: E402
from ludoteca.train.data.storage import load_dataset  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")
NODE = {"num_cpus": 1, "object_store_memory": 100_000_000, "include_dashboard": False}
GET = operator.methodcaller("get")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Run a cluster of two nodes with one processor each, on this machine."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    folder = tmp_path_factory.mktemp("r")  # a short name: paths of sockets are limited
    # `Cluster` writes its address into Ray's default folder, without making the folder.
    Path(tempfile.gettempdir(), "ray").mkdir(exist_ok=True)
    cluster = Cluster(initialize_head=True, head_node_args=NODE | {"temp_dir": str(folder)})
    cluster.add_node(num_cpus=1, object_store_memory=100_000_000)
    yield cluster
    cluster.shutdown()


@pytest.fixture(scope="module")
def pool(cluster):
    """Return an executor with a worker on each node."""
    with make_executor(f"ray:{cluster.address}", 2) as executor:
        yield executor


def test_results_come_in_the_order_of_the_tasks(pool):
    tasks = [partial(time.sleep, 0.3), *(partial(pow, 2, k) for k in range(20))]
    assert list(pool.run(tasks)) == [None, *(2**k for k in range(20))]


def test_exceptions_come_back_with_their_tracebacks(pool):
    with pytest.raises(ZeroDivisionError) as raised:
        list(pool.run([partial(divmod, 1, 0)]))
    assert "run_task" in str(raised.value.__cause__)
    assert pool.reruns == 0
    with pytest.raises(TypeError, match=r"the result of open\('/dev/null'\) cannot be pickled"):
        list(pool.run([partial(open, "/dev/null")]))


def test_each_worker_receives_a_shared_value_once(pool, tmp_path):
    file = str(tmp_path / "unpickled")
    shared = pool.put(Counted(file))
    assert list(pool.run([partial(GET, shared)] * 20)) == [file] * 20
    pids = Path(file).read_text().split()
    assert 1 <= len(pids) == len(set(pids)) <= 2
    weights = np.arange(2**20, dtype=np.float32)
    sums = list(pool.run([partial(total_of, pool.put(weights), k) for k in range(4)]))
    assert sums == [weights.sum() + k for k in range(4)]


def test_pinned_tasks_find_what_their_worker_keeps(pool):
    remaining = [3, 3]

    def next_task(worker):
        remaining[worker] -= 1
        return partial(count_up, worker) if remaining[worker] >= 0 else None

    with pool.stream(next_task, pinned=True) as stream:
        results = [result for _, result in stream]
    assert sorted(results) == [(w, k) for w in range(2) for k in (1, 2, 3)]


def test_a_task_whose_worker_dies_runs_again(pool, tmp_path, caplog):
    before = pool.reruns
    tasks = [partial(kill_once, tmp_path / f"{k % 2}", k) for k in range(6)]
    assert list(pool.run(tasks)) == [*range(6)]
    assert pool.reruns - before == 2
    assert "its task runs again: node" in caplog.text


def test_a_task_whose_workers_always_die_is_named(pool, monkeypatch):
    monkeypatch.setattr(worker_pool, "ATTEMPTS", 2)
    with pytest.raises(WorkerDiedError, match=r"_exit\(3\) was run 2 times.* node "):
        list(pool.run([partial(os._exit, 3)]))
    assert list(pool.run([partial(pow, 3, 2)])) == [9]


def test_workers_with_another_installation_are_errors(pool, monkeypatch):
    ours = ray_executor.fingerprint() | {"ludoteca": "99.0"}
    monkeypatch.setattr(ray_executor, "fingerprint", lambda: ours)
    executor = make_executor("ray:auto,num_cpus=0", 1)  # beside those of `pool`
    with pytest.raises(RuntimeError, match=r"node .* has another .*: ludoteca is .* and 99.0 here"):
        list(executor.run([partial(pow, 3, 2)]))


def test_a_cluster_that_does_not_exist_is_an_error():
    code = "from ludoteca.executor import make_executor; make_executor('ray:127.0.0.1:1', 1)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=120
    )
    assert done.returncode != 0
    assert "ConnectionError: no Ray cluster at 127.0.0.1:1" in done.stderr


# A program that starts a cluster, prints the process id of its worker, and waits for a long task.
DRIVER = """
import os, sys, time
from functools import partial
from ludoteca.executor import make_executor
if __name__ == "__main__":
    with make_executor("ray", 1) as executor:
        print(*executor.run([os.getpid]), flush=True)
        list(executor.run([partial(time.sleep, 600)]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_outlives_the_program_that_started_a_cluster(tmp_path, number):
    with start(DRIVER) as driver:
        worker = int(driver.stdout.readline())
        pids = descendants(driver.pid)
        assert worker in pids
        driver.send_signal(number)
        assert are_gone([worker, driver.pid], 20)
        assert are_gone(pids, 120)  # two agents of Ray look for a killed head for a minute


def descendants(pid):
    """Return the ids of the processes that a process has started, and of theirs, and so on."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True).stdout
    parents = dict(map(int, line.split()) for line in listed.splitlines())
    pids = [pid]
    for parent_pid in pids:  # which grows
        pids += [child for child, parent in parents.items() if parent == parent_pid]
    return pids[1:]


# Tournaments, generated data and studies have the same games as in one process.

PLAN = Tournament(
    ("tictactoe", "connect4:rows=4,columns=4,connect=3"),
    ("random", "greedy", "mcts:simulations=20"),
    games_per_pair=40,
    repeats=2,
    seed=5,
)


def test_a_tournament_is_the_same_though_a_node_is_lost(tmp_path, monkeypatch, pool, cluster):
    alone = run_tournament(PLAN, tmp_path / "alone", processes=1)
    monkeypatch.setattr(run, "TASK_SECONDS", 0.05)  # many small tasks
    node = cluster.add_node(num_cpus=2, object_store_memory=100_000_000)
    played = 0
    add = GameLog.add

    def count(self, games):
        nonlocal played
        played += 1
        if played == 8:  # while all are playing
            cluster.remove_node(node, allow_graceful=False)
        add(self, games)

    monkeypatch.setattr(GameLog, "add", count)
    together = run_tournament(PLAN, tmp_path / "ray", processes=4, executor="ray:auto,num_cpus=0")
    np.testing.assert_array_equal(alone.outcomes, together.outcomes)
    lines = (tmp_path / "ray" / "games.jsonl").read_text().splitlines()
    assert sum(len(json.loads(line)["outcomes"]) for line in lines) == PLAN.total_games
    assert sum(pair.mean_plies for pair in alone.pair_results) == sum(
        pair.mean_plies for pair in together.pair_results
    )


def test_generated_sequential_games_are_the_same(tmp_path, pool, monkeypatch):
    monkeypatch.setattr(generation, "SEQUENTIAL_GAMES", 8)
    config = generation.GenerationConfig(
        out=tmp_path / "local.npz",
        game="tictactoe",
        agents=("mcts:policy=uct,simulations=10,action_selection=mean", "random"),
        games=40,
        num_workers=1,
    )
    generation.generate(config)
    remote = replace(
        config, out=tmp_path / "ray.npz", num_workers=2, executor="ray:auto,num_cpus=0"
    )
    generation.generate(remote)
    assert config.out.read_bytes() == remote.out.read_bytes()


def test_generated_simultaneous_games_are_the_same(tmp_path, pool, monkeypatch):
    monkeypatch.setattr(generation, "SIMULTANEOUS_GAMES", 4)
    config = generation.GenerationConfig(
        out=tmp_path / "local.npz",
        game="tron:rows=5,columns=5",
        agents=("random",),
        games=16,
        num_workers=1,
    )
    generation.generate(config)
    remote = replace(
        config, out=tmp_path / "ray.npz", num_workers=2, executor="ray:auto,num_cpus=0"
    )
    generation.generate(remote)
    local, played = load_dataset(config.out), load_dataset(remote.out)
    for field in fields(local):
        if field.name not in ("game", "metadata"):
            np.testing.assert_array_equal(getattr(local, field.name), getattr(played, field.name))


def test_the_tasks_of_a_study_have_the_same_results(tmp_path, pool):
    tasks = {
        "data": Task(
            "data",
            "ludoteca.train.data",
            {"agents": ("mcts:simulations=50", "random"), "games": 6, "seed": 0, "num_workers": 1}
            | {"learn_from": 0}
            | {"out": "{artifact}"},
            positional_arguments=("generate",),
            artifact_name=GAMES_FILE,
            has_record=False,
        ),
        "match": match_task("match", ("random", "greedy"), 4, ("data",)),
    }
    for folder, executor in (("local", "local"), ("ray", "ray:auto,num_cpus=0")):
        messages = []
        run_tasks(tasks, tmp_path / folder, 2, False, messages.append, executor=executor)
        assert messages == ["data", "match"]
        run_tasks(tasks, tmp_path / folder, 2, False, messages.append, executor=executor)
        assert sorted(messages[2:]) == ["data", "match"]
    local, remote = tmp_path / "local", tmp_path / "ray"
    assert {path.relative_to(local) for path in local.rglob("*.*")} == {
        path.relative_to(remote) for path in remote.rglob("*.*")
    }
    name = "data/games.npz"
    assert (local / name).read_bytes() == (remote / name).read_bytes()
    results = [json.loads((run / "match/results.json").read_text()) for run in (local, remote)]
    points = [[agent["total"] for agent in run["agents"]] for run in results]
    assert points[0] == points[1]
    assert str(tmp_path / "ray") in json.dumps(results[1])  # no temporary folder
    failing = {"x": match_task("x", ("random", "nobody"), 4)}
    with pytest.raises(RuntimeError, match=r"(?s)x failed: .*unknown agent 'nobody'"):
        run_tasks(failing, tmp_path / "failing", 1, False, executor="ray:auto,num_cpus=0")


def test_agents_that_workers_cannot_make_are_named(tmp_path, pool):
    plan = replace(PLAN, agents=("random", "az:path=nothing.safetensors"), names=())
    with pytest.raises(ValueError, match=r"az:path=nothing.* cannot be made on node .*every node"):
        run_tournament(plan, tmp_path, processes=1, executor="ray:auto,num_cpus=0")


def test_ray_accepts_the_cluster_file():
    from ray.autoscaler._private.util import prepare_config, validate_config

    file = Path(__file__).parents[2] / "docs" / "cluster" / "aws.yaml"
    config = prepare_config(yaml.safe_load(file.read_text()))
    for name in ("cluster_synced_files", "initialization_commands", "head_setup_commands"):
        config.setdefault(name, [])
    config.setdefault("file_mounts", {})
    config.setdefault("file_mounts_sync_continuously", False)
    config.setdefault("worker_setup_commands", [])
    validate_config(config)
    assert config["available_node_types"]["spot"]["node_config"]["InstanceMarketOptions"]

"""Tests of distributed training: the same losses and weights as in one process."""

import csv
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import joint_updates
import numpy as np
import pytest
import torch

from ludoteca.train.data.generate import GenerationConfig, generate
from ludoteca.train.distributed import SINGLE_PROCESS, joined, ranks
from ludoteca.train.joint_norm import JointBatchNorm2d
from ludoteca.train.monitor import Monitor, Stopped
from ludoteca.train.run_directory import RunDirectory

TORCHRUN = [sys.executable, "-P", "-m", "torch.distributed.run", "--standalone"]
SAFE_PATH = {"PYTHONSAFEPATH": "1"}  # torchrun must not import folders of this checkout
ALPHAZERO = """--game tictactoe --games-per-iteration 16 --network.filters 8 --network.blocks 1
--num-simulations 4 --batch-size 32 --learning-starts 20 --buffer-size 1000 --log-interval 16
--eval-interval 64 --eval-games 2 --final-eval-games 2 --eval-opponents random --eval-simulations 2
--optimizer sgd --precision float32"""


@pytest.fixture(autouse=True)
def _threads():
    """Let PyTorch use one thread, as processes started by torchrun do."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def _environment(rank: int, port: int) -> dict[str, str]:
    """Return the environment variables that torchrun sets in one of two processes."""
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "TORCHELASTIC_RUN_ID": "test",
    }


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory):
    """Return the losses and weights of both ranks of two processes; this process is rank 0."""
    file = tmp_path_factory.mktemp("joint") / "rank1.npz"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.MonkeyPatch.context() as patch:
        command = [sys.executable, joint_updates.__file__, str(file)]
        paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        other = subprocess.Popen(
            command, env=os.environ | SAFE_PATH | paths | _environment(1, port)
        )
        for name, value in _environment(0, port).items():
            patch.setenv(name, value)
        try:
            torch.set_num_threads(1)
            with joined() as processes:
                assert (processes.rank, processes.count) == (0, 2)
                rank0 = joint_updates.updates()
            assert other.wait(60) == 0
        finally:
            other.kill()
    assert ranks() is SINGLE_PROCESS
    with np.load(file) as content:
        return rank0, {name: content[name] for name in content.files}


@pytest.fixture(scope="module")
def one_process():
    """Return the losses and weights of this process alone."""
    torch.set_num_threads(1)
    JointBatchNorm2d.copies = 1
    return joint_updates.updates()


@pytest.mark.slow
@pytest.mark.parametrize("name", joint_updates.MAKERS)
def test_two_processes_learn_the_same_as_one(name, two_processes, one_process):
    rank0, rank1 = two_processes
    compared = [key for key in one_process if key.startswith(f"{name}/")]
    assert sum("losses" in key for key in compared) == 3
    assert any(key.endswith("weight") for key in compared)
    for key in compared:
        np.testing.assert_array_equal(rank0[key], rank1[key], key)
        # Sums in float32 depend on the split into processes.
        np.testing.assert_allclose(rank0[key], one_process[key], rtol=1e-4, atol=2e-5, err_msg=key)
        if "losses" in key:
            np.testing.assert_allclose(
                rank0[key], one_process[key], rtol=1e-5, atol=1e-6, err_msg=key
            )


def test_single_process_neither_splits_batches_nor_shares_stops():
    monitor = Monitor()
    part = SINGLE_PROCESS.part(7)
    assert (part.rows, part.weight) == (slice(0, 7), 1)
    loss = torch.tensor(0.25)
    assert SINGLE_PROCESS.scale_loss(loss, part) is loss
    assert SINGLE_PROCESS.means([loss], part) == [0.25]
    assert SINGLE_PROCESS.broadcast(lambda: 3) == 3
    SINGLE_PROCESS.check(monitor)
    monitor.stop("")
    monitor.stop("because")
    with pytest.raises(Stopped):
        SINGLE_PROCESS.check(monitor)


def test_processes_of_torchrun_do_not_train_separate_runs(tmp_path, monkeypatch):
    for name, value in _environment(1, 1).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=r"torchrun has started 2 processes, but this program"):
        RunDirectory(tmp_path, {})
    monkeypatch.setenv("WORLD_SIZE", "1")
    with joined() as processes:
        assert processes is SINGLE_PROCESS
    RunDirectory(tmp_path, {})


def _command(processes: int, module: str, *options: object) -> list[str]:
    """Return the command that runs a module in some processes."""
    run = [*TORCHRUN, "--nproc-per-node", str(processes), "-m"] if processes > 1 else None
    return [*(run or [sys.executable, "-P", "-m"]), module, *map(str, options)]


def _run(processes: int, module: str, *options: object, code: int = 0) -> str:
    """Run a module, assert its exit status, and return what it printed."""
    done = subprocess.run(
        _command(processes, module, *options),
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | SAFE_PATH,
    )
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def _rows(folder: Path) -> list[dict[str, float]]:
    """Return the rows of a run's metrics."""
    with (folder / "metrics.csv").open() as file:
        return [{k: float(v) for k, v in row.items() if v} for row in csv.DictReader(file)]


@pytest.mark.slow
def test_a_run_resumes_with_another_number_of_processes(tmp_path):
    """Compare losses of runs whose first two rollouts are played by the same, initial network."""
    module = "ludoteca.train.alphazero"
    one, two = tmp_path / "one", tmp_path / "two"
    _run(1, module, *ALPHAZERO.split(), "--games", 32, "--run-dir", one)
    output = _run(2, module, *ALPHAZERO.split(), "--games", 32, "--run-dir", two)
    assert output.count("report: ") == 1  # by rank 0
    assert json.loads((two / "results.json").read_text())["training"]["finished"]
    rows = list(zip(_rows(one), _rows(two), strict=True))
    assert [row["step"] for row, _ in rows] == [0, 16, 32]
    assert rows[-1][0]["updates"] > 0
    for row, other in rows:
        assert row.keys() == other.keys()
        for name in ("policy_loss", "value_loss", "plies", "updates"):
            assert row.get(name, 0) == pytest.approx(other.get(name, 0), rel=1e-4), name
    for processes, games in ((1, 48), (2, 64)):
        _run(processes, module, *ALPHAZERO.split(), "--games", games, "--run-dir", two)
        assert _rows(two)[-1]["step"] == games


@pytest.mark.slow
def test_epochs_learn_the_same_in_two_processes(tmp_path):
    games = tmp_path / "games.npz"
    generate(GenerationConfig(game="tictactoe", agents=("random",), games=60, out=games))
    settings = ("--data", games, "--epochs", 2, "--batch-size", 33, "--network.dropout", 0)
    settings += ("--precision", "float32")
    for processes in (1, 2):
        folder = tmp_path / str(processes)
        _run(processes, "ludoteca.train.value_regression", *settings, "--run-dir", folder)
    for row, other in zip(_rows(tmp_path / "1"), _rows(tmp_path / "2"), strict=True):
        for name in ("training_loss", "validation_loss", "learning_rate"):
            assert row[name] == pytest.approx(other[name], rel=1e-3), name


def _children(pid: int) -> list[int]:
    """Return the ids of the processes that a process has started."""
    processes = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            processes.append(int(stat.parent.name))
    return processes


@pytest.fixture
def running(tmp_path):
    """Yield a run in two processes that has written a checkpoint, and the ids of its ranks."""
    command = _command(
        2, "ludoteca.train.alphazero", *ALPHAZERO.split(), "--games", 100_000, "--save-seconds", 0,
        "--run-dir", tmp_path,
    )  # fmt: skip
    run = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | SAFE_PATH,
    )
    end = time.monotonic() + 120
    while not (tmp_path / "state.npz").exists():
        assert run.poll() is None, run.communicate()[0]
        assert time.monotonic() < end
        time.sleep(0.1)
    yield run, sorted(_children(run.pid)), tmp_path
    run.kill()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
@pytest.mark.parametrize("rank", [0, 1])
def test_killed_process_ends_all_processes(running, rank):
    run, pids, _ = running
    assert len(pids) == 2
    os.kill(pids[rank], signal.SIGKILL)
    output, _ = run.communicate(timeout=60)
    assert run.returncode != 0
    assert "lost the connection to another one, which was killed or has failed" in output
    assert "The same command resumes from the last checkpoint" in output
    assert "train/loop.py" not in output  # no traceback of this package, only of torchrun
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
def test_signal_stops_all_processes_cleanly(running):
    run, pids, folder = running
    os.kill(pids[1], signal.SIGTERM)  # a signal to one rank stops all
    output, _ = run.communicate(timeout=90)
    assert "resumes it" in output
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    with np.load(folder / "state.npz") as state:
        saved = json.loads(state["numbers"].tobytes())["games"]
    assert saved > 0

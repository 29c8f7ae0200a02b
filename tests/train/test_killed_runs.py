"""Tests of runs that are killed at a file operation, and of damaged files of runs."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from interrupted_runs import (
    DQN_CONFIG,
    KINDS,
    assert_same_runs,
    run_to_end,
    value_config,
)

from ludoteca.agents.networks.weights import load_weights, save_weights
from ludoteca.train.loop import RLTraining
from ludoteca.train.run_directory import RunDirectory

KILL_STATUS = 9  # exit status of a simulated kill


class Killed:
    """Simulated kill of this process before its k-th operation on a file."""

    def __init__(self, k: int):
        self.k, self.count = k, 0

    def operation(self) -> bool:
        """Count an operation; return whether it is the k-th."""
        self.count += 1
        return self.count == self.k

    def install(self, folder: Path) -> None:
        """Count the operations on files in a folder: open, write, sync, rename and remove."""
        inside = str(folder)

        def audit(event: str, arguments: tuple) -> None:
            path = str(arguments[0]) if arguments else ""
            writes = event == "open" and isinstance(arguments[1], str) and "w" in arguments[1]
            watched = writes or event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir")
            if watched and path.startswith(inside) and self.operation():
                os._exit(KILL_STATUS)

        sys.addaudithook(audit)
        fsync, opened = os.fsync, Path.open

        def sync(descriptor: int) -> None:
            if self.operation():
                os._exit(KILL_STATUS)
            fsync(descriptor)

        def open_file(path: Path, mode: str = "r", *arguments, **settings):
            file = opened(path, mode, *arguments, **settings)
            return Written(file, self) if "w" in mode and str(path).startswith(inside) else file

        os.fsync, Path.open = sync, open_file


class Written:
    """File that is written by halves: a simulated kill leaves the first half of a write."""

    def __init__(self, file, killed: Killed):
        self.file, self.killed = file, killed

    def write(self, content: bytes) -> None:
        if self.killed.operation():
            self.file.write(content[: len(content) // 2])
            self.file.flush()
            os._exit(KILL_STATUS)
        self.file.write(content)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()

    def __getattr__(self, name: str):
        return getattr(self.file, name)


def killed_before(k: int, folder: Path, work) -> int | None:
    """Call `work` in a new process that is killed before its k-th operation on a file.

    Returns:
        The number of operations if it was not killed, else None.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # no exception may lead back into the tests
        try:
            killed = Killed(k)
            killed.install(folder)
            work()
            os.write(writer, str(killed.count).encode())
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writer)
    _, status = os.waitpid(child, 0)
    with open(reader) as file:
        output = file.read()
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, KILL_STATUS), code
    return int(output) if code == 0 else None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("kind", "checkpoints"),
    [pytest.param(kind, 2, marks=pytest.mark.slow) for kind in KINDS],
)
def test_run_killed_at_any_file_operation_resumes_to_the_same_result(
    kind, checkpoints, positions, tmp_path
):
    make, config = KINDS[kind]
    if config is None:
        config = replace(value_config(positions), epochs=checkpoints, batch_size=256)
    else:
        games = 20 * checkpoints
        config = replace(
            config, games=games, eval_interval=20, save_seconds=0.0, overlap_actor_learner=False
        )
    folders = {name: tmp_path / name for name in ("complete", "run")}
    run_to_end(make(replace(config, run_dir=folders["complete"]), tensorboard=False))
    parts = replace(config, run_dir=folders["run"])

    def work() -> None:
        run_to_end(make(parts, tensorboard=False))

    k, total, left_over = 0, None, 0
    while total is None:
        k += 1
        remove(folders["run"])
        total = killed_before(k, folders["run"], work)
        left_over += len(list(folders["run"].glob(".*.tmp")))
        # Existing files are complete.
        for name in ("network", "best"):
            if (folders["run"] / f"{name}.safetensors").exists():
                load_weights(folders["run"] / f"{name}.safetensors")
        work()
        assert_same_runs(folders["complete"], folders["run"])
        assert not list(folders["run"].glob(".*.tmp"))
    assert total > 12 * checkpoints  # four files: each is opened, written and renamed
    assert left_over > 5


def remove(folder: Path) -> None:
    """Remove a folder, if it exists."""
    if folder.exists():
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def test_derived_files_that_are_missing_or_old_are_written_again(tmp_path):
    config = replace(DQN_CONFIG, run_dir=tmp_path, games=40)
    run_to_end(RLTraining(config, tensorboard=False))
    names = ("network.safetensors", "best.safetensors", "metrics.csv")
    complete = {name: (tmp_path / name).read_bytes() for name in names}
    for name in names:
        for content in (None, b"", complete["network.safetensors"][:-5]):
            (tmp_path / name).unlink()
            if content is not None:
                (tmp_path / name).write_bytes(content)
            assert RLTraining(config, tensorboard=False).finished
            assert (tmp_path / name).read_bytes() == complete[name]
    # A file that differs only by its card is not written again.
    weights, metadata = load_weights(tmp_path / "best.safetensors")
    save_weights(tmp_path / "best.safetensors", weights, metadata | {"card": {"any": "thing"}})
    RLTraining(config, tensorboard=False)
    assert load_weights(tmp_path / "best.safetensors")[1]["card"] == {"any": "thing"}


def test_damaged_state_raises_with_its_name(tmp_path):
    folder = RunDirectory(tmp_path, {})
    folder.save_state({"games": 3}, {"a/b": np.arange(4), "c": np.zeros((2, 2), np.float32)})
    file, (numbers, arrays) = tmp_path / "state.npz", folder.load_state()
    complete, refused = file.read_bytes(), 0
    for position in range(len(complete)):
        content = bytearray(complete)
        content[position] ^= 1 << position % 8  # flips a bit
        file.write_bytes(content)
        problem = ""
        try:
            loaded = folder.load_state()
        except ValueError as error:
            problem = str(error)
        if problem:
            refused += 1
            assert f"{file} is damaged" in problem
            assert "remove it to begin anew" in problem
        else:  # bytes without effect, such as dates
            assert loaded[0] == numbers
            assert all(np.array_equal(loaded[1][name], array) for name, array in arrays.items())
    assert refused > len(complete) / 2
    for size in range(0, len(complete), 7):
        file.write_bytes(complete[:size])
        with pytest.raises(ValueError, match="is damaged"):
            folder.load_state()


@pytest.mark.parametrize(
    "numbers", [{}, {"precision": "float32"}, {"precision": "float32", "games": "x"}]
)
def test_foreign_state_raises_with_its_name(numbers, tmp_path):
    config = replace(DQN_CONFIG, run_dir=tmp_path)
    RunDirectory(tmp_path, {}).save_state(numbers, {})
    with pytest.raises(ValueError, match=r"state.npz is not a state that this training can resume"):
        RLTraining(config, tensorboard=False)
    assert not (tmp_path / "config.json").exists()


def test_damaged_settings_raise_with_their_name(tmp_path):
    for content in ("", "[1]", "{"):
        (tmp_path / "config.json").write_text(content)
        with pytest.raises(ValueError, match=r"config.json is damaged"):
            RLTraining(replace(DQN_CONFIG, run_dir=tmp_path), tensorboard=False)

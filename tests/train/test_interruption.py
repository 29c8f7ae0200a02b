"""Tests of stopped, killed and damaged runs: files left behind, and exact resume."""

import json
import os
import signal
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ludoteca.agents.networks.ac_network import ACConfig
from ludoteca.agents.networks.pv_network import PVConfig
from ludoteca.agents.networks.q_network import QConfig
from ludoteca.agents.networks.value_network import ValueConfig
from ludoteca.agents.networks.weights import load_weights, save_weights
from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.train.alphazero import AlphaZeroConfig
from ludoteca.train.command import parse, run_command
from ludoteca.train.command import run as main
from ludoteca.train.data.generate import GenerationConfig, generate
from ludoteca.train.dqn import DQNConfig
from ludoteca.train.interruption import Interrupted
from ludoteca.train.loop import RLTraining
from ludoteca.train.monitor import Monitor
from ludoteca.train.ppo import PPOConfig
from ludoteca.train.run_directory import RunDirectory
from ludoteca.train.search_imitation import SearchImitationConfig
from ludoteca.train.value_regression import ValueRegressionConfig, ValueRegressionTraining
from ludoteca.train.value_regression import train as train_value_network

SMALL = {
    "games": 100,
    "games_per_iteration": 20,
    "batch_size": 32,
    "log_interval": 20,
    "eval_interval": 40,
    "eval_games": 2,
    "final_eval_games": 2,
    "save_seconds": 1e9,
}
DQN_CONFIG = DQNConfig(
    game="tictactoe",
    network=QConfig(filters=(8,), blocks=1),
    buffer_size=1000,
    learning_starts=30,
    **SMALL,
)
AZ_CONFIG = AlphaZeroConfig(
    game="tictactoe",
    network=PVConfig(filters=8, blocks=1),
    num_simulations=4,
    fast_simulations=2,
    buffer_size=1000,
    learning_starts=30,
    eval_opponents=("random",),
    eval_simulations=2,
    gating_interval=20,
    gating_games=4,
    **SMALL,
)
AC_SETTINGS = {
    "game": "tron:rows=5,columns=5",
    "network": ACConfig(kind="residual", view="plain", filters=8, blocks=1),
    "opponent_pool": ("random_safe",),
    "opponent_pool_prob": 0.5,
    "num_past_opponents": 2,
    "past_opponent_interval": 20,
    "eval_opponents": ("random",),
    "threads": 1,
    **SMALL,
}
AC_CONFIG = PPOConfig(**AC_SETTINGS)
DOCUMENT_CONFIG = replace(
    parse("ppo", ["uib2021"]),
    game="tron:rows=5,columns=5",
    network=ACConfig(kind="uib2021", view="plain", filters=8, blocks=1),
    gating_games=4,
    gating_threshold=0.4,
    max_rollouts=2,
    eval_opponents=("random",),
    threads=1,
    **SMALL,
)


@pytest.fixture(scope="module")
def positions(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "games.npz"
    generate(GenerationConfig(game="tictactoe", agents=("random",), games=60, out=path))
    return path


def value_config(data: Path) -> ValueRegressionConfig:
    return ValueRegressionConfig(
        data=(data,),
        network=ValueConfig(filters=(4,), hidden=8, dropout=0.5, view="mover"),
        epochs=3,
        batch_size=16,
        augment=True,
    )


def outcome(folder: Path) -> tuple[dict, dict]:
    """Return all that a run leaves: numbers without times, and arrays."""
    with np.load(folder / "state.npz") as content:
        arrays = {name: content[name] for name in content.files}
    numbers = json.loads(arrays.pop("numbers").tobytes())
    for name in ("seconds", "learning_seconds"):
        numbers.pop(name, None)
    for row in numbers["rows"]:
        row.pop("seconds")
    for name in ("network", "best"):
        weights, about = load_weights(folder / f"{name}.safetensors")
        arrays |= {f"{name}.safetensors/{key}": one.numpy() for key, one in weights.items()}
        numbers[name + ".safetensors"] = {key: about[key] for key in about if key != "card"}
    _, *rows = (folder / "metrics.csv").read_text().splitlines()
    assert len(rows) == len(numbers["rows"])
    return numbers, arrays


def assert_same(one: Path, other: Path) -> None:
    (numbers, arrays), (other_numbers, other_arrays) = outcome(one), outcome(other)
    assert numbers == other_numbers
    assert arrays.keys() == other_arrays.keys()
    for name, array in arrays.items():
        assert np.array_equal(array, other_arrays[name]), name


def run_to_end(training) -> None:
    for _ in training.run():
        pass
    assert training.finished


KINDS = {
    "dqn": (RLTraining, DQN_CONFIG),
    "dqn-alone": (RLTraining, replace(DQN_CONFIG, overlap_actor_learner=False, opponent="random")),
    "alphazero": (RLTraining, AZ_CONFIG),
    "alphazero-no-gate": (
        RLTraining,
        replace(AZ_CONFIG, gating_interval=0, full_search_prob=0.5),
    ),
    "ppo": (RLTraining, replace(AC_CONFIG, replay_ratio=2.5, augment=True)),
    "ppo-pipeline": (RLTraining, replace(AC_CONFIG, overlap_actor_learner=True)),
    "search": (
        RLTraining,
        SearchImitationConfig(
            num_simulations=4, search_prob=0.5, buffer_size=500, replay_ratio=8.0, **AC_SETTINGS
        ),
    ),
    "document": (RLTraining, DOCUMENT_CONFIG),
    "value": (ValueRegressionTraining, None),
}


# What others cover in part: in `make test-slow`.
SLOW = ("dqn-alone", "alphazero-no-gate", "ppo-pipeline", "search")


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.slow if kind in SLOW else ()) for kind in KINDS],
)
def test_run_stopped_anywhere_resumes_to_the_same_result(kind, positions, tmp_path, monkeypatch):
    make, config = KINDS[kind]
    config = config or value_config(positions)
    whole = make(replace(config, run_dir=tmp_path / "whole"), tensorboard=False)
    run_to_end(whole)
    check, count, gap, phases = Monitor.check, 0, 5.0, set()

    def impatient(self):
        nonlocal count, gap
        count += 1
        if count > gap and not self.request:
            phases.add(self.phase)
            count, gap = 0, 1.5 * gap  # less often each time, or no round would ever be finished
            self.stop("the test")
        check(self)

    monkeypatch.setattr(Monitor, "check", impatient)
    parts = replace(config, run_dir=tmp_path / "parts")
    training, stops = make(parts, tensorboard=False), 0
    while True:
        for _ in training.run():
            pass
        if training.finished:
            break
        stops += 1
        if stops % 3 == 0:  # in the same process, without the checkpoint
            training.monitor.stop("")
        else:
            training.save()
            training = make(parts, tensorboard=False)
    assert stops > 3
    assert "learning" in phases
    assert len(phases) > (kind != "value")  # validation is a single step here
    assert_same(tmp_path / "whole", tmp_path / "parts")


@pytest.mark.slow
def test_interrupted_rollout_of_several_processes_is_replayed(tmp_path, monkeypatch):
    config = replace(AZ_CONFIG, games=40, num_actors=2, gating_interval=0)
    run_to_end(RLTraining(replace(config, run_dir=tmp_path / "whole"), tensorboard=False))
    training = RLTraining(replace(config, run_dir=tmp_path / "parts"), tensorboard=False)
    check, polls = Monitor.check, 0

    def impatient(self):
        nonlocal polls
        polls += self.phase == "playing"
        if polls == 2:
            self.stop("the test")
        check(self)

    monkeypatch.setattr(Monitor, "check", impatient)
    assert [*training.run()] == []
    training.monitor.stop("")
    polls = 3
    run_to_end(training)
    assert_same(tmp_path / "whole", tmp_path / "parts")


class Killed:
    """Ends this process, as a kill would, before its k-th operation on a file."""

    def __init__(self, k: int):
        self.k, self.count = k, 0

    def operation(self) -> bool:
        """Count one; return whether it is the last."""
        self.count += 1
        return self.count == self.k

    def install(self, folder: Path) -> None:
        """Watch all that is opened for writing, written, synced, renamed and removed there."""
        inside = str(folder)

        def audit(event: str, arguments: tuple) -> None:
            path = str(arguments[0]) if arguments else ""
            writes = event == "open" and isinstance(arguments[1], str) and "w" in arguments[1]
            watched = writes or event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir")
            if watched and path.startswith(inside) and self.operation():
                os._exit(9)

        sys.addaudithook(audit)
        fsync, opened = os.fsync, Path.open

        def sync(descriptor: int) -> None:
            if self.operation():
                os._exit(9)
            fsync(descriptor)

        def open_file(path: Path, mode: str = "r", *arguments, **settings):
            file = opened(path, mode, *arguments, **settings)
            return Written(file, self) if "w" in mode and str(path).startswith(inside) else file

        os.fsync, Path.open = sync, open_file


class Written:
    """A file of which a kill may leave the first half."""

    def __init__(self, file, killed: Killed):
        self.file, self.killed = file, killed

    def write(self, content: bytes) -> None:
        if self.killed.operation():
            self.file.write(content[: len(content) // 2])
            self.file.flush()
            os._exit(9)
        self.file.write(content)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()

    def __getattr__(self, name: str):
        return getattr(self.file, name)


def killed_before(k: int, folder: Path, work) -> int | None:
    """Do `work` in a process of its own that is killed before its k-th operation on a file.

    Returns:
        How many there were if it was not killed, else None.
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
    assert code in (0, 9), code
    return int(output) if code == 0 else None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("kind", "checkpoints"),
    [("dqn-alone", 1), *(pytest.param(kind, 2, marks=pytest.mark.slow) for kind in KINDS)],
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
    folders = {name: tmp_path / name for name in ("whole", "run")}
    run_to_end(make(replace(config, run_dir=folders["whole"]), tensorboard=False))
    parts = replace(config, run_dir=folders["run"])

    def work() -> None:
        run_to_end(make(parts, tensorboard=False))

    k, total, left_over = 0, None, 0
    while total is None:
        k += 1
        remove(folders["run"])
        total = killed_before(k, folders["run"], work)
        left_over += len(list(folders["run"].glob(".*.tmp")))
        # What is there can be used: whole files, or none.
        for name in ("network", "best"):
            if (folders["run"] / f"{name}.safetensors").exists():
                load_weights(folders["run"] / f"{name}.safetensors")
        work()
        assert_same(folders["whole"], folders["run"])
        assert not list(folders["run"].glob(".*.tmp"))
    assert total > 12 * checkpoints  # four files: each is opened, written and renamed
    assert left_over > 5


def remove(folder: Path) -> None:
    """Remove a folder, if it is there."""
    if folder.exists():
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def test_derived_files_that_are_missing_or_old_are_written_again(tmp_path):
    config = replace(DQN_CONFIG, run_dir=tmp_path, games=40)
    run_to_end(RLTraining(config, tensorboard=False))
    names = ("network.safetensors", "best.safetensors", "metrics.csv")
    whole = {name: (tmp_path / name).read_bytes() for name in names}
    for name in names:
        for content in (None, b"", whole["network.safetensors"][:-5]):
            (tmp_path / name).unlink()
            if content is not None:
                (tmp_path / name).write_bytes(content)
            assert RLTraining(config, tensorboard=False).finished
            assert (tmp_path / name).read_bytes() == whole[name]
    # A card is no reason to write a file again.
    weights, about = load_weights(tmp_path / "best.safetensors")
    save_weights(tmp_path / "best.safetensors", weights, about | {"card": {"any": "thing"}})
    RLTraining(config, tensorboard=False)
    assert load_weights(tmp_path / "best.safetensors")[1]["card"] == {"any": "thing"}


def test_damaged_state_raises_with_its_name(tmp_path):
    folder = RunDirectory(tmp_path, {})
    folder.save_state({"games": 3}, {"a/b": np.arange(4), "c": np.zeros((2, 2), np.float32)})
    file, (numbers, arrays) = tmp_path / "state.npz", folder.load_state()
    whole, refused = file.read_bytes(), 0
    for place in range(len(whole)):
        content = bytearray(whole)
        content[place] ^= 1 << place % 8
        file.write_bytes(content)
        problem = ""
        try:
            found = folder.load_state()
        except ValueError as error:
            problem = str(error)
        if problem:
            refused += 1
            assert f"{file} is damaged" in problem
            assert "remove it to begin anew" in problem
        else:  # bytes that do not matter, such as dates
            assert found[0] == numbers
            assert all(np.array_equal(found[1][name], one) for name, one in arrays.items())
    assert refused > len(whole) / 2
    for size in range(0, len(whole), 7):
        file.write_bytes(whole[:size])
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


def test_agent_of_an_untrained_network_warns(tmp_path):
    config = replace(DQN_CONFIG, run_dir=tmp_path / "run", learning_starts=10**6)
    training = RLTraining(config, tensorboard=False)
    next(training.run())
    training.save()
    assert training.updates == 0
    with pytest.warns(UserWarning, match=r"has not learned anything yet \(0 updates\)") as warned:
        make_agent(f"dqn:{tmp_path / 'run'}", make_game("tictactoe"))
    assert len(warned) == 1
    trained = replace(config, run_dir=tmp_path / "trained", learning_starts=30, games=40)
    run_to_end(RLTraining(trained, tensorboard=False))
    further = replace(config, run_dir=tmp_path / "further", start_from=tmp_path / "trained")
    RLTraining(further, tensorboard=False).save()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("trained", "further"):
            make_agent(f"dqn:{tmp_path / name}", make_game("tictactoe"))


def test_a_finished_training_without_any_update_is_reported_as_untrained(tmp_path):
    config = replace(DQN_CONFIG, run_dir=tmp_path, learning_starts=10**6, games=20)
    with pytest.warns(UserWarning, match="has not learned anything yet"):
        results = main(config)
    assert results is not None
    assert results["training"]["updates"] == 0
    assert results["training"]["best"]["games"] == 20
    assert (tmp_path / "report.md").exists()


@pytest.mark.parametrize("select", ["best", "last"])
def test_the_best_network_is_not_the_untrained_one_once_others_have_learned(select, tmp_path):
    config = replace(DQN_CONFIG, run_dir=tmp_path, checkpoint_selection=select, eval_interval=10**6)
    training = RLTraining(config, tensorboard=False)
    for games in training.run():
        if games == 60:
            break
    assert training.best["games"] == 0
    training.save()
    about = load_weights(tmp_path / "best.safetensors")[1]
    assert about["games"] == 60
    assert about["updates"] == training.updates > 0
    again = RLTraining(config, tensorboard=False)
    assert again.selected == {"win_rate": None, "games": 60}
    training.evaluate_off_schedule()
    assert training.selected["win_rate"] is not None


def signals_at(updates: list[int], number: int, monkeypatch) -> None:
    """Let this process get a signal after some updates, counted over all runs."""
    update, count = RLTraining.update, 0

    def send(self) -> None:
        nonlocal count
        update(self)
        count += 1
        if count in updates:
            os.kill(os.getpid(), number)

    monkeypatch.setattr(RLTraining, "update", send)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_saves_a_checkpoint_and_a_report(number, tmp_path, monkeypatch, capsys):
    config = replace(DQN_CONFIG, run_dir=tmp_path / "run")
    signals_at([15], number, monkeypatch)
    handlers = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(Interrupted, match=f"stopped by {number.name}") as stopped:
        main(config)
    assert isinstance(stopped.value, KeyboardInterrupt)
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == handlers
    output = capsys.readouterr()
    again = RLTraining(config, tensorboard=False)
    assert again.updates == 15  # in the middle of a round
    assert 0 < again.games < config.games
    assert f"stopped by {number.name} after {again.games} of 100 games" in output.out
    assert f"next: ludoteca play tictactoe --agent dqn:{config.run_dir}" in output.out
    assert "Ctrl-C again quits at once" in output.err
    assert load_weights(config.run_dir / "best.safetensors")[1]["updates"] > 0
    assert (config.run_dir / "report.md").exists()
    assert not (config.run_dir / "results.json").exists()
    # The same command ends as if nothing had happened.
    assert main(config) is not None
    assert not (config.run_dir / "results_so_far.json").exists()
    run_to_end(RLTraining(replace(config, run_dir=tmp_path / "whole"), tensorboard=False))
    assert_same(tmp_path / "whole", tmp_path / "run")


@pytest.mark.parametrize("checkpoint", [False, True])
def test_second_signal_quits_and_prints_the_state(checkpoint, tmp_path, monkeypatch, capsys):
    config = replace(DQN_CONFIG, run_dir=tmp_path)
    if checkpoint:
        training = RLTraining(config, tensorboard=False)
        next(training.run())
        training.save()
    signals_at([10], signal.SIGINT, monkeypatch)

    def save(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)

    monkeypatch.setattr(RLTraining, "save", save)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as stopped:
        main(config)
    assert not isinstance(stopped.value, Interrupted)
    assert time.monotonic() - start < 8
    where = "resumes from the checkpoint of 20 of 100 games" if checkpoint else "begins anew"
    assert (
        f"quit at once; {'' if checkpoint else 'there is no checkpoint: '}the same command {where}"
        in (capsys.readouterr().err)
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_commands_end_with_the_status_of_their_signal():
    def run(error: BaseException) -> int:
        def end() -> None:
            raise error

        child = os.fork()
        if child == 0:
            code = 1
            try:
                run_command("test", end)
            except SystemExit as stop:
                code = stop.code
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    assert run(Interrupted(signal.SIGTERM)) == 143
    assert run(Interrupted(signal.SIGINT)) == 130
    assert run(KeyboardInterrupt()) == 130


@pytest.mark.parametrize(
    "changes", [{"minutes": -1.0}, {"minutes": float("nan")}, {"minutes": float("inf")}]
)
def test_invalid_time_limits_raise(changes, positions):
    with pytest.raises(ValueError, match="minutes must be a number from 0"):
        replace(DQN_CONFIG, **changes)
    with pytest.raises(ValueError, match="minutes must be a number from 0"):
        replace(value_config(positions), **changes)


def test_without_time_nothing_is_reported_but_the_run_resumes(tmp_path, capsys):
    config = replace(DQN_CONFIG, run_dir=tmp_path, minutes=0.0)
    assert main(config) is None
    output = capsys.readouterr().out
    assert "time is up before anything was learned" in output
    assert "a rollout of 20 games needs more time" in output
    assert {file.name for file in tmp_path.iterdir()} >= {"state.npz", "network.safetensors"}
    assert not (tmp_path / "report.md").exists()
    run_to_end(RLTraining(config, tensorboard=False))


def test_a_stopped_training_in_epochs_reports_what_it_has(positions, tmp_path, monkeypatch, capsys):
    config = replace(value_config(positions), run_dir=tmp_path / "run")
    update, count = ValueRegressionTraining.update, 0

    def send(self, *arguments):
        nonlocal count
        count += 1
        if count == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return update(self, *arguments)

    monkeypatch.setattr(ValueRegressionTraining, "update", send)
    with pytest.raises(Interrupted):
        train_value_network(config, progress=True, tensorboard=False)
    assert "stopped by SIGINT in epoch 1 of 3" in capsys.readouterr().out
    about = load_weights(config.run_dir / "best.safetensors")[1]
    assert (about["epochs"], about["updates"]) == (0, 5)
    assert "stopped before its end" in (config.run_dir / "report.md").read_text()
    assert train_value_network(config, tensorboard=False) is not None
    run_to_end(
        ValueRegressionTraining(replace(config, run_dir=tmp_path / "whole"), tensorboard=False)
    )
    assert_same(tmp_path / "whole", tmp_path / "run")

"""Tests of interrupted runs: stopped anywhere, by signals and by time; untrained networks."""

import os
import signal
import time
import warnings
from dataclasses import replace

import pytest
from interrupted_runs import (
    AZ_CONFIG,
    DQN_CONFIG,
    KINDS,
    assert_same_runs,
    run_to_end,
    value_config,
)

from ludoteca.agents.networks.weights import load_weights
from ludoteca.agents.registry import make_agent
from ludoteca.divergence import DIVERGED, DivergedError
from ludoteca.envs.registry import make_game
from ludoteca.train.command import run as main
from ludoteca.train.command import run_command
from ludoteca.train.interruption import Interrupted
from ludoteca.train.loop import RLTraining
from ludoteca.train.monitor import Monitor
from ludoteca.train.value_regression import ValueRegressionTraining
from ludoteca.train.value_regression import train as train_value_network

pytestmark = pytest.mark.interpreted

# Kinds of runs that the others partly cover, so that they run only in `make test-slow`.
SLOW = (
    "dqn-no-overlap",
    "alphazero",
    "alphazero-no-gatekeeper",
    "ppo-overlap",
    "search",
    "value",
)


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.slow if kind in SLOW else ()) for kind in KINDS],
)
def test_run_stopped_anywhere_resumes_to_the_same_result(kind, positions, tmp_path, monkeypatch):
    make, config = KINDS[kind]
    config = config or value_config(positions)
    if kind not in SLOW:
        config = replace(config, games=60)
    uninterrupted = make(replace(config, run_dir=tmp_path / "uninterrupted"), tensorboard=False)
    run_to_end(uninterrupted)
    check, count, gap, phases = Monitor.check, 0, 5.0, set()

    def check_and_stop(self):
        nonlocal count, gap
        count += 1
        if count > gap and not self.stop_reason:
            phases.add(self.phase)
            count, gap = 0, 1.5 * gap  # stops become rarer, so that rollouts are finished
            self.stop("the test")
        check(self)

    monkeypatch.setattr(Monitor, "check", check_and_stop)
    parts = replace(config, run_dir=tmp_path / "parts")
    training, stops = make(parts, tensorboard=False), 0
    while True:
        for _ in training.run():
            pass
        if training.finished:
            break
        stops += 1
        if stops % 3 == 0:  # resume in the same process, without a checkpoint
            training.monitor.stop("")
        else:
            training.save()
            training = make(parts, tensorboard=False)
    assert stops > 3
    assert "learning" in phases
    assert len(phases) > (kind != "value")  # validation is a single step here
    assert_same_runs(tmp_path / "uninterrupted", tmp_path / "parts")


@pytest.mark.slow
def test_interrupted_rollout_of_several_processes_is_replayed(tmp_path, monkeypatch):
    config = replace(AZ_CONFIG, games=40, num_actors=2, gating_interval=0)
    run_to_end(RLTraining(replace(config, run_dir=tmp_path / "uninterrupted"), tensorboard=False))
    training = RLTraining(replace(config, run_dir=tmp_path / "parts"), tensorboard=False)
    check, polls = Monitor.check, 0

    def check_and_stop(self):
        nonlocal polls
        polls += self.phase == "playing"
        if polls == 2:
            self.stop("the test")
        check(self)

    monkeypatch.setattr(Monitor, "check", check_and_stop)
    assert [*training.run()] == []
    training.monitor.stop("")
    polls = 3
    run_to_end(training)
    assert_same_runs(tmp_path / "uninterrupted", tmp_path / "parts")


def test_agent_of_an_untrained_network_warns(tmp_path):
    config = replace(DQN_CONFIG, run_dir=tmp_path / "run", learning_starts=10**6)
    training = RLTraining(config, tensorboard=False)
    next(training.run())
    training.save()
    assert training.updates == 0
    with pytest.warns(UserWarning, match=r"without any training \(0 updates\)") as warned:
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
    with pytest.warns(UserWarning, match="without any training"):
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
    metadata = load_weights(tmp_path / "best.safetensors")[1]
    assert metadata["games"] == 60
    assert metadata["updates"] == training.updates > 0
    again = RLTraining(config, tensorboard=False)
    assert again.selected == {"win_rate": None, "games": 60}
    training.evaluate_off_schedule()
    assert training.selected["win_rate"] is not None


def signals_at(updates: list[int], signal_number: int, monkeypatch) -> None:
    """Send this process a signal after some updates, counted over all runs of the test."""
    update, count = RLTraining.update, 0

    def send(self) -> None:
        nonlocal count
        update(self)
        count += 1
        if count in updates:
            os.kill(os.getpid(), signal_number)

    monkeypatch.setattr(RLTraining, "update", send)


@pytest.mark.parametrize(
    "signal_number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_signal_saves_a_checkpoint_and_a_report(signal_number, tmp_path, monkeypatch, capsys):
    config = replace(DQN_CONFIG, run_dir=tmp_path / "run", games=60)
    signals_at([15], signal_number, monkeypatch)
    handlers = [signal.getsignal(handled) for handled in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(Interrupted, match=f"stopped by {signal_number.name}") as stopped:
        main(config)
    assert isinstance(stopped.value, KeyboardInterrupt)
    assert [signal.getsignal(handled) for handled in (signal.SIGINT, signal.SIGTERM)] == handlers
    output = capsys.readouterr()
    again = RLTraining(config, tensorboard=False)
    assert again.updates == 15  # within a rollout
    assert 0 < again.games < config.games
    assert f"stopped by {signal_number.name} after {again.games} of 60 games" in output.out
    assert f"next: ludoteca play tictactoe --agent dqn:{config.run_dir}" in output.out
    assert "Ctrl-C again quits at once" in output.err
    assert load_weights(config.run_dir / "best.safetensors")[1]["updates"] > 0
    assert (config.run_dir / "report.md").exists()
    assert not (config.run_dir / "results.json").exists()
    # The same command finishes the run with the same result.
    assert main(config) is not None
    assert not (config.run_dir / "results_so_far.json").exists()
    run_to_end(RLTraining(replace(config, run_dir=tmp_path / "uninterrupted"), tensorboard=False))
    assert_same_runs(tmp_path / "uninterrupted", tmp_path / "run")


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
def test_commands_end_with_the_status_of_their_signal_or_error(capfd):
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

    # 128 + the number of the signal.
    assert run(Interrupted(signal.SIGTERM)) == 143
    assert run(Interrupted(signal.SIGINT)) == 130
    assert run(KeyboardInterrupt()) == 130
    assert run(ValueError("games must be positive")) == 1
    assert run(DivergedError("the loss is nan")) == DIVERGED == 3
    messages = capfd.readouterr().err.splitlines()
    assert messages[-2:] == ["test: games must be positive", "test: the loss is nan"]


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


def test_a_stopped_supervised_run_writes_a_report(positions, tmp_path, monkeypatch, capsys):
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
    metadata = load_weights(config.run_dir / "best.safetensors")[1]
    assert (metadata["epochs"], metadata["updates"]) == (0, 5)
    assert "stopped before its end" in (config.run_dir / "report.md").read_text()
    assert train_value_network(config, tensorboard=False) is not None
    run_to_end(
        ValueRegressionTraining(
            replace(config, run_dir=tmp_path / "uninterrupted"), tensorboard=False
        )
    )
    assert_same_runs(tmp_path / "uninterrupted", tmp_path / "run")

"""Tests of `ludoteca tune --tune playout.weights`: training in a process, matches, errors."""

import json
from dataclasses import fields

import pytest
import tyro
from command_line import run

from ludoteca.evaluate.tuning import playout_weights
from ludoteca.evaluate.tuning.run import tune_agent
from ludoteca.train.playout_policy import PlayoutPolicyConfig, main

pytestmark = pytest.mark.interpreted

GAME, AGENT = "breakthrough:rows=5,columns=2", "mcts:simulations=5"
SHORT = (
    "positions=4,test_positions=2,self_play_simulations=3,epochs=1,search_simulations=10,"
    "batch_size=2,value_playouts=3,gradient_playouts=3,test_playouts=5,learning_rate=0.1"
)
COMMAND = ["tune", GAME, "--agent", AGENT, "--tune", "playout.weights", "--match-games", "2"]


@pytest.fixture
def trainings(monkeypatch):
    """Return the arguments of all trainings, which run in this process instead of another."""
    calls = []

    def run_here(arguments):
        calls.append(arguments)
        main(tyro.cli(PlayoutPolicyConfig, args=arguments))

    monkeypatch.setattr(playout_weights, "run_training", run_here)
    return calls


def test_settings_are_those_of_the_training():
    own = {"game", "run_dir", "methods", "seed"}  # given by other options
    names = {field.name for field in fields(PlayoutPolicyConfig)}
    assert set(playout_weights.SETTINGS) == names - own


@pytest.mark.parametrize(
    ("optimizer", "method"),
    [("simulation_balancing", "balancing"), ("maximum-likelihood", "likelihood")],
)
def test_command_trains_weights_and_plays_with_them(optimizer, method, trainings, tmp_path, capsys):
    options = ["--optimizer", f"{optimizer}:{SHORT}", "--seed", "7", "--out", str(tmp_path)]
    for _ in range(2):  # the second time only the matches are played again
        status, out, _ = run(capsys, *COMMAND, "--against", "random", *options)
        assert status == 0
        assert len(trainings) == 1
    assert "softmax" in out
    assert "agent with starting values" in out
    saved = json.loads((tmp_path / "tuning.json").read_text())
    training = json.loads((tmp_path / "training" / "results.json").read_text())
    assert training["settings"]["seed"] == 7
    assert training["settings"]["methods"] == [method]
    assert training["settings"]["learning_rate"] == 0.1
    assert saved["errors"] == training["test"]
    weights = tmp_path / "training" / f"{method}.safetensors"
    assert saved["agent"] == f"{AGENT},playout=softmax,playout.weights={weights}"
    assert saved["start_values"] == {"playout": "uniform", "playout.weights": "-"}
    assert [match["opponent"] for match in saved["matches"]] == [AGENT, "random"]
    assert not (tmp_path / "tuning.png").exists()


def test_folder_of_another_run_is_rejected_before_the_training(trainings, tmp_path):
    def tune(seed):
        tune_agent(
            GAME, AGENT, ["playout.weights"], tmp_path,
            optimizer=f"simulation_balancing:{SHORT}", match_games=2, seed=seed,
        )  # fmt: skip

    tune(0)
    with pytest.raises(ValueError, match="another tuning run: its seed is 0, not 1"):
        tune(1)
    assert len(trainings) == 1


def test_failed_training_ends_the_command_and_leaves_the_folder_free(tmp_path, capfd):
    command = [*COMMAND, "--optimizer", "simulation_balancing:positions=0", "--out", str(tmp_path)]
    status, _, err = run(capfd, *command)
    assert status == 2
    assert "positions must be an integer from 1" in " ".join(err.replace("│", "").split())
    assert not list(tmp_path.iterdir())


BALANCING = ["--optimizer", "simulation_balancing"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ([*BALANCING, "--games", "40"], "games and batch do not apply; settings of its own"),
        ([*BALANCING, "--batch", "4"], "games and batch do not apply"),
        ([*BALANCING, "--tune", "fpu=0:1"], "simulation_balancing tunes only playout.weights"),
        ([*BALANCING, "--agent", "flat:simulations=5"], "only the agent mcts has playout.weights"),
        (["--optimizer", "simulation_balancing:epoch=1"], "'epoch' (did you mean 'epochs'?)"),
        (["--optimizer", "simulation_balance"], "did you mean 'simulation_balancing'?"),
        (["--optimizer", "spsa"], "playout.weights is a file, not a range"),
        ([*BALANCING, "--match-games", "1"], "match_games must be"),
        ([*BALANCING, "--against", "minmax"], "minmax"),
    ],
)
def test_options_that_do_not_apply_give_clear_errors(options, error, trainings, tmp_path, capsys):
    status, _, err = run(capsys, *COMMAND, *options, "--out", str(tmp_path))
    assert status == 2
    assert error in err
    assert not trainings
    assert not list(tmp_path.iterdir())


def test_game_without_features_is_an_error(trainings, tmp_path):
    with pytest.raises(ValueError, match="has no features of moves; games with them are"):
        tune_agent(
            "tictactoe", AGENT, ["playout.weights"], tmp_path, optimizer="simulation_balancing"
        )
    assert not trainings

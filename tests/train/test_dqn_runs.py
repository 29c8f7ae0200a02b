"""Tests of runs of deep Q-learning: learning, resume after a kill, reports, the command."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from dqn_settings import DEFAULT, TANAKA2018, TINY, parse
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

from ludoteca.agents.networks.q_network import QConfig
from ludoteca.agents.networks.weights import load_weights
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.match import play_match
from ludoteca.train import command
from ludoteca.train.command import run as main
from ludoteca.train.demo import DEMO
from ludoteca.train.loop import RLTraining


@pytest.mark.slow
def test_dqn_learns_tic_tac_toe(tmp_path):
    config = replace(
        TINY,
        run_dir=tmp_path,
        games=7_000,
        games_per_iteration=200,
        batch_size=256,
        replay_ratio=4.0,
        buffer_size=30_000,
        learning_starts=1000,
        network=QConfig(filters=(32,), blocks=2),
        learning_rate=2e-3,
        exploration_initial_eps=1.0,
        exploration_final_eps=0.3,
        exploration_fraction=1.0,
        log_interval=2000,
        eval_interval=5000,
        eval_games=200,
        save_seconds=1e9,
    )
    training = RLTraining(config, tensorboard=False)
    for _ in training.run():
        pass
    untrained = training.metrics.rows[0]["random__first"]
    assert untrained is not None
    assert untrained < 0.85
    game = make_game("tictactoe")
    match = play_match(game, [f"dqn:{tmp_path}", "random"], 2000, seed=9)
    first, second = match.seats[0]
    # Perfect play never loses.
    assert first.losses <= 3
    assert second.losses <= 10
    assert first.wins >= 950
    assert second.wins >= 800


# Games by default: one of each kind of action. The others are learned in `make test-slow`.
QUICK = ("Connect4-v0", "Othello-v0", "Breakthrough-v0", "Tron-v0")


@pytest.mark.parametrize(
    "id_", [id_ if id_ in QUICK else pytest.param(id_, marks=pytest.mark.slow) for id_ in GAMES]
)
@pytest.mark.interpreted
def test_every_sequential_game_can_be_learned(id_, tmp_path):
    game = make_game(id_)
    config = replace(
        TINY,
        run_dir=tmp_path,
        game=game.spec,
        opponent="random",
        games=2,
        games_per_iteration=2,
        learning_starts=1,
        batch_size=8,
        eval_games=1,
    )
    if game.simultaneous:
        with pytest.raises(ValueError, match="a sequential game for two players"):
            RLTraining(config, tensorboard=False)
        return
    training = RLTraining(config, tensorboard=False)
    before = {name: weight.clone() for name, weight in training.network.state_dict().items()}
    for _ in training.run():
        pass
    assert training.learner.updates > 0
    after = training.network.state_dict()
    assert any(not torch.equal(after[name], weight) for name, weight in before.items())
    assert all(bool(torch.isfinite(weight).all()) for weight in after.values())


@pytest.mark.slow
def test_seed_determines_a_run_with_and_without_overlap(tmp_path):
    weights = {}
    for name, settings in {
        "a": {},
        "b": {},
        "other": {"seed": 1},
        "alone": {"overlap_actor_learner": False},
    }.items():
        training = RLTraining(
            replace(TINY, run_dir=tmp_path / name, games=120, **settings), tensorboard=False
        )
        assert [*training.run()] == [20, 40, 60, 80, 100, 120]
        weights[name] = training.network.state_dict()
    same = {
        name: all(torch.equal(weight, weights["a"][key]) for key, weight in state.items())
        for name, state in weights.items()
    }
    assert same == {"a": True, "b": True, "other": False, "alone": False}


def test_evaluation_interval_is_independent_of_metrics_rows(tmp_path):
    config = replace(TINY, run_dir=tmp_path, games=120, log_interval=50, eval_interval=80)
    training = RLTraining(config, tensorboard=False)
    for _ in training.run():
        pass
    evaluated = {row["step"]: "random__first" in row for row in training.metrics.rows}
    assert evaluated == {0: True, 60: False, 80: True, 100: False, 120: True}


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {
            "opponent": "random",
            "prioritized_replay": False,
            "optimizer": "sgd",
            "overlap_actor_learner": False,
        },
    ],
    ids=["default", "plain"],
)
def test_killed_run_resumes_to_the_same_result(tmp_path, settings):
    config = replace(TINY, **settings)
    uninterrupted = RLTraining(
        replace(config, run_dir=tmp_path / "uninterrupted"), tensorboard=False
    )
    for _ in uninterrupted.run():
        pass
    killed = replace(config, run_dir=tmp_path / "killed")
    code = (
        "import time; from pathlib import PosixPath;"
        "from ludoteca.train.dqn import DQNConfig;"
        "from ludoteca.agents.networks.q_network import QConfig;"
        "from ludoteca.train.loop import RLTraining\n"
        f"for games in RLTraining({killed!r}, tensorboard=False).run():\n"
        "    print(games, flush=True); time.sleep(0.05)"
    )
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", code], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= 100:
            process.send_signal(signal.SIGKILL)
            break
    process.wait()
    process.stdout.close()
    assert process.returncode == -signal.SIGKILL
    again = RLTraining(killed, tensorboard=False)
    assert 0 < again.games < config.games
    for _ in again.run():
        pass
    expected = uninterrupted.network.state_dict()
    for name, weight in again.network.state_dict().items():
        assert torch.equal(weight, expected[name]), name
    without_time = [{**row, "seconds": 0} for row in uninterrupted.metrics.rows]
    assert [{**row, "seconds": 0} for row in again.metrics.rows] == without_time
    assert again.best == uninterrupted.best


def test_a_folder_belongs_to_one_run(tmp_path):
    config = replace(TINY, run_dir=tmp_path)
    RLTraining(config, tensorboard=False)
    RLTraining(replace(config, minutes=1.0, save_seconds=5), tensorboard=False)
    with pytest.raises(ValueError, match=r"other settings.*gamma: 1.0 there, 0.5 here"):
        RLTraining(replace(config, gamma=0.5), tensorboard=False)
    # A run of an older version has no setting `opponent_prob`.
    settings = json.loads((tmp_path / "config.json").read_text())
    assert settings.pop("opponent_prob") == 1.0
    (tmp_path / "config.json").write_text(json.dumps(settings))
    RLTraining(config, tensorboard=False)
    with pytest.raises(ValueError, match=r"opponent_prob: 1.0 there, 0.5 here"):
        RLTraining(replace(config, opponent="random", opponent_prob=0.5), tensorboard=False)
    (tmp_path / "state.npz").write_bytes(b"half a fi")
    with pytest.raises(ValueError, match=r"state.npz is damaged .*: remove it to begin anew"):
        RLTraining(config, tensorboard=False)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the folder and the results of a finished run."""
    folder = tmp_path_factory.mktemp("runs") / "demo"
    config = replace(
        DEMO,
        run_dir=folder,
        game="tictactoe",
        opponent="greedy",
        eval_opponents=("greedy", "mcts:simulations=5"),
        network=QConfig(filters=(8,), blocks=1),
        games=512,
        learning_starts=500,
        batch_size=64,
        log_interval=256,
        eval_interval=256,
        eval_games=20,
        final_eval_games=30,
    )
    threads = torch.get_num_threads()
    results = main(config)
    torch.set_num_threads(threads)
    return folder, results


def test_finished_run_writes_a_report(finished):
    folder, results = finished
    assert {path.name for path in folder.iterdir()} == {
        ".lock", "best.safetensors", "config.json", "game.png", "game.svg", "learning_curve.png",
        "metrics.csv", "network.safetensors", "replay.json", "report.md", "results.json",
        "state.npz", "tensorboard",
    }  # fmt: skip
    assert json.loads((folder / "results.json").read_text()) == json.loads(json.dumps(results))
    for name in ("learning_curve.png", "game.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert ET.parse(folder / "game.svg").getroot().tag.endswith("svg")
    text = (folder / "report.md").read_text()
    for link in re.findall(r"\]\((.*?)\)", text):
        assert (folder / link).is_file()
    for part in results["evaluation"]:
        for seat in part["seats"]:
            assert seat["games"] == 30
            games = "30 (all the same)" if seat["distinct"] == 1 else "30"
            assert f"| {part['opponent']} | {seat['seat']} | {games} | {seat['wins']} |" in text
    assert [part["opponent"] for part in results["evaluation"]] == [
        "greedy", "mcts:simulations=5", "random",
    ]  # fmt: skip
    with (folder / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["step"]) for row in rows] == [0, 256, 512]


def test_tensorboard_has_hyperparameters_the_command_and_boards(finished):
    folder, _ = finished
    accumulator = EventAccumulator(str(folder / "tensorboard"))
    accumulator.Reload()
    tags = accumulator.Tags()
    assert "evaluation game" in tags["images"]
    assert [image.step for image in accumulator.Images("evaluation game")] == [0, 256, 512]
    assert {"loss", "greedy/first", "plies"} <= set(tags["scalars"])
    texts = accumulator.PluginTagToContent("text")
    assert "command/text_summary" in texts
    plugin = accumulator.PluginTagToContent("hparams")["_hparams_/session_start_info"]
    hparams = HParamsPluginData.FromString(plugin).session_start_info.hparams
    assert hparams["gamma"].number_value == 1.0
    assert hparams["network.blocks"].number_value == 1
    assert hparams["opponent"].string_value == "greedy"


def test_results_can_be_recomputed_from_the_checkpoint(finished):
    folder, results = finished
    game = make_game(results["game"])
    match = play_match(game, [f"dqn:{folder}", "greedy"], 60, seed=results["evaluation_seed"])
    expected = [seat["wins"] for seat in results["evaluation"][0]["seats"]]
    assert [record.wins for record in match.seats[0]] == expected
    card = load_weights(folder / "best.safetensors")[1]["card"]
    assert card["evaluation"] == json.loads(json.dumps(results["evaluation"]))
    assert card["config"]["seed"] == 0
    replay = Replay.load(folder / "replay.json")
    assert replay.players[1] == "greedy"
    assert replay.returns is not None


def test_a_finished_run_can_be_reported_again(finished):
    folder, results = finished
    config = replace(
        DEMO,
        **{
            key: value
            for key, value in results["config"].items()
            if key not in ("run_dir", "network", "start_from", "eval_opponents")
        },
        run_dir=folder,
        network=QConfig(filters=(8,), blocks=1),
        eval_opponents=("greedy", "mcts:simulations=5"),
    )
    again = main(config)
    assert again is not None
    assert again["evaluation"] == results["evaluation"]


@pytest.mark.slow
def test_run_ended_by_time_resumes(tmp_path, capsys, monkeypatch):
    # A command that this process ran long ago does not count.
    monkeypatch.setattr(command, "STARTED", time.monotonic() - 3600)
    command.run_command("test", lambda: None)
    # A first run compiles, and imports the modules of the report.
    first = replace(TINY, run_dir=tmp_path / "first", games=120)
    assert main(first) is not None
    capsys.readouterr()
    config = replace(TINY, run_dir=tmp_path, games=10**6, minutes=0.04, save_seconds=1e9)
    start = time.monotonic()
    assert main(config) is None
    assert time.monotonic() - start < 20  # 2.4 seconds and, on a busy machine, the report
    metadata = load_weights(tmp_path / "best.safetensors")[1]
    training = RLTraining(config, tensorboard=False)
    assert 0 < training.games < 10**6
    assert not (tmp_path / "results.json").exists()
    results = json.loads((tmp_path / "results_so_far.json").read_text())
    assert results["training"]["games"] == training.games
    where = f"stopped after {training.games:,} of 1,000,000 games"
    assert where in (tmp_path / "report.md").read_text()
    # `dqn:FOLDER` plays the best network that was evaluated, not an untrained one.
    assert metadata["games"] == results["training"]["best"]["games"] > 0
    assert metadata["updates"] > 0
    out = capsys.readouterr().out
    assert f"time is up after {training.games:,} of 1,000,000 games; the same command" in out
    assert f"next: ludoteca play tictactoe --agent dqn:{tmp_path}" in out


@pytest.mark.interpreted
def test_weights_transfer_from_a_small_board(tmp_path):
    small = replace(TINY, run_dir=tmp_path / "a", game="hex:board_size=3", games=40)
    first = RLTraining(small, tensorboard=False)
    for _ in first.run():
        pass
    large = replace(
        small, run_dir=tmp_path / "b", game="hex:board_size=5", start_from=tmp_path / "a"
    )
    second = RLTraining(large, tensorboard=False)
    best = load_weights(tmp_path / "a" / "best.safetensors")[0]
    assert all(torch.equal(best[name], w) for name, w in second.network.state_dict().items())
    other = replace(large, run_dir=tmp_path / "c", network=QConfig(filters=(16,), blocks=1))
    with pytest.raises(ValueError, match="has a different architecture"):
        RLTraining(other, tensorboard=False)


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the training command in a folder."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "ludoteca.train.dqn", *arguments],
        capture_output=True, text=True, cwd=folder, env=os.environ | {"COLUMNS": "120"},
    )  # fmt: skip


@pytest.mark.slow
def test_command_line_parses_settings(tmp_path, monkeypatch, capsys):
    assert parse(["--gamma", "0.9"]) == replace(DEFAULT, gamma=0.9)
    assert parse(["tanaka2018", "--gamma", "0.9"]) == replace(TANAKA2018, gamma=0.9)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "argv", ["ludoteca.train.dqn", "--help"])
    with pytest.raises(SystemExit) as end:
        command.run_algorithm("dqn")
    assert not end.value.code
    shown = capsys.readouterr().out
    for text in (
        "Deep Q-learning", "`tanaka2018 --help`", "--td-target", "--n-step", "--network.filters",
        "--prioritized-replay", "--start-from",
    ):  # fmt: skip
        assert text in shown
    arguments = ["tanaka2018", "--opponent", "nobody", "--run-dir", str(tmp_path / "x")]
    monkeypatch.setattr(sys, "argv", ["ludoteca.train.dqn", *arguments])
    with pytest.raises(SystemExit, match="unknown agent 'nobody'"):
        command.run_algorithm("dqn")
    failed = run("default", "--game", "go", "--run-dir", str(tmp_path / "x"), folder=tmp_path)
    assert failed.returncode == 1
    assert "unknown game 'go'" in failed.stderr
    assert "Traceback" not in failed.stderr

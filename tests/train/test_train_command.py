"""Tests of `ludoteca train`: choice of algorithm, settings for the time, output."""

import os
import shlex
import signal
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest
import torch

from ludoteca.__main__ import main
from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.train import pace
from ludoteca.train.algorithms import ALGORITHMS, choose_algorithm, find_algorithm
from ludoteca.train.alphazero import AlphaZeroConfig
from ludoteca.train.command import parse
from ludoteca.train.equivalent_command import equivalent_command, with_settings
from ludoteca.train.interruption import Interrupted
from ludoteca.train.loop import RLTraining
from ludoteca.train.pace import Pace, measure_pace, plan
from ludoteca.train.presets import PRESETS, preset_config
from ludoteca.train.timed_run import TimedRun, default_run_dir
from ludoteca.train.train_command import AlgorithmName, Preset, train_command

TINY = (
    "network.filters=4",
    "network.blocks=0",
    "overlap_actor_learner=False",
    "eval_opponents=random",
)
TINY_ALPHAZERO = (*TINY, "num_simulations=4", "fast_simulations=2", "eval_simulations=4")


@pytest.fixture(scope="module", autouse=True)
def _threads():
    """Restore PyTorch's number of threads, which trainings set."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_options_list_algorithms_and_presets():
    assert get_args(Preset) == tuple(PRESETS)
    shown = get_args(AlgorithmName)[1].metavar
    assert shown == "{" + ",".join(["auto", *ALGORITHMS]) + "}"


def test_every_game_has_an_algorithm():
    chosen = {id_: choose_algorithm(make_game(id_)) for id_ in GAMES}
    assert {chosen[id_] for id_ in ("HungryGeese-v0", "Tron-v0")} == {"ppo"}
    assert chosen["TicTacToe-v0"] == chosen["Connect4-v0"] == "alphazero"
    assert choose_algorithm(make_game("connect4"), opponent="random") == "dqn"
    assert choose_algorithm(make_game("connect4"), "dqn") == "dqn"
    assert choose_algorithm(make_game("gdl:path=dice_race")) == "dqn"  # it has chance
    for id_, name in chosen.items():
        for minutes in PRESETS.values():  # settings are accepted, and opponents exist
            game = make_game(id_)
            config = preset_config(name, game, minutes)
            assert config.game == game.spec
            for spec in config.eval_opponents:
                make_agent(spec, game)


@pytest.mark.parametrize(
    ("game", "arguments", "problem"),
    [
        (
            "connect4",
            ("search-imitation",),
            "does not learn connect4: expected a simultaneous game, got .*; use dqn or alphazero",
        ),
        ("tron", ("dqn",), "dqn does not learn tron: expected a sequential game .*; use ppo"),
        ("gdl:path=dice_race", ("alphazero",), "expected a game without chance, .*; use dqn$"),
        ("hex", ("alphazero", "random"), "not against 'random': use dqn"),
        ("tron", ("nfsp", "random"), "not against 'random': use ppo"),
        ("hex", ("sarsa",), "algorithm must be one of auto, dqn, alphazero, ppo,"),
    ],
)
def test_algorithms_that_do_not_fit_are_refused(game, arguments, problem):
    with pytest.raises(ValueError, match=problem):
        choose_algorithm(make_game(game), *arguments)


def test_games_with_chance_are_refused_before_the_run_begins(tmp_path):
    config = AlphaZeroConfig(game="gdl:path=dice_race", run_dir=tmp_path / "run")
    with pytest.raises(ValueError, match=r"without chance, .* has chance; use dqn"):
        RLTraining(config, tensorboard=False)
    assert not (tmp_path / "run").exists()


def test_joint_actions_of_search_imitation_are_bounded():
    game = SimpleNamespace(simultaneous=True, num_players=4, num_actions=2**16, short_spec="large")
    with pytest.raises(ValueError, match=r"large has 65536\^4 joint actions"):
        find_algorithm("search-imitation").check_game(game)


@pytest.mark.parametrize(
    ("name", "game"),
    [("dqn", "hex:board_size=3"), ("alphazero", "connect4"), ("ppo", "tron")],
)
def test_the_command_with_all_settings_has_the_same_settings(name, game):
    algorithm = find_algorithm(name)
    config = preset_config(name, make_game(game), 10)
    config = replace(
        config, run_dir=Path("runs/a b"), minutes=1.5, games=77, overlap_actor_learner=False
    )
    if name == "ppo":
        config = replace(config, opponent_pool=(), augment=True)
    words = shlex.split(equivalent_command(algorithm.module, config, algorithm.config_class()))
    assert words[:3] == ["python", "-m", algorithm.module]
    assert parse(name, words[3:]) == config


def test_settings_are_set_by_name():
    config = AlphaZeroConfig()
    texts = ["learning-rate=0.5", "network.blocks=1", "eval_opponents=random greedy"]
    changed = with_settings(
        config, [*texts, "overlap_actor_learner=False", "augment=true"], "python -m x"
    )
    expected = replace(
        config,
        learning_rate=0.5,
        network=replace(config.network, blocks=1),
        eval_opponents=("random", "greedy"),
        overlap_actor_learner=False,
    )
    assert changed == expected
    for text, problem in (
        ("learning_rte=1", r"unknown setting 'learning_rte' \(did you mean 'learning_rate'\?\)"),
        ("games", "given as NAME=VALUE, got 'games'"),
        (
            "overlap_actor_learner=perhaps",
            "overlap_actor_learner must be True or False, got 'perhaps'",
        ),
    ):
        with pytest.raises(ValueError, match=problem):
            with_settings(config, [text], "python -m x")


@pytest.mark.parametrize("seconds", [60, 120, 3600])
@pytest.mark.parametrize("games", [1, 30, 500])
@pytest.mark.parametrize("test_seconds", [0.002, 0.05, 2])
def test_a_plan_fits_into_the_time(seconds, games, test_seconds):
    config = AlphaZeroConfig(eval_games=20, final_eval_games=50)
    left = 0.8 * seconds  # the rest after compiling and measuring
    sizes = plan(config, Pace(games, test_seconds), seconds, left)
    evaluations = 1 + -(-sizes["games"] // sizes["eval_interval"])
    assert evaluations <= pace.EVALUATIONS
    tests = (evaluations * sizes["eval_games"] + sizes["final_eval_games"]) * test_seconds
    if sizes["games"] > 64 and sizes["eval_games"] > 2 and sizes["final_eval_games"] > 10:
        assert 0.6 * left <= sizes["games"] / games + tests <= left
    assert sizes["eval_games"] <= 20
    assert sizes["final_eval_games"] <= 50
    assert sizes["games"] >= 64


@pytest.mark.interpreted
@pytest.mark.parametrize(("game", "name"), [("tictactoe", "dqn"), ("tictactoe", "alphazero")])
def test_pace_measurement_leaves_no_files(game, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pace, "MIN_TRIAL_SECONDS", 0.01)
    monkeypatch.setattr(pace, "MAX_TRIAL_SECONDS", 0.01)
    settings = TINY_ALPHAZERO if name == "alphazero" else TINY
    run = TimedRun(make_game(game), algorithm=name, settings=settings, run_dir=tmp_path / "run")
    start = time.monotonic()
    measured = measure_pace(run.config, 60)
    assert measured.games_per_second > 0
    assert 0 < measured.eval_seconds < 10
    assert start < measured.ready < time.monotonic()
    assert list(tmp_path.iterdir()) == []


def test_a_run_takes_its_settings_from_the_options(tmp_path):
    game = make_game("hex:board_size=3")
    run = TimedRun(
        game, preset="hour", seed=7, threads=2, processes=4, run_dir=tmp_path, settings=["c_puct=2"]
    )
    assert run.minutes == 60
    assert not run.planned
    config = run.config
    assert (config.seed, config.threads, config.num_actors, config.c_puct) == (7, 2, 4, 2.0)
    assert (config.run_dir, config.game) == (tmp_path, game.spec)
    assert default_run_dir(game, "hour") == Path("runs/hex-board_size=3-hour")
    assert default_run_dir(make_game("hex"), "hour") == Path("runs/hex-hour")
    assert TimedRun(game, algorithm="dqn", processes=2).config.num_actors == 2
    against = TimedRun(game, opponent="mixed:epsilon=0.2").config
    assert against.opponent == against.eval_opponents[0] == "mixed:epsilon=0.2"
    for options, problem in (
        ({"processes": 0}, "processes must be an integer from 1 to 1024, got 0"),
        ({"minutes": -1}, "minutes must be a number from 0.1"),
        ({"opponent": "randm"}, "unknown agent 'randm' .did you mean 'random'"),
        ({"preset": "year"}, "preset must be one of one-minute, .*, got 'year'"),
    ):
        with pytest.raises(ValueError, match=problem):
            TimedRun(game, **options)


def run_command(capfd, **options):
    """Run the command on Tic-Tac-Toe; return what was printed."""
    command = train_command(dict)
    settings = (*TINY_ALPHAZERO, "games=64", "eval_games=2", "final_eval_games=2")
    command("tictactoe", {}, settings=settings, **options)
    return capfd.readouterr()


def test_command_trains_and_prints_results(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    printed = run_command(capfd, minutes=5)
    assert printed.err.startswith("Tic-Tac-Toe: AlphaZero for 5 minutes, in runs/tictactoe-5-")
    line = next(line for line in printed.err.splitlines() if line.startswith("  python -m"))
    assert "--games 64 " in line
    folder = tmp_path / "runs" / "tictactoe-5-minutes"
    assert (folder / "best.safetensors").exists()
    for text in ("random", "first", "second", "95 % interval", "report: runs/tictactoe-5-minutes"):
        assert text in printed.out
    assert max(map(len, printed.out.splitlines())) <= 80
    # The same command resumes the run; without `games`, their number is read from its folder.
    assert "resuming the run in this folder" in run_command(capfd, minutes=5).err
    run = TimedRun(make_game("tictactoe"), minutes=5, settings=TINY_ALPHAZERO)
    run.plan()
    assert run.config.games == 64
    (folder / "config.json").write_text("[]")
    with pytest.raises(ValueError, match=r"config.json is damaged: remove .* to begin anew"):
        TimedRun(make_game("tictactoe"), minutes=5)


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["tictactoe", "hex:board_size=3", "connect4", "dots_and_boxes"])
def test_small_games_are_learned_in_a_minute(spec, tmp_path, monkeypatch):
    """Check that from both seats few games against random moves are lost."""
    import dots_and_boxes

    dots_and_boxes.register(monkeypatch)
    if os.cpu_count() == 1:
        pytest.skip("a minute of half a core")
    for _ in range(4):  # on a busy machine a minute may be too short: the command is repeated
        results = TimedRun(make_game(spec), preset="one-minute", run_dir=tmp_path).train()
        if results is not None:
            break
    assert results is not None
    seats = next(
        evaluation["seats"]
        for evaluation in results["evaluation"]
        if evaluation["opponent"] == "random"
    )
    for seat in seats:
        assert seat["losses"] <= 0.15 * seat["games"]


@pytest.mark.parametrize(
    ("stop", "status", "printed"),
    [
        (KeyboardInterrupt(), 130, "interrupted\n"),  # no checkpoint was saved
        (Interrupted(signal.SIGINT), 130, ""),  # the run itself has printed what was saved
        (Interrupted(signal.SIGTERM), 143, ""),
    ],
)
def test_interrupted_command_reports_the_saved_state(stop, status, printed, monkeypatch, capsys):
    def interrupt(self):
        raise stop

    monkeypatch.setattr(TimedRun, "train", interrupt)
    assert main(["train", "tictactoe"]) == status
    assert capsys.readouterr().err == printed

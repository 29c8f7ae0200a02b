"""Tests of settings that depend on the size of a run."""

from dataclasses import replace

import numpy as np
import pytest

from ludoteca.envs.registry import make_game
from ludoteca.train.alphazero import AlphaZero, AlphaZeroConfig
from ludoteca.train.auto_settings import fit_to_run, run_sizes
from ludoteca.train.command import parse
from ludoteca.train.dqn import DQN, DQNConfig
from ludoteca.train.ppo import PPO, PPOConfig
from ludoteca.train.settings import AUTO

pytestmark = pytest.mark.interpreted

ALGORITHMS = {"dqn": DQN, "alphazero": AlphaZero, "ppo": PPO}


def settings_of_run(name, games, plies):
    """Return the automatic settings of a run of some games with this mean number of plies."""
    algorithm = ALGORITHMS[name]
    return run_sizes(games, algorithm.config_class().batch_size, algorithm.limits, plies)


@pytest.mark.parametrize(
    ("name", "games", "plies", "expected"),
    [
        (
            "dqn",
            100_000,
            20,
            {"learning_starts": 5_000, "buffer_size": 200_000, "games_per_iteration": 256},
        ),
        (
            "alphazero",
            20_000,
            60,
            {"learning_starts": 10_000, "buffer_size": 500_000, "games_per_iteration": 256},
        ),
        ("ppo", 100_000, 90, {"games_per_iteration": 128, "eval_interval": 10_240}),
        ("dqn", 100_000, 20, {"log_interval": 2_000, "eval_interval": 10_000}),
        ("alphazero", 20_000, 60, {"log_interval": 512, "eval_interval": 2_560}),
        ("ppo", 100_000, 90, {"log_interval": 1_024, "past_opponent_interval": 5_120}),
    ],
)
def test_long_runs_have_the_default_sizes(name, games, plies, expected):
    settings = settings_of_run(name, games, plies)
    assert {key: settings[key] for key in expected} == expected


@pytest.mark.parametrize("name", ["dqn", "alphazero"])
@pytest.mark.parametrize("games", [1, 100, 1_000, 5_000])
@pytest.mark.parametrize("plies", [5, 12, 60])
def test_small_runs_start_learning_early_and_evaluate_often(name, games, plies):
    algorithm, settings = ALGORITHMS[name], settings_of_run(name, games, plies)
    batch = algorithm.config_class().batch_size
    start, buffer = algorithm.limits.start[0], algorithm.limits.buffer[0]
    assert settings[start] <= max(games * plies / 4, 1)
    assert settings[start] <= max(batch, games * plies / 50)
    assert settings[buffer] >= min(10 * batch, games * plies)
    assert 16 <= settings["games_per_iteration"] <= max(games // 16, 16)
    assert 1 <= settings["log_interval"] <= settings["eval_interval"] <= max(games // 2, 1)


@pytest.mark.parametrize("games", [64, 100, 500, 1_000, 20_000])
def test_short_runs_have_past_opponents(games, tmp_path):
    config = PPOConfig(game="tron:rows=5,columns=5", run_dir=tmp_path, games=games)
    fitted = fit_to_run(config, make_game(config.game), PPO.limits)
    assert 1 <= fitted.past_opponent_interval <= games / 16
    # The pool is full before half of the run is over.
    rollout_ends = np.arange(0, games + 1, fitted.games_per_iteration)
    joined = rollout_ends[1:][np.diff(rollout_ends // fitted.past_opponent_interval) > 0]
    assert joined[: fitted.num_past_opponents].size == min(
        fitted.num_past_opponents, len(rollout_ends) - 1
    )
    if games >= 500:
        assert joined[fitted.num_past_opponents - 1] <= games / 2
    explicit = replace(config, past_opponent_interval=300)
    assert fit_to_run(explicit, make_game(config.game), PPO.limits).past_opponent_interval == 300


def test_explicit_settings_and_presets_are_unchanged(tmp_path):
    game = make_game("tictactoe")
    for preset, limits in (
        (parse("dqn", ["tanaka2018"]), DQN.limits),
        (parse("ppo", ["uib2021"]), PPO.limits),
    ):
        config = replace(preset, run_dir=tmp_path)
        assert fit_to_run(config, game, limits) is config
    config = DQNConfig(
        run_dir=tmp_path, games=500, learning_starts=0, buffer_size=7, log_interval=3
    )
    fitted = fit_to_run(config, game, DQN.limits)
    assert (fitted.learning_starts, fitted.buffer_size, fitted.log_interval) == (0, 7, 3)
    assert fitted.games_per_iteration == 16
    assert fitted.eval_interval == 500 // 7


def test_number_of_positions_follows_from_the_game(tmp_path):
    """Random games of Tic-Tac-Toe have 7.6 plies on average (measured by simulation)."""
    config = DQNConfig(run_dir=tmp_path, games=20_000)
    fitted = fit_to_run(config, make_game("tictactoe"), DQN.limits)
    assert fitted.learning_starts == pytest.approx(200 * 7.6, rel=0.05)
    assert fitted.buffer_size == pytest.approx(20_000 * 7.6, rel=0.05)
    other = AlphaZeroConfig(run_dir=tmp_path, games=20_000)
    buffer_size = fit_to_run(other, make_game("tictactoe"), AlphaZero.limits).buffer_size
    assert buffer_size == pytest.approx(10_000 * 7.6, rel=0.05)
    assert fit_to_run(config, make_game("tictactoe"), DQN.limits) == fitted


def test_rollouts_are_shared_evenly_by_workers(tmp_path):
    config = AlphaZeroConfig(game="tictactoe", run_dir=tmp_path, games=2_000, num_actors=3)
    assert fit_to_run(config, make_game("tictactoe"), AlphaZero.limits).games_per_iteration == 18


def test_an_extended_run_keeps_its_original_sizes(tmp_path):
    from ludoteca.agents.networks.q_network import QConfig
    from ludoteca.train.loop import RLTraining

    network = QConfig(filters=(4,), blocks=0)
    config = DQNConfig(
        game="tictactoe",
        run_dir=tmp_path,
        games=32,
        batch_size=32,
        eval_games=1,
        network=network,
    )
    short = RLTraining(config, tensorboard=False)
    for _ in short.run():
        pass
    assert short.updates > 0
    longer = RLTraining(replace(config, games=20_000), tensorboard=False)
    assert longer.games == 32
    assert longer.config == replace(short.config, games=20_000)


@pytest.mark.parametrize(
    "name", ["games_per_iteration", "learning_starts", "buffer_size", "eval_interval"]
)
def test_other_negative_numbers_are_refused(name):
    with pytest.raises(
        ValueError, match=rf"{name} must be .* got -2; -1 scales it with the length"
    ):
        DQNConfig(**{name: -2})
    assert getattr(DQNConfig(**{name: AUTO}), name) == AUTO


def test_the_interval_of_past_networks_is_validated():
    with pytest.raises(
        ValueError, match=r"past_opponent_interval must be .* got 0; -1 scales it with the length"
    ):
        PPOConfig(past_opponent_interval=0)
    assert (
        parse("ppo", ["uib2021"]).past_opponent_interval
        == PPO.limits.past_opponent_interval
        == 5_120
    )

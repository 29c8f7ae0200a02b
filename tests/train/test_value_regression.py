"""Tests of value networks trained on recorded games."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from ludoteca.agents.networks.value_network import (
    ValueConfig,
    ValueView,
    load_value_network,
    make_value_network,
)
from ludoteca.agents.networks.weights import load_weights
from ludoteca.envs.registry import make_game
from ludoteca.train.data.convert import ConversionConfig, convert
from ludoteca.train.data.dataset import concatenate
from ludoteca.train.data.generate import GenerationConfig, play_games
from ludoteca.train.data.split import validation_games
from ludoteca.train.data.storage import save_dataset
from ludoteca.train.value_regression import (
    ValueRegressionConfig,
    ValueRegressionTraining,
    accuracy,
    load_data,
    train,
)

pytestmark = pytest.mark.interpreted

SMALL = ValueConfig(filters=(16,), hidden=32)


def random_games(game, games, seed=0):
    """Return a data set of random games."""
    return play_games(GenerationConfig(game=game, agents=("random",), games=games, seed=seed))


@pytest.fixture
def config(tmp_path):
    """Return the settings of a short run on 60 random games."""
    data = save_dataset(tmp_path / "games.npz", random_games("othello:board_size=4", 60))
    return ValueRegressionConfig(
        data=(data,), run_dir=tmp_path / "run", network=SMALL, epochs=3, batch_size=64, seed=1
    )


def test_network_matches_the_paper():
    game = make_game("othello")
    network = make_value_network(ValueConfig(), game)
    shapes = [tuple(weights.shape) for weights in network.parameters() if weights.ndim > 1]
    assert shapes == [(32, 2, 3, 3), (64, 32, 3, 3), (128, 64, 3, 3), (256, 8192), (1, 256)]
    planes = torch.zeros(5, 2, 8, 8)
    assert network.convolutions(planes).shape == (5, 128, 8, 8)
    assert network(planes).shape == (5,)
    assert network.head[1].p == 0.5


@pytest.mark.parametrize("planes", ["relative", "absolute"])
def test_planes_are_white_then_black_for_both_players_to_move(planes):
    game = make_game(f"othello:planes={planes}")
    states = game.empty(2)
    s = game.new()
    states[0] = s
    game.step(s, game.legal(s)[0])
    states[1] = s
    view = ValueView(game, "second")
    seen = view.encode(states, np.array([0, 1]))
    cells = np.array([game.layout.cells(s) for s in states.view(np.recarray)])
    np.testing.assert_array_equal(seen[:, 0], cells == 2)
    np.testing.assert_array_equal(seen[:, 1], cells == 1)
    np.testing.assert_array_equal(view.signs(np.array([0, 1])), [-1, -1])  # white's value
    mover = ValueView(game, "mover")
    np.testing.assert_array_equal(mover.signs(np.array([0, 1])), [1, -1])
    assert mover.encode(states, np.array([0, 1])).shape[1] == 3


@pytest.mark.parametrize("seed", range(5))
def test_split_keeps_games_together(seed):
    games = random_games("tictactoe:board_size=3", 40)
    games = concatenate([games, games[:20], games[5:15]])  # so some games are equal
    is_validation = validation_games(games, 0.3, seed)
    starts = games.offsets
    moves = [games.actions[starts[k] : starts[k + 1]].tobytes() for k in range(len(games))]
    inside = {moves[k] for k in np.flatnonzero(is_validation)}
    outside = {moves[k] for k in np.flatnonzero(~is_validation)}
    assert not inside & outside
    assert 0.2 < is_validation.mean() < 0.45
    assert (validation_games(games, 0.3, seed) == is_validation).all()


def test_data_are_split_by_game(config):
    data = load_data(config)
    game_indices = data.positions.games
    assert not set(game_indices[data.training]) & set(game_indices[data.validation])
    assert len(data.training) + len(data.validation) == len(data.positions)
    assert len(set(game_indices[data.validation])) == 6
    # Targets are the returns of white, the second player.
    np.testing.assert_array_equal(data.targets, -data.games.returns[game_indices, 0])
    with pytest.raises(ValueError, match="at least two different games"):
        validation_games(data.games[:1], 0.5, 0)
    with pytest.raises(ValueError, match="games must be at most 60"):
        load_data(replace(config, games=61))


@pytest.mark.slow
def test_network_learns_the_winner_of_tic_tac_toe(tmp_path):
    file = save_dataset(tmp_path / "games.npz", random_games("tictactoe", 400))
    config = ValueRegressionConfig(
        data=(file,),
        run_dir=tmp_path / "run",
        network=ValueConfig(filters=(32,), hidden=64, dropout=0.2, view="mover"),
        epochs=25,
        patience=0,
        learning_rate=3e-3,
        batch_size=128,
        augment=True,
    )
    training = ValueRegressionTraining(config, tensorboard=False)
    for _ in training.run():
        pass
    data = training.data
    ends = np.array([data.games.lengths[g] for g in data.positions.games])
    chosen = data.validation[(data.positions.plies == ends)[data.validation]]
    values = training.predict(training.network, chosen)
    assert accuracy(values, data.targets[chosen]) > 0.9
    assert training.best["loss"] < 0.8 * np.square(data.targets[data.validation]).mean()


def test_resumes_exactly_and_leaves_a_report(config):
    assert train(config, tensorboard=False) == config.run_dir / "best.safetensors"
    second = replace(config, run_dir=config.run_dir.with_name("second"))
    training = ValueRegressionTraining(second, tensorboard=False)
    for _ in training.run():
        if training.epoch == 1:
            break
    updates = training.run()
    next(updates)  # and killed within the second epoch
    again = ValueRegressionTraining(second, tensorboard=False)
    assert again.epoch == 1
    assert train(second, tensorboard=False) is not None
    for name in ("network.safetensors", "best.safetensors"):
        one, other = (load_weights(folder / name)[0] for folder in (config.run_dir, second.run_dir))
        assert all(torch.equal(one[key], other[key]) for key in one)
    for name in ("report.md", "results.json", "learning_curve.png", "metrics.csv"):
        assert (second.run_dir / name).stat().st_size > 100
    results = json.loads((second.run_dir / "results.json").read_text())
    assert results["training"]["epochs"] == 3
    whole, *phases = results["validation"]
    assert whole["positions"] == sum(phase["positions"] for phase in phases)
    best = config.run_dir / "best.safetensors"
    network, metadata = load_value_network(make_game("othello:board_size=4"), best)
    assert metadata["card"]["data"]["games"] == 60
    assert network.config == SMALL
    with pytest.raises(ValueError, match="does not fit"):
        load_value_network(make_game("othello"), best)
    with pytest.raises(ValueError, match="other settings"):
        ValueRegressionTraining(replace(second, learning_rate=0.1), tensorboard=False)


def test_table_and_data_set_train_the_same_network(config, tmp_path):
    table = tmp_path / "games.csv"
    convert(ConversionConfig(config.data, table))
    compact, from_table = load_data(config), load_data(replace(config, data=(table,)))
    np.testing.assert_array_equal(compact.targets, from_table.targets)
    np.testing.assert_array_equal(compact.validation, from_table.validation)
    np.testing.assert_array_equal(
        compact.planes(compact.training[:50]), from_table.planes(compact.training[:50])
    )


def test_training_stops_early_on_a_plateau(config):
    training = ValueRegressionTraining(
        replace(config, learning_rate=0.0, epochs=50, patience=2), False
    )
    for _ in training.run():
        pass
    assert training.epoch == 3
    assert training.best["epoch"] == 1

"""Settings that follow the size of a run."""

from dataclasses import replace

import numpy as np
import pytest

from ludoteca.envs.registry import make_game
from ludoteca.train.actor_critic import config as actor_critic
from ludoteca.train.alphazero import config as alphazero
from ludoteca.train.dqn import config as dqn
from ludoteca.train.scale import fit_to_run, run_sizes
from ludoteca.train.settings import AUTO

ALGORITHMS = {"dqn": dqn, "alphazero": alphazero, "actor_critic": actor_critic}


def sizes(name, games, plies):
    module = ALGORITHMS[name]
    return run_sizes(games, module.Config().batch_size, module.LIMITS, plies)


@pytest.mark.parametrize(
    ("name", "games", "plies", "expected"),
    [
        ("dqn", 100_000, 20, {"warm_up": 5_000, "memory": 200_000, "games_per_round": 256}),
        ("alphazero", 20_000, 60, {"warm_up": 10_000, "window": 500_000, "games_per_round": 256}),
        ("actor_critic", 100_000, 90, {"games_per_round": 128, "evaluate_every": 10_240}),
        ("dqn", 100_000, 20, {"log_every": 2_000, "evaluate_every": 10_000}),
        ("alphazero", 20_000, 60, {"log_every": 512, "evaluate_every": 2_560}),
        ("actor_critic", 100_000, 90, {"log_every": 1_024, "past_every": 5_120}),
    ],
)
def test_long_runs_have_the_sizes_they_always_had(name, games, plies, expected):
    found = sizes(name, games, plies)
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize("name", ["dqn", "alphazero"])
@pytest.mark.parametrize("games", [1, 100, 1_000, 5_000])
@pytest.mark.parametrize("plies", [5, 12, 60])
def test_small_runs_begin_to_learn_early_and_measure_on_the_way(name, games, plies):
    module, found = ALGORITHMS[name], sizes(name, games, plies)
    batch = module.Config().batch_size
    start, buffer = module.LIMITS.start[0], module.LIMITS.buffer[0]
    assert found[start] <= max(games * plies / 4, 1)
    assert found[start] <= max(batch, games * plies / 50)
    assert found[buffer] >= min(10 * batch, games * plies)
    assert 16 <= found["games_per_round"] <= max(games // 16, 16)
    assert 1 <= found["log_every"] <= found["evaluate_every"] <= max(games // 2, 1)


@pytest.mark.parametrize("games", [64, 100, 500, 1_000, 20_000])
def test_short_runs_have_opponents_of_the_past(games, tmp_path):
    config = actor_critic.Config(game="tron:rows=5,columns=5", folder=tmp_path, games=games)
    fitted = fit_to_run(config, make_game(config.game), actor_critic.LIMITS)
    assert 1 <= fitted.past_every <= games / 16
    # The pool is full before a half of the run is over.
    rounds = np.arange(0, games + 1, fitted.games_per_round)
    joined = rounds[1:][np.diff(rounds // fitted.past_every) > 0]
    assert joined[: fitted.past].size == min(fitted.past, len(rounds) - 1)
    if games >= 500:
        assert joined[fitted.past - 1] <= games / 2
    given = replace(config, past_every=300)
    assert fit_to_run(given, make_game(config.game), actor_critic.LIMITS).past_every == 300


def test_settings_of_the_user_and_of_the_documents_stay(tmp_path):
    game = make_game("tictactoe")
    for module in ALGORITHMS.values():
        document = getattr(module, "DOCUMENT", None)
        if document is not None:
            config = replace(document, folder=tmp_path)
            assert fit_to_run(config, game, module.LIMITS) is config
    config = dqn.Config(folder=tmp_path, games=500, warm_up=0, memory=7, log_every=3)
    fitted = fit_to_run(config, game, dqn.LIMITS)
    assert (fitted.warm_up, fitted.memory, fitted.log_every) == (0, 7, 3)
    assert fitted.games_per_round == 16
    assert fitted.evaluate_every == 500 // 7


def test_positions_are_those_of_the_game(tmp_path):
    """Random games of Tic-Tac-Toe have 7.6 plies (Monte Carlo)."""
    config = dqn.Config(folder=tmp_path, games=20_000)
    fitted = fit_to_run(config, make_game("tictactoe"), dqn.LIMITS)
    assert fitted.warm_up == pytest.approx(200 * 7.6, rel=0.05)
    assert fitted.memory == pytest.approx(20_000 * 7.6, rel=0.05)
    other = alphazero.Config(folder=tmp_path, games=20_000)
    window = fit_to_run(other, make_game("tictactoe"), alphazero.LIMITS).window
    assert window == pytest.approx(10_000 * 7.6, rel=0.05)
    assert fit_to_run(config, make_game("tictactoe"), dqn.LIMITS) == fitted


def test_rollouts_are_shared_evenly_by_workers(tmp_path):
    config = alphazero.Config(game="tictactoe", folder=tmp_path, games=2_000, workers=3)
    assert fit_to_run(config, make_game("tictactoe"), alphazero.LIMITS).games_per_round == 18


def test_a_run_that_is_made_longer_keeps_the_sizes_it_began_with(tmp_path):
    from ludoteca.agents.networks.q_network import QConfig
    from ludoteca.train.dqn.training import Training

    network = QConfig(filters=(4,), blocks=0)
    config = dqn.Config(
        game="tictactoe",
        folder=tmp_path,
        games=32,
        batch_size=32,
        evaluate_games=1,
        network=network,
    )
    short = Training(config, tensorboard=False)
    for _ in short.run():
        pass
    assert short.updates > 0
    longer = Training(replace(config, games=20_000), tensorboard=False)
    assert longer.games == 32
    assert longer.config == replace(short.config, games=20_000)


@pytest.mark.parametrize("name", ["games_per_round", "warm_up", "memory", "evaluate_every"])
def test_other_negative_numbers_are_refused(name):
    with pytest.raises(ValueError, match=rf"{name} must be .* got -2; -1 chooses by the size"):
        dqn.Config(**{name: -2})
    assert getattr(dqn.Config(**{name: AUTO}), name) == AUTO


def test_the_interval_of_past_networks_is_checked():
    with pytest.raises(ValueError, match=r"past_every must be .* got 0; -1 chooses by the size"):
        actor_critic.Config(past_every=0)
    assert actor_critic.DOCUMENT.past_every == actor_critic.LIMITS.past_every == 5_120

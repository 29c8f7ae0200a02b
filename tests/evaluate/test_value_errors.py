"""Tests of the errors of value networks on newly played games."""

import json

import numpy as np
import pytest
import torch

from ludoteca.agents.networks.value_network import ValueConfig, ValueNetwork, ValueView
from ludoteca.agents.networks.weights import save_weights
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.value_errors import error_statistics, value_errors


def test_errors_of_values_by_hand():
    values = np.array([0.5, -0.5, 0.5, 0.0], np.float32)
    targets = np.array([1, 1, -1, 0], np.float32)
    # (0.25 + 2.25 + 2.25 + 0) / 4; of the three decisive games, the sign of the first is right.
    assert error_statistics(values, targets) == {"positions": 4, "loss": 1.1875, "accuracy": 1 / 3}


@pytest.mark.parametrize("view", ["second", "mover"])
def test_errors_of_a_constant_network(tmp_path, view):
    """Compare with the same games played again; the network always predicts 0.5."""
    game = make_game("tictactoe")
    config = ValueConfig(filters=(4,), hidden=4, view=view)
    network = ValueNetwork(config, ValueView(game, view).shape)
    for weights in network.parameters():
        torch.nn.init.zeros_(weights)
    # The output is the tanh of this bias.
    torch.nn.init.constant_(list(network.parameters())[-1], float(np.arctanh(0.5)))
    metadata = {"game": game.spec, "network": config.as_dict()}
    save_weights(tmp_path / "best.safetensors", network.state_dict(), metadata)
    player = "mcts:simulations=10"
    value_errors(tmp_path, player, ("random", "self"), tmp_path / "t.json", game.spec, 50, 7)
    tests = json.loads((tmp_path / "t.json").read_text())["tests"]
    for test, opponent in zip(tests, ("random", player), strict=True):
        match = play_match(game, [player, opponent], 50, seed=7, num_replays=50)
        results = [
            (replay.returns[0], ply)
            for replay in match.replays
            for ply in range(len(replay.actions))
        ]
        values = [-0.5 if view == "second" or ply % 2 == 1 else 0.5 for _, ply in results]
        squares = [
            (value - target) ** 2 for value, (target, _) in zip(values, results, strict=True)
        ]
        is_right = [
            value * target > 0 for value, (target, _) in zip(values, results, strict=True) if target
        ]
        assert test["player_won"] == match.totals[0].win_rate
        assert test["positions"] == len(results)
        assert test["loss"] == pytest.approx(np.mean(squares))
        assert test["accuracy"] == pytest.approx(np.mean(is_right))
        # Nine moves fill the board.
        assert [(phase["moves"], phase["positions"]) for phase in test["phases"]] == [
            ("0 to 9", len(results))
        ]

"""Errors of value networks on fresh games."""

import json

import numpy as np
import pytest
import torch

from ludoteca.agents.networks.value_network import ValueConfig, ValueNetwork, ValueView
from ludoteca.agents.networks.weights import save_weights
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.value_errors import errors, fresh_games


def test_errors_of_values_by_hand():
    values = np.array([0.5, -0.5, 0.5, 0.0], np.float32)
    targets = np.array([1, 1, -1, 0], np.float32)
    # (0.25 + 2.25 + 2.25 + 0) / 4; of three decided ones the first is right.
    assert errors(values, targets) == {"positions": 4, "loss": 1.1875, "accuracy": 1 / 3}


@pytest.mark.parametrize("view", ["second", "mover"])
def test_a_network_on_fresh_games(tmp_path, view):
    """It always says 0.5; who plays, and how games end, is found by playing them again."""
    game = make_game("tictactoe")
    config = ValueConfig(filters=(4,), hidden=4, view=view)
    network = ValueNetwork(config, ValueView(game, view).shape)
    for weights in network.parameters():
        torch.nn.init.zeros_(weights)
    torch.nn.init.constant_(list(network.parameters())[-1], float(np.arctanh(0.5)))
    metadata = {"game": game.spec, "network": config.as_dict()}
    save_weights(tmp_path / "best.safetensors", network.state_dict(), metadata)
    player = "mcts:simulations=10"
    fresh_games(tmp_path, player, ("random", "self"), tmp_path / "t.json", game.spec, 50, 7)
    tests = json.loads((tmp_path / "t.json").read_text())["tests"]
    for found, opponent in zip(tests, ("random", player), strict=True):
        match = play_match(game, [player, opponent], 50, seed=7, num_replays=50)
        results = [
            (one.returns[0], ply) for one in match.replays for ply in range(len(one.actions))
        ]
        says = [-0.5 if view == "second" or ply % 2 == 1 else 0.5 for _, ply in results]
        squares = [(said - result) ** 2 for said, (result, _) in zip(says, results, strict=True)]
        right = [s * result > 0 for s, (result, _) in zip(says, results, strict=True) if result]
        assert found["player_won"] == match.totals[0].win_rate
        assert found["positions"] == len(results)
        assert found["loss"] == pytest.approx(np.mean(squares))
        assert found["accuracy"] == pytest.approx(np.mean(right))
        # Nine moves fill the board.
        assert [(one["moves"], one["positions"]) for one in found["phases"]] == [
            ("0 to 9", len(results))
        ]

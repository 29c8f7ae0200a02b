"""Tests of the selection of a run's best network and of its file."""

import pytest
import torch
from torch import nn

from ludoteca.agents.networks.weights import load_weights
from ludoteca.train.best_network import BestNetwork


def network(value: float) -> nn.Linear:
    """Return a network with a single weight."""
    linear = nn.Linear(1, 1, bias=False)
    nn.init.constant_(linear.weight, value)
    return linear


def consider_all(best: BestNetwork, rates: list[float]) -> None:
    """Consider networks with the weights 0, 1, ... after 10 games each, with these scores."""
    for k, rate in enumerate(rates):
        changing = network(k)
        best.consider(changing, games=10 * k, updates=k, score=rate)
        nn.init.constant_(changing.weight, -1.0)  # later changes do not affect the stored weights


@pytest.mark.parametrize(
    ("select", "rates", "best_index"),
    [
        ("best", [0.1, 0.9, 0.5], 1),
        ("best", [0.1, 0.9, 0.9], 2),
        ("best", [0.9, 0.1, 0.2], 0),
        ("best", [0.0], 0),
        ("last", [0.1, 0.9, 0.5], 2),
    ],
)
def test_latest_of_the_highest_scores_is_best(select, rates, best_index):
    best = BestNetwork(select, pretrained=False)
    consider_all(best, rates)
    assert best.record == {"win_rate": rates[best_index], "games": 10 * best_index}
    assert (best.updates, best.weights["weight"].item()) == (best_index, best_index)


@pytest.mark.parametrize(
    ("select", "pretrained", "rates", "is_current"),
    [
        ("best", False, [], True),  # no network was evaluated
        ("best", False, [0.1, 0.9], False),
        ("last", False, [0.1, 0.9], True),
        ("best", False, [0.9], True),  # the best network is untrained
        ("best", True, [0.9], False),  # the best network was trained before the run
        ("best", False, [0.1, 0.2, 0.3, 0.4], True),  # the best network is the current one
    ],
)
def test_file_holds_the_latest_or_the_best_network(select, pretrained, rates, is_current, tmp_path):
    best, file = BestNetwork(select, pretrained), tmp_path / "best.safetensors"
    consider_all(best, rates)
    assert best.is_current(updates=3) == is_current
    metadata = {"games": 35, "updates": 3, "game": "tictactoe"}
    best.write(file, {"weight": torch.full((1, 1), 3.0)}, metadata)
    weights, written = load_weights(file)
    weight = 3 if is_current else len(rates) - 1
    assert (weights["weight"].item(), written["updates"]) == (weight, weight)
    assert written["games"] == (35 if is_current else 10 * weight)
    assert written["game"] == "tictactoe"


def test_a_network_evaluated_off_schedule_is_preferred_while_it_is_current():
    best = BestNetwork("best", pretrained=False)
    consider_all(best, [0.1, 0.5])
    best.consider_interim(updates=3, score=0.4)
    assert best.selected(35, 3) == {"win_rate": 0.5, "games": 10}, "it scored lower"
    best.consider_interim(updates=3, score=0.5)
    assert best.selected(35, 3) == {"win_rate": 0.5, "games": 35}
    assert best.selected(45, 4) == best.record == {"win_rate": 0.5, "games": 10}


@pytest.mark.parametrize("games", [10, 20, None])
def test_weights_missing_in_older_checkpoints_are_read_from_the_file(games, tmp_path):
    before, file = BestNetwork("best", pretrained=False), tmp_path / "best.safetensors"
    consider_all(before, [0.1, 0.5])
    numbers, arrays = before.state()
    again = BestNetwork("best", pretrained=False)
    again.restore(numbers, arrays, file)
    assert (again.record, again.updates) == (before.record, 1)
    assert torch.equal(again.weights["weight"], before.weights["weight"])
    if games is not None:
        before.write(file, {}, {"games": 45, "updates": 4})
    old = BestNetwork("best", pretrained=False)
    old.restore({"best": {"win_rate": 0.5, "games": games or 10}}, {}, file)
    if games == 10:
        assert (old.record, old.updates) == (before.record, 1)
        assert torch.equal(old.weights["weight"], before.weights["weight"])
    else:
        assert old.record == {}, "the file is missing, or of another network"

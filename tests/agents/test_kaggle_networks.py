"""Networks exported as submissions choose what they choose here."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from ludoteca.agents.kaggle.export import export_agent, submission_source
from ludoteca.agents.kaggle.layers import run
from ludoteca.agents.kaggle.networks import network_layers
from ludoteca.agents.kaggle.observation import configuration, observation
from ludoteca.agents.networks.ac_network import ACConfig, make_ac_network
from ludoteca.agents.networks.weights import save_weights
from ludoteca.agents.playouts import safe_goose
from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game

NAMES = ("NORTH", "EAST", "SOUTH", "WEST")


def saved(config, folder, seed=0):
    """Write a network with weights that matter, and statistics as after learning."""
    game = make_game("hungry_geese")
    torch.manual_seed(seed)
    network = make_ac_network(config, game)
    for name, parameter in network.named_parameters():
        if "convolutions" not in name:
            fan_in = parameter[0].numel() if parameter.ndim > 1 else 2500
            nn.init.normal_(parameter, std=1.5 / fan_in**0.5)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.2, 0.2)
            nn.init.uniform_(module.running_var, 0.5, 2)
    path = folder / "net.safetensors"
    save_weights(path, network.state_dict(), {"game": game.spec, "network": config.as_dict()})
    return path


@pytest.mark.parametrize("view", ["plain", "rich"])
@pytest.mark.parametrize("kind", ["torus", "residual", "document"])
def test_exported_networks_choose_what_they_choose_here(kind, view, tmp_path):
    game = make_game("hungry_geese")
    spec = f"ac:{saved(ACConfig(kind, view, filters=8, blocks=2), tmp_path)}"
    own = make_agent(spec, game)
    names = {}
    exec(compile(submission_source(spec), "submission", "exec"), names)
    compared, chosen = 0, set()
    s, rng, legal = game.new(5), np.array([5], np.uint64), np.arange(4)
    with np.errstate(over="ignore"):
        while not game.is_terminal(s) and compared < 60:
            state = np.asarray(s).reshape(1).astype(game.state)
            for p in np.flatnonzero(s.length):
                policy = np.sort(own.policies(state, np.array([p]))[0])
                answer = names["agent"](observation(s, p), configuration(game))
                if policy[-1] > policy[-2] * 1.001:
                    best = own.act(state, np.array([p]), np.zeros((1, 1), np.uint64), np.zeros(1))
                    assert answer == NAMES[best[0]]
                    compared += 1
                    chosen.add(answer)
            game.step(s, np.array([safe_goose(s, p, legal, 4, rng) for p in range(4)]))
    assert compared > 20
    assert len(chosen) > 1 or kind == "document"  # whose means over the board hardly differ


@pytest.mark.parametrize("kind", ["torus", "residual", "document"])
def test_logits_are_the_same_in_numpy(kind, tmp_path):
    config = ACConfig(kind, "rich", filters=8, blocks=2)
    own = make_agent(f"ac:{saved(config, tmp_path)}", make_game("hungry_geese"))
    weights = {}
    layers = network_layers(own.network, weights)
    x = torch.randn(5, *own.encoder.shape)
    expected = own.network.eval()(x).detach().numpy()[:, :4]
    assert np.abs(run(layers, weights, x.numpy())[:, :4] - expected).max() < 1e-4
    assert expected.std(0).min() > 1e-3


def test_an_exported_network_needs_numpy_only(tmp_path):
    config = ACConfig(kind="document", view="plain", filters=4, blocks=1, value=False)
    file = tmp_path / "submission.py"
    size = export_agent(f"cnn:{saved(config, tmp_path)}", file, "float16")
    assert size == file.stat().st_size
    script = (
        "import sys; sys.modules.update(torch=None, numba=None, ludoteca=None); names = {}; "
        f"exec(open({str(file)!r}).read(), names); "
        "print(names['agent']({'step': 0, 'index': 1, 'geese': [[3], [40], [60], [70]], "
        "'food': [1, 2], 'remainingOverageTime': 60}, {'rows': 7, 'columns': 11, "
        "'hunger_rate': 40, 'min_food': 2, 'max_length': 99, 'episodeSteps': 200}))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() in NAMES, done.stderr


@pytest.mark.parametrize("more", ["temperature=1", "simulations=10"])
def test_only_policies_are_exported(more, tmp_path):
    path = saved(ACConfig(filters=4, blocks=1), tmp_path)
    with pytest.raises(ValueError, match="without search"):
        submission_source(f"ac:{path},{more}")

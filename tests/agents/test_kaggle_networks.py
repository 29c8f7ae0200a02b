"""Networks and searches in exported submissions choose the same actions as the originals."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from ludoteca.agents.external.kaggle.export import export_agent, submission_source
from ludoteca.agents.external.kaggle.layers import run_layers
from ludoteca.agents.external.kaggle.networks import network_layers
from ludoteca.agents.external.kaggle.observation import configuration, observation
from ludoteca.agents.external.kaggle.tree_search import search
from ludoteca.agents.games.hungry_geese.policies import safe_goose
from ludoteca.agents.networks.ac_network import ACConfig, make_ac_network
from ludoteca.agents.networks.weights import save_weights
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.network.decoupled_search import DecoupledNetworkGuidedSearch
from ludoteca.envs.registry import make_game

NAMES = ("NORTH", "EAST", "SOUTH", "WEST")


def column(node, name):
    """Return a statistic of a node of an exported search, `[geese, actions]`."""
    return np.array([[getattr(arm, name) for arm in arms] for arms in node.arms])


def saved(config, folder, seed=0):
    """Write a network whose weights and statistics all influence its outputs; return the path."""
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


@pytest.mark.parametrize("kind", ["shipped", "uib2021"])
@pytest.mark.slow
def test_exported_searches_choose_the_same_actions(kind, tmp_path):
    game = make_game("hungry_geese")
    path = "geese"
    if kind == "uib2021":
        path = saved(ACConfig("uib2021", "hand_crafted", filters=8, blocks=1), tmp_path)
    spec = f"ac:{path},simulations=12,leaf_batch=3,c_puct=0.05,fpu_reduction=0"
    own, names = make_agent(spec, game), {}
    exec(compile(submission_source(spec), "submission", "exec"), names)
    s, rng, legal = game.new(5), np.array([5], np.uint64), np.arange(4)
    same, differs = [], 0
    with np.errstate(over="ignore"):
        for step in range(8):
            state = np.asarray(s).reshape(1).astype(game.state)
            for p in np.flatnonzero(s.length):
                stream = names["MEMORY"][p][1].reshape(1, 1).copy() if step else None
                answer = names["agent"](observation(s, p), configuration(game))
                if stream is None:  # the submission makes its random stream in its first call
                    continue
                best = own.act(state, np.array([p]), stream, np.zeros(1, int))[0]
                same.append(answer == NAMES[best])
                differs += best != own.policies(state, np.array([p]))[0].argmax()
            game.step(s, np.array([safe_goose(s, p, legal, 4, rng) for p in range(4)]))
    # Rounding errors differ, and decide between actions of nearly equal value.
    assert np.mean(same) > 0.9
    assert differs > 0 or kind == "uib2021"  # the values of this network hardly differ


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("kind", "view"),
    [
        ("torus", "hand_crafted"),
        ("residual", "plain"),
        ("uib2021", "plain"),
        pytest.param("torus", "plain", marks=pytest.mark.slow),
        pytest.param("residual", "hand_crafted", marks=pytest.mark.slow),
        pytest.param("uib2021", "hand_crafted", marks=pytest.mark.slow),
    ],
)
def test_exported_networks_choose_the_same_actions(kind, view, tmp_path):
    game = make_game("hungry_geese")
    spec = f"ac:{saved(ACConfig(kind, view, filters=8, blocks=2), tmp_path)}"
    own = make_agent(spec, game)
    names = {}
    exec(compile(submission_source(spec), "submission", "exec"), names)
    compared, chosen = 0, set()
    s, rng, legal = game.new(5), np.array([5], np.uint64), np.arange(4)
    with np.errstate(over="ignore"):
        while not game.is_terminal(s) and compared < 30:
            state = np.asarray(s).reshape(1).astype(game.state)
            for p in np.flatnonzero(s.length):
                policy = np.sort(own.policies(state, np.array([p]))[0])
                answer = names["agent"](observation(s, p), configuration(game))
                if policy[-1] > policy[-2] * 1.001:  # rounding errors do not decide
                    best = own.act(state, np.array([p]), np.zeros((1, 1), np.uint64), np.zeros(1))
                    assert answer == NAMES[best[0]]
                    compared += 1
                    chosen.add(answer)
            game.step(s, np.array([safe_goose(s, p, legal, 4, rng) for p in range(4)]))
    assert compared > 20
    # The policies of the network uib2021, means over the board, hardly differ.
    assert len(chosen) > 1 or kind == "uib2021"


@pytest.mark.parametrize("kind", ["torus", "residual", "uib2021", "mlp"])
def test_numpy_logits_match_pytorch(kind, tmp_path):
    config = ACConfig(kind, "hand_crafted", filters=8, blocks=2)
    own = make_agent(f"ac:{saved(config, tmp_path)}", make_game("hungry_geese"))
    weights = {}
    layers = network_layers(own.network, weights, value=True)
    x = torch.randn(5, *own.encoder.shape)
    expected = own.network.eval()(x).detach().numpy()
    logits = run_layers(layers, weights, x.numpy())
    logits[:, 4] = np.tanh(logits[:, 4])
    assert np.abs(logits - expected).max() < 1e-4
    assert expected.std(0).min() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["cnn", "ac"])
def test_an_exported_network_needs_numpy_only(agent, tmp_path):
    config = ACConfig(kind="uib2021", view="plain", filters=4, blocks=1, value=agent == "ac")
    file, more = tmp_path / "submission.py", ",simulations=20,seconds=0.5" if agent == "ac" else ""
    size = export_agent(f"{agent}:{saved(config, tmp_path)}{more}", file, "float16")
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


def test_sampling_agents_cannot_be_exported(tmp_path):
    path = saved(ACConfig(filters=4, blocks=1), tmp_path)
    with pytest.raises(ValueError, match="the export needs temperature=0"):
        submission_source(f"ac:{path},temperature=1")


def as_exported(s):
    """Return a position in the form that exported agents have."""
    fields = {name: np.array(s[name]) for name in s.dtype.names}
    return SimpleNamespace(**{k: v if v.ndim else int(v) for k, v in fields.items()})


@pytest.mark.parametrize("leaf_batch", [1, 3])
@pytest.mark.parametrize(
    "spec", ["hungry_geese", "hungry_geese:num_players=2,rows=4,columns=5,hunger_rate=3"]
)
@pytest.mark.interpreted
def test_exported_search_matches_network_guided_search(spec, leaf_batch):
    game = make_game(spec)

    def evaluate(positions, seats):
        """Return policies and values that depend on the heads, the lengths and the step."""
        features = np.array(
            [
                [s.body[p, s.start[p]], s.length.sum(), s.steps]
                for s, p in zip(positions, seats, strict=True)
            ]
        )
        weights = np.abs(np.sin(features @ [[1.0, 2, 3, 4], [2, 3, 5, 7], [1, 1, 2, 2]])) + 0.1
        weights[:, 3] = np.where(
            features[:, 0] % 2 == 0, 0, weights[:, 3]
        )  # excluded by a zero prior
        policies = (weights / weights.sum(1, keepdims=True)).astype(np.float32)
        return policies, np.cos(features.sum(1)).astype(np.float32)

    def evaluate_records(states, seats):
        return evaluate(list(states.view(np.recarray)), seats)

    compiled = DecoupledNetworkGuidedSearch(game, 1, 50, leaf_batch)
    s, rng, legal = game.new(3), np.array([5], np.uint64), np.arange(4)
    with np.errstate(over="ignore"):
        for _ in range(6):
            if game.is_terminal(s):
                break
            state = np.asarray(s).reshape(1).astype(game.state)
            streams = np.array([[7]], np.uint64)
            expected_result = compiled.run(state, evaluate_records, 50, streams, 1.2, 0.2)
            stream = np.array([7], np.uint64)
            root = search(as_exported(state[0]), stream, evaluate, 50, leaf_batch, 1.2, 0.2, np.inf)
            assert np.array_equal(column(root, "visits"), expected_result.visit_counts[0])
            tried = expected_result.visit_counts[0] > 0
            means = column(root, "value")[tried] / expected_result.visit_counts[0][tried]
            assert np.allclose(2 * means - 1, expected_result.action_values[0][tried], atol=1e-6)
            assert stream[0] == streams[0, 0]
            players = range(game.num_players)
            game.step(s, np.array([safe_goose(s, p, legal, 4, rng) for p in players]))
    assert s.steps > 4


def test_exported_search_stops_at_its_time_limit():
    game = make_game("hungry_geese")
    state = np.asarray(game.new(3)).reshape(1).astype(game.state)

    def evaluate(positions, seats):
        return np.full((len(seats), 4), 0.25, np.float32), np.zeros(len(seats), np.float32)

    with np.errstate(over="ignore"):
        stream = np.array([7], np.uint64)
        root = search(as_exported(state[0]), stream, evaluate, 10**6, 8, 1.0, 0.1, 0.2)
        without_time = search(as_exported(state[0]), stream, evaluate, 10**6, 8, 1.0, 0.1, 0.0)
    assert 8 < column(root, "visits")[0].sum() < 10**6
    assert column(without_time, "visits")[0].sum() == 8  # one batch of leaves

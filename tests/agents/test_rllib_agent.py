"""Tests of the agent `rllib:PATH` without Ray."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ludoteca.agents.external.rllib import RLlibAgent
from ludoteca.agents.networks.weights import load_weights, save_weights
from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

GAME = make_game("tictactoe")
MLP: list[dict[str, Any]] = [
    {"kind": "linear", "inputs": 18, "outputs": 8, "bias": True},
    {"kind": "layer_norm", "size": 8, "eps": 1e-3},
    {"kind": "tanh"},
    {"kind": "linear", "inputs": 8, "outputs": 9, "bias": False},
]
CNN: list[dict[str, Any]] = [
    {"kind": "channels_first"},
    {"kind": "zero_pad", "padding": [1, 1, 1, 1]},
    {"kind": "conv", "inputs": 2, "outputs": 4, "kernel": [3, 3], "stride": [1, 1], "bias": True},
    {"kind": "relu"},
    {"kind": "channels_last"},
    {"kind": "flatten"},
    {"kind": "linear", "inputs": 36, "outputs": 9, "bias": True},
]


def write(
    path: Path, layers: list[dict[str, Any]], planes: bool, logits: bool = True, **changes: Any
) -> Path:
    """Write a file in the format of `export_module`, with random weights; return its path."""
    torch.manual_seed(0)
    weights = {}
    for k, layer in enumerate(layers):
        if layer["kind"] == "linear":
            weights[f"layers.{k}.weight"] = torch.randn(layer["outputs"], layer["inputs"])
        elif layer["kind"] == "conv":
            shape = (layer["outputs"], layer["inputs"], *layer["kernel"])
            weights[f"layers.{k}.weight"] = torch.randn(shape)
        elif layer["kind"] == "layer_norm":
            weights |= {f"layers.{k}.{name}": torch.randn(8) for name in ("weight", "bias")}
        if layer.get("bias"):
            weights[f"layers.{k}.bias"] = torch.randn(layer["outputs"])
    network = {"layers": layers, "planes": planes, "logits": logits}
    metadata = {"kind": "RLlib policy", "game": GAME.spec, "network": network} | changes
    save_weights(path, weights, metadata)
    return path


def position(*actions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the records of one position, and the seat to move."""
    states = GAME.empty(1)
    s = states.view(np.recarray)[0]
    GAME.init(s, 0)
    for action in actions:
        GAME.step(s, action)
    return states, np.array([len(actions) % 2])


def scores(path: Path, planes: np.ndarray) -> np.ndarray:
    """Compute the scores of `MLP` for planes with NumPy."""
    weights = {name: value.double().numpy() for name, value in load_weights(path)[0].items()}
    x = planes.ravel() @ weights["layers.0.weight"].T + weights["layers.0.bias"]
    x = (x - x.mean()) / np.sqrt(x.var() + 1e-3)
    x = np.tanh(x * weights["layers.1.weight"] + weights["layers.1.bias"])
    return x @ weights["layers.3.weight"].T


def test_agent_plays_the_legal_action_of_the_highest_score(tmp_path):
    path = write(tmp_path / "policy.safetensors", MLP, planes=False)
    agent = make_agent(f"rllib:{path}", GAME)
    env_indices, rngs = np.zeros(1, np.int64), np.zeros((1, 1), np.uint64)
    for actions in ((), (4,), (4, 0), (8, 7, 6, 5), (0, 1, 2, 4, 3, 5)):
        states, seats = position(*actions)
        planes = np.zeros(GAME.observation_shape)
        GAME.observe(states.view(np.recarray)[0], int(seats[0]), planes)
        ranked = np.argsort(-scores(path, planes)).tolist()
        best = next(action for action in ranked if action not in actions)
        assert agent.act(states, seats, rngs, env_indices).tolist() == [best]
    assert not rngs.any()  # the agent uses no random numbers


def test_sampled_actions_follow_the_policy_and_the_streams(tmp_path):
    path = write(tmp_path / "policy.safetensors", MLP, planes=False)
    agent = make_agent(f"rllib:{path},deterministic=False", GAME)
    states, _ = position(4)
    count, some = 4000, slice(100, 300)
    many, seats = np.repeat(states, count), np.ones(count, np.int64)
    rngs = np.arange(count, dtype=np.uint64)[:, None] * np.uint64(7919)
    sampled = agent.act(many, seats, rngs.copy(), seats)
    again = agent.act(many[some], seats[some], rngs[some].copy(), seats[some])
    assert np.array_equal(sampled[some], again)
    planes = np.zeros(GAME.observation_shape)
    GAME.observe(states.view(np.recarray)[0], 1, planes)
    weights = np.exp(scores(path, planes))
    weights[4] = 0
    frequencies = np.bincount(sampled, minlength=9) / len(sampled)
    # 5.6 times the largest standard error, that of a probability of 1/2.
    assert frequencies == pytest.approx(weights / weights.sum(), abs=5.6 * 0.5 / count**0.5)


@pytest.mark.parametrize(("layers", "planes"), [(MLP, False), (CNN, True)])
def test_copies_play_alike_in_both_seats(tmp_path, layers, planes):
    path = write(tmp_path / "policy.safetensors", layers, planes)
    agent = make_agent(f"rllib:{path},deterministic=False", GAME)
    copy = pickle.loads(pickle.dumps(agent))
    assert isinstance(copy, RLlibAgent)
    results = [play_match(GAME, [player, "random"], games=40, seed=2) for player in (agent, copy)]
    assert results[0].totals == results[1].totals
    assert [record.games for record in results[0].seats[0]] == [20, 20]


def test_action_values_cannot_be_sampled_from(tmp_path):
    path = write(tmp_path / "policy.safetensors", MLP, planes=False, logits=False)
    make_agent(f"rllib:{path}", GAME)
    with pytest.raises(ValueError, match="not probabilities to sample from: expected determ"):
        make_agent(f"rllib:{path},deterministic=False", GAME)


def test_ray_checkpoints_raise_with_instructions(tmp_path):
    (tmp_path / "class_and_ctor_args.pkl").write_bytes(b"\x80\x04.")
    with pytest.raises(ValueError, match=r"consists of pickles.*export_module\(load_checkpoint\("):
        make_agent(f"rllib:{tmp_path}", GAME)
    with pytest.raises(FileNotFoundError, match="there is no network"):
        make_agent(f"rllib:{tmp_path / 'nowhere'}", GAME)


def broken(**changes: Any) -> list[dict[str, Any]]:
    """Return the layers of `MLP` with changes of the first."""
    return [MLP[0] | changes, *MLP[1:]]


@pytest.mark.parametrize(
    ("layers", "planes", "message"),
    [
        ([{"kind": "os.system"}], False, "unknown kind of layer 'os.system'"),
        ([], False, "expected 1 to 1000 layers, got 0"),
        (MLP, True, "does not accept the observations of tictactoe"),
        (MLP[:1], False, "scores 8 actions, but tictactoe:.* has 9"),
        ([MLP[0] | {"inputs": 17}, *MLP[1:]], False, "does not accept the observations"),
        (
            [{"kind": "zero_pad", "padding": [-1, 0, 0, 0]}, *MLP],
            False,
            "expected 4 sizes of padding",
        ),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path, layers, planes, message):
    path = write(tmp_path / "policy.safetensors", layers, planes)
    with pytest.raises(ValueError, match=message):
        make_agent(f"rllib:{path}", GAME)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (
            {"layers": broken(outputs=1 << 40), "planes": False, "logits": True},
            "expected sizes of layers",
        ),
        ({"layers": broken(outputs=9), "planes": False, "logits": True}, "is damaged"),
        (
            {"layers": broken(inputs=True), "planes": False, "logits": True},
            "expected sizes of layers",
        ),
        ({"layers": "MLP", "planes": False, "logits": True}, "no RLlib policy"),
        ({"layers": [{}], "planes": False, "logits": True}, "no RLlib policy"),
        ([], "no RLlib policy"),
        ({"planes": False}, "no RLlib policy"),
        ({"layers": MLP}, "no RLlib policy"),
    ],
)
def test_invalid_layer_descriptions_raise(tmp_path, network, message):
    path = write(tmp_path / "policy.safetensors", MLP, False, network=network)
    with pytest.raises(ValueError, match=message):
        make_agent(f"rllib:{path}", GAME)


def test_other_games_are_refused(tmp_path):
    path = write(tmp_path / "policy.safetensors", MLP, False, game="connect4")
    with pytest.raises(ValueError, match="plays connect4, not tictactoe"):
        make_agent(f"rllib:{path}", GAME)

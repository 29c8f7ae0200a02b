"""Tests of the comparison of exported networks with PyTorch."""

import json

import numpy as np
import pytest

from ludoteca.agents.networks.keras_file import import_keras
from ludoteca.agents.networks.value_network import ValueConfig, make_value_network
from ludoteca.agents.networks.weights import save_weights
from ludoteca.envs.registry import make_game
from ludoteca.evaluate import network_formats
from ludoteca.evaluate.network_formats import compare_formats, markdown_page, random_positions

pytestmark = [
    pytest.mark.interpreted,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
ROW = {
    "network": "az:x", "format": "ONNX, planes last", "positions": 10, "weight_bytes": 4000,
    "file_bytes": 5000, "largest_output": 20.0, "difference": 4e-5, "same_best": 0.9,
}  # fmt: skip
PROVENANCE = {
    "about": {
        "command": "python -m x --positions 10",
        "date": "2026-11-29T00:00:00",
        "cpu": "Z80",
        "cores": 2,
    },
    "versions": {"python": "3.11.7", "torch": "2.13.0"},
}


@pytest.mark.parametrize("spec", ["tictactoe", "hungry_geese:episode_steps=20"])
def test_positions_are_those_of_active_players_and_the_same_for_a_seed(spec):
    game = make_game(spec)
    states, seats = random_positions(game, 30, seed=1)
    assert (len(states), len(seats)) == (30, 30)
    for s, seat in zip(states, seats, strict=True):
        assert not game.is_terminal(s)
        assert game.is_active(s, seat) if game.simultaneous else game.player(s) == seat
    again, _ = random_positions(game, 30, seed=1)
    other, _ = random_positions(game, 30, seed=2)
    assert np.array_equal(states, again)
    assert not np.array_equal(states, other)


def test_page_names_the_largest_relative_difference():
    value = ROW | {"network": "uctnet:v", "largest_output": 0.5, "difference": 1e-5}
    text = markdown_page({"rows": [ROW, value | {"same_best": None}], **PROVENANCE})
    assert "is 1.0e-05,\nof `uctnet:v`" in text  # 4e-5 / 20 is less
    assert "| `az:x` | ONNX, planes last | 10 | 4,000 | 5,000 | 20 | 4.0e-05 | 90.0 |" in text
    assert text.count("python -m") == 2  # the provenance, and the commands
    assert "value_regression" not in text
    default = markdown_page({"rows": [ROW | {"network": "uctnet:runs/formats"}], **PROVENANCE})
    assert "value_regression" in default


def test_exported_networks_are_compared_with_pytorch(tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    try:
        import_keras()
    except ImportError as error:
        pytest.skip(str(error))
    game, config = make_game("othello"), ValueConfig((4, 8), 16)
    weights = tmp_path / "value.safetensors"
    save_weights(
        weights,
        make_value_network(config, game).state_dict(),
        {"game": game.spec, "network": config.as_dict()},
    )
    rows = compare_formats(("dqn:hex5",), (f"uctnet:{weights}",), 20, 0, tmp_path, tmp_path)
    assert [row["format"] for row in rows] == [
        "ONNX, planes first", "ONNX, planes last", "Keras, planes last", "Keras, read by PyTorch"
    ]  # fmt: skip
    assert all(row["difference"] <= 1e-5 * max(row["largest_output"], 1) for row in rows)
    assert [row["same_best"] for row in rows] == [1, 1, None, None]
    assert rows[0]["file_bytes"] == (tmp_path / "dqn-hex5-first.onnx").stat().st_size
    assert json.loads((tmp_path / "results.json").read_text())["rows"] == rows
    assert "| `dqn:hex5` | ONNX, planes last | 20 |" in (tmp_path / "README.md").read_text()
    # Inputs in the wrong order give other outputs.
    monkeypatch.setattr(network_formats.np, "moveaxis", lambda x, a, b: x.reshape(-1, 7, 7, 6))
    (_, last) = network_formats.compare_onnx("dqn:hex5", tmp_path, 20, 0)
    assert last["difference"] > 0.1

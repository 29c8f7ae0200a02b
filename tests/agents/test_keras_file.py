"""Tests of value networks in Keras files: export, import, and files that are refused."""

import json
import zipfile

import numpy as np
import pytest
import torch

from ludoteca.__main__ import main
from ludoteca.agents.networks.keras_file import (
    export_keras,
    import_keras,
    load_keras_network,
)
from ludoteca.agents.networks.value_network import (
    ValueConfig,
    ValueView,
    load_value_network,
    make_value_network,
)
from ludoteca.agents.networks.weights import save_weights
from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game

try:
    keras = import_keras()
except ImportError as error:
    pytest.skip(str(error), allow_module_level=True)

pytestmark = [
    pytest.mark.interpreted,
    # PyTorch's tensors, which Keras converts, do not know NumPy 2's keyword `copy`.
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

OTHELLO = make_game("othello")


@pytest.fixture
def export(tmp_path):
    """Return a function that exports a network with random weights."""

    def export(game, config):
        network = make_value_network(config, game)
        weights = tmp_path / "value.safetensors"
        save_weights(
            weights, network.state_dict(), {"game": game.spec, "network": config.as_dict()}
        )
        return network.eval(), export_keras(f"uctnet:{weights}", tmp_path / "value.keras")

    return export


def observations(game, view, count=20):
    """Return random observations as float32 planes `[count, *shape]`."""
    shape = ValueView(game, view).shape
    rng = np.random.default_rng(0)
    return rng.integers(0, 1 + game.observation_high, (count, *shape)).astype(np.float32)


@pytest.mark.parametrize("view", ["second", "mover"])
@pytest.mark.parametrize("filters", [(4, 8), ()])
def test_exported_networks_have_equal_outputs_in_both_directions(export, view, filters):
    network, file = export(OTHELLO, ValueConfig(filters, 16, view=view))
    planes = observations(OTHELLO, view)
    with torch.no_grad():
        expected = network(torch.from_numpy(planes)).numpy()
    model = keras.saving.load_model(file, safe_mode=True)
    assert model.input_shape == (None, 8, 8, planes.shape[1])
    outputs = model.predict(np.moveaxis(planes, 1, -1), verbose=0)[:, 0]
    np.testing.assert_allclose(outputs, expected, atol=1e-5)
    again, metadata = load_value_network(OTHELLO, file)
    assert again.config == network.config
    assert metadata["game"] == OTHELLO.spec
    for name, weights in network.state_dict().items():
        np.testing.assert_array_equal(again.state_dict()[name], weights)


def test_agent_plays_with_a_network_made_in_keras(tmp_path):
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((8, 8, 2)),
            layers.Conv2D(4, (3, 3), padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dropout(0.5),
            layers.Dense(8, activation="relu"),
            layers.Dense(1, activation="tanh"),
        ]
    )
    model.compile("adam", "mse")
    file = tmp_path / "seville.keras"
    model.save(file)
    network, _ = load_keras_network(OTHELLO, file)
    assert network.config == ValueConfig((4,), 8, 0.5, "second")
    planes = observations(OTHELLO, "second")
    with torch.no_grad():
        outputs = network.eval()(torch.from_numpy(planes)).numpy()
    expected = model.predict(np.moveaxis(planes, 1, -1), verbose=0)[:, 0]
    np.testing.assert_allclose(outputs, expected, atol=1e-5)
    agent = make_agent(f"uctnet:{file},simulations=5", OTHELLO)
    assert agent.search(OTHELLO.new()).simulations == 5


def damaged(file, folder, change):
    """Return a copy of a file after `change(layers)`, which changes the layers' descriptions."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    content = json.loads(members["config.json"])
    change(content["config"]["layers"])
    copy = folder / "damaged.keras"
    with zipfile.ZipFile(copy, "w") as archive:
        for name, content_ in (members | {"config.json": json.dumps(content)}).items():
            archive.writestr(name, content_)
    return copy


def set_in(layer, key, value):
    """Return a change that sets a value in the configuration of a layer, by its index."""
    return lambda layers: layers[layer]["config"].update({key: value})


# Description of an object that Keras would look up in a module.
CODE = {"module": "builtins", "class_name": "function", "config": "os", "registered_name": None}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda layers: layers[1].update(class_name="Lambda"), "layers can be"),
        (set_in(1, "activation", CODE), "it has 'builtins' 'function'"),
        (set_in(1, "kernel_initializer", {"module": "os", "class_name": "system"}), "it has 'os'"),
        (lambda layers: layers[1].update(registered_name="Package>Layer"), "layers can be"),
        (set_in(1, "padding", "valid"), "expected convolutions with"),
        (set_in(1, "filters", 10**9), "filters must be"),
        (set_in(-2, "units", 10**5), "its weights need 103,"),
        (set_in(-1, "activation", "linear"), "one output with tanh"),
        (lambda layers: layers.pop(1), "holds no value network"),
        (lambda layers: layers.pop(2), "expected convolutions, a flattening"),
        (set_in(0, "batch_shape", [None, 6, 6, 2]), "does not fit othello"),
    ],
)
def test_other_files_are_refused_before_keras_reads_them(export, tmp_path, change, message):
    _, file = export(OTHELLO, ValueConfig((4,), 8))
    with pytest.raises(ValueError, match=message):
        load_keras_network(OTHELLO, damaged(file, tmp_path, change))


def test_damaged_archives_are_refused(tmp_path):
    file = tmp_path / "bad.keras"
    file.write_bytes(b"PK\x03\x04 and nothing else")
    with pytest.raises(ValueError, match="holds no value network"):
        load_keras_network(OTHELLO, file)


def test_the_command_exports_a_network_or_names_the_error(export, tmp_path, capsys):
    export(OTHELLO, ValueConfig((4,), 8))
    weights, out = tmp_path / "value.safetensors", tmp_path / "out.keras"
    words = ["export", "keras", "--agent", f"uctnet:{weights}", "--out"]
    assert main([*words, str(out)]) == 0
    assert f"bytes: {out}" in capsys.readouterr().out.replace("\n", "")
    for arguments, message in (
        ([*words, "a.onnx"], "must end in .keras"),
        ([*words, "a.keras", "--precision", "float16"], "holds float32"),
        ([*words, "a.keras", "--game", "connect4"], "plays othello, not connect4"),
        (["export", "keras", "--agent", "random", "--out", "a.keras"], "random cannot be exported"),
    ):
        assert main(arguments) == 2
        assert message in " ".join(capsys.readouterr().err.split())

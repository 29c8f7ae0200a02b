"""Tests that damaged and hostile files and specs raise clear errors before they use resources."""

import io
import json
import os
import zipfile

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO

from ludoteca.agents import alphazero
from ludoteca.agents.external.sb3 import load_sb3_agent
from ludoteca.agents.networks.pv_network import PVConfig, make_pv_network
from ludoteca.agents.networks.weights import load_weights, read_header, save_weights
from ludoteca.agents.registry import make_agent
from ludoteca.envs.adapters.sb3 import SB3VecEnv
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay
from ludoteca.files import check_archive, open_regular_file, parse_json, read_bytes, read_json

pytestmark = pytest.mark.interpreted

GAME = make_game("tictactoe")
GEESE = make_game("hungry_geese")
SMALL = PVConfig(filters=4, blocks=1)
DEEP = "[" * 100_000  # JSON that is nested too deeply


# Files.


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path, kind in ((tmp_path / "fifo", "a FIFO"), ("/dev/zero", "a device")):
        with pytest.raises(ValueError, match=f"not a regular file but {kind}"):
            read_bytes(path)
        with pytest.raises(ValueError, match=f"not a regular file but {kind}"):
            Replay.load(path)
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="is not the name of a file"):
        read_bytes("a\0b")


def test_files_are_read_up_to_a_size(tmp_path):
    file = tmp_path / "x"
    file.write_bytes(b"0123456789")
    assert read_bytes(file, 10) == b"0123456789"
    with pytest.raises(ValueError, match="x: expected at most 9 bytes"):
        read_bytes(file, 9)
    assert b"Linux" in read_bytes("/proc/version", 1000)  # its reported size is 0
    with pytest.raises(ValueError, match="expected at most 5 bytes"):
        read_bytes("/proc/version", 5)
    with (tmp_path / "sparse").open("wb") as sparse:
        sparse.truncate(1 << 40)
    with pytest.raises(ValueError, match="expected at most 268,435,456 bytes"):
        Replay.load(tmp_path / "sparse")
    with open_regular_file(file) as opened:
        assert opened.read(3) == b"012"


def test_invalid_json_raises_with_the_file_name(tmp_path):
    file = tmp_path / "x.json"
    for content, message in (
        (b"{", "x.json is damaged: not JSON"),
        (DEEP.encode(), "x.json is damaged: the JSON is nested too deeply"),
        (b"\xff", "x.json: not text in UTF-8"),
        (b"9" * 5000, "x.json is damaged: not JSON: Exceeds the limit"),
    ):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            read_json(file)
    assert parse_json("[1]") == [1]


def test_archives_are_checked_before_unpacking():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(1000))
        archive.writestr("b", bytes(1000))
    with zipfile.ZipFile(data) as archive:
        check_archive(archive, "x.zip", 2000)
        with pytest.raises(ValueError, match=r"x.zip unpacks to 2,000 bytes in 2 files"):
            check_archive(archive, "x.zip", 1999)
        with pytest.raises(ValueError, match=r"expected at most 2,000 bytes in 1$"):
            check_archive(archive, "x.zip", 2000, 1)


# Specs.


@pytest.mark.parametrize(
    ("game", "spec", "error", "message"),
    [
        (GAME, "dqn:1", FileNotFoundError, "there is no network '1'"),
        (GAME, "az:1e5", FileNotFoundError, "there is no network '1e5'"),
        (GAME, "az:path=007", FileNotFoundError, "there is no network '007'"),
        (GEESE, "kaggle:5", FileNotFoundError, "there is no submission '5'"),
        (GEESE, "ac:none", FileNotFoundError, "there is no network 'none'"),
        (GAME, "sb3:true", FileNotFoundError, "there is no model file true"),
        (GAME, "uctnet:1.5", FileNotFoundError, "there is no network '1.5'"),
        (GAME, 5, TypeError, "expected a spec string such as 'hex:board_size=5', got 5"),
        (GAME, "mcts:simulations=many", ValueError, "simulations must be an integer from 1 to"),
    ],
)
def test_spec_values_must_have_the_type_of_their_parameter(game, spec, error, message):
    with pytest.raises(error, match=message):
        make_agent(spec, game)


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ("device=hex5", "device must be one that PyTorch can use.* got 'hex5'"),
        ("device=meta", "device must be one that PyTorch can use.* got 'meta'"),
        ("device=5", "device must be one that PyTorch can use.* got '5'"),
        ("fpu_reduction=x", "fpu_reduction must be a number, got 'x' in 'az:"),
        ("precision=3", "precision must be one of 'auto', 'float32', 'bfloat16', 'int16', got"),
    ],
)
def test_network_settings_are_validated(network, parameter, message):
    with pytest.raises(ValueError, match=message):
        make_agent(f"az:{network},{parameter}", GAME)


# Network files.


@pytest.fixture
def network(tmp_path):
    """Return the path of a file with a small network."""
    path = tmp_path / "net.safetensors"
    network = make_pv_network(SMALL, GAME)
    save_weights(path, network.state_dict(), {"game": GAME.spec, "network": SMALL.as_dict()})
    return path


def rewrite_metadata(path, change):
    """Replace the metadata in the header of a network file by `change(metadata)`."""
    weights, metadata = load_weights(path)
    save_weights(path, weights, change(metadata))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"network": {"filters": 4096, "blocks": 100}},
            r"is damaged: its weights tower.*shape \(.*4096",
        ),
        ({"network": {"filters": 10**9, "blocks": 1}}, "filters must be an integer from 1 to 4096"),
        ({"network": {"filters": "4", "blocks": 1}}, "filters must be an integer"),
        ({"network": {"filters": 4, "blocks": 1, "more": 1}}, "holds no policy-value network"),
        ({"network": [1]}, "holds no policy-value network"),
        ({"network": None}, "holds no policy-value network"),
        ({"game": 5}, "holds no policy-value network: TypeError.*expected a spec string"),
        ({"game": None}, "holds no policy-value network"),
        ({"game": ["tictactoe"]}, "holds no policy-value network"),
        ({"game": "chess"}, "net.safetensors: unknown game 'chess'"),
        ({"game": "hex"}, "plays hex, not tictactoe"),
    ],
)
def test_network_size_in_a_file_is_checked_before_building(network, change, message, monkeypatch):
    """The first network would take 120 GB: networks are built on the device "meta" only."""

    def make(config, game):
        assert torch.empty(0).device.type == "meta"
        return make_pv_network(config, game)

    monkeypatch.setattr(alphazero, "make_pv_network", make)
    rewrite_metadata(network, lambda metadata: metadata | change)
    with pytest.raises(ValueError, match=message):
        make_agent(f"az:{network}", GAME)


def replace_header(path, text):
    """Replace the header of a network file."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + size :])


@pytest.mark.parametrize(
    "text",
    [
        b"", b"[]", b"5", b"{}", b'{"__metadata__": 5}', b'{"__metadata__": {"ludoteca": 5}}',
        b'{"__metadata__": {"ludoteca": "[]"}}', DEEP.encode(),
        json.dumps({"__metadata__": {"ludoteca": DEEP}}).encode(),
        b'{"__metadata__": {"ludoteca": "{}"}, "a": {"dtype": "F32", "shape": [1000000000000], '
        b'"data_offsets": [0, 4000000000000]}}',
        b'{"__metadata__": {"ludoteca": "{}"}, "a": {"dtype": "F32", "shape": [-1]}}',
        b'{"__metadata__": {"ludoteca": "{}"}, "a": {"dtype": [], "shape": [1]}}',
        b'{"__metadata__": {"ludoteca": "{}"}, "a": {"dtype": "F32", "shape": 5}}',
    ],
)  # fmt: skip
def test_invalid_headers_raise(network, text):
    replace_header(network, text)
    for read in (read_header, load_weights):
        with pytest.raises(ValueError, match="holds no network of this package"):
            read(network)


def test_header_length_is_checked_against_the_file(network):
    for length in (2**63, 2**40, 10**6):
        content = network.read_bytes()
        network.write_bytes(length.to_bytes(8, "little") + content[8:])
        with pytest.raises(ValueError, match=f"its header cannot have {length} bytes"):
            load_weights(network)


def test_non_finite_weights_raise(network):
    weights, metadata = load_weights(network)
    next(iter(weights.values())).fill_(float("nan"))
    save_weights(network, weights, metadata)
    with pytest.raises(ValueError, match=r"is damaged: its weights .* are not all finite"):
        make_agent(f"az:{network}", GAME)


# Models of Stable-Baselines3.


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    """Return the contents of a model file of PPO by the names of its members."""
    path = tmp_path_factory.mktemp("sb3") / "model.zip"
    kwargs = {"net_arch": [4], "activation_fn": torch.nn.ReLU}
    PPO(
        "MlpPolicy", SB3VecEnv(GAME, 2, seed=0), n_steps=8, batch_size=16, policy_kwargs=kwargs
    ).save(path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_model(folder, members, **changed):
    """Write a model file with changed members; return its path."""
    with zipfile.ZipFile(folder / "model.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (members | changed).items():
            archive.writestr(name, content)
    return folder / "model.zip"


def change_description(members, part, **changed):
    """Return the member `data` with a changed part of the description of a model."""
    data = json.loads(members["data"])
    data[part] |= changed
    return {"data": json.dumps(data).encode()}


# Description of a space of dictionaries, with the shape of the observations to be filled in.
BOXES = "{{'observation': Box(0, 1, {}, int8), 'action_mask': Box(0, 1, (9,), int8)}}"
DICT = {":type:": "<class 'gymnasium.spaces.dict.Dict'>"}


@pytest.mark.parametrize(
    ("part", "changed", "message"),
    [
        ("observation_space", {"_shape": [10**12]}, r"observations are 1e\+12 numbers"),
        ("observation_space", {"_shape": [10**6, 10**6]}, r"observations are 1e\+12 numbers"),
        ("observation_space", {"_shape": [-1]}, "observations have the shape"),
        ("observation_space", {"_shape": "(2, 3, 3)"}, "observations have the shape"),
        ("observation_space", {"dtype": "O"}, "numbers of type 'O'"),
        ("observation_space", DICT | {"spaces": BOXES.format("(01,)")}, "cannot rebuild"),
        ("observation_space", DICT | {"spaces": BOXES.format("()")}, "cannot rebuild"),
        ("action_space", {"n": 10**12}, r"it has 1e\+12 actions"),
        ("action_space", {"n": 0}, "it has 0 actions"),
        ("action_space", {"n": 10**6}, "the description needs networks of"),
        ("policy_kwargs", {"net_arch": [5000, 5000]}, "the description needs networks of"),
        ("policy_kwargs", {"net_arch": [10**9, 10**9]}, "the description needs networks of"),
        ("policy_kwargs", {"net_arch": [1] * 10**5}, "its policy has more than 1000 settings"),
        (
            "policy_kwargs",
            {"features_extractor_class": "<class 'torch.nn.modules.rnn.LSTM'>"},
            "is not a features extractor",
        ),
        (
            "policy_class",
            {"__module__": "torch.utils.bottleneck.__main__"},
            "is not in the installed packages",
        ),
        (
            "policy_class",
            {
                "__module__": "sb3_contrib.common.recurrent.policies",
                "__init__": "<function RecurrentActorCriticPolicy.__init__ at 0x7>",
            },
            "its class RecurrentActorCriticPolicy is not a supported policy",
        ),
    ],
)
def test_model_descriptions_are_validated(tmp_path, members, part, changed, message):
    path = write_model(tmp_path, members, **change_description(members, part, **changed))
    with pytest.raises(ValueError, match=message):
        load_sb3_agent(GAME, path)


def pack_weights(tensors, compression=zipfile.ZIP_STORED):
    """Return tensors in PyTorch's file format, as a ZIP archive with the given compression."""
    saved, packed = io.BytesIO(), io.BytesIO()
    torch.save(tensors, saved)
    with zipfile.ZipFile(saved) as source, zipfile.ZipFile(packed, "w", compression) as target:
        for entry in source.infolist():
            target.writestr(entry.filename, source.read(entry))
    return packed.getvalue()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bytes(20 << 20), "unpacks from .* to 20,971,520 bytes"),
        (
            lambda: pack_weights({"a": torch.zeros(5 << 20)}, zipfile.ZIP_DEFLATED),
            "unpacks to .* bytes in",
        ),
        (lambda: pack_weights({"a": torch.zeros(1).expand(10**12)}), "are incomplete"),
        (lambda: pack_weights({"a": torch.tensor(float("nan"))}), "not all finite"),
        (lambda: pack_weights([1, 2]), "expected weights by name"),
        (lambda: pack_weights({"a": 5}), "expected weights by name"),
        (lambda: b"", "is not a model saved by"),
        (lambda: b"PK\x03\x04" + bytes(100), "is not a model saved by"),
    ],
)
def test_invalid_model_weights_raise(tmp_path, members, make, message):
    path = write_model(tmp_path, members, **{"policy.pth": make()})
    assert path.stat().st_size < 1 << 20
    with pytest.raises(ValueError, match=message):
        load_sb3_agent(GAME, path)


@pytest.mark.parametrize("data", [b"", b"[]", DEEP.encode(), b'{"policy_class": 5}', b"\xff"])
def test_invalid_model_documents_raise(tmp_path, members, data):
    with pytest.raises(ValueError, match="is not a model saved by Stable-Baselines3"):
        load_sb3_agent(GAME, write_model(tmp_path, members, data=data))


def test_model_document_that_unpacks_too_large_raises(tmp_path, members):
    path = write_model(tmp_path, members, data=b" " * (20 << 20))
    with pytest.raises(ValueError, match=r"its data unpacks from .* to 20,971,520 bytes"):
        load_sb3_agent(GAME, path)


def test_valid_model_is_loaded(tmp_path, members):
    agent = load_sb3_agent(GAME, write_model(tmp_path, members))
    states = GAME.empty(1)
    states[0] = GAME.new()
    zero = np.zeros(1, np.int64)
    assert 0 <= agent.act(states, zero, np.zeros((1, 1), np.uint64), zero)[0] < 9

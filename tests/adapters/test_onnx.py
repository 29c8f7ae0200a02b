"""Tests of ONNX files: exported networks play as before; models of other programs are checked."""

import pickle
import runpy
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")
torch = pytest.importorskip("torch")

from onnx import TensorProto, helper  # noqa: E402

from ludoteca.__main__ import main  # noqa: E402
from ludoteca.agents import Agent  # noqa: E402
from ludoteca.agents.networks.export_source import find_export_source  # noqa: E402
from ludoteca.agents.networks.onnx_export import LOADERS, export_onnx  # noqa: E402
from ludoteca.agents.registry import make_agent  # noqa: E402
from ludoteca.envs.records import batch_of_one  # noqa: E402
from ludoteca.envs.registry import make_game  # noqa: E402
from ludoteca.evaluate.match import play_match  # noqa: E402
from ludoteca.testing import check_agent  # noqa: E402

ROOT = Path(__file__).parents[2]
GAME = make_game("tictactoe")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.mark.parametrize(
    ("agent", "game"),
    [
        ("dqn:hex5", "hex:board_size=5"),  # one network, seen as player 0
        ("az:connect4", "connect4"),  # a plane for the seat
    ],
)
def test_an_exported_network_makes_the_same_moves(agent, game, tmp_path):
    file = export_onnx(agent, tmp_path / "network.onnx")
    rules = make_game(game)
    exported, ours = make_agent(f"onnx:{file}", rules), make_agent(agent, rules)
    if agent.startswith("az"):
        ours = HighestLogit(ours)
    assert exported.metadata == {
        "format": "ludoteca-onnx",
        "game": rules.spec,
        "view": "network",
        "channels_last": False,
        "agent": agent,
    }
    for seed in (0, 1):
        matches = [
            play_match(rules, [player, "random"], 40, seed=seed, random_plies=2)
            for player in (exported, ours)
        ]
        assert np.array_equal(*(match.game_digests for match in matches))
        assert matches[0].totals == matches[1].totals
    check_agent(exported, games=2)
    scores, _ = exported._scores(batch_of_one(rules), np.zeros(1, np.int64))
    planes, _ = ours.encoder.encode(batch_of_one(rules), np.zeros(1, np.int64))
    outputs = ours._runner(planes)[:, : rules.num_actions]
    np.testing.assert_allclose(scores, outputs, rtol=1e-4, atol=1e-4)
    copied = pickle.loads(pickle.dumps(exported))
    states = batch_of_one(rules)
    inputs = (states, np.zeros(1, np.int64), np.zeros((1, 1), np.uint64), np.zeros(1, np.int64))
    assert copied.act(*inputs) == exported.act(*inputs)


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("agent", "view", "channels_last"),
    [
        ("cnn:geese", "environment", False),  # the 17 planes of the competition
        ("cnn:geese", "environment", True),
        ("ac:geese", "hand_crafted", True),
        ("dqn:hex5", "network", True),
    ],
)
def test_outputs_are_those_of_pytorch(agent, view, channels_last, tmp_path):
    name, weights, rules = find_export_source(agent, LOADERS, "ONNX", None)
    network, _ = LOADERS[name](rules, weights)
    file = tmp_path / "network.onnx"
    command = ["export", "onnx", "--agent", agent, "--out", str(file)]
    assert main([*command, *["--channels-last"] * channels_last]) == 0
    ours, exported = make_agent(agent, rules), make_agent(f"onnx:{file}", rules)
    planes, masks, states, seats = positions(rules, ours.encoder)
    session = onnxruntime.InferenceSession(file)
    (tensor,) = session.get_inputs()
    count, *board = ours.encoder.shape
    assert tensor.shape[1:] == ([*board, count] if channels_last else [count, *board])
    assert (exported.signature.view, exported.signature.channels_last) == (view, channels_last)
    observed = np.moveaxis(planes, 1, -1) if channels_last else planes
    scores, *values = session.run(None, {tensor.name: observed.astype(np.float32)})
    with torch.no_grad():
        inputs = torch.from_numpy(planes * np.float32(ours.encoder.scale))
        expected = network.eval()(inputs).numpy()
    np.testing.assert_allclose(scores, expected[:, : rules.num_actions], rtol=1e-4, atol=1e-4)
    assert len(values) == (agent == "ac:geese")
    for value in values:
        np.testing.assert_allclose(value, expected[:, rules.num_actions], rtol=1e-4, atol=1e-4)
    chosen = exported.act(
        states, seats, np.zeros((len(seats), 1), np.uint64), np.arange(len(seats))
    )
    best = np.where(masks == 1, expected[:, : rules.num_actions], -np.inf).argmax(1)
    assert np.array_equal(chosen, ours.encoder.translate(best, seats))


def positions(rules, encoder):
    """Return planes, masks, positions and players of two random games."""
    match = play_match(rules, ["random", "random"], 2, seed=3, num_replays=2)
    states, seats = [], []
    for replay in match.replays:
        for s in list(replay.positions())[:-1]:
            players = range(rules.num_players) if rules.simultaneous else [rules.player(s)]
            for seat in players:
                if not rules.simultaneous or rules.is_active(s, seat):
                    states.append(s)
                    seats.append(seat)
    batch = np.concatenate([np.atleast_1d(s) for s in states])
    return *encoder.encode(batch, np.array(seats)), batch, np.array(seats)


class HighestLogit(Agent):
    """Agent that plays the highest logit of an AlphaZero agent's network.

    The AlphaZero agent itself differs even without simulations: it prefers immediate wins.
    """

    def __init__(self, agent):
        super().__init__(agent.game)
        self.agent, self.encoder = agent, agent.encoder
        self._runner = agent._runner

    def act(self, states, seats, rngs, env_indices):
        planes, masks = self.encoder.encode(states, seats)
        logits = self._runner(planes)[:, : self.game.num_actions]
        best = np.where(masks == 1, logits, -np.inf).argmax(1)
        return self.encoder.translate(best, seats)


def model(tmp_path, inputs, outputs=(("logits", 9),), metadata=None, nodes=None):
    """Write an ONNX model and return its path; it has the `nodes`, or those of `score_nodes`."""
    input_infos = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs]
    output_infos = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["B", count])
        for name, count in outputs
    ]
    nodes = nodes or score_nodes(inputs, outputs)
    graph = helper.make_graph(nodes, "test", input_infos, output_infos)
    onnx_model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    onnx_model.ir_version = 9
    if metadata is not None:
        entry = onnx_model.metadata_props.add()
        entry.key, entry.value = "ludoteca", metadata
    file = tmp_path / "model.onnx"
    onnx.save_model(onnx_model, file)
    return file


def score_nodes(inputs, outputs):
    """Return nodes that score a cell with a stone by its number, and an empty cell by 0."""
    weights = np.zeros((18, 9), np.float32)
    weights[np.arange(18), np.arange(18) % 9] = np.arange(18) % 9
    constant = helper.make_node(
        "Constant",
        [],
        ["weights"],
        value=helper.make_tensor("w", TensorProto.FLOAT, (18, 9), weights.ravel()),
    )
    shape = helper.make_node(
        "Constant",
        [],
        ["flat"],
        value=helper.make_tensor("s", TensorProto.INT64, (2,), [-1, 18]),
    )
    nodes = [constant, shape, helper.make_node("Cast", [inputs[0][0]], ["cast"], to=1)]
    nodes += [
        helper.make_node("Reshape", ["cast", "flat"], ["rows"]),
        helper.make_node("MatMul", ["rows", "weights"], [outputs[0][0]]),
    ]
    nodes += [helper.make_node("Identity", [outputs[0][0]], [name]) for name, _ in outputs[1:]]
    return nodes


FLOAT, INT8 = TensorProto.FLOAT, TensorProto.INT8


@pytest.mark.parametrize(
    ("name", "kind", "shape"),
    [
        ("planes", FLOAT, ["B", 2, 3, 3]),
        ("obs", INT8, [None, 2, 3, 3]),
        ("cells", FLOAT, ["B", 18]),
        ("last", FLOAT, ["B", 3, 3, 2]),
        ("board", FLOAT, ["B", 2, 3, 3]),
    ],
)
def test_models_of_other_programs_play(name, kind, shape, tmp_path):
    inputs = [(name, kind, shape)]
    if name == "board":
        inputs.append(("action_mask", TensorProto.BOOL, ["B", 9]))
    agent = make_agent(f"onnx:{model(tmp_path, inputs)}", GAME)
    assert agent.signature.channels_last == (name == "last")
    assert agent.signature.view == "environment"
    assert play_match(GAME, [agent, "random"], 20, seed=0).games == 20
    sampling = make_agent(f"onnx:{model(tmp_path, inputs)},deterministic=False", GAME)
    assert len({play_match(GAME, [sampling, "random"], 20, seed=k).totals for k in range(3)}) > 1


@pytest.mark.parametrize(
    ("inputs", "options", "problem"),
    [
        (
            [("planes", FLOAT, ["B", 4, 3, 3])],
            {},
            r"planes of tictactoe.* are \[2, 3, 3\], or that",
        ),
        ([("planes", FLOAT, [1, 2, 3, 3])], {}, "planes of tictactoe"),
        ([("a", FLOAT, ["B", 18]), ("b", FLOAT, ["B", 18])], {}, "expected one input of planes"),
        (
            [("a", FLOAT, ["B", 18]), ("mask", FLOAT, ["B", 4])],
            {},
            r"the masks of tictactoe.* are \[B, 9\]",
        ),
        (
            [("planes", FLOAT, ["B", 18])],
            {"outputs": (("x", 9), ("y", 9))},
            r"expected one output of shape \[B, 9\], or one of them called",
        ),
        ([("planes", FLOAT, ["B", 18])], {"metadata": "{"}, "its metadata 'ludoteca' is damaged"),
        (
            [("planes", FLOAT, ["B", 18])],
            {"metadata": '{"format": "ludoteca-onnx", "game": "hex"}'},
            "plays hex:.*, not tictactoe",
        ),
        (
            [("planes", FLOAT, ["B", 18])],
            {"metadata": '{"format": "ludoteca-onnx", "game": "evil:module"}'},
            "names 'evil:module', which is not imported",
        ),
    ],
)
def test_models_that_do_not_fit_are_errors(inputs, options, problem, tmp_path):
    with pytest.raises(ValueError, match=problem):
        make_agent(f"onnx:{model(tmp_path, inputs, **options)}", GAME)


def test_files_that_hold_no_model_raise(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        make_agent(f"onnx:{tmp_path}/no.onnx", GAME)
    (tmp_path / "bad.onnx").write_bytes(b"\x08\x09 not a model")
    with pytest.raises(ValueError, match="holds no ONNX model"):
        make_agent(f"onnx:{tmp_path}/bad.onnx", GAME)


def test_command_exports_a_network_and_refuses_what_it_cannot_export(tmp_path, capsys):
    file = tmp_path / "hex.onnx"
    assert main(["export", "onnx", "--agent", "dqn:hex5", "--out", str(file)]) == 0
    assert f"bytes: {file}" in capsys.readouterr().out
    for arguments, problem in (
        (["--agent", "random", "--out", "a.onnx"], "random cannot be exported to ONNX"),
        (["--agent", "dqn:hex5", "--out", "a.py"], "must end in .onnx"),
        (["--agent", "dqn:hex5", "--out", "a.onnx", "--game", "connect4"], "plays hex, not connec"),
        (["--agent", "dqn:nothing", "--out", "a.onnx"], "there is no network 'nothing'"),
        (["--agent", "dqn:hex5", "--out", "a.onnx", "--precision", "float16"], "holds float32"),
        (["--agent", "uctnet:x", "--out", "a.onnx"], "one of dqn, az, ac, cnn"),
    ):
        assert main(["export", "onnx", *arguments]) == 2
        assert problem in capsys.readouterr().err


def test_the_recipe_plays_the_exported_network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(ROOT / "docs" / "recipes" / "onnx" / "connect4.py"))
    assert all(seat.games == 200 for seat in names["against_random"].seats[0])
    assert names["against_random"].totals[0].wins >= 360

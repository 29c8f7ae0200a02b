"""Tests of PyTorch networks as agents, in memory and in files."""

import copy
import json
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from ludoteca import make_agent, make_game
from ludoteca.agents.external.torch_agent import TorchAgent, load_policy, save_policy
from ludoteca.agents.networks.graph import Graph
from ludoteca.evaluate.match import MatchResult, play_match

pytestmark = pytest.mark.interpreted

GAME = make_game("tictactoe")


class Residual(nn.Module):
    """Network that is not a plain `Sequential` and has layers with a training mode."""

    def __init__(self) -> None:
        super().__init__()
        self.enter, self.more = nn.Conv2d(2, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.norm, self.leave = nn.BatchNorm2d(4), nn.Linear(4 * 9 + 8, 9)
        self.drop, self.relu = nn.Dropout(0.5), nn.ReLU(inplace=True)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        x = self.relu(self.enter(planes.float()))
        x = self.drop(x + self.norm(self.more(x)))
        pooled = torch.cat([x.mean((2, 3)), x.amax((2, 3))], 1)
        logits = self.leave(torch.cat([x.flatten(1), pooled], 1))
        return logits - logits.mean(1, keepdim=True), pooled.sum(1)


@pytest.fixture(scope="module")
def network() -> Residual:
    """Return an untrained network, in training mode."""
    torch.manual_seed(0)
    return Residual()


@pytest.fixture(scope="module")
def saved(network: Residual, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of the saved `network`."""
    path = tmp_path_factory.mktemp("networks") / "residual"
    return save_policy(path, GAME, network, dtype="int8", metadata={"library": "none"})


def games_of(agent: str | TorchAgent) -> MatchResult:
    """Return a match of the agent against random moves."""
    return play_match(GAME, [agent, "random"], 20, seed=3)


def same_games(a: MatchResult, b: MatchResult) -> bool:
    """Say whether two matches consist of the same games, move by move."""
    assert a.game_digests is not None
    assert b.game_digests is not None
    return a.game_digests.tolist() == b.game_digests.tolist()


def test_a_saved_network_plays_as_in_memory(network: Residual, saved: Path) -> None:
    assert saved.suffix == ".safetensors"
    live = TorchAgent(GAME, network, dtype="int8")
    expected = games_of(live)
    assert network.training  # as before
    for spec in (f"torch:{saved}", f"torchrl:path={saved}", f"tianshou:{saved}"):
        assert same_games(games_of(spec), expected)
    agent = make_agent(f"torch:{saved}", GAME)
    assert isinstance(agent, TorchAgent)
    assert agent.metadata["library"] == "none"
    for twin in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert same_games(games_of(twin), expected)


def test_a_network_in_memory_plays_as_it_learns_and_its_copy_does_not() -> None:
    torch.manual_seed(1)
    network = nn.Sequential(nn.Flatten(), nn.Linear(18, 9))
    live = TorchAgent(GAME, network)
    frozen = copy.deepcopy(live)
    before = games_of(live)
    assert same_games(games_of(frozen), before)
    with torch.no_grad():
        network[1].bias += torch.linspace(5, -5, 9)
    assert same_games(games_of(frozen), before)
    assert not same_games(games_of(live), before)


def test_observations_have_the_format_of_the_network() -> None:
    received: list[Tensor] = []

    def record_observations(observations: Tensor) -> Tensor:
        received.append(observations)
        return torch.zeros(len(observations), 9)

    formats = {
        (2, 3, 3): {"dtype": "int8"},
        (3, 3, 2): {"channels_last": True},
        (18,): {"flat": True, "dtype": "float64"},
    }
    for shape, options in formats.items():
        games_of(TorchAgent(GAME, record_observations, **options))  # type: ignore[arg-type]
        assert received[-1].shape[1:] == shape
        assert str(received[-1].dtype) == f"torch.{options.get('dtype', 'float32')}"


def test_sampled_actions_follow_the_policy_and_the_seed() -> None:
    logits = torch.log(torch.tensor([0.6, 0.3, 0.1, 0, 0, 0, 0, 0, 0]))

    def sampling_agent(kind: str) -> TorchAgent:
        scores = logits.exp() if kind == "probabilities" else logits
        return TorchAgent(
            GAME, lambda planes: scores.expand(len(planes), 9), kind=kind, deterministic=False
        )

    states = np.repeat(GAME.new(0)[None], 4000)
    rngs = np.arange(4000, dtype=np.uint64)[:, None] * np.uint64(2**40)
    seats, env_indices = np.zeros(4000, np.int64), np.arange(4000)
    sampled = [
        sampling_agent(kind).act(states, seats, rngs.copy(), env_indices)
        for kind in ("logits", "probabilities")
    ]
    assert (sampled[0] == sampled[1]).all()
    shares = np.bincount(sampled[0], minlength=9) / 4000
    assert np.abs(shares - logits.exp().numpy()).max() < 0.03
    with pytest.raises(ValueError, match="no probabilities to sample from"):
        sampling_agent("values")


def test_networks_that_mask_all_actions_play_and_invalid_scores_raise() -> None:
    def agent(scores: Tensor) -> TorchAgent:
        return TorchAgent(GAME, lambda planes: scores.expand(len(planes), -1))

    masks_all = agent(torch.full((9,), -torch.inf))
    states, zero = GAME.new(0)[None], np.zeros(1, np.int64)
    assert masks_all.act(states, zero, np.zeros((1, 1), np.uint64), zero).tolist() == [0]
    for scores, message in [
        (torch.full((9,), torch.nan), "returned NaN"),
        (torch.zeros(8), r"numbers of shape \(1, 9\), got torch.Size\(\[1, 8\]\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            agent(scores).act(states, zero, np.zeros((1, 1), np.uint64), zero)


def test_unsupported_networks_cannot_be_saved(tmp_path: Path) -> None:
    def random_network(planes: Tensor) -> Tensor:
        return planes.flatten(1) @ torch.rand(18, 9)

    flat = nn.Sequential(nn.Flatten(), nn.Linear(18, 8))
    with pytest.raises(ValueError, match=r"has 9 actions, but the network returns .* \(8,\)"):
        save_policy(tmp_path / "a", GAME, flat)
    with pytest.raises(ValueError, match=r"cannot have the operation 'aten\.rand"):
        save_policy(tmp_path / "b", GAME, random_network)
    with pytest.raises(ValueError, match="kind must be one of 'logits', 'values', 'probabilities'"):
        save_policy(tmp_path / "c", GAME, flat, kind="value")
    assert list(tmp_path.iterdir()) == []


def rewritten(source: Path, target: Path, old: str, new: str) -> Path:
    """Write a copy of a network's file with one text replaced in its metadata; return its path."""
    content = source.read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + size])
    metadata = header["__metadata__"]["ludoteca"]
    assert old in metadata
    header["__metadata__"]["ludoteca"] = metadata.replace(old, new, 1)
    packed = json.dumps(header).encode()
    target.write_bytes(struct.pack("<Q", len(packed)) + packed + content[8 + size :])
    return target


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("aten.amax.default", "aten.from_file.default", "cannot have the operation"),
        ("aten.amax.default", "aten.amax.out", "cannot have the operation"),
        ("aten.amax.default", "python.eval", "cannot have the operation"),
        ('"graph-1"', '"graph-9"', "its format is 'graph-9'"),
        ('"tictactoe:board_size=3,line=3"', '"hex:board_size=5"', "it plays hex, not tictactoe"),
        ('"input"', '"inputs"', "expected the graph of a network"),
        ('"weight": "leave.weight"', '"weight": "enter.weight"', "does not run"),
        ('"weight": "leave.weight"', '"weight": "gone"', "does not run"),
        ('"int8"', '"int80"', "dtype must be one of"),
        ('{"dtype": "float32"}', '{"dtype": "load"}', "does not run"),
    ],
)
def test_damaged_files_are_refused(
    saved: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = rewritten(saved, tmp_path / "bad.safetensors", old, new)
    with pytest.raises(ValueError, match=message):
        make_agent(f"torch:{path}", GAME)


def test_a_file_cannot_have_a_game_imported(saved: Path, tmp_path: Path) -> None:
    module, trace = tmp_path / "evil.py", tmp_path / "trace"
    module.write_text(f"open({str(trace)!r}, 'w').close()\n")
    path = rewritten(
        saved, tmp_path / "bad.safetensors", "tictactoe:board_size=3,line=3", f"{module}:make"
    )
    with pytest.raises(ValueError, match="which is not imported"):
        make_agent(f"torch:{path}", GAME)
    assert not trace.exists()


def test_graphs_that_need_too_much_memory_are_refused() -> None:
    nodes = [{"name": "a", "op": "aten.zeros.default", "args": [[1 << 20, 1 << 20]], "kwargs": {}}]
    graph = Graph({"input": "x", "output": "a", "nodes": nodes}, {})
    with pytest.raises(ValueError, match="computes more than"):
        graph.check((2,), torch.float32)


def test_a_file_for_another_size_is_refused(saved: Path) -> None:
    with pytest.raises(ValueError, match="holds no network for tictactoe:board_size=4"):
        load_policy(make_game("tictactoe:board_size=4"), saved)
    with pytest.raises(FileNotFoundError, match="there is no network 'nowhere'"):
        make_agent("torch:nowhere", GAME)

"""Tests of agents exported as submissions: source bundles and networks in NumPy."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from ludoteca.__main__ import main
from ludoteca.agents.external.kaggle import layers
from ludoteca.agents.external.kaggle.agent import KaggleAgent
from ludoteca.agents.external.kaggle.export import (
    EXPORTERS,
    export_agent,
    network_policy,
    submission_source,
)
from ludoteca.agents.external.kaggle.observation import configuration, observation
from ludoteca.agents.external.kaggle.torch_layers import MODULES, layers_of
from ludoteca.agents.games.hungry_geese.policies import safe_goose
from ludoteca.agents.registry import make_agent
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match

NAMES = ("NORTH", "EAST", "SOUTH", "WEST")
RULES = [name for name in EXPORTERS if name not in ("cnn", "ac")]  # the others need networks
BOARDS = (
    "hungry_geese",
    "hungry_geese:num_players=8,rows=9,columns=13,min_food=5",
    "hungry_geese:num_players=2,rows=3,columns=4,hunger_rate=3,max_length=3",
)


def load(source):
    """Run the source of a submission, and return its last callable, which Kaggle calls."""
    names = {}
    exec(compile(source, "submission", "exec"), names)
    return [value for value in names.values() if callable(value)][-1]


def positions_of(game, seed):
    """Return the positions of a game between `random_safe` geese, in order."""
    s, rng, legal = game.new(seed), np.array([seed], np.uint64), np.arange(4)
    positions = [s.copy()]
    with np.errstate(over="ignore"):
        while not game.is_terminal(s) and len(positions) < 60:
            joint = [safe_goose(s, p, legal, 4, rng) for p in range(game.num_players)]
            game.step(s, np.array(joint))
            positions.append(s.copy())
    return positions


def choices(agent, s, seat, draws):
    """Return the actions that a policy kernel chooses in a position, for `draws` random streams."""
    legal = np.arange(4, dtype=np.int16)
    with np.errstate(over="ignore"):
        return {
            NAMES[agent.choose(s, seat, legal, 4, np.array([k], np.uint64))] for k in range(draws)
        }


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(spec, marks=pytest.mark.slow if "num_players=8" in spec else ())
        for spec in BOARDS
    ],
)
@pytest.mark.parametrize("name", RULES)
def test_exported_agents_choose_the_same_actions(name, spec):
    game = make_game(spec)
    own = make_agent(name, game)
    draws = 60 if name.startswith("random") else 12  # so many that every action is sampled
    num_determined = 0
    positions, source = positions_of(game, seed=1), submission_source(name)
    for seat in range(game.num_players):
        agent = load(source)
        for s in positions:
            if s.length[seat] == 0 or game.is_terminal(s):
                break
            expected = choices(own, s, seat, draws)
            answer = agent(observation(s, seat), configuration(game))
            assert answer in expected
            num_determined += len(expected) == 1
    assert num_determined > 5 or name.startswith("random")


def test_random_agents_sample_independently_each_call():
    seen, settings = observation(hungry_geese().new(), 0), configuration(hungry_geese())
    source = submission_source("random")
    answers = [load(source)(seen, settings) for _ in range(60)]
    assert set(answers) == set(NAMES)


def test_one_function_may_play_all_geese_and_game_after_game():
    game = hungry_geese()
    agent, own = load(submission_source("greedy")), make_agent("greedy", game)
    for seed in range(2):
        for s in positions_of(game, seed)[:12]:
            for seat in np.flatnonzero(s.length):
                answer = agent(observation(s, int(seat)), configuration(game))
                assert answer in choices(own, s, int(seat), 12)


@pytest.mark.slow
@pytest.mark.interpreted
@pytest.mark.parametrize("name", RULES)
def test_exported_files_play_without_this_package(name, tmp_path):
    file = tmp_path / "submission.py"
    assert main(["export", "geese", "--agent", name, "--out", str(file)]) == 0
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('ludoteca', 'numba', 'torch')));"
        "names = {}; exec(open(sys.argv[1]).read(), names); agent = list(names.values())[-1];"
        "geese = [[40], [42, 41], [], [7]];"
        "print(agent({'step': 3, 'geese': geese, 'food': [1, 2], 'index': 1}, {'rows': 7,"
        "'columns': 11, 'hunger_rate': 40, 'min_food': 2, 'max_length': 99, 'episodeSteps': 200}))"
    )
    run = subprocess.run(
        [sys.executable, "-P", "-c", code, str(file)], capture_output=True, text=True
    )
    assert (run.stderr, run.stdout.strip() in NAMES) == ("", True)
    board = "hungry_geese:num_players=2,episode_steps=30"
    result = play_match(board, [f"kaggle:{file}", "random_valid"], 2)
    assert result.forfeits == ()


def test_parameters_of_agents_are_exported():
    sources = [submission_source(f"deterministic:hungry={k}") for k in (3, 9)]
    first, second = (
        {line for line in source.splitlines() if line.startswith("hungry = ")} for source in sources
    )
    assert (first, second) == ({"hungry = 3"}, {"hungry = 9"})


@pytest.mark.parametrize(
    ("agent", "out", "message"),
    [
        ("flat", "a.py", "agent flat cannot be exported to Kaggle; expected one of random, "),
        ("zzz", "a.py", "unknown agent 'zzz'; there are"),
        ("greedy:x=3", "a.py", "agent greedy has no parameter 'x'"),
        ("greedy", "a.txt", "must end in .py, got .*a.txt"),
    ],
)
def test_unsupported_agents_cannot_be_exported(agent, out, message, tmp_path, capsys):
    with pytest.raises(ValueError, match=message):
        export_agent(agent, tmp_path / out)
    assert main(["export", "geese", "--agent", agent, "--out", str(tmp_path / out)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_command_has_help(capsys):
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    help_text = " ".join(capsys.readouterr().out.split())
    assert help_text.startswith("usage: ludoteca export [-h] [OPTIONS] {geese,onnx,keras} ")
    assert "--agent AGENT" in help_text
    assert "--out FILE" in help_text
    assert "number format of the weights in a submission" in help_text


class Residual(nn.Module):
    """Layers whose output is added to their input."""

    def __init__(self, *inner):
        super().__init__()
        self.inner = nn.Sequential(*inner)

    def forward(self, x):
        out = self.inner(x)
        return x + (out if out.ndim == 4 else out[:, :, None, None])


class Beside(nn.Module):
    """Layers whose outputs for the same input are concatenated."""

    def __init__(self, *stacks):
        super().__init__()
        self.stacks = nn.ModuleList(stacks)

    def forward(self, x):
        return torch.cat([stack(x) for stack in self.stacks], 1)


class Cell(nn.Module):
    """Layer that returns the features of one cell."""

    def forward(self, x):
        return x[:, :, 3, 5]


@pytest.fixture
def more_modules(monkeypatch):
    """Register the modules above with the converter of layers."""
    for kind, convert in (
        (Residual, lambda m, w: (("add", layers_of(m.inner, w)),)),
        (Beside, lambda m, w: (("concat", tuple(layers_of(stack, w) for stack in m.stacks)),)),
        (Cell, lambda m, w: (("cell", 3, 5),)),
    ):
        monkeypatch.setitem(MODULES, kind, convert)


def every_layer(padding, n=3):
    """Return a network for 17 planes of 7 x 11 with all kinds of layers; `n` is the kernel size."""
    convolution = dict(padding=n // 2, padding_mode=padding)
    pooled = (nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return nn.Sequential(
        nn.Conv2d(17, 8, n, **convolution),
        nn.LeakyReLU(0.3),
        nn.BatchNorm2d(8),
        Residual(
            nn.ReLU(),
            nn.Conv2d(8, 8, n, **convolution, bias=False),
            nn.BatchNorm2d(8, affine=False),
        ),
        Residual(nn.Conv2d(8, 8, 1), nn.AdaptiveMaxPool2d((1, 1)), nn.Flatten(), nn.Linear(8, 8)),
        nn.ReLU(),
        Beside(
            nn.Sequential(*pooled),
            nn.Sequential(nn.Conv2d(8, 2, 1), nn.Tanh(), nn.Flatten()),
            Cell(),
        ),
        nn.Linear(8 + 2 * 77 + 8, 32, bias=False),
        nn.BatchNorm1d(32),
        nn.Dropout(0.5),
        nn.Identity(),
        nn.Linear(32, 4),
    )


def randomized(network, seed=0):
    """Return a network with random weights and statistics, in evaluation mode."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for tensor in network.parameters():
            tensor.normal_(0, 0.3)
        for name, tensor in network.named_buffers():
            if tensor.dtype == torch.float32:
                tensor.uniform_(0.5, 2) if "var" in name else tensor.normal_()
    return network.eval()


@pytest.mark.usefixtures("more_modules")
@pytest.mark.parametrize("n", [3, 5])
@pytest.mark.parametrize("padding", ["zeros", "circular"])
def test_networks_compute_the_same_in_numpy(padding, n):
    network = randomized(every_layer(padding, n))
    weights = {}
    converted = layers_of(network, weights)
    x = torch.rand(6, 17, 7, 11) - 0.2
    with torch.no_grad():
        expected = network(x).numpy()
    result = layers.run_layers(converted, weights, x.numpy())
    assert result.dtype == np.float32
    assert expected.std() > 0.1
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)
    other = "circular" if padding == "zeros" else "zeros"
    other_layers = layers_of(randomized(every_layer(other, n)), {})
    assert np.abs(layers.run_layers(other_layers, weights, x.numpy()) - expected).max() > 1e-3


@pytest.mark.usefixtures("more_modules")
def test_a_network_is_exported_with_its_weights(monkeypatch, tmp_path):
    """`network_policy`, registered as an exporter, exports an agent with a network."""
    game = hungry_geese()
    network = randomized(every_layer("circular"), seed=3)
    torch.nn.init.zeros_(network[-1].bias)
    weights = {}
    choose = network_policy(layers_of(network, weights), weights, game.observe, 17)
    monkeypatch.setitem(EXPORTERS, "random", lambda agent: choose)
    file = tmp_path / "network.py"
    export_agent("random", file)
    agent = load(file.read_text())
    planes, answers = np.zeros((1, 17, 7, 11), np.int8), []
    for s in positions_of(game, 5):
        for seat in np.flatnonzero(s.length):
            game.observe(s, seat, planes[0])
            with torch.no_grad():
                expected = NAMES[int(network(torch.from_numpy(planes).float()).argmax())]
            answers.append(agent(observation(s, int(seat)), configuration(game)))
            assert answers[-1] == expected
    assert len(set(answers)) > 1
    small = export_agent("random", tmp_path / "small.py", "float16")
    assert small < 0.7 * file.stat().st_size
    for path in (file, tmp_path / "small.py"):
        assert KaggleAgent(game, path).path == path


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (nn.GELU(), "cannot export a GELU; supported are Sequential, Conv2d"),
        (nn.Conv2d(3, 3, 3), "the output must have the size of the board"),
        (nn.Conv2d(3, 3, 1, padding=1), "the output must have the size of the board"),
        (nn.Conv2d(3, 3, 2, padding=1), "the output must have the size of the board"),
        (nn.Conv2d(3, 3, 3, padding=1, stride=2), "the output must have the size of the board"),
        (nn.Conv2d(3, 3, 3, padding=1, groups=3), "the output must have the size of the board"),
        (nn.Conv2d(3, 3, 3, padding=1, padding_mode="reflect"), "zeros or circular"),
        (nn.AdaptiveAvgPool2d(2), "it must pool to one cell"),
        (nn.BatchNorm2d(3, track_running_stats=False), "it has no running statistics"),
    ],
)
def test_unsupported_modules_are_refused(module, message):
    with pytest.raises(ValueError, match=message):
        layers_of(module, {})


def test_unknown_layers_are_refused():
    with pytest.raises(ValueError, match="unknown layer 'attention'"):
        layers.run_layers((("attention",),), {}, np.zeros((1, 1)))


def test_positions_of_a_game_are_consecutive():
    """Exported agents are asked about consecutive positions: a test of the helper above."""
    assert all(b.steps == a.steps + 1 for a, b in pairwise(positions_of(hungry_geese(), 0)))

"""Tests of encoders, networks, weight files and runners."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from ludoteca.agents.dqn import QNetworkAgent
from ludoteca.agents.networks import fused
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.evaluation_cache import EvaluationCache
from ludoteca.agents.networks.layers import Convolution2x2
from ludoteca.agents.networks.q_network import QConfig, make_q_network, q_config
from ludoteca.agents.networks.runner import Runner, faster_precision
from ludoteca.agents.networks.weights import find_weights, load_weights, save_weights
from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

SMALL = QConfig(filters=(8,), blocks=2)
TANAKA2018 = QConfig(kind="tanaka2018", filters=(4, 8), dueling=False, bounded=False)


def sequential_games() -> list[Game]:
    """Return the registered sequential games."""
    games = [make_game(id_) for id_ in GAMES]
    return [game for game in games if not game.simultaneous]


def positions(game: Game, plies: int, seed: int = 0):
    """Play at random; yield each position with its mover."""
    rng = np.random.default_rng(seed)
    s = game.new(seed)
    for _ in range(plies):
        if game.is_terminal(s):
            return
        yield s.copy(), int(game.player(s))
        with np.errstate(over="ignore"):  # kernels may count on integers that wrap around
            game.step(s, int(rng.choice(game.legal(s))))


def stacked(game: Game, records):
    """Return positions as an array of states."""
    states = game.empty(len(records))
    for k, s in enumerate(records):
        states[k] = s
    return states


@pytest.mark.parametrize("planes", ["board", "flat"])
def test_networks_have_an_output_per_action_if_planes_do_not_show_the_board(planes):
    game = make_game("gdl:path=tictactoe", planes=planes)
    network = make_q_network(SMALL, game)
    observations = torch.zeros(2, *Encoder(game).shape)
    assert network(observations).shape == (2, game.num_actions)


def test_mirrored_hex_position_is_the_game_with_colors_exchanged():
    """Black first, seen by white, is white first on the transposed board, seen by black."""
    n = 5
    game, other = make_game(f"hex:board_size={n}"), make_game(f"hex:board_size={n},first=white")
    assert game.mirror is not None
    mirror = game.mirror()
    rng = np.random.default_rng(1)
    s, t = game.new(), other.new()
    seen, expected = np.zeros((2, *game.observation_shape), np.int8)
    while not game.is_terminal(s):
        action = int(rng.choice(game.legal(s)))
        game.step(s, action)
        other.step(t, action % n * n + action // n)
        game.observe(s, 0, seen)
        other.observe(t, 0, expected)
        assert np.array_equal(mirror.observation(seen), expected)
        assert np.array_equal(mirror.observation(expected), seen)
        legal = np.zeros(n * n, np.int8)
        legal[game.legal(s)] = 1
        assert np.flatnonzero(mirror.policy(legal)).tolist() == other.legal(t)
    assert other.is_terminal(t)


def test_player_to_move_in_hex_is_encoded_as_black():
    game = make_game("hex:board_size=4")
    encoder = Encoder(game)
    for s, mover in positions(game, 12):
        planes, masks = encoder.encode(stacked(game, [s]), np.array([mover]))
        own, others = planes[0, :2, 1:-1, 1:-1].sum((1, 2))
        assert own + others == s.stones
        assert own == (s.stones // 2)  # the mover has placed every other stone
        legal = encoder.translate(np.flatnonzero(masks[0]), np.full(masks[0].sum(), mover))
        assert sorted(legal) == game.legal(s)


@pytest.mark.parametrize("game", sequential_games(), ids=lambda game: game.name)
def test_actions_round_trip_through_the_encoder(game):
    encoder = Encoder(game)
    actions = np.tile(np.arange(game.num_actions), 2)
    seats = np.repeat([0, 1], game.num_actions)
    encoded = encoder.translate(actions, seats)
    assert np.array_equal(encoder.translate(encoded, seats), actions)
    if game.mirror is None:
        for s, mover in positions(game, 4):
            planes, _ = encoder.encode(stacked(game, [s]), np.array([mover]))
            assert planes.shape[1:] == encoder.shape
            assert (planes[0, -1] == mover).all()


def test_simultaneous_games_are_refused():
    with pytest.raises(ValueError, match="a sequential game for two players, got tron"):
        Encoder(make_game("tron"))


# One of each kind of action by default, the others in `make test-slow`.
QUICK = ("connect4", "othello", "hex", "breakthrough")


@pytest.mark.parametrize(
    "game",
    [
        pytest.param(game, marks=() if game.name in QUICK else pytest.mark.slow)
        for game in sequential_games()
    ],
    ids=lambda game: game.name,
)
def test_fresh_networks_play_every_game(game):
    # The paper's convolutions need a board; observations of rule sheets are lists of fluents.
    for config in (SMALL, TANAKA2018) if game.name != "gdl" else (SMALL,):
        agent = QNetworkAgent(game, make_q_network(config, game))
        result = play_match(game, [agent, "random"], 2, batch_size=2)
        assert result.games == 2
        values = agent.values(game.new())
        assert np.flatnonzero(np.isfinite(values)).tolist() == game.legal(game.new())


def test_the_agent_plays_the_highest_value_in_both_seats():
    game = make_game("hex:board_size=4,swap=True")
    torch.manual_seed(0)
    agent = QNetworkAgent(game, make_q_network(QConfig(filters=(8,), blocks=1), game))
    for s, mover in positions(game, 10, seed=3):
        env_indices = np.zeros(1, np.int64)
        (action,) = agent.act(
            stacked(game, [s]), np.array([mover]), np.zeros((1, 1), np.uint64), env_indices
        )
        assert action == np.nanargmax(agent.values(s))


def test_epsilon_plays_random_legal_moves():
    game = make_game("tictactoe")
    agent = QNetworkAgent(game, make_q_network(SMALL, game), epsilon=1.0)
    s = game.new()
    for action in (0, 4):
        game.step(s, action)
    count = 7000
    states = stacked(game, [s] * count)
    rngs = np.random.default_rng(0).integers(2**63, size=(count, 1)).astype(np.uint64)
    actions = agent.act(states, np.zeros(count, np.int64), rngs, np.arange(count))
    counts = np.bincount(actions, minlength=9)
    assert counts[[0, 4]].tolist() == [0, 0]
    assert (abs(counts[game.legal(s)] - 1000) < 150).all()  # five standard deviations


def test_with_zero_weights_only_the_last_biases_learn():
    """With all weights zero, as in Tanaka (2018), no gradient reaches the layers."""
    game = make_game("hex:board_size=3")
    for init in ("zero", "zero_head"):
        config = QConfig(kind="tanaka2018", filters=(4, 8), dueling=False, bounded=False, init=init)
        network = make_q_network(config, game)
        optimizer = torch.optim.SGD(network.parameters(), 0.1)
        before = {name: weight.clone() for name, weight in network.named_parameters()}
        for step in range(3):
            planes = torch.randint(
                0, 2, (16, 6, 5, 5), generator=torch.Generator().manual_seed(step)
            )
            optimizer.zero_grad()
            ((network(planes.float()) - 1) ** 2).mean().backward()
            optimizer.step()
        changed = {n for n, w in network.named_parameters() if not torch.equal(w, before[n])}
        assert changed == ({"body.head.bias"} if init == "zero" else set(before))


def test_a_residual_network_fits_every_board_size_and_a_flat_one_does_not(tmp_path):
    small, large = make_game("hex:board_size=4"), make_game("hex:board_size=6")
    for config, fits in ((SMALL, True), (TANAKA2018, False)):
        network = make_q_network(config, small)
        path = tmp_path / f"{config.kind}.safetensors"
        metadata = {"game": small.spec, "network": config.as_dict()}
        save_weights(path, network.state_dict(), metadata)
        assert q_config(load_weights(path)[1]["network"]) == config
        spec = f"dqn:{path}"
        assert make_agent(spec, small).game is small
        if fits:
            assert play_match(large, [spec, "random"], 2).games == 2
        else:
            with pytest.raises(ValueError, match=r"made for hex:board_size=4.* only"):
                make_agent(spec, large)
        with pytest.raises(ValueError, match="plays hex, not othello"):
            make_agent(spec, make_game("othello"))


def test_files_without_a_network_raise(tmp_path):
    path = tmp_path / "x.safetensors"
    for content in (b"", b"nonsense", b"\xff" * 100):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="holds no network of this package"):
            load_weights(path)
    save_file({"a": torch.zeros(2)}, path)
    with pytest.raises(ValueError, match="holds no network of this package"):
        load_weights(path)
    save_weights(path, {"a": torch.zeros(2)}, {"game": "hex"})
    with pytest.raises(ValueError, match="holds no Q network: KeyError\\('network'\\)"):
        make_agent(f"dqn:{path}", make_game("hex"))
    with pytest.raises(FileNotFoundError, match=r"no network 'nowhere'.* nor a shipped network"):
        find_weights("nowhere", "dqn")


def test_weights_round_trip_bit_for_bit(tmp_path):
    path = tmp_path / "x.safetensors"
    weights = {"a": torch.randn(3, 4), "b": torch.tensor(1.5, dtype=torch.bfloat16)}
    save_weights(path, weights, {"card": {"seed": 3}})
    again, metadata = load_weights(path)
    assert all(torch.equal(again[name], weights[name]) for name in weights)
    assert metadata == {"card": {"seed": 3}}


def test_runners_agree_with_the_network_and_with_each_other():
    game = make_game("hex:board_size=5")
    torch.manual_seed(0)
    network = make_q_network(QConfig(filters=(16,), blocks=2), game)
    for weight in network.parameters():  # initially, residual blocks are the identity
        torch.nn.init.normal_(weight, 0, 0.05)
    states = stacked(game, [s for seed in range(40) for s, _ in positions(game, 9, seed)])
    planes, _ = Encoder(game).encode(states, states["to_move"].astype(np.int64))
    exact = network(torch.from_numpy(planes).float()).detach().numpy()
    assert np.allclose(Runner(network)(planes), exact, atol=1e-5)
    rounded = Runner(network, precision="bfloat16")(planes)
    assert np.abs(rounded - exact).max() < 0.05 * np.abs(exact).max()
    assert Runner(network, precision="auto").precision == faster_precision("cpu")
    # On CPUs, bfloat16 runs by a trunk with fused convolutions, where PyTorch has them.
    trunk = Runner(network, precision="bfloat16")._running.body.trunk
    assert trunk.fused == fused.is_available(torch.bfloat16)
    trunk.fused = False
    with torch.inference_mode():
        unfused_outputs = trunk(torch.from_numpy(planes).bfloat16()).float()
        if fused.is_available(torch.bfloat16):
            trunk.fused = True
            fused_outputs = trunk(torch.from_numpy(planes).bfloat16()).float()
            error = (unfused_outputs - fused_outputs).abs().max()
            assert error < 0.05 * unfused_outputs.abs().max()
    # More positions than one forward pass has, and none at all.
    many = np.concatenate([planes] * 5)
    assert np.allclose(Runner(network)(many)[: len(planes)], exact, atol=1e-5)
    assert Runner(network)(planes[:0]).shape == (0, 25)


def test_fused_convolutions_are_used_only_where_correct(monkeypatch):
    # oneDNN has fused convolutions of bfloat16 for some processors only.
    has_bfloat16 = torch.ops.mkldnn._is_mkldnn_bf16_supported()
    available = fused.is_available(torch.float32)
    assert fused.is_available(torch.bfloat16) == (available and has_bfloat16)
    right = fused.conv_add_
    for wrong in (lambda layer, x, to: to + x, lambda layer, x, to: right(layer, to, x)):
        monkeypatch.setattr(fused, "conv_add_", wrong)
        assert not fused.is_available.__wrapped__(torch.float32)
    monkeypatch.setattr(fused, "STRIDE_DILATION_GROUPS", ([1, 1], 1))  # no such arguments
    assert not fused.is_available.__wrapped__(torch.float32)


def test_evaluation_cache_runs_the_network_once_per_position():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(24, 5))

    def run(planes):
        return (planes.reshape(len(planes), 24) @ weights).astype(np.float32)

    pool = rng.integers(-1, 2, (300, 2, 3, 4)).astype(np.int8)
    for capacity in (1, 64, 1 << 12):
        cache = EvaluationCache(run, (2, 3, 4), 5, capacity)
        for _ in range(20):
            planes = pool[rng.integers(len(pool), size=rng.integers(0, 50))]
            assert np.array_equal(cache(planes), EvaluationCache(run, (2, 3, 4), 5)(planes))
            assert np.allclose(cache(planes), planes.reshape(len(planes), 24) @ weights, atol=1e-5)
        assert cache.misses < cache.lookups
        if capacity > len(pool):
            assert cache.misses <= len(pool) * 1.1  # few hash collisions
            before = cache.misses
            cache.clear()
            cache(pool[:10])
            assert cache.misses == before + 10
    will_fail = [True]

    def fail_once(planes):
        if will_fail.pop():
            raise KeyboardInterrupt
        return run(planes)

    cache = EvaluationCache(fail_once, (2, 3, 4), 5)
    with pytest.raises(KeyboardInterrupt):
        cache(pool[:3])
    will_fail.append(False)
    assert np.array_equal(cache(pool[:3]), EvaluationCache(run, (2, 3, 4), 5)(pool[:3]))
    with pytest.raises(ValueError, match="capacity must be a power of two, got 12"):
        EvaluationCache(run, (1,), 1, 12)


def test_runner_copies_its_weights():
    game = make_game("tictactoe")
    network = make_q_network(SMALL, game)
    runner = Runner(network)
    planes, _ = Encoder(game).encode(game.empty(1), np.zeros(1, np.int64))
    before = runner(planes)
    with torch.no_grad():
        for weight in network.body.last_layer_weights():
            weight += 1
    assert np.array_equal(runner(planes), before)
    runner.load(network)
    assert not np.array_equal(runner(planes), before)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"kind": "mlp"}, "kind must be one of 'tanaka2018', 'residual', got 'mlp'"),
        ({"filters": (8, 8)}, "kind=residual needs one number of filters"),
        ({"filters": (0,)}, "filters must be an integer from 1"),
        ({"kind": "tanaka2018"}, "kind=tanaka2018 needs dueling=False"),
        ({"init": "one"}, "init must be one of"),
    ],
)
def test_invalid_network_settings_raise(settings, problem):
    with pytest.raises(ValueError, match=problem):
        QConfig(**settings)


def test_sum_over_windows_is_a_convolution():
    torch.manual_seed(0)
    windows, x = Convolution2x2(3, 5), torch.randn(4, 3, 6, 7)
    expected = torch.relu(windows.kernels(x)).permute(0, 2, 3, 1)
    assert torch.allclose(windows(x.permute(0, 2, 3, 1)), expected, atol=1e-6)

"""Compiled inference of policy-value networks: equality with PyTorch, selection of the backend."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from ludoteca.agents.networks import matrix_block, vectors
from ludoteca.agents.networks.compiled_network import (
    CompiledNetwork,
    can_compile,
    can_compile_int16,
)
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.int16_block import (
    HAS_INT16,
    largest,
    make_multiply_int16_block,
    store_pairs,
)
from ludoteca.agents.networks.int16_products import LARGEST_INT32, quantize_weights
from ludoteca.agents.networks.layers import Trunk
from ludoteca.agents.networks.pv_network import PVConfig, make_pv_network
from ludoteca.agents.networks.q_network import QConfig, make_q_network
from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.networks.winograd import transform_weights
from ludoteca.agents.registry import make_agent
from ludoteca.envs.interpreted import interpreting
from ludoteca.envs.registry import make_game

# Spec string of a game, filters, blocks.
NETWORKS = [
    pytest.param("othello", 32, 3, marks=pytest.mark.slow),  # actions are cells, and one more
    ("connect4", 32, 2),  # actions are columns
    pytest.param("hex:board_size=5", 16, 2, marks=pytest.mark.slow),  # planes with padding
    pytest.param("tictactoe", 16, 0, marks=pytest.mark.slow),
]


def random_network(spec, filters, blocks):
    """Return a policy-value network with random weights, and the shape of its input."""
    torch.manual_seed(1)
    game = make_game(spec)
    network = make_pv_network(PVConfig(filters, blocks), game).eval()
    for weight in network.parameters():  # initially, residual blocks are the identity
        torch.nn.init.normal_(weight, 0, 0.08)
    return network, Encoder(game).shape


def random_planes(shape, count):
    """Return random int8 planes `[count, *shape]`."""
    return np.random.default_rng(count).integers(0, 4, (count, *shape)).astype(np.int8)


@pytest.mark.parametrize(("spec", "filters", "blocks"), NETWORKS)
def test_compiled_network_matches_pytorch(spec, filters, blocks):
    network, shape = random_network(spec, filters, blocks)
    assert can_compile(network)
    run = CompiledNetwork(network, 0.5)
    for count in (0, 1, 2, 7, 33):
        planes = random_planes(shape, count)
        outputs = run(planes)
        if count == 0:
            assert outputs.shape == (0, make_game(spec).num_actions + 1)
            continue
        with torch.inference_mode():
            expected = network(torch.from_numpy(planes) * 0.5).numpy()
        assert outputs.shape == expected.shape
        assert np.abs(outputs - expected).max() < 1e-4 * expected.std()
        # Each position is computed alone, whatever else is in the batch.
        assert np.array_equal(run(planes[-1:]), outputs[-1:])
    assert np.array_equal(run(planes[::2]), outputs[::2])


needs_int16 = pytest.mark.skipif(not HAS_INT16, reason="the CPU has no fast 16-bit integers")


@pytest.mark.slow
@needs_int16
@pytest.mark.parametrize(
    ("spec", "filters", "blocks"),
    [
        ("connect4", 2 * vectors.LANES, 2),
        ("othello", 64, 3),
        ("hex:board_size=5", 2 * vectors.LANES, 2),
    ],
)
def test_int16_is_more_exact_than_bfloat16(spec, filters, blocks):
    network, shape = random_network(spec, filters, blocks)
    run, exact = CompiledNetwork(network, 0.5, int16=True), CompiledNetwork(network, 0.5)
    bfloat16 = Runner(network, 0.5, precision="bfloat16")
    for count in (0, 1, 2, 7, 33):
        planes = random_planes(shape, count)
        outputs, expected = run(planes), exact(planes)
        assert outputs.shape == expected.shape
        if count > 0:
            assert 0 < np.abs(outputs - expected).max() < np.abs(bfloat16(planes) - expected).max()
            # Each position is computed alone, whatever else is in the batch.
            assert np.array_equal(run(planes[-1:]), outputs[-1:])


def test_quantized_weights_never_overflow():
    rng = np.random.default_rng(5)
    weights = rng.standard_normal((36, 4 * vectors.LANES, 32)).astype(np.float32)
    weights[3] = 1.0  # sums are as large as they can be
    weights[4] = 0.0
    weights[5, :, 1] = 0.0
    quantized = quantize_weights(weights)
    integers = quantized.pairs.view(np.int16).reshape(36, -1, vectors.LANES, 32, 2)
    integers = integers.transpose(0, 1, 4, 2, 3).reshape(weights.shape).astype(np.int64)
    bounds = quantized.scales[:, -1]
    assert (np.abs(integers).sum(1).max(1) * bounds <= LARGEST_INT32).all()
    assert bounds.min() > 1000
    factors = quantized.scales[:, None, :-1]
    assert np.abs(integers * factors - weights).max() <= factors.max() * 0.51
    assert np.abs(integers).max() > 1000


def test_int16_vectors_are_arrays_in_interpreted_code():
    rng = np.random.default_rng(0)
    width, depth, rows = vectors.LANES, 2 * vectors.LANES, 4  # elements of a SIMD vector
    a = rng.normal(size=(rows, 2 * depth)).astype(np.float32)
    b = rng.normal(size=(1, 2 * depth, 2 * width)).astype(np.float32)
    weights = quantize_weights(b)
    limit = weights.scales[0, -1]
    pairs, row_scales = np.zeros(rows * depth, np.int32), np.zeros(rows, np.float32)
    for row in range(rows):
        bound = max(largest(np.abs(vectors.load(a[row], k))) for k in range(0, 2 * depth, width))
        row_scales[row] = bound / limit
        for f in range(0, 2 * depth, 2 * width):
            low, high = vectors.load(a[row], f), vectors.load(a[row], f + width)
            store_pairs(pairs, row * depth + f // 2, low, high, limit / bound)
    out = np.zeros(rows * 2 * width, np.float32)
    make_multiply_int16_block(rows, 2)(
        pairs, 0, depth, weights.pairs.ravel(), 0, 2 * width, out, 0, 2 * width, depth,
        row_scales, 0, weights.scales.ravel(), 0,
    )  # fmt: skip
    assert np.allclose(out.reshape(rows, -1), a @ b[0], atol=2e-3 * np.abs(a @ b[0]).max())


def test_a_compiled_network_is_safe_in_threads():
    network, shape = random_network("connect4", 32, 2)
    run = CompiledNetwork(network, 1)
    batches = [random_planes(shape, 5 + k) for k in range(16)]
    alone = [run(planes) for planes in batches]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(run, batches * 4))
    assert all(np.array_equal(outputs, alone[k % 16]) for k, outputs in enumerate(together))


def test_networks_of_other_widths_or_kinds_cannot_be_compiled():
    assert not can_compile(random_network("othello", vectors.LANES + 1, 1)[0])
    assert not can_compile(Trunk(3, 32, 1))
    with interpreting():
        assert not can_compile(random_network("othello", 32, 1)[0])


def test_vectors_are_arrays_in_interpreted_code():
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=shape).astype(np.float32) for shape in ((6, 5), (5, 2 * vectors.LANES)))
    c = np.zeros((6, 2 * vectors.LANES), np.float32)
    multiply = matrix_block.make_multiply_block(6, 2)
    out = c.ravel()
    multiply(a.ravel(), 0, 5, b.ravel(), 0, b.shape[1], out, 0, c.shape[1], 5)
    assert np.allclose(out.reshape(c.shape), a @ b, atol=1e-6)
    values = rng.normal(size=3 * vectors.LANES).astype(np.float32)
    v, w = vectors.load(values, 1), vectors.splat(np.float32(0.25))
    assert np.array_equal(vectors.multiply_add(v, w, vectors.maximum(v, w)), v / 4 + v.clip(0.25))
    vectors.store(values, 0, vectors.subtract(vectors.add(v, w), w))
    assert np.allclose(values[: vectors.LANES], v, atol=1e-6)


def test_transformed_weights_of_a_kernel_with_only_a_center():
    weights = np.zeros((2, 3, 3, 3), np.float32)
    weights[1, 2, 1, 1] = 36
    transformed = transform_weights(weights)
    assert transformed.shape == (36, 3, 2)
    # 36 times the middle column of the filter transform of F(4x4, 3x3), without its factor 1/6.
    line = np.array([0, -6, 6, 3, -3, 0])
    assert np.allclose(transformed[:, 2, 1], np.outer(line, line).ravel() / 36, atol=1e-5)
    assert not transformed[:, :2].any()


@pytest.mark.parametrize(
    ("spec", "filters", "blocks"),
    [("connect4", 32, 2), pytest.param("othello", 32, 3, marks=pytest.mark.slow)],
)
def test_the_backend_is_compiled_where_possible(spec, filters, blocks):
    game = make_game(spec)
    network = make_pv_network(PVConfig(filters, blocks), game)
    for weight in network.parameters():
        torch.nn.init.normal_(weight, 0, 0.1)
    planes = np.random.default_rng(0).integers(0, 2, (9, *Encoder(game).shape)).astype(np.int8)
    slow, fast = Runner(network), Runner(network, backend="auto")
    assert (slow.backend, fast.backend) == ("torch", "compiled")
    assert np.allclose(fast(planes), slow(planes), rtol=1e-4, atol=1e-5)
    again = pickle.loads(pickle.dumps(fast))
    assert again.backend == "compiled"
    assert np.array_equal(again(planes), fast(planes))
    # New weights are used, and only by the runner that has loaded them.
    with torch.no_grad():
        for weight in network.tower.trunk.parameters():
            weight.mul_(0.9)
    before = fast(planes)
    again.load(network)
    slow.load(network)
    assert np.allclose(again(planes), slow(planes), rtol=1e-4, atol=1e-5)
    assert np.array_equal(fast(planes), before)
    assert not np.allclose(again(planes), before)


def test_networks_that_cannot_be_compiled_run_by_pytorch_or_raise():
    game = make_game("hex:board_size=5")
    narrow = make_q_network(QConfig(filters=(vectors.LANES + 1,), blocks=1), game)
    assert Runner(narrow, backend="auto").backend == "torch"
    assert Runner(narrow, precision="bfloat16", backend="auto").backend == "torch"
    with pytest.raises(ValueError, match="backend='compiled' needs a CPU, float32 or int16"):
        Runner(narrow, backend="compiled")
    with pytest.raises(ValueError, match="backend must be one of 'auto', 'torch', 'compiled'"):
        Runner(narrow, backend="onnx")
    with pytest.raises(ValueError, match="precision='int16' needs backend='compiled' or 'auto'"):
        Runner(narrow, precision="int16", backend="auto")


@needs_int16
def test_auto_precision_is_int16_for_compiled_networks():
    network, _ = random_network("connect4", 2 * vectors.LANES, 1)
    assert can_compile_int16(network)
    assert Runner(network, precision="auto", backend="auto").precision == "int16"
    assert Runner(network, precision="auto", backend="torch").precision != "int16"
    assert Runner(network, backend="auto").precision == "float32"
    with pytest.raises(ValueError, match="precision='int16' needs backend='compiled' or 'auto'"):
        Runner(network, precision="int16", backend="torch")
    odd, _ = random_network("connect4", vectors.LANES, 1)
    assert can_compile(odd)
    assert not can_compile_int16(odd)


@pytest.mark.slow
def test_agents_play_the_same_with_both_backends():
    game = make_game("othello")
    agents = [
        make_agent(f"az:othello,simulations=24,backend={backend}", game)
        for backend in ("torch", "compiled")
    ]
    s = game.new()
    rng = np.random.default_rng(3)
    for _ in range(3):
        results = [agent.search(s) for agent in agents]
        assert results[0].action == results[1].action
        for first, second in zip(*(report.candidates for report in results), strict=True):
            assert (first.action, first.visits) == (second.action, second.visits)
            assert first.prior == pytest.approx(second.prior, abs=1e-4)
        for _ in range(6):
            game.step(s, int(rng.choice(game.legal(s))))

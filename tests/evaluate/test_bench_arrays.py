"""Tests of the benchmark of Hex with NumPy and with PyTorch."""

import json

import numpy as np
import pytest

from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bench.arrays import bench_arrays
from ludoteca.evaluate.bench.arrays_workloads import (
    BLACK,
    WHITE,
    BoardWorkload,
    NetworkWorkload,
)

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_boards_have_the_planes_of_the_game(library, monkeypatch):
    workload = BoardWorkload(library, 4)
    moves, place = [], workload.place  # moves: (copy of the planes, color, row, column)
    monkeypatch.setattr(
        workload, "place", lambda *move: (place(*move), moves.append((move[0] * 1, *move[1:])))
    )
    assert workload.play() == len(moves)
    game = make_game("hex:board_size=4,first=white")
    s, observation = game.new(), np.zeros(game.observation_shape, np.int8)
    for k, (planes, color, row, column) in enumerate(moves):
        assert color == (WHITE, BLACK)[k % 2]
        assert not game.is_terminal(s)
        game.step(s, (row - 1) * 4 + column - 1)  # the planes have a border of one cell
        game.observe(s, 0, observation)
        np.testing.assert_array_equal(np.asarray(planes), observation)
    assert game.is_terminal(s)


def test_numpy_and_pytorch_compute_the_same_network():
    workload = NetworkWorkload("torch", 5)
    expected = workload.run()
    assert expected.shape == (200, 25)  # positions of a batch, cells
    np.testing.assert_allclose(workload.numpy_outputs(), expected, atol=1e-5)


def test_updates_change_the_weights():
    workload = NetworkWorkload("update", 5)
    before = [weights.detach().clone() for weights in workload.network.parameters()]
    workload.run()
    assert any((a != b).any() for a, b in zip(before, workload.network.parameters(), strict=True))


def test_report_has_the_ratios(tmp_path, capsys):
    file = tmp_path / "arrays.json"
    report = bench_arrays(file, seconds=0.01, only=("boards",))
    (row,) = report.rows
    assert row.ratio == pytest.approx(row.ours / row.peer)
    assert json.loads(file.read_text())["about"]["rounds"] == 5
    assert "boards in NumPy" in capsys.readouterr().out
    with pytest.raises(ValueError, match="unknown measure"):
        bench_arrays(None, only=("nothing",))

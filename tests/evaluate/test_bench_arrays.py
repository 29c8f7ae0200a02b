"""Tests of the benchmark of Hex with NumPy and with PyTorch."""

import json

import numpy as np
import pytest

from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bench import arrays
from ludoteca.evaluate.bench.arrays import bench_arrays
from ludoteca.evaluate.bench.arrays_page import library_verdict, markdown_page, sixfold_verdict
from ludoteca.evaluate.bench.arrays_workloads import (
    BLACK,
    WHITE,
    BoardWorkload,
    NetworkWorkload,
    TrainingWorkload,
)

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_boards_have_the_planes_of_the_game(library, monkeypatch):
    workload = BoardWorkload(library, 4)
    moves, place = [], workload.place  # moves: (copy of the planes, color, row, column)
    monkeypatch.setattr(
        workload, "place", lambda *move: (place(*move), moves.append((move[0] * 1, *move[1:])))
    )
    assert workload.run_once() == len(moves)
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
    low, high = row.interval
    assert low < row.ratio < high
    assert json.loads(file.read_text())["about"]["rounds"] == 20
    assert "boards in NumPy" in capsys.readouterr().out
    with pytest.raises(ValueError, match="unknown measure"):
        bench_arrays(None, only=("nothing",))


def test_games_of_the_training_are_whole_games_with_updates():
    workload = TrainingWorkload(4)
    weights = next(workload._network.network.parameters())
    before = weights.detach().clone()
    assert 7 <= workload.play() <= 16  # four stones of the winner at least
    assert (weights == before).all()
    assert workload(0.0).steps == 5
    assert (weights != before).any()
    unchanged = TrainingWorkload(4, updates=False)
    before = next(unchanged._network.network.parameters()).detach().clone()
    assert unchanged(0.0).steps == 5
    assert (next(unchanged._network.network.parameters()) == before).all()


@pytest.mark.parametrize(
    ("interval", "library", "sixfold"),
    [
        ((5.2, 6.8), "NumPy is faster", "yes"),
        ((3.0, 4.9), "NumPy is faster", "no"),
        ((7.1, 9.0), "NumPy is faster", "no"),
        ((4.0, 6.0), "NumPy is faster", "inconclusive"),
        ((0.5, 0.9), "PyTorch is faster", "no"),
        ((0.95, 1.05), "equally fast", "no"),
        ((0.8, 1.05), "inconclusive", "no"),
    ],
)
def test_verdicts_are_those_of_intervals(interval, library, sixfold):
    assert library_verdict(interval, ("NumPy", "PyTorch")) == library
    assert sixfold_verdict(interval) == sixfold


def test_page_is_written_from_the_numbers(tmp_path, monkeypatch):
    def row(group, measure, interval):
        return {
            "group": group, "measure": measure, "unit": "moves/s", "ours": 2000.0, "peer": 1000.0,
            "ratio": 2.0, "interval": interval,
        }  # fmt: skip

    content = {
        "rows": [
            row("boards", "boards: NumPy, PyTorch", [1.9, 2.1]),
            row("convolutions", "outputs: PyTorch, NumPy", [0.5, 1.5]),
            row("sizes", "moves: 5x5, 8x8", [5.5, 6.5]),
            row("sizes", "updates: 5x5, 8x8", [2.0, 3.0]),
        ],
        "about": {
            "command": "ludoteca bench arrays", "date": "2026-11-29T00:00:00", "cpu": "Z80",
            "cores": 2, "threads": 1, "rounds": 20, "seconds_per_side": 40.0,
        },
        "versions": {"python": "3.11.7"},
    }  # fmt: skip
    file, page = tmp_path / "arrays.json", tmp_path / "page.md"
    file.write_text(json.dumps(content))
    monkeypatch.setattr(arrays, "measure_groups", None)  # measures nothing
    assert arrays.bench_arrays(file, page=page, keep=True) is None
    text = page.read_text()
    assert "| boards: NumPy, PyTorch (moves/s) | 2 k/s | 1 k/s | 2.00 (1.90 to 2.10) | " in text
    assert "reproduced by: moves. It is not by: updates." in " ".join(text.split())
    assert "at least 2 s each" in " ".join(text.split())
    content["rows"][0]["interval"] = None
    with pytest.raises(ValueError, match="needs intervals"):
        markdown_page(content, "arrays.json")
    with pytest.raises(ValueError, match="there is no convolutions, sizes"):
        markdown_page(content | {"rows": [row("boards", "x", [1, 2])]}, "arrays.json")

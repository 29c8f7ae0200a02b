"""Tests of the benchmark of exact endgames, on a small position."""

import json
from pathlib import Path

import pytest

from ludoteca import __main__ as cli
from ludoteca.evaluate.bench import endgame
from ludoteca.evaluate.bench.endgame import bench_endgame
from ludoteca.evaluate.bench.ffo import ffo_positions


def test_positions_are_solved_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "endgame.json"
    timings = bench_endgame(file, seconds=0.05, only=("ffo-20",))
    assert [(timing.name, timing.empty, timing.score, timing.right) for timing in timings] == [
        ("ffo-20", 6, 6, True)
    ]
    assert timings[0].move == timings[0].principal_variation[0] == "h5"
    assert len(timings[0].seconds) > 1
    printed = capsys.readouterr().out
    assert "exact endgame solver of Othello" in printed
    assert "right" in printed
    content = json.loads(file.read_text())
    assert content["positions"][0]["nodes"] == timings[0].nodes
    assert "numba" in content["versions"]


def test_by_default_ffo_40_to_44_are_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers: list[int] = []
    solve = endgame.time_position

    def time_short_position(number: int, seconds: float) -> endgame.EndgameTiming:
        numbers.append(number)
        return solve(20, seconds)

    monkeypatch.setattr(endgame, "time_position", time_short_position)
    bench_endgame(None, seconds=0.001)
    # Empty cells, as published with the FFO collection.
    assert [ffo_positions()[number].empty for number in numbers] == [20, 22, 22, 23, 23]


def test_positions_match_the_ffo_collection() -> None:
    positions = ffo_positions()
    assert list(positions) == list(range(1, 60))
    for number, position in positions.items():
        assert position.number == number
        assert sum(len(row) for row in position.rows) == 64
        assert list(position.scores.values()) == sorted(position.scores.values(), reverse=True)
        s = position.state()
        assert s.legal.item().bit_count() >= len(position.scores)


def test_invalid_arguments_raise(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="seconds must be positive, got 0"):
        bench_endgame(None, seconds=0)
    with pytest.raises(ValueError, match=r"unknown measure 'ffo-60' .*; there are ffo-1, ffo-2"):
        bench_endgame(None, only=("ffo-60",))
    assert cli.main(["bench", "endgame", "--peers"]) == 2
    assert "bench endgame takes no --peers" in capsys.readouterr().err


def test_command_passes_its_options(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls = []
    monkeypatch.setattr(endgame, "bench_endgame", lambda **options: calls.append(options))
    file = tmp_path / "a.json"
    arguments = ["bench", "endgame", "--json", str(file), "--seconds", "3", "--only", "ffo-4"]
    assert cli.main(arguments) == 0
    assert calls == [{"json": file, "seconds": 3.0, "only": ("ffo-4",)}]

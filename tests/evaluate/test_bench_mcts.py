"""Tests of the search benchmark: speed and strength against OpenSpiel, in tiny sizes."""

import json
from dataclasses import replace
from pathlib import Path
from statistics import median
from types import SimpleNamespace

import pytest

from ludoteca import __main__ as cli
from ludoteca import make_agent, make_game
from ludoteca.evaluate.bench import mcts, strength
from ludoteca.evaluate.bench.mcts import bench_mcts, search_groups, threads_group
from ludoteca.evaluate.bench.measures import Comparison
from ludoteca.evaluate.bench.report import Report
from ludoteca.evaluate.bench.rounds import compare, measure_group
from ludoteca.evaluate.bench.strength import bench_strength
from ludoteca.evaluate.bench.workloads import PeerMissingError, PeerWorkload, Sample


@pytest.mark.slow
def test_speed_is_measured_without_peers(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(mcts, "SIMULATIONS", 20)
    file = tmp_path / "speed.json"
    report = bench_mcts(False, file, seconds=0.05, only=("connect4", "flat"))
    search, flat = report.rows
    assert search.measure == "Connect Four, 20 simulations, OpenSpiel"
    assert (search.unit, search.floor, search.peer) == ("simulations/s", 5, None)
    assert search.verdict == "peers were not requested"
    assert (flat.unit, flat.floor, flat.peer_name) == ("moves/s", 300, "")
    assert flat.verdict in ("pass", "miss")
    assert search.ours > 0
    assert flat.ours > 0
    printed = capsys.readouterr().out
    assert "search speed from the opening" in printed
    assert "300 /s" in printed
    content = json.loads(file.read_text())
    assert all(sample["steps"] % 20 == 0 for sample in content["samples"]["connect4"]["mcts"])


@pytest.mark.slow
def test_two_threads_are_compared_with_one(monkeypatch):
    monkeypatch.setattr(mcts, "THREADS_SIMULATIONS", 200)
    report = Report()
    measure_group(report, "threads", threads_group("tictactoe"), False, 0.02)
    in_one, in_two, better = report.rows
    assert [row.floor for row in report.rows] == [None, None, 1.7]
    assert [row.verdict for row in (in_one, in_two)] == ["information"] * 2
    assert better.ours == max(in_one.ours, in_two.ours) > 0
    assert better.verdict == ("pass" if better.ratio >= 1.7 else "miss")
    one_thread = report.samples["threads"]["1 thread"]
    assert in_one.peer == median(sample["steps"] / sample["seconds"] for sample in one_thread)


@pytest.mark.parametrize("name", search_groups())
def test_every_group_has_the_workloads_of_its_comparisons(name):
    group = search_groups()[name]()
    for comparison in group.comparisons:
        ours = (comparison.ours,) if isinstance(comparison.ours, str) else comparison.ours
        assert set(ours) <= set(group.ours)
        assert comparison.peer in {"", *group.ours, *group.peers}
    for workload in group.ours.values():
        game, agent, steps = workload.args
        searcher = make_agent(agent, make_game(game))
        assert steps in (searcher.simulations, 1)


def test_rate_without_a_peer_has_its_own_floor():
    samples = {"fast": [Sample(30, 10.0)] * 3, "faster": [Sample(50, 10.0)] * 3}

    def row(ours, floor):
        return compare("g", Comparison("m", ours, "", floor, ("", "")), samples, {})

    assert row("fast", 3).verdict == "pass"
    assert row("fast", 3.1).verdict == "miss"
    assert row("fast", None).verdict == "information"
    assert row(("fast", "faster"), 5).verdict == "pass"
    assert row("slow", 1).verdict == "not measured"


def test_openspiel_search_is_measured():
    try:
        workload = PeerWorkload("openspiel", "openspiel_mcts", game="tic_tac_toe", simulations=7)
    except PeerMissingError as error:
        pytest.skip(str(error))
    try:
        sample = workload(0.02)
    finally:
        workload.close()
    assert "open_spiel" in workload.versions
    assert sample.steps > 0
    assert sample.steps % 7 == 0
    assert sample.seconds >= 0.02


@pytest.fixture
def tiny(monkeypatch):
    """Restrict the strength benchmark to tic-tac-toe with 10 simulations."""
    pytest.importorskip("pyspiel")
    monkeypatch.setattr(strength, "GAMES", ("tictactoe",))
    monkeypatch.setattr(strength, "SIMULATIONS", 10)


@pytest.mark.usefixtures("tiny")
@pytest.mark.slow
def test_strength_is_measured_and_resumed(tmp_path, capsys):
    file, folder = tmp_path / "strength.json", tmp_path / "games"
    results = bench_strength(file, 4, folder, processes=1)
    assert [result.condition for result in results] == ["simulations", "time"]
    for result in results:
        assert result.wins + result.draws + result.losses == result.games == 4
        assert result.score == (result.wins + result.draws / 2) / 4
        assert result.score_interval[0] <= result.score <= result.score_interval[1]
    assert results[0].ours == "mcts:policy=uct,simulations=10"
    assert results[0].theirs == "openspiel:uct_c=2,simulations=10"
    times = json.loads((folder / "times.json").read_text())
    seconds = times["tictactoe"]["seconds"]
    assert results[1].ours == f"mcts:policy=uct,seconds={seconds}"
    assert results[1].theirs == f"openspiel:uct_c=2,seconds={seconds}"
    content = json.loads(file.read_text())
    assert [result["wins"] for result in content["results"]] == [result.wins for result in results]
    assert "open_spiel" in content["versions"]
    assert "equal simulations" in capsys.readouterr().out

    lines = {path: path.read_text() for path in folder.rglob("games.jsonl")}
    assert len(lines) == 2
    again = bench_strength(None, 4, folder, processes=1)
    assert [replace(result, seconds=0) for result in again] == [
        replace(result, seconds=0) for result in results
    ]
    # No game was played again.
    assert {path: path.read_text() for path in folder.rglob("games.jsonl")} == lines
    with pytest.raises(ValueError, match="belongs to another tournament"):
        bench_strength(None, 6, folder, only=("simulations",), processes=1)


# Of 400 games. With equal simulations, the interval of the score must reach 50 %; in equal time,
# 75 % of the games must be won.
@pytest.mark.parametrize(
    ("condition", "wins", "draws", "verdict"),
    [
        ("simulations", 180, 0, "miss"),  # 45 %: the interval ends at 49.9 %
        ("simulations", 182, 0, "pass"),  # the interval ends at 50.4 %
        ("simulations", 170, 20, "miss"),
        ("simulations", 300, 0, "pass"),
        ("time", 299, 101, "miss"),
        ("time", 300, 0, "pass"),
    ],
)
def test_verdicts_follow_from_score_intervals(monkeypatch, condition, wins, draws, verdict):
    result = SimpleNamespace(
        wins=wins, draws=draws, losses=400 - wins - draws, wins_first=0, mean_plies=9.0
    )
    results = SimpleNamespace(pair_results=[result], seconds=1.0)
    monkeypatch.setattr(strength, "run_tournament", lambda *args, **options: results)
    agents = strength.agent_specs(condition, 0.01)
    result = strength.play_missing_games(condition, "tictactoe", agents, 400, Path("nowhere"), 1)
    assert result.verdict == verdict


@pytest.mark.usefixtures("tiny")
def test_invalid_arguments_raise(tmp_path):
    with pytest.raises(ValueError, match="seconds must be positive, got 0"):
        bench_mcts(False, None, seconds=0)
    with pytest.raises(ValueError, match="unknown measure 'chess'; there are othello, hex"):
        bench_mcts(False, None, only=("chess",))
    with pytest.raises(ValueError, match="unknown measure 'chess'; there are simulations-tic"):
        bench_strength(None, 4, tmp_path, only=("chess",))
    with pytest.raises(ValueError, match=r"games must be even.* got 3"):
        bench_strength(None, 3, tmp_path)


def test_command_passes_its_options(monkeypatch, capsys, tmp_path):
    calls = []
    for name in ("mcts.bench_mcts", "strength.bench_strength"):
        monkeypatch.setattr(
            f"ludoteca.evaluate.bench.{name}",
            lambda name=name, **options: calls.append((name, options)),
        )
    file = tmp_path / "a.json"
    assert cli.main(["bench", "mcts", "--peers", "--json", str(file), "--seconds", "3"]) == 0
    assert cli.main(["bench", "mcts", "--strength", "--games", "8", "--only", "time"]) == 0
    assert calls == [
        ("mcts.bench_mcts", {"peers": True, "json": file, "seconds": 3.0, "only": ()}),
        (
            "strength.bench_strength",
            {"json": None, "games": 8, "folder": Path("runs/strength"), "only": ("time",)},
        ),
    ]
    assert cli.main(["bench", "envs", "--strength"]) == 2
    assert "only searches have a strength" in capsys.readouterr().err

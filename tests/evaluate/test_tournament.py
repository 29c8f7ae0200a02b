"""Tests of tournaments: schedule, resumption and report."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from ludoteca.__main__ import main
from ludoteca.evaluate.forecast import Forecast
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.tournament import game_log, pilot, plots, run
from ludoteca.evaluate.tournament.game_log import GAMES, MISSING, GameLog, PlayedGames
from ludoteca.evaluate.tournament.plan import Match, Tournament, short_names, split_specs
from ludoteca.evaluate.tournament.report import write_report
from ludoteca.evaluate.tournament.results import Results
from ludoteca.evaluate.tournament.run import run_tournament

SMALL = Tournament(
    ("tictactoe", "connect4"), ("random", "greedy"), games_per_pair=12, repeats=2, seed=3
)


def synthetic(games, agents, games_per_pair=12, **options):
    """Return results of a tournament that nobody played: agent a beats b more often if a < b."""
    plan = Tournament(
        tuple(f"hex:board_size={k + 3}" for k in range(games)),
        tuple(f"mcts:simulations={k + 1}" for k in range(agents)),
        games_per_pair=games_per_pair,
        repeats=2,
        **options,
    )
    shape = (games, len(plan.pairs), 2, plan.games_per_match)
    rng = np.random.default_rng(0)
    outcomes = rng.choice(np.array([1, 0, -1], np.int8), shape, p=[0.6, 0.1, 0.3])
    plies = np.full(shape[:2], 7 * games_per_pair)
    return Results(plan, outcomes, plies, np.ones(shape[:2]))


# What is played.


def test_match_does_not_depend_on_slices():
    agents = ("random", "greedy")
    whole = play_match("connect4", agents, 30, seed=5).returns
    parts = [
        play_match("connect4", agents, n, seed=5, first_game=k).returns
        for k, n in ((0, 7), (7, 23))
    ]
    assert np.array_equal(whole, np.concatenate(parts))


def test_results_are_those_of_the_matches(tmp_path):
    results = run_tournament(SMALL, tmp_path, processes=1)
    for match in SMALL.matches():
        game = SMALL.games[match.game]
        played = play_match(game, SMALL.agents, 6, seed=SMALL.match_seed(match))
        outcomes = results.outcomes[match.game, 0, match.repeat]
        assert (outcomes == 1).sum() == played.totals[0].wins
        assert (outcomes == 0).sum() == played.totals[0].draws
        assert (outcomes[::2] == 1).sum() == played.seats[0][0].wins
        assert (outcomes[1::2] == 1).sum() == played.seats[0][1].wins


def test_every_match_has_a_seed_of_its_own():
    seeds = [SMALL.match_seed(match) for match in SMALL.matches()]
    seeds += [replace(SMALL, seed=4).match_seed(match) for match in SMALL.matches()]
    assert len(set(seeds)) == 8
    # Seeds of a pair do not change if others play, too.
    more = replace(SMALL, agents=("random", "greedy", "mcts:simulations=5"), names=())
    assert [more.match_seed(match) for match in more.matches() if match.pair == (0, 1)] == seeds[:4]


def test_games_that_agents_left_are_recorded(tmp_path):
    (tmp_path / "sleepy.py").write_text("def agent(seen): return {}['no key']\n")
    agents = ("random", f"kaggle:{tmp_path / 'sleepy.py'}", "greedy")
    plan = Tournament(("hungry_geese:num_players=2",), agents, games_per_pair=2, repeats=1)
    first = run_tournament(plan, tmp_path / "run", processes=1)
    again = run_tournament(plan, tmp_path / "run", processes=1)
    assert first.forfeits == again.forfeits
    assert [forfeit.agent for _, forfeit in first.forfeits] == [1] * 4
    assert [(match.pair, forfeit.game, forfeit.seat) for match, forfeit in first.forfeits] == [
        ((0, 1), 0, 1), ((0, 1), 1, 0), ((1, 2), 0, 0), ((1, 2), 1, 1)
    ]  # fmt: skip
    write_report(first, tmp_path)
    forfeits = json.loads((tmp_path / "results.json").read_text())["forfeits"]
    assert [(forfeit["against"], forfeit["kind"]) for forfeit in forfeits] == [
        ("random", "crash"), ("random", "crash"), ("greedy", "crash"), ("greedy", "crash")
    ]  # fmt: skip
    report = (tmp_path / "report.md").read_text()
    assert re.search(r"\| .*sleepy.* \| 4 \| 4 crash \| .*no key", report)


def test_four_seats_are_shared_by_pairs(tmp_path):
    plan = Tournament(("hungry_geese",), ("random", "greedy"), games_per_pair=8, repeats=1)
    outcomes = run_tournament(plan, tmp_path, processes=1).outcomes
    match = play_match("hungry_geese", plan.agents, 8, seed=plan.match_seed(plan.matches()[0]))
    assert (outcomes == 1).sum() == match.totals[0].wins
    assert (outcomes == -1).sum() == match.totals[1].wins


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"games": ("tictactoe", "tictactoe:board_size=3")}, "game .* comes twice"),
        ({"games": ()}, "needs a game"),
        ({"games": ("gogo",)}, "unknown game 'gogo'"),
        ({"agents": ("random",)}, "needs two agents or more, got 1"),
        ({"agents": ("random", "random")}, "agent 'random' comes twice"),
        ({"agents": ("random", "nobody")}, "unknown agent 'nobody'"),
        ({"names": ("one",)}, "2 agents need as many names, got 1"),
        ({"names": ("one", "one")}, "name 'one' comes twice"),
        ({"games_per_pair": 10, "repeats": 2}, "multiple of twice the repeats.*got 10 games and 2"),
        ({"seed": -1}, "a seed must be"),
        ({"draws": "none"}, "draws must be one of 'half', 'loss', got 'none'"),
    ],
)
def test_invalid_tournaments_raise(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **({"names": ()} | changes))


@pytest.mark.parametrize(
    ("agents", "names"),
    [
        (("mcts:policy=etc,simulations=9", "mcts:policy=ucb1,simulations=9"), ("etc", "ucb1")),
        (("random", "mcts:simulations=9"), ("random", "mcts:simulations=9")),
        (("mcts", "mcts:solver=True"), ("mcts", "solver=True")),
        (("mcts:a=1,b=2", "mcts:a=2,b=1"), ("a=1,b=2", "a=2,b=1")),
        (("sb3:path=a.zip", "sb3:path=b.zip"), ("a.zip", "b.zip")),
    ],
)
def test_short_names_are_unique(agents, names):
    assert short_names(agents) == names


def test_games_may_be_joined_by_commas():
    assert split_specs(["breakthrough,hex:board_size=7,swap=True,connect4", "tron"]) == (
        "breakthrough",
        "hex:board_size=7,swap=True",
        "connect4",
        "tron",
    )


# Interruptions.

CHILD = """
import sys, time
from ludoteca.evaluate.tournament import run
from ludoteca.evaluate.tournament.plan import Tournament
if __name__ == "__main__":
    run.TASK_SECONDS = 0.002
    plan = Tournament(
        ("tictactoe", "connect4"), ("random", "greedy"), games_per_pair=4000, repeats=2, seed=3
    )
    run.run_tournament(plan, sys.argv[1], processes=int(sys.argv[2]))
"""
LONG = replace(SMALL, games_per_pair=4000)


@pytest.mark.parametrize("processes", [1, 2])
def test_killed_tournament_resumes(tmp_path, processes):
    file = tmp_path / "killed" / GAMES
    (tmp_path / "child.py").write_text(CHILD)
    command = [sys.executable, str(tmp_path / "child.py"), str(file.parent), str(processes)]
    kills = 0
    for stop_at in (5, 12):  # lines
        process = subprocess.Popen(command, cwd=tmp_path)
        deadline = time.monotonic() + 120
        while process.poll() is None and (
            not file.exists() or file.read_bytes().count(b"\n") < stop_at
        ):
            assert time.monotonic() < deadline
            time.sleep(0.001)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
        with file.open("ab") as torn:  # as if the kill had come while a line was being written
            torn.write(b'{"game": 0, "pair": [0, ')
    assert kills == 2
    before = file.read_bytes().count(b"\n")
    results = run_tournament(LONG, file.parent, processes=1)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(lines) > before
    # Every game is there once, and as it would have been without interruptions.
    games = [
        (line["game"], line["repeat"], line["first"] + k)
        for line in lines
        for k in range(len(line["outcomes"]))
    ]
    assert len(games) == len(set(games)) == LONG.total_games
    whole = run_tournament(LONG, tmp_path / "whole", processes=1)
    assert np.array_equal(results.outcomes, whole.outcomes)
    assert np.array_equal(results._plies, whole._plies)


def test_processes_and_slices_change_nothing(tmp_path, monkeypatch):
    single = run_tournament(SMALL, tmp_path / "one", processes=1).outcomes
    monkeypatch.setattr(run, "TASK_SECONDS", 0.0)  # a game at a time
    two = run_tournament(SMALL, tmp_path / "two", processes=2).outcomes
    assert (single != MISSING).all()
    assert np.array_equal(single, two)


def test_a_finished_tournament_is_not_played_again(tmp_path, monkeypatch):
    first = run_tournament(SMALL, tmp_path, processes=1)
    content = (tmp_path / GAMES).read_bytes()
    monkeypatch.setattr(run, "play", None)
    again = run_tournament(SMALL, tmp_path, processes=1)
    assert np.array_equal(first.outcomes, again.outcomes)
    assert (tmp_path / GAMES).read_bytes() == content


def test_other_names_or_another_count_of_draws_are_the_same_tournament(tmp_path):
    run_tournament(SMALL, tmp_path, processes=1)
    other = replace(SMALL, names=("a", "b"), draws="loss")
    points = run_tournament(other, tmp_path, processes=1).points()
    assert points.sum() <= SMALL.total_games


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 4}, "its seed is 3, not 4; choose another folder"),
        ({"games_per_pair": 24}, "its games per pair is 12, not 24"),
        ({"agents": ("greedy", "random")}, "its agents is random greedy, not greedy random"),
        ({"games": ("tictactoe",)}, "belongs to another tournament: its games is tictactoe"),
    ],
)
def test_a_folder_belongs_to_one_tournament(tmp_path, changes, message):
    GameLog(SMALL, tmp_path).__exit__(None, None, None)
    with pytest.raises(ValueError, match=message):
        GameLog(replace(SMALL, **changes), tmp_path)


def played(first, outcomes, **changes):
    return PlayedGames(**({"match": Match(0, (0, 1), 0), "plies": 9, "seconds": 0.5} | changes),
                  first=first, outcomes=outcomes)  # fmt: skip


def test_log_lists_missing_games(tmp_path):
    match = Match(0, (0, 1), 0)
    with GameLog(SMALL, tmp_path) as record:
        assert record.missing(match) == [(0, 6)]
        record.add(played(2, "WD"))
        assert record.missing(match) == [(0, 2), (4, 6)]
    with GameLog(SMALL, tmp_path) as record:
        assert record.games_played == 2
        assert record.match_outcomes(match).tolist() == [MISSING, MISSING, 1, 0, MISSING, MISSING]
        assert record.plies.tolist() == [[9], [0]]


@pytest.mark.parametrize(
    "wrong",
    [
        played(3, "WL"),
        played(5, "LL"),
        played(0, ""),
        played(0, "X"),
        played(0, "W", match=Match(2, (0, 1), 0)),
        played(0, "W", match=Match(0, (1, 0), 0)),
        played(0, "W", match=Match(0, (0, 1), 2)),
    ],
)
def test_log_rejects_repeated_and_foreign_games(tmp_path, wrong):
    with GameLog(SMALL, tmp_path) as record:
        record.add(played(2, "WD"))
        content = (tmp_path / GAMES).read_bytes()
        with pytest.raises(ValueError, match=r"played before|not of this tournament"):
            record.add(wrong)
    assert (tmp_path / GAMES).read_bytes() == content


def test_damaged_log_raises(tmp_path):
    with GameLog(SMALL, tmp_path) as record:
        record.add(played(0, "WD"))
    file = tmp_path / GAMES
    line = file.read_bytes()
    for damage in (b"\0\0\0\n", line, b'{"game": 0}\n'):
        file.write_bytes(line + damage)
        with pytest.raises(ValueError, match=r"line 2 of .*games.jsonl is damaged"):
            GameLog(SMALL, tmp_path)
    file.write_bytes(line + b"\0\0\0")  # torn
    with GameLog(SMALL, tmp_path) as record:
        assert record.games_played == 2
    assert file.read_bytes() == line


@pytest.mark.skipif(sys.platform == "win32", reason="needs a Unix system")
def test_a_folder_is_written_by_one_run_at_a_time(tmp_path):
    with (
        GameLog(SMALL, tmp_path),
        pytest.raises(ValueError, match="another run is playing the tournament"),
    ):
        GameLog(SMALL, tmp_path)
    GameLog(SMALL, tmp_path).__exit__(None, None, None)


def test_every_line_is_flushed_to_disk(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(
        game_log.os, "fsync", lambda fd: synced.append(os.path.getsize(tmp_path / GAMES))
    )
    with GameLog(SMALL, tmp_path) as record:
        record.add(played(0, "WD"))
        record.add(played(2, "WD"))
    assert synced == [os.path.getsize(tmp_path / GAMES) // 2 * k for k in (1, 2)]


# Slices.


def test_a_slice_is_part_of_the_tournament(tmp_path, monkeypatch):
    monkeypatch.setattr(pilot, "SAMPLE", 0.001)
    plan = replace(SMALL, games_per_pair=48)
    part = pilot.play_pilot(plan, tmp_path / "part", processes=1)
    assert 12 <= part.played < plan.total_games  # three times 2 games of 2 pairs, at least
    assert part.forecast.seconds > 0
    left = plan.total_games - part.played
    text = "\n".join(part.lines(price=3.6))
    assert f"96 games, {part.played} of them on record, {left} left" in text
    cost = part.forecast.expected(1) / 1000
    assert re.search(rf"\n +1 .* {re.escape(f'${cost:.2f}')}\n", text)
    resumed = run_tournament(plan, tmp_path / "part", processes=1)
    whole = run_tournament(plan, tmp_path / "whole", processes=1)
    assert np.array_equal(resumed.outcomes, whole.outcomes)
    over = pilot.play_pilot(plan, tmp_path / "whole", processes=1)
    assert (over.played, over.forecast.seconds) == (96, 0.0)


@pytest.mark.parametrize(
    ("workers", "seconds", "limit"),
    [(1, 1000.0, "work"), (10, 145.0, "work"), (1000, 50.95, "chain"), (10**6, 51.0, "chain")],
)
def test_forecast_by_number_of_workers(workers, seconds, limit):
    forecast = Forecast(1000.0, chain=50.0)
    assert forecast.expected(workers) == pytest.approx(seconds, rel=0.03)
    assert forecast.limit(workers) == limit
    slow = replace(forecast, driver=400.0)
    assert slow.expected(workers) == pytest.approx(max(seconds, 400.0), rel=0.03)
    assert slow.limit(workers) == ("work" if workers == 1 else "driver")


# Reports.


def test_counts_by_pair_and_agent_agree():
    results = synthetic(3, 4)
    wins, draws = results.wins(), results.draws()
    t = results.tournament
    for pair in results.pair_results:
        a, b = pair.pair
        assert (pair.wins, pair.losses) == (wins[pair.game, a, b], wins[pair.game, b, a])
        assert pair.draws == draws[pair.game, a, b] == draws[pair.game, b, a]
        assert pair.wins_first + pair.wins_second == pair.wins == sum(pair.wins_by_repeat)
        assert pair.losses_first + pair.losses_second == pair.losses
        assert pair.games == 12
    assert results.points().sum() == t.total_games
    assert (results.points() == results.points_by_repeat().sum(2)).all()
    lost = synthetic(3, 4, draws="loss")
    assert (lost.points() == wins.sum(2)).all()
    assert (lost.points() == lost.points_by_repeat().sum(2)).all()


@pytest.mark.parametrize(
    ("games", "agents", "draws", "left_out"),
    [
        (7, 5, "half", set()),
        (13, 14, "loss", set()),
        (4, 2, "loss", {"ranks.png"}),
        (1, 2, "half", {"ranks.png", "points.png"}),
        (1, 4, "loss", {"ranks.png", "points.png"}),
    ],
)
def test_reports_of_any_size(tmp_path, games, agents, draws, left_out):
    results = synthetic(games, agents, draws=draws)
    write_report(results, tmp_path, processes=2)
    pictures = {"ranks.png", "points.png", "heat_map.png", "ratings.png"} - left_out
    assert {file.name for file in tmp_path.glob("*.png")} == pictures
    report = (tmp_path / "report.md").read_text()
    assert set(re.findall(r"\]\((\w+\.png)\)", report)) == pictures
    for link in re.findall(r"\]\(([\w.]+)\)", report):
        assert (tmp_path / link).stat().st_size > 0
    assert ("left out" in report) == ("ranks.png" in left_out)
    for line in report.splitlines():
        assert "nan" not in line.split()
    rows = list(csv.DictReader((tmp_path / "results.csv").read_text().splitlines()))
    assert len(rows) == games * agents * (agents - 1) // 2
    for row in rows:
        assert int(row["wins_a"]) + int(row["draws"]) + int(row["wins_b"]) == 12
        low, rate, high = (
            float(row[key]) for key in ("win_rate_low", "win_rate_a", "win_rate_high")
        )
        assert low <= rate <= high
        assert low < high
    results_json = json.loads((tmp_path / "results.json").read_text())
    assert results_json["points"] == results.points().tolist()
    assert results_json["versions"]["ludoteca"]
    assert len(results_json["elo"]["low"]) == agents


def test_long_names_are_shown_without_their_middle():
    assert plots.label("mcts:simulations=2000") == "mcts:simulations=2000"
    shown = plots.label("kaggle:" + 20 * "folder/" + "submission.py")
    assert len(shown) == 36
    assert re.fullmatch(r"kaggle:.*….*/submission.py", shown)


def test_command_plays_a_tournament(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    arguments = ["tournament", "--games", "tictactoe,connect4", "--agents", "random", "greedy"]
    arguments += ["--games-per-pair", "12", "--repeats", "2", "--out", str(tmp_path)]
    assert main([*arguments, "--seed", "3", "--processes", "1"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "24 games, seed 3" in printed.out
    assert f"report: {tmp_path / 'report.md'}" in printed.out
    results_json = json.loads((tmp_path / "results.json").read_text())
    assert results_json["points"] == run_tournament(SMALL, tmp_path, processes=1).points().tolist()
    # Another seed is another tournament.
    assert main([*arguments, "--seed", "5", "--processes", "1"]) == 2
    assert "belongs to another tournament" in capsys.readouterr().err


def test_ctrl_c_prints_how_to_resume(tmp_path, capsys, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "play_match", interrupt)
    arguments = ["tournament", "--games", "tictactoe", "--agents", "random", "greedy"]
    assert main([*arguments, "--out", str(tmp_path), "--processes", "1"]) == 130
    assert capsys.readouterr().err == "interrupted; the same command resumes\n"

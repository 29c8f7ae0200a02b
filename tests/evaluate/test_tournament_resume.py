"""Tests of interrupted tournaments, their logs, and pilot runs."""

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
from tournaments import SMALL_TOURNAMENT

from ludoteca import line_log
from ludoteca.evaluate.tournament import pilot, run
from ludoteca.evaluate.tournament.game_log import GAMES_FILE, GameLog
from ludoteca.evaluate.tournament.plan import Match
from ludoteca.evaluate.tournament.played_games import MISSING, PlayedGames
from ludoteca.evaluate.tournament.run import run_tournament

# Program that plays `LONG_TOURNAMENT` in short tasks, so that the log has many lines.
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
LONG_TOURNAMENT = replace(SMALL_TOURNAMENT, games_per_pair=4000)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_killed_tournament_resumes(tmp_path, processes):
    file = tmp_path / "killed" / GAMES_FILE
    (tmp_path / "child.py").write_text(CHILD)
    command = [sys.executable, str(tmp_path / "child.py"), str(file.parent), str(processes)]
    kills = 0
    for num_lines in (5, 12):
        process = subprocess.Popen(command, cwd=tmp_path)
        deadline = time.monotonic() + 120
        while process.poll() is None and (
            not file.exists() or file.read_bytes().count(b"\n") < num_lines
        ):
            assert time.monotonic() < deadline
            time.sleep(0.001)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
        with file.open("ab") as log:  # as if the process had been killed while writing a line
            log.write(b'{"game": 0, "pair": [0, ')
    assert kills == 2
    before = file.read_bytes().count(b"\n")
    results = run_tournament(LONG_TOURNAMENT, file.parent, processes=1)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(lines) > before
    # Every game is logged once, and equals that of an uninterrupted tournament.
    games = [
        (line["game"], line["repeat"], line["first"] + k)
        for line in lines
        for k in range(len(line["outcomes"]))
    ]
    assert len(games) == len(set(games)) == LONG_TOURNAMENT.total_games
    uninterrupted = run_tournament(LONG_TOURNAMENT, tmp_path / "uninterrupted", processes=1)
    assert np.array_equal(results.outcomes, uninterrupted.outcomes)
    assert np.array_equal(results._plies, uninterrupted._plies)


@pytest.mark.slow
def test_processes_and_tasks_do_not_change_results(tmp_path, monkeypatch):
    single = run_tournament(SMALL_TOURNAMENT, tmp_path / "one", processes=1).outcomes
    monkeypatch.setattr(run, "TASK_SECONDS", 0.0)  # one game per task
    two = run_tournament(SMALL_TOURNAMENT, tmp_path / "two", processes=2).outcomes
    assert (single != MISSING).all()
    assert np.array_equal(single, two)


def test_finished_tournament_is_not_played_again(tmp_path, monkeypatch):
    first = run_tournament(SMALL_TOURNAMENT, tmp_path, processes=1)
    content = (tmp_path / GAMES_FILE).read_bytes()
    monkeypatch.setattr(run, "play_games", None)
    again = run_tournament(SMALL_TOURNAMENT, tmp_path, processes=1)
    assert np.array_equal(first.outcomes, again.outcomes)
    assert (tmp_path / GAMES_FILE).read_bytes() == content


def test_names_and_value_of_draws_may_change_on_resumption(tmp_path):
    run_tournament(SMALL_TOURNAMENT, tmp_path, processes=1)
    other = replace(SMALL_TOURNAMENT, names=("a", "b"), draws="loss")
    points = run_tournament(other, tmp_path, processes=1).points()
    assert points.sum() <= SMALL_TOURNAMENT.total_games


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
    GameLog(SMALL_TOURNAMENT, tmp_path).__exit__(None, None, None)
    with pytest.raises(ValueError, match=message):
        GameLog(replace(SMALL_TOURNAMENT, **changes), tmp_path)


def played_games(first, outcomes, **changes):
    """Return a line of the log: games from number `first` on, with letters for their outcomes."""
    return PlayedGames(**({"match": Match(0, (0, 1), 0), "plies": 9, "seconds": 0.5} | changes),
                  first=first, outcomes=outcomes)  # fmt: skip


def test_log_lists_missing_games(tmp_path):
    match = Match(0, (0, 1), 0)
    with GameLog(SMALL_TOURNAMENT, tmp_path) as log:
        assert log.missing(match) == [(0, 6)]
        log.add(played_games(2, "WD"))
        assert log.missing(match) == [(0, 2), (4, 6)]
    with GameLog(SMALL_TOURNAMENT, tmp_path) as log:
        assert log.games_played == 2
        assert log.match_outcomes(match).tolist() == [MISSING, MISSING, 1, 0, MISSING, MISSING]
        assert log.plies.tolist() == [[9], [0]]


@pytest.mark.parametrize(
    "invalid",
    [
        played_games(3, "WL"),
        played_games(5, "LL"),
        played_games(0, ""),
        played_games(0, "X"),
        played_games(0, "W", match=Match(2, (0, 1), 0)),
        played_games(0, "W", match=Match(0, (1, 0), 0)),
        played_games(0, "W", match=Match(0, (0, 1), 2)),
    ],
)
def test_log_rejects_repeated_and_foreign_games(tmp_path, invalid):
    with GameLog(SMALL_TOURNAMENT, tmp_path) as log:
        log.add(played_games(2, "WD"))
        content = (tmp_path / GAMES_FILE).read_bytes()
        with pytest.raises(ValueError, match=r"played before|expected games of this tournament"):
            log.add(invalid)
    assert (tmp_path / GAMES_FILE).read_bytes() == content


def test_damaged_log_raises(tmp_path):
    with GameLog(SMALL_TOURNAMENT, tmp_path) as log:
        log.add(played_games(0, "WD"))
    file = tmp_path / GAMES_FILE
    line = file.read_bytes()
    for damage in (b"\0\0\0\n", line, b'{"game": 0}\n'):
        file.write_bytes(line + damage)
        with pytest.raises(ValueError, match=r"line 2 of .*games.jsonl is damaged"):
            GameLog(SMALL_TOURNAMENT, tmp_path)
    file.write_bytes(line + b"\0\0\0")  # an incomplete line
    with GameLog(SMALL_TOURNAMENT, tmp_path) as log:
        assert log.games_played == 2
    assert file.read_bytes() == line


@pytest.mark.skipif(sys.platform == "win32", reason="needs a Unix system")
def test_only_one_run_at_a_time_writes_to_a_folder(tmp_path):
    with (
        GameLog(SMALL_TOURNAMENT, tmp_path),
        pytest.raises(ValueError, match="another run is playing the tournament"),
    ):
        GameLog(SMALL_TOURNAMENT, tmp_path)
    GameLog(SMALL_TOURNAMENT, tmp_path).__exit__(None, None, None)


def test_every_line_is_flushed_to_disk(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(
        line_log.os, "fsync", lambda fd: synced.append(os.path.getsize(tmp_path / GAMES_FILE))
    )
    with GameLog(SMALL_TOURNAMENT, tmp_path) as log:
        log.add(played_games(0, "WD"))
        log.add(played_games(2, "WD"))
    assert synced == [os.path.getsize(tmp_path / GAMES_FILE) // 2 * k for k in (1, 2)]


def test_games_of_a_pilot_run_are_part_of_the_tournament(tmp_path, monkeypatch):
    monkeypatch.setattr(pilot, "SAMPLE_SECONDS", 0.001)
    plan = replace(SMALL_TOURNAMENT, games_per_pair=48)
    pilot_run = pilot.play_pilot(plan, tmp_path / "pilot", processes=1)
    # At least 3 tasks of 2 games for each of 2 pairs.
    assert 12 <= pilot_run.played < plan.total_games
    assert pilot_run.forecast.seconds > 0
    missing = plan.total_games - pilot_run.played
    text = "\n".join(pilot_run.lines(price=3.6))
    assert f"96 games, {pilot_run.played} of them played, {missing} left" in text
    cost = pilot_run.forecast.expected_seconds(1) / 1000  # at 3.6 dollars an hour
    assert re.search(rf"\n +1 .* {re.escape(f'${cost:.2f}')}\n", text)
    resumed = run_tournament(plan, tmp_path / "pilot", processes=1)
    uninterrupted = run_tournament(plan, tmp_path / "uninterrupted", processes=1)
    assert np.array_equal(resumed.outcomes, uninterrupted.outcomes)
    finished = pilot.play_pilot(plan, tmp_path / "uninterrupted", processes=1)
    assert (finished.played, finished.forecast.seconds) == (96, 0.0)

"""Tests of interrupted tournaments, their logs and their slices."""

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
from tournaments import SMALL

from ludoteca import line_log
from ludoteca.evaluate.tournament import pilot, run
from ludoteca.evaluate.tournament.game_log import GAMES, MISSING, GameLog, PlayedGames
from ludoteca.evaluate.tournament.plan import Match
from ludoteca.evaluate.tournament.run import run_tournament

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


@pytest.mark.parametrize("processes", [pytest.param(1, marks=pytest.mark.slow), 2])
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


@pytest.mark.slow
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


def played_games(first, outcomes, **changes):
    return PlayedGames(**({"match": Match(0, (0, 1), 0), "plies": 9, "seconds": 0.5} | changes),
                  first=first, outcomes=outcomes)  # fmt: skip


def test_log_lists_missing_games(tmp_path):
    match = Match(0, (0, 1), 0)
    with GameLog(SMALL, tmp_path) as record:
        assert record.missing(match) == [(0, 6)]
        record.add(played_games(2, "WD"))
        assert record.missing(match) == [(0, 2), (4, 6)]
    with GameLog(SMALL, tmp_path) as record:
        assert record.games_played == 2
        assert record.match_outcomes(match).tolist() == [MISSING, MISSING, 1, 0, MISSING, MISSING]
        assert record.plies.tolist() == [[9], [0]]


@pytest.mark.parametrize(
    "wrong",
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
def test_log_rejects_repeated_and_foreign_games(tmp_path, wrong):
    with GameLog(SMALL, tmp_path) as record:
        record.add(played_games(2, "WD"))
        content = (tmp_path / GAMES).read_bytes()
        with pytest.raises(ValueError, match=r"played before|not of this tournament"):
            record.add(wrong)
    assert (tmp_path / GAMES).read_bytes() == content


def test_damaged_log_raises(tmp_path):
    with GameLog(SMALL, tmp_path) as record:
        record.add(played_games(0, "WD"))
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
        line_log.os, "fsync", lambda fd: synced.append(os.path.getsize(tmp_path / GAMES))
    )
    with GameLog(SMALL, tmp_path) as record:
        record.add(played_games(0, "WD"))
        record.add(played_games(2, "WD"))
    assert synced == [os.path.getsize(tmp_path / GAMES) // 2 * k for k in (1, 2)]


def test_a_slice_is_part_of_the_tournament(tmp_path, monkeypatch):
    monkeypatch.setattr(pilot, "SAMPLE", 0.001)
    plan = replace(SMALL, games_per_pair=48)
    part = pilot.play_pilot(plan, tmp_path / "part", processes=1)
    assert 12 <= part.played < plan.total_games  # three times 2 games of 2 pairs, at least
    assert part.forecast.seconds > 0
    left = plan.total_games - part.played
    text = "\n".join(part.lines(price=3.6))
    assert f"96 games, {part.played} of them on record, {left} left" in text
    cost = part.forecast.expected_seconds(1) / 1000
    assert re.search(rf"\n +1 .* {re.escape(f'${cost:.2f}')}\n", text)
    resumed = run_tournament(plan, tmp_path / "part", processes=1)
    whole = run_tournament(plan, tmp_path / "whole", processes=1)
    assert np.array_equal(resumed.outcomes, whole.outcomes)
    over = pilot.play_pilot(plan, tmp_path / "whole", processes=1)
    assert (over.played, over.forecast.seconds) == (96, 0.0)

"""Tests of the recorder of GGP-Base's games, without GGP-Base: resuming, order of sheets."""

import io
import json
import os

import pytest
import record_gdl
from ggp_base import GGPBase, ProverEndedError, Recording
from record_gdl import TraceFolder

from ludoteca.envs.gdl.own_sheets import find_sheet
from ludoteca.evaluate.gdl.machine import make_machine, play_random_games

pytestmark = pytest.mark.interpreted


@pytest.fixture(scope="module")
def positions():
    """Return the positions of two random games of Tic-Tac-Toe."""
    return list(play_random_games(make_machine(find_sheet("tictactoe")), 2, seed=1, max_plies=20))


def record(positions, games=2, seconds=1.0):
    """Return a recording of Tic-Tac-Toe that has taken some seconds."""
    recording = Recording(find_sheet("tictactoe"), games, seed=5, max_plies=20, seconds=seconds)
    for position in positions:
        recording.add(position)
    return recording


def test_task_continues_at_the_last_position(positions):
    start = record([]).task(3.0).split("\t")
    assert start[1:] == ["2", "5", "20", "3.0", "", "0", "0", "", "", "plain"]
    middle = positions[:3]
    numbers = " ".join(str(len(moves)) for position in middle for moves in position.legal)
    state, moves = ";".join(middle[-1].state), ";".join(middle[-1].moves)
    assert record(middle).task(3.0).split("\t")[5:] == [numbers, "0", "2", state, moves, "plain"]
    # x has 9, 8 and 7 moves in turn with o; the other role waits.
    assert numbers == "9 1 1 8 7 1"
    end = next(k for k, position in enumerate(positions) if position.terminal)
    after_a_game = record(positions[: end + 1])
    assert after_a_game.finished == 1
    assert after_a_game.task(3.0).split("\t")[6:] == ["1", "0", "", "", "plain"]
    assert record(positions).is_done()


def test_expected_time_follows_the_rest_of_the_games(positions):
    game = [position for position in positions if position.game == 0]
    plies = game[-1].ply
    assert record(game, games=4, seconds=2.0).expected_seconds() == pytest.approx(6.0)
    # A first game is expected to last 40 plies, or twice as long as its recorded part.
    assert record(game[:5], games=1, seconds=1.0).expected_seconds() == pytest.approx(36 / 4)
    assert plies > 4


def test_folder_is_resumed_with_the_same_settings_only(tmp_path, positions):
    sheets, traces = tmp_path / "sheets", tmp_path / "traces"
    (sheets / "game").mkdir(parents=True)
    sheet = sheets / "game" / "game.kif"
    sheet.write_text(find_sheet("tictactoe").read_text())
    folder = TraceFolder(sheets, traces, games=2, seed=0, max_plies=20)
    trace = traces / "game+game.jsonl"
    assert list(folder.recordings) == [trace]
    folder.recordings[trace].seconds = 1.5
    folder.save(trace)
    lines = [position.line() for position in positions[:3]]
    trace.write_text("\n".join(lines) + "\n" + positions[3].line()[:40])  # interrupted
    resumed = TraceFolder(sheets, traces, games=2, seed=0, max_plies=20).recordings[trace]
    assert (resumed.seconds, resumed.finished, resumed.last) == (1.5, 0, positions[2])
    assert trace.read_text() == "\n".join(lines) + "\n"
    assert json.loads((traces / "recording.json").read_text())["max_plies"] == 20
    with pytest.raises(ValueError, match="has other settings"):
        TraceFolder(sheets, traces, games=2, seed=1, max_plies=20)


def test_folder_names_the_recordings_with_transformed_rules(tmp_path):
    sheets, traces = tmp_path / "sheets", tmp_path / "traces"
    sheets.mkdir()
    for name in ("a", "b", "c"):
        (sheets / f"{name}.kif").write_text(find_sheet("tictactoe").read_text())
    kinds = {}
    for name, transformed in (("b", True), ("a", False), ("c", True), ("b", False)):
        folder = TraceFolder(sheets, traces, 2, 0, 20, transformed, only=[name])
        (trace,) = folder.recordings
        kinds[name] = folder.recordings[trace].task(1.0).split("\t")[-1]
        folder.save(trace)
    assert kinds == {"b": "plain", "a": "plain", "c": "transformed"}
    about = json.loads((traces / "recording.json").read_text())
    assert (about["transformed"], sorted(about["seconds"])) == (["b", "c"], ["a", "b", "c"])
    with pytest.raises(ValueError, match="has no sheet d"):
        TraceFolder(sheets, traces, 2, 0, 20, only=["d"])


def use_java(monkeypatch, folder, script):
    """Put a shell script before Java in the search path."""
    java = folder / "java"
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_position_that_takes_too_long_ends_the_recording(monkeypatch, tmp_path, positions):
    line = positions[0].line()
    use_java(monkeypatch, tmp_path, f"read task; echo '{line}'; printf '{line[:9]}'; exit 3")
    prover, recording, trace = GGPBase(), record([]), io.BytesIO()
    prover.record(recording, trace, 2.0)
    assert recording.error == "a position took more than 66 s of CPU time"
    assert trace.getvalue().decode() == line + "\n"  # without the incomplete line


def test_game_without_an_answer_is_left_unfinished_if_asked(monkeypatch, tmp_path, positions):
    line = positions[0].line()
    use_java(monkeypatch, tmp_path, f"read task; echo '{line}'; exit 3")
    prover, recording, trace = GGPBase(), record([]), io.BytesIO()
    recording.skips = True
    prover.record(recording, trace, 2.0)
    assert (recording.error, recording.seconds, recording.skipped) == ("", 67.0, 1)
    # The next of then three games begins, after the two draws of the first one.
    assert recording.task(3.0).split("\t")[1:] == [
        "3", "5", "20", "3.0", "9 1", "1", "0", "", "", "plain"
    ]  # fmt: skip
    # So it is if it is read from a file.
    second = [position for position in positions if position.game == 1]
    read = record([positions[0], *second])
    assert (read.skipped, read.finished, read.is_done()) == (1, 1, False)
    assert read.task(3.0).split("\t")[6] == "2"


@pytest.mark.parametrize(
    ("script", "status"), [("read task; kill -9 $$", -9), ("exit 1", 1), ("read task", 0)]
)
def test_other_ends_of_java_are_errors(monkeypatch, tmp_path, script, status):
    use_java(monkeypatch, tmp_path, script)
    prover, recording = GGPBase(), record([])
    with pytest.raises(ProverEndedError, match=f"Java ended with status {status} "):
        prover.record(recording, io.BytesIO(), 2.0)
    assert (recording.error, recording.seconds) == ("", 1.0)


def test_java_that_has_ended_before_a_task_is_an_error(monkeypatch, tmp_path):
    use_java(monkeypatch, tmp_path, "read task; echo done 5; exit 3")
    prover, recording = GGPBase(), record([])
    prover.record(recording, io.BytesIO(), 2.0)
    os.waitid(os.P_PID, prover._process.pid, os.WEXITED | os.WNOWAIT)
    with pytest.raises(ProverEndedError, match="Java ended with status 3 without a task"):
        prover.record(recording, io.BytesIO(), 2.0)
    assert recording.error == ""


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("read task; echo done 5; read task", r"0 of 20 games recorded in 3600 s of CPU time"),
        ("read task; echo error no room; read task", "no room"),
    ],
)
def test_golden_games_are_whole_or_not_written(monkeypatch, tmp_path, script, message):
    sheets, golden = tmp_path / "sheets", tmp_path / "golden"
    for folder in (sheets, golden):
        folder.mkdir()
    (sheets / "tron.kif").write_text("(role a)")
    monkeypatch.setattr(record_gdl, "OWN_SHEETS", sheets)
    monkeypatch.setattr(record_gdl, "GOLDEN", golden / "gdl_traces.zip")
    use_java(monkeypatch, tmp_path, script)
    with pytest.raises(SystemExit, match=message):
        record_gdl.record_golden(games=2, seed=0)
    assert list(golden.iterdir()) == []

"""Tests of the recorder of GGP-Base's games, without GGP-Base: resuming, order of sheets."""

import json

import pytest
from ggp_base import Recording
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
    assert start[1:] == ["2", "5", "20", "3.0", "", "0", "0", "", ""]
    middle = positions[:3]
    numbers = " ".join(str(len(moves)) for position in middle for moves in position.legal)
    state, moves = ";".join(middle[-1].state), ";".join(middle[-1].moves)
    assert record(middle).task(3.0).split("\t")[5:] == [numbers, "0", "2", state, moves]
    # x has 9, 8 and 7 moves in turn with o; the other role waits.
    assert numbers == "9 1 1 8 7 1"
    end = next(k for k, position in enumerate(positions) if position.terminal)
    after_a_game = record(positions[: end + 1])
    assert after_a_game.finished == 1
    assert after_a_game.task(3.0).split("\t")[6:] == ["1", "0", "", ""]
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

"""Tests of `ludoteca replay` and `ludoteca render`."""

import re

import pytest
from command_line import run

from ludoteca.__main__ import main
from ludoteca.envs.replay import Replay

pytestmark = pytest.mark.interpreted


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("LUDOTECA_DEBUG", raising=False)


@pytest.fixture
def replay_file(tmp_path):
    file = tmp_path / "game.json"
    Replay("tictactoe:board_size=3,line=3", 0, [4, 0, 2, 6, 1, 7, 3, 8], (-1, 1), ("a", "b")).save(
        file
    )
    return file


def test_replay_prints_the_game(capsys, replay_file):
    status, out, err = run(capsys, "replay", str(replay_file))
    assert (status, err) == (0, "")
    assert out.startswith("tictactoe:board_size=3,line=3, seed 0, seat 0 a, seat 1 b start")
    assert "ply 1: b2" in out
    assert "ply 8: c3" in out
    assert out.endswith("8 plies, returns [-1.0, 1.0]")
    _, final, _ = run(capsys, "replay", str(replay_file), "--final")
    assert "ply 7" not in final
    assert "ply 8: c3" in final


def test_invalid_replay_raises(capsys, replay_file):
    text = replay_file.read_text()
    replay_file.write_text(text.replace("[4, 0", "[4, 4"))
    status, out, err = run(capsys, "replay", str(replay_file))
    assert (status, out) == (2, "")
    assert "game.json: move 1: action 4 is illegal" in err


def test_replays_of_simultaneous_games_are_printed(capsys, tmp_path):
    assert main(["match", "tron", "--games", "1", "--replays", str(tmp_path)]) == 0
    capsys.readouterr()
    status, out, _ = run(capsys, "replay", str(tmp_path / "game_0000.json"))
    assert status == 0
    assert re.search(r"ply 1: 0 (north|east|south|west), 1 (north|east|south|west)", out)


@pytest.mark.parametrize(
    ("name", "options", "start"),
    [
        ("a.gif", [], b"GIF89a"),
        ("b.png", [], b"\x89PNG"),
        ("c.svg", [], b"<svg"),
        ("d.svg", ["--ply", "2"], b"<svg"),
        ("e.gif", ["--ply", "0"], b"GIF89a"),
    ],
)
def test_render_draws_replays(capsys, replay_file, tmp_path, name, options, start):
    out = tmp_path / name
    arguments = ["--replay", str(replay_file), "--out", str(out), *options]
    status, printed, err = run(capsys, "render", "tictactoe", *arguments)
    assert (status, err) == (0, "")
    assert printed == f"8 plies: {out}"
    assert out.read_bytes().startswith(start)
    if out.suffix == ".svg":
        assert (b"<animate" in out.read_bytes()) == (not options)


def test_render_plays_a_game_without_a_replay(capsys, tmp_path):
    out = tmp_path / "game.svg"
    status, _, err = run(capsys, "render", "connect4", "--rows", "4", "--out", str(out))
    assert (status, err) == (0, "")
    assert out.exists()


def test_render_refuses_a_replay_of_another_game(capsys, replay_file):
    arguments = ["--replay", str(replay_file), "--out", "x.svg"]
    status, _, err = run(capsys, "render", "hex", *arguments)
    assert status == 2
    assert "is a game of tictactoe:board_size=3,line=3, not of hex" in err

"""Tests of `ludoteca replay` and `ludoteca render`."""

import re

import pytest
from command_line import run

from ludoteca.__main__ import main
from ludoteca.envs.replay import Replay

pytestmark = pytest.mark.interpreted


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    """Make the terminal so wide that no output is wrapped."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("LUDOTECA_DEBUG", raising=False)


@pytest.fixture
def replay_file(tmp_path):
    """Return the file of a game of tic-tac-toe that the second player wins."""
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


def test_render_rejects_a_replay_of_another_game(capsys, replay_file):
    arguments = ["--replay", str(replay_file), "--out", "x.svg"]
    status, _, err = run(capsys, "render", "hex", *arguments)
    assert status == 2
    assert "is a game of tictactoe:board_size=3,line=3, not of hex" in err


# A game of Hex by Ana with a variation, and one of Othello.
SGF = "(;GM[11]SZ[4]PB[Ana];B[a2];W[swap](;W[c2])(;W[d2]))(;GM[2]SZ[8];B[d3])"


def test_games_of_other_programs_are_printed(capsys, tmp_path):
    file = tmp_path / "games.sgf"
    file.write_text(SGF)
    status, out, err = run(capsys, "replay", str(file), "--final")
    assert status == 0
    assert "game 1: 1 variation is skipped: only the main line was read" in err
    assert "game 1 hex:board_size=4,first=black,swap=True, seed 0, seat 0 Ana" in out
    assert "game 2 othello:board_size=8" in out
    _, out, err = run(capsys, "replay", str(file), "--game", "2")
    assert (out.split(",")[0], err) == ("othello:board_size=8", "")
    status, _, err = run(capsys, "replay", str(file), "--game", "3")
    assert (status, "has 2 games: expected --game from 1 to 2, got 3" in err) == (2, True)
    file.write_text("(;GM[2];B[d3]\n;W[a1])")
    status, _, err = run(capsys, "replay", str(file))
    assert (status, "line 2, column 3: move 2: a1 is illegal" in err) == (2, True)


def test_games_are_converted(capsys, tmp_path):
    file, converted = tmp_path / "games.sgf", tmp_path / "converted.sgf"
    file.write_text(SGF)
    status, out, _ = run(capsys, "replay", str(file), "--out", str(converted))
    assert (status, out) == (0, f"2 games: {converted}")
    assert converted.read_text().startswith("(;FF[4]GM[11]CA[UTF-8]SZ[4]PL[B]RU[swap]PB[Ana]")
    for suffix, start in ((".ggf", "(;GM[Othello]"), (".txt", "d3"), (".json", "{"), (".svg", "<")):
        game_file = tmp_path / f"game{suffix}"
        run(capsys, "replay", str(converted), "--game", "2", "--out", str(game_file))
        assert game_file.read_text().startswith(start)
        if suffix != ".svg":
            _, printed, _ = run(capsys, "replay", str(game_file), "--final")
            assert "ply 1: d3" in printed
    for arguments, message in (
        (["--out", str(tmp_path / "a.ggf")], "GGF supports othello, got a game of hex"),
        (["--out", str(tmp_path / "a.json")], "has 2 games: expected one"),
        (["--watch"], "has 2 games: expected one"),
        (
            ["--out", str(converted), "--ply", "1"],
            "a .sgf file has whole games: expected no --final",
        ),
    ):
        status, _, err = run(capsys, "replay", str(file), *arguments)
        assert (status, message in err) == (2, True), err
    status, out, _ = run(
        capsys, "render", "hex", "--replay", str(file), "--out", str(tmp_path / "x.svg")
    )
    assert status == 2  # the file has two games


def test_positions_are_printed_with_their_moves(capsys, tmp_path):
    file = tmp_path / "position.txt"
    # The starting position, 64 cells, with black (X) to move and the values of two moves.
    file.write_text(f"{'-' * 27}OX------XO{'-' * 27} X; D3:+1; C4:-2 % the start\n")
    status, out, err = run(capsys, "replay", str(file))
    assert (status, err) == (0, "")
    assert out.startswith("line 1: the start")
    assert out.endswith("black to move: d3+1 c4-2 f5 e6")
    status, _, err = run(capsys, "replay", str(file), "--final")
    assert (status, "has positions, not games: they are only printed" in err) == (2, True)
    file.write_text(f"{'-' * 64} X; A1:+2")
    status, _, err = run(capsys, "replay", str(file))
    assert (status, "position.txt: line 1, column 68: expected a legal move" in err) == (2, True)


def test_positions_are_written_in_ffo_format(capsys, tmp_path):
    games, out = tmp_path / "games.txt", tmp_path / "positions.obf"
    games.write_text("f5d6c3d3c4\nf5d6\n")
    # 5 + 2 moves, and the two starting positions.
    assert run(capsys, "replay", str(games), "--out", str(out))[:2] == (0, f"9 positions: {out}")
    lines = out.read_text().splitlines()
    assert lines[0] == f"{'-' * 27}OX------XO{'-' * 27} X % game 1 ply 0"
    assert lines[8].endswith(" X % game 2 ply 2")
    status, text, _ = run(capsys, "replay", str(out))
    assert status == 0
    assert "line 9: game 2 ply 2" in text
    assert run(capsys, "replay", str(games), "--ply", "1", "--out", str(out))[0] == 0
    comments = [line.partition("% ")[2] for line in out.read_text().splitlines()]
    assert comments == ["game 1 ply 1", "game 2 ply 1"]


def test_positions_that_ffo_format_lacks_are_errors(capsys, tmp_path, replay_file):
    out = str(tmp_path / "positions.obf")
    status, _, err = run(capsys, "replay", str(replay_file), "--out", out)
    assert (status, "FFO format has positions of othello, not of tictactoe" in err) == (2, True)
    games = tmp_path / "games.txt"
    games.write_text("f5d6\n")
    status, _, err = run(capsys, "replay", str(games), "--out", out, "--ply", "3")
    assert (status, "--ply must be from 0 to 2 in game 1, got 3" in err) == (2, True)
    status, _, err = run(capsys, "replay", str(games), "--out", out, "--final")
    assert (status, "an .obf file has positions with a move to choose" in err) == (2, True)

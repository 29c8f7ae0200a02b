"""Tests of `ludoteca gdl check`, `export` and `trace`."""

import warnings

import numpy as np
import pytest
from command_line import run

from ludoteca.__main__ import main
from ludoteca.envs.gdl.own_sheets import GAME_SHEETS, find_sheet, sheet_names
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.gdl.differences import compare_trace
from ludoteca.evaluate.gdl.machine import make_machine
from ludoteca.evaluate.gdl.traces import read_trace

pytestmark = pytest.mark.interpreted


@pytest.fixture(autouse=True)
def without_tracebacks(monkeypatch):
    """Run commands as in a terminal of 80 columns, with errors in one line."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("LUDOTECA_DEBUG", raising=False)


def test_overview_lists_the_commands(capsys):
    status, out, err = run(capsys, "gdl", "--help")
    assert (status, err) == (0, "")
    for name in ("check", "info", "play", "export", "trace"):
        assert f" {name} " in out
    assert run(capsys, "gdl", "chek")[2].startswith("ludoteca: unknown command 'chek' (did you")


@pytest.mark.parametrize("command", ["check", "info", "play", "export", "trace"])
def test_help_fits_into_80_columns(capsys, command):
    with pytest.raises(SystemExit, match="0"):
        main(["gdl", command, "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 10
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", sheet_names())
def test_sheets_of_this_package_pass_the_checks(capsys, name):
    status, out, err = run(capsys, "gdl", "check", name)
    assert (status, err) == (0, "")
    assert out.endswith("0 errors and 0 warnings")


def test_check_shows_each_problem_with_its_line(capsys, tmp_path):
    file = tmp_path / "bad.kif"
    file.write_text(
        "(role a)\n(<= (legal a ?x) (not (true ?x)))\n(<= terminal (p a))\n(goal a 1)\n"
    )
    status, out, err = run(capsys, "gdl", "check", str(file))
    assert status == 2
    assert "error: line 2, column 1: the variable ?x in the head" in out
    assert "warning: line 3, column 1: nothing defines p" in out
    assert "1 error and" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [("(role a", "'(' is never closed"), ("", "holds no statement"), (")", "')' without '('")],
)
def test_check_rejects_text_that_is_not_a_sheet(capsys, tmp_path, text, message):
    file = tmp_path / "bad.kif"
    file.write_text(text)
    status, out, err = run(capsys, "gdl", "check", str(file))
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_files_that_are_no_sheets_are_named_once(capsys, tmp_path):
    folder, large = tmp_path / "folder", tmp_path / "large.kif"
    folder.mkdir()
    large.write_bytes(b"(" * 9_000_000)
    assert f": {folder} is a folder, expected" in run(capsys, "gdl", "check", str(folder))[2]
    error = run(capsys, "gdl", "check", str(large))[2]
    assert error.startswith(f"ludoteca: {large} is not a rule sheet: expected at most 8,388,608")


def test_errors_show_games_without_default_parameters(capsys):
    assert make_game("gdl:path=tron").short_spec == "gdl:path=tron"
    assert make_game("hex").short_spec == "hex"
    assert make_game("hex:board_size=5,swap=True").short_spec == "hex:board_size=5,swap=True"
    arguments = ["match", "gdl:path=eight_puzzle", "--agents", "random", "random", "--sprt"]
    error = run(capsys, *arguments, "0", "20")[2]
    assert error == (
        "ludoteca: gdl:path=eight_puzzle has one player, and a match between agents needs two "
        "players\n"
    )


def test_info_of_an_endless_sheet_finds_that_no_game_ended(capsys, tmp_path):
    file = tmp_path / "endless.kif"
    file.write_text(
        "(role a) (init (on 0)) (legal a wait) (<= (next (on ?x)) (true (on ?x)))\n"
        "(goal a 100) (<= terminal (true (on 1)))"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        limits = ["--seconds", "0.02", "--max-instances", "1"]
        status, out, err = run(capsys, "gdl", "info", str(file), *limits)
    assert status == 0
    assert "random games none ended within the time" in out
    assert "faults no random game ended within the time, so goals were not checked" in out
    assert err.startswith("ludoteca: warning: endless.kif: the sheet has more than max_instances=1")


@pytest.mark.parametrize("name", GAME_SHEETS)
def test_exported_initial_position_is_that_of_the_sheet(capsys, name):
    assert main(["gdl", "export", name]) == 0
    fluents = capsys.readouterr().out.splitlines()
    assert tuple(fluents) == make_machine(find_sheet(name)).fluents()


def test_export_plays_moves(capsys):
    assert main(["gdl", "export", "tictactoe", "--moves", "b2", "a1"]) == 0
    expected = "(cell a 1 o)\n(cell b 2 x)\n(control x)\n"
    assert capsys.readouterr().out == expected
    assert main(["gdl", "export", "tron", "--moves", "north", "south"]) == 0
    out = capsys.readouterr().out
    assert "(head red 3 2)\n" in out
    assert "(head blue 8 9)\n" in out


def test_export_writes_a_sheet_that_starts_from_the_position(capsys, tmp_path):
    file = tmp_path / "later.kif"
    moves = ["--moves", "f5", "d6", "c3"]
    status, out, _ = run(capsys, "gdl", "export", "othello", *moves, "--sheet", "--out", str(file))
    assert (status, out) == (0, f"8 fluents: {file}")
    machine, game = make_machine(file), make_game("othello")
    s = game.new()
    with np.errstate(over="ignore"):
        for name in moves[1:]:
            game.step(s, game.action_names.index(name))
    assert machine.fluents() == GAME_SHEETS["othello"].state(s)
    legal = {GAME_SHEETS["othello"].term(game.action_names[action]) for action in game.legal(s)}
    assert machine.legal() == (("noop",), tuple(sorted(legal)))


def test_export_reads_replays(capsys, tmp_path):
    file = tmp_path / "replay.json"
    Replay("tictactoe", 0, [4, 0], None).save(file)
    assert main(["gdl", "export", "--replay", str(file), "--ply", "1"]) == 0
    assert capsys.readouterr().out == "(cell b 2 x)\n(control o)\n"
    assert main(["gdl", "export", "--replay", str(file)]) == 0
    assert capsys.readouterr().out == "(cell a 1 o)\n(cell b 2 x)\n(control x)\n"
    assert (
        "--ply must be from 0 to 2, got 3"
        in run(capsys, "gdl", "export", "--replay", str(file), "--ply", "3")[2]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "either a game or --replay"),
        (["hex:board_size=5"], "the rule sheet of hex is for hex:board_size=11"),
        (["hungry_geese"], "no rule sheet for hungry_geese"),
        (["tictactoe", "--moves", "b2", "b2"], "move 2, b2, is not legal; legal: a1 b1"),
        (["tron", "--moves", "north"], "a move of each player in each ply"),
        (["tron", "--moves", "north", "up"], "move 2, up, is not legal; legal: north east"),
        (["tictactoe", "--ply", "1"], "--ply needs --replay"),
        (["eight_puzzle"], "eight_puzzle is a rule sheet, but not one of our games"),
        (["gdl:path=connect4"], "gdl:path=connect4 already has the terms of a rule sheet"),
    ],
)
def test_invalid_arguments_of_export_give_clear_errors(capsys, arguments, message):
    status, out, err = run(capsys, "gdl", "export", *arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_written_trace_equals_the_sheet(capsys, tmp_path):
    file = tmp_path / "trace.jsonl"
    status, out, _ = run(
        capsys, "gdl", "trace", "tron", "--games", "3", "--seed", "5", "--out", str(file)
    )
    assert status == 0
    with file.open("rb") as lines:
        positions = list(read_trace(lines))
    assert out == f"{len(positions)} positions: {file}"
    comparison = compare_trace(make_machine(find_sheet("tron")), positions)
    assert (comparison.games, comparison.differences) == (3, ())
    assert main(["gdl", "trace", "tron", "--games", "3", "--seed", "5"]) == 0
    assert capsys.readouterr().out == file.read_text()


def test_invalid_arguments_of_trace_give_clear_errors(capsys):
    assert (
        "games must be an integer from 1" in run(capsys, "gdl", "trace", "tron", "--games", "0")[2]
    )
    assert "did you mean 'tron'" in run(capsys, "gdl", "trace", "trom")[2]


@pytest.mark.slow
@pytest.mark.compiled
def test_play_shows_a_game_of_two_agents(capsys):
    agents = ["--agent", "random", "random", "--seat", "none", "--terminal"]
    status, out, _ = run(capsys, "gdl", "play", "tictactoe", *agents)
    assert status == 0
    assert "plays mark" in out
    assert run(capsys, "gdl", "play", "tron", *agents)[2].startswith(
        "ludoteca: tron is simultaneous with 2 players: only sequential games"
    )

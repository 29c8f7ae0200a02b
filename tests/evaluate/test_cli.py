"""The command line, as a user meets it."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate import cli, match_command
from ludoteca.evaluate.cli import main
from ludoteca.evaluate.listing import describe_params

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
MATCH = ["match", "tictactoe", "--agents", "random", "greedy"]


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("LUDOTECA_DEBUG", raising=False)


def run(capsys, *arguments):
    """Run the command; return its exit status and what it printed, on one line."""
    try:
        status = main(list(arguments))
    except SystemExit as end:
        status = end.code
    captured = capsys.readouterr()
    return status, " ".join(captured.out.split()), captured.err


def test_list_shows_every_game(capsys):
    status, out, err = run(capsys, "list")
    assert (status, err) == (0, "")
    for id_ in GAMES:
        game = make_game(id_)
        assert game.name in out
        assert id_ in out
        assert " x ".join(map(str, game.observation_shape)) in out
        for key, value in game.params.items():
            assert f"{key}={value}" in out


@pytest.mark.parametrize("name", GAMES)
def test_list_tells_all_about_a_game(capsys, name):
    status, out, err = run(capsys, "list", name)
    game = make_game(name)
    assert (status, err) == (0, "")
    planes, rows, columns = game.observation_shape
    assert f"spec {game.spec}" in out
    assert f"observation {planes} planes of {rows} x {columns}, 0 to {game.observation_high}" in out
    assert f"actions {game.num_actions}: {game.action_names[0]}" in out
    assert f"longest game {game.max_plies} plies" in out
    assert f"symmetries {len(game.symmetries())}" in out
    for key in game.params:
        assert f"--{key.replace('_', '-')}" in out
    for agent in ("random", "greedy", "sb3"):
        assert agent in out


@pytest.mark.parametrize("name", GAMES)
def test_every_parameter_is_described(name):
    factory = cli.find_factory(make_game(name).name)
    assert list(describe_params(factory)) == list(make_game(name).params)
    assert all(describe_params(factory).values())


def test_match_prints_a_table_and_writes_files(capsys, tmp_path):
    file, folder = tmp_path / "new" / "match.json", tmp_path / "replays"
    arguments = ["--games", "40", "--seed", "7", "--json", str(file), "--replays", str(folder)]
    status, out, err = run(capsys, *MATCH, *arguments, "--replay-count", "3")
    assert (status, err) == (0, "")
    assert "Tic-Tac-Toe: 40 games, seed 7" in out
    assert "the first player wins" in out
    assert "plies a game on average" in out

    read = json.loads(file.read_text())
    assert [path.name for path in file.parent.iterdir()] == ["match.json"]  # nothing temporary
    assert read["game"] == "tictactoe:board_size=3,line=3"
    assert (read["games"], read["seed"]) == (40, 7)
    assert {"command", "date", "cpu"} <= set(read["about"])
    assert "ludoteca" in read["versions"]
    for agent, other in (read["agents"], reversed(read["agents"])):
        total = agent["total"]
        assert total["games"] == total["wins"] + total["draws"] + total["losses"] == 40
        assert total["wins"] == other["total"]["losses"]
        assert total["wins"] == sum(seat["wins"] for seat in agent["seats"])
        low, high = total["win_interval"]
        assert 0 <= low <= total["win_rate"] <= high <= 1
        numbers = (total["wins"], total["draws"], total["losses"])
        rate = f"{100 * low:.1f} to {100 * high:.1f}"
        assert re.search(rf"{agent['agent']} all 40 {'{} {} {}'.format(*numbers)} .*{rate}", out)

    names = sorted(path.name for path in folder.iterdir())
    assert names == ["game_0000.json", "game_0001.json", "game_0002.json"]
    assert Replay.load(folder / names[1]).players == ("greedy", "random")


def test_match_of_many_players_ranks_them(capsys):
    arguments = ["--agents", "random", "greedy", "random", "--games", "9", "--max-length", "20"]
    status, out, _ = run(capsys, "match", "hungry_geese", *arguments)
    assert status == 0
    assert "Hungry Geese, max_length=20: 9 games" in out
    assert "rank" in out
    assert "random #1" in out
    assert "random #2" in out
    assert "first player" not in out


@pytest.mark.parametrize(
    ("arguments", "spec"),
    [
        (["hex", "--board-size", "4"], "hex:board_size=4,first=black,swap=False"),
        (["hex:board_size=4", "--swap"], "hex:board_size=4,first=black,swap=True"),
        (["hex:board_size=4,swap=True", "--no-swap"], "hex:board_size=4,first=black,swap=False"),
        (
            ["--board-size", "4", "Hex-v0", "--first=white"],
            "hex:board_size=4,first=white,swap=False",
        ),
        (["tictactoe", "--line", "3"], "tictactoe:board_size=3,line=3"),
    ],
)
def test_parameters_are_options_or_in_the_spec_string(capsys, tmp_path, arguments, spec):
    file = tmp_path / "match.json"
    status, _, err = run(capsys, "match", *arguments, "--games", "2", "--json", str(file))
    assert (status, err) == (0, "")
    assert json.loads(file.read_text())["game"] == spec


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "chess"], "unknown game 'chess'; there are hungry_geese, othello, hex"),
        (["match", "chess"], "unknown game 'chess'; there are"),
        (
            ["match", "hex", "--sise", "5"],
            "match does not know --sise 5; parameters of hex are --board-size, --first, --swap; "
            "see ludoteca match hex --help",
        ),
        (["match", "hex:sise=5"], "hex has no parameter 'sise'; it has board_size, first, swap"),
        (["match", "hex", "--board-size", "50"], "board_size must be an integer from 2 to 19"),
        (["match", "hex", "--first", "red"], "first must be one of 'black', 'white', got 'red'"),
        (
            ["match", "hex", "--agents", "random", "gredy"],
            "unknown agent 'gredy'; there are random",
        ),
        (["match", "hex", "--agents", "random"], "is between 2 agents, got 1: random"),
        (["match", "hex", "--agents", "random", "sb3"], "agent sb3 needs path=..."),
        (["match", "hex", "--games", "0"], "games must be an integer from 1"),
        (["bench", "envs", "--only", "chess"], "unknown measure 'chess'; there are othello"),
        (["bench", "envs", "--pears"], "bench does not know --pears; see ludoteca bench --help"),
        (["replay", "nowhere.json"], "nowhere.json: No such file or directory"),
        (["render", "hex", "--out", "hex.jpg"], "hex.jpg must end in one of .gif, .png, .svg"),
        (["render", "tictactoe", "--out", "x.png", "--ply", "99"], "ply must be from 0 to"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(capsys, arguments, message):
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert out == ""
    assert err.startswith("ludoteca: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "match"),
        (["duel"], "list, play, match, tournament, render, replay, bench"),
        (["match"], "GAME"),
        (["match", "hex", "--games", "many"], "--games"),
        (["bench", "agents"], "envs"),
    ],
)
def test_malformed_arguments_are_explained(capsys, arguments, message):
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert message in err + out


def test_a_missing_package_is_named(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "PIL", None)
    status, _, err = run(capsys, "render", "tictactoe", "--out", str(tmp_path / "x.png"))
    assert status == 2
    assert err.startswith('ludoteca: pixels need Pillow: pip install "ludoteca[render]"')
    assert len(err.splitlines()) == 1


def test_tracebacks_on_demand(monkeypatch):
    monkeypatch.setenv("LUDOTECA_DEBUG", "1")
    with pytest.raises(ValueError, match="unknown game 'chess'"):
        main(["match", "chess"])


def test_an_interrupted_command_says_so(capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(match_command, "play_and_report", interrupt)
    assert run(capsys, *MATCH) == (130, "", "interrupted\n")


@pytest.mark.parametrize("command", ["list", "play", "match", "render", "replay", "bench"])
def test_every_command_has_help(capsys, command):
    status, out, _ = run(capsys, command, "--help")
    assert status == 0
    assert out.startswith(f"usage: ludoteca {command}")
    assert command in run(capsys, "--help")[1]


def test_help_of_a_match_shows_the_parameters_of_the_game(capsys):
    status, out, _ = run(capsys, "match", "hungry_geese:rows=9", "--help")
    assert status == 0
    assert "--hunger-rate INT" in out
    assert "every so many steps each goose loses a segment, 1 to 10,000. (default: 40)" in out
    assert "--rows INT 3 to 50. (default: 9)" in out
    assert "GAME" in out


def test_bench_passes_its_options_on(capsys, monkeypatch, tmp_path):
    calls = []
    monkeypatch.setattr(
        "ludoteca.evaluate.bench.envs.bench_envs", lambda **options: calls.append(options)
    )
    file = tmp_path / "bench.json"
    options = ["--peers", "--json", str(file), "--seconds", "0.5", "--only", "hex", "threads"]
    assert run(capsys, "bench", "envs", *options)[0] == 0
    assert run(capsys, "bench", "envs")[0] == 0
    assert calls == [
        {"peers": True, "json": file, "seconds": 0.5, "only": ("hex", "threads")},
        {"peers": False, "json": None, "seconds": 2.0, "only": ()},
    ]


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


def test_replay_refuses_a_game_that_cannot_have_been(capsys, replay_file):
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


def test_render_plays_a_game_itself(capsys, tmp_path):
    out = tmp_path / "game.svg"
    status, _, err = run(capsys, "render", "connect4", "--rows", "4", "--out", str(out))
    assert (status, err) == (0, "")
    assert out.exists()


def test_render_refuses_a_replay_of_another_game(capsys, replay_file):
    arguments = ["--replay", str(replay_file), "--out", "x.svg"]
    status, _, err = run(capsys, "render", "hex", *arguments)
    assert status == 2
    assert "is a game of tictactoe:board_size=3,line=3, not of hex" in err


def test_the_command_runs_as_a_program(tmp_path):
    command = [sys.executable, "-W", "error", "-m", "ludoteca.evaluate.cli"]
    done = subprocess.run([*command, "list", "hex"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "board-size" in done.stdout
    done = subprocess.run([*command, "list", "go"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_the_entry_point_exists():
    script = tomllib.loads(PYPROJECT.read_text())["project"]["scripts"]["ludoteca"]
    assert script == f"{cli.__name__}:{main.__name__}"

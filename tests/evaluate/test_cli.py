"""Tests of the command line: tables, files, options, help and error messages."""

import importlib
import json
import re
import subprocess
import sys
import tomllib
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

import pytest
from command_line import MATCH, run

from ludoteca import __main__ as main_module
from ludoteca import __version__
from ludoteca.__main__ import COMMANDS, main
from ludoteca.agents.registry import ALIASES as AGENT_ALIASES
from ludoteca.envs.registry import ALIASES, make_game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.cli import match as match_command
from ludoteca.evaluate.studies.__main__ import STUDIES

pytestmark = pytest.mark.interpreted

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    """Make the terminal so wide that no output is wrapped."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("LUDOTECA_DEBUG", raising=False)


def test_match_prints_a_table_and_writes_files(capsys, tmp_path):
    file, folder = tmp_path / "new" / "match.json", tmp_path / "replays"
    arguments = ["--games", "40", "--seed", "7", "--json", str(file), "--replays", str(folder)]
    status, out, err = run(capsys, *MATCH, *arguments, "--replay-count", "3")
    assert (status, err) == (0, "")
    assert "Tic-Tac-Toe: 40 games, seed 7" in out
    assert "the first player wins" in out
    assert "plies a game on average" in out

    read = json.loads(file.read_text())
    # No temporary file is left.
    assert [path.name for path in file.parent.iterdir()] == ["match.json"]
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
        (["list", "chess"], "unknown game or agent 'chess'; there are hungry_geese, othello, hex"),
        (["list", "oethello"], "unknown game or agent 'oethello' (did you mean 'othello'?)"),
        (["match", "chess"], "unknown game 'chess'; there are"),
        (
            ["match", "hex", "--sise", "5"],
            "match does not know --sise 5 (did you mean --board-size?); parameters of hex are "
            "--board-size, --first, --swap; see ludoteca match hex --help",
        ),
        (["match", "hex", "--gmes=5"], "does not know --gmes=5 (did you mean --games?)"),
        (["match", "heks", "--board-size", "5"], "unknown game 'heks' (did you mean 'hex'?)"),
        (
            ["match", "hex:sise=5"],
            "hex has no parameter 'sise' (did you mean 'board_size'?); it has board_size, first",
        ),
        (
            ["match", "hex", "--agents", "random", "mcts:simulation=5"],
            "agent mcts has no parameter 'simulation' (did you mean 'simulations'?); it has",
        ),
        (
            ["match", "hex", "--agents", "random", "mcts:policy=utc"],
            "'kl_ucb', got 'utc' (did you mean 'uct'?)",
        ),
        (["match", "hex", "--board-size", "50"], "board_size must be an integer from 2 to 19"),
        (["match", "hex", "--first", "red"], "first must be one of 'black', 'white', got 'red'"),
        (
            ["match", "hex", "--agents", "random", "gredy"],
            "unknown agent 'gredy' (did you mean 'greedy'?); there are random",
        ),
        (["match", "hex", "--agents", "random"], "is between 2 agents, got 1: random"),
        (["match", "hex", "--agents", "random", "sb3"], "agent sb3 needs path=..."),
        (["match", "hex", "--games", "0"], "games must be an integer from 1"),
        (["bench", "envs", "--only", "chess"], "unknown measure 'chess'; there are othello"),
        (
            ["bench", "envs", "--pears"],
            "bench does not know --pears (did you mean --peers?); see ludoteca bench --help",
        ),
        (["duel"], "unknown command 'duel'; there are list, play, arena, match, power, tournament"),
        (
            ["reproduce", "hexx"],
            "unknown study 'hexx' (did you mean 'hex'?); there are amaf",
        ),
        (["solve", "tron"], "tron is simultaneous: only sequential games"),
        (["solve", "tictactoe", "--moves", "b9"], "no move 'b9' in tictactoe; moves look like a1"),
        (["solve", "tictactoe", "--capacity", "9"], "more positions than the capacity, 9"),
        (
            ["rating", "nowhere"],
            "nowhere has no checkpoints: train with --checkpoint-interval",
        ),
        (["exploit", "best-response", "tron", "--agent", "random"], "two"),
        (["replay", "nowhere.json"], "nowhere.json: No such file or directory"),
        (["render", "hex", "--out", "hex.jpg"], "the suffix .gif, .png, .svg, got hex.jpg"),
        (["render", "tictactoe", "--out", "x.png", "--ply", "99"], "ply must be from 0 to"),
    ],
)
def test_error_messages_have_one_line(capsys, arguments, message):
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
        (["reproduce"], "othello"),
        (["match"], "GAME"),
        (["match", "hex", "--games", "many"], "--games"),
        (["tournament", "--game", "hex"], "--game (did you mean --games?)"),
        (["bench", "agents"], "envs"),
    ],
)
def test_malformed_arguments_give_clear_errors(capsys, arguments, message):
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert message in err + out


def test_error_names_a_missing_package(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "PIL", None)
    status, _, err = run(capsys, "render", "tictactoe", "--out", str(tmp_path / "x.png"))
    assert status == 2
    assert err.startswith('ludoteca: pixels need Pillow: pip install "ludoteca[render]"')
    assert len(err.splitlines()) == 1


def test_debug_variable_enables_tracebacks(monkeypatch):
    monkeypatch.setenv("LUDOTECA_DEBUG", "1")
    with pytest.raises(ValueError, match="unknown game 'chess'"):
        main(["match", "chess"])


def test_interrupted_command_prints_one_line(capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(match_command, "play_and_report", interrupt)
    assert run(capsys, *MATCH) == (130, "", "interrupted\n")


def exists(command):
    """Return whether the module of a command is there, as some commands are optional."""
    return find_spec(COMMANDS[command].target.partition(":")[0]) is not None


@pytest.mark.parametrize("columns", [60, pytest.param(80, marks=pytest.mark.slow)])
@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_fits_the_terminal(capsys, monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    if not exists(command):
        assert run(capsys, command)[0] == 2
        return
    with pytest.raises(SystemExit, match="0") if not COMMANDS[command].group else nullcontext():
        main([command, "--help"])
    out = capsys.readouterr().out
    assert " ".join(out.split()).startswith(f"usage: ludoteca {command}")
    assert max(map(len, out.splitlines())) <= columns
    with pytest.raises(SystemExit, match="0") if not COMMANDS[command].group else nullcontext():
        main(["help", command])
    assert capsys.readouterr().out == out


@pytest.mark.parametrize("command", COMMANDS)
def test_misspelled_options_are_suggested(capsys, command):
    if COMMANDS[command].group or not exists(command):
        return
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    out = capsys.readouterr().out
    options = re.findall(r"^[ │]{1,3}(--[a-z-]{4,})", out, flags=re.MULTILINE)
    assert options or command in ("list", "export")
    for option in options:
        wrong = option + "x"
        assert f"{wrong} (did you mean {option}?)" in run(capsys, command, wrong)[2]


@pytest.mark.parametrize("name", STUDIES)
def test_every_experiment_has_help(capsys, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit, match="0"):
        main(["reproduce", name, "--help"])
    out = capsys.readouterr().out
    assert out.startswith(f"usage: ludoteca reproduce {name}")
    assert max(map(len, out.splitlines())) <= 80
    if "--part" in out:
        module = importlib.import_module(f"ludoteca.evaluate.studies.{name}.study")
        parts = module.make_study().parts
        assert f"Parts: {', '.join(parts)}." in " ".join(out.split())


def test_help_names_the_part_that_all_leaves_out(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["reproduce", "related_work", "--help"])
    out = " ".join(capsys.readouterr().out.split())
    assert "`--part all` leaves out tron-100ms, which takes very long." in out


@pytest.mark.parametrize("columns", [40, 80])
def test_the_overview_lists_every_command(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert main(["help"]) == 0
    assert capsys.readouterr().out == out
    for name, command in COMMANDS.items():
        assert f"\n  {name} " in out
        assert command.summary in " ".join(out.split())
        assert not exists(name) or len(command.summary) <= 72  # fits one line of the list
    before_examples = out.partition("examples:")[0]  # examples are not wrapped
    assert max(map(len, before_examples.splitlines())) <= columns


@pytest.mark.parametrize("name", COMMANDS)
def test_a_misspelled_command_is_suggested(capsys, name):
    status, _, err = run(capsys, name[:-1])
    assert status == 2
    assert f"unknown command {name[:-1]!r} (did you mean {name!r}?); there are list, play" in err


def test_version_is_printed(capsys):
    for option in ("--version", "-V"):
        assert run(capsys, option) == (0, f"ludoteca {__version__}", "")
    assert __version__ == tomllib.loads(PYPROJECT.read_text())["project"]["version"]


def test_solve_prints_the_result_of_every_move(capsys, tmp_path):
    file = tmp_path / "solution.json"
    status, out, err = run(capsys, "solve", "hex", "--board-size", "2", "--json", str(file))
    assert (status, err) == (0, "")
    assert out.startswith("Hex, board_size=2: black to move wins with perfect play")
    assert "2 moves win: b1 a2 2 moves lose: a1 b2" in out
    read = json.loads(file.read_text())
    assert (read["game"], read["returns"]) == ("hex:board_size=2,first=black,swap=False", [1, -1])
    assert read["actions"]["b1"] == 1
    _, out, _ = run(capsys, "solve", "hex:board_size=2", "--moves", "a1")
    assert out.startswith("Hex, board_size=2, after a1: white to move wins with perfect play")
    _, out, _ = run(capsys, "solve", "tictactoe", "--moves", "b2", "a1")
    assert "X to move draws with perfect play 7 moves draw: b1" in out


def test_exploit_prints_results_of_all_games(capsys):
    arguments = ["best-response", "tictactoe", "--agent", "greedy", "--seat", "second"]
    status, out, _ = run(capsys, "exploit", *arguments)
    assert status == 0
    assert "greedy as second player of tictactoe, against every possible opponent:" in out
    assert re.search(
        r"final positions won [\d,]+ final positions drawn [\d,]+ final positions lost [1-9]", out
    )


@pytest.mark.parametrize("name", ["gomoku", "Connect-Four", "tic_tac_toe", "REVERSI"])
def test_aliases_of_games_are_accepted(capsys, name):
    status, out, _ = run(capsys, "list", name)
    assert status == 0
    assert f"spec {make_game(name).spec}" in out


def test_help_of_a_match_shows_the_parameters_of_the_game(capsys):
    status, out, _ = run(capsys, "match", "hungry_geese:rows=9", "--help")
    assert status == 0
    assert "--hunger-rate INT" in out
    assert (
        "number of steps after which each goose loses a segment, 1 to 10,000. (default: 40)" in out
    )
    assert "--rows INT 3 to 50. (default: 9)" in out
    assert "GAME" in out


def test_bench_passes_its_options(capsys, monkeypatch, tmp_path):
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


@pytest.mark.slow
def test_package_runs_as_a_program(tmp_path):
    command = [sys.executable, "-W", "error", "-m", "ludoteca"]
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
    assert script == f"{main_module.__name__}:{main.__name__}"


def test_command_modules_are_imported_lazily(tmp_path):
    code = "import sys; from ludoteca.__main__ import main; main(['--help']); "
    code += "print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    modules = set(done.stderr.split())
    assert "ludoteca.evaluate.cli.commands" in modules
    heavy = {
        "torch",
        "scipy.stats",
        "matplotlib",
        "tyro",
        "rich",
        "ludoteca.evaluate.cli.match",
    }
    assert not heavy & modules


def test_documentation_lists_commands_and_aliases():
    text = (PYPROJECT.parent / "docs" / "command_line.md").read_text(encoding="utf-8")
    tables = [
        dict(re.findall(r"^\| `(.*?)` \| `?(.*?)`? \|$", part, flags=re.MULTILINE))
        for part in text.split("| :-- | :-- |")[1:]
    ]
    commands = {name: command.summary for name, command in COMMANDS.items()}
    assert tables == [commands, ALIASES, AGENT_ALIASES]


def test_documentation_shows_the_output_of_solve(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = (PYPROJECT.parent / "docs" / "command_line.md").read_text(encoding="utf-8")
    assert main(["solve", "hex", "--board-size", "3"]) == 0
    assert f"```text\n{capsys.readouterr().out}```\n" in text

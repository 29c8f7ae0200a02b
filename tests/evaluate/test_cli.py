"""Tests of the command line."""

import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

import pytest

from ludoteca import __main__ as face
from ludoteca import __version__
from ludoteca.__main__ import COMMANDS, main
from ludoteca.agents.registry import AGENTS, make_agent, why_not
from ludoteca.agents.registry import ALIASES as AGENT_ALIASES
from ludoteca.envs.registry import ALIASES, GAMES, find_factory, make_game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.cli import match as match_command
from ludoteca.evaluate.docstring_params import describe_params
from ludoteca.evaluate.studies.__main__ import EXPERIMENTS
from ludoteca.interrupt import is_our_program

pytestmark = pytest.mark.interpreted

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
    assert f"Agents: {', '.join(AGENTS)}." in out


@pytest.mark.parametrize("name", GAMES)
def test_list_shows_everything_about_a_game(capsys, name):
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
    listed = {agent for agent in AGENTS if re.search(rf" {agent} [A-Z]", out)}
    assert {"random", "greedy", "sb3", "mcts"} <= listed
    assert ("kaggle" in listed) == (name == "HungryGeese-v0")
    assert ("heuristic" in listed) == (name == "Hex-v0")


@pytest.mark.parametrize("name", GAMES)
def test_list_of_a_game_has_the_agents_that_play_it(name):
    game = make_game(name)
    in_turn = not game.simultaneous
    for agent in ("dqn", "az", "uctnet"):
        assert (why_not(agent, game) == "") == in_turn
    for agent in ("ac", "cnn"):
        assert (why_not(agent, game) == "") == game.simultaneous
    for agent in ("greedy", "deterministic", "heuristic", "random_safe", "mcts"):
        reason = why_not(agent, game)
        if reason:
            with pytest.raises(ValueError, match=re.escape(reason)):
                make_agent(agent, game)
        else:
            assert make_agent(agent, game).game is game


def test_list_shows_shipped_networks(capsys):
    assert "Comes with the package: az:hex5." in run(capsys, "list", "hex:board_size=5")[1]
    assert "az:hex5" not in run(capsys, "list", "connect4")[1]


def test_list_shows_everything_about_an_agent(capsys):
    status, out, err = run(capsys, "list", "MCTS")
    assert (status, err) == (0, "")
    assert out.startswith("mcts: Monte Carlo tree search with any selection policy.")
    assert "simulations 1000 simulations per move." in out
    assert "uct (mcts:policy=uct)" in out
    assert run(capsys, "list", "uct")[1] == out
    _, out, _ = run(capsys, "list", "alphazero")
    assert "path required a file or folder that training wrote" in out
    assert "az:connect4, az:hex5, az:othello" in out


@pytest.mark.parametrize("name", GAMES)
def test_every_parameter_is_described(name):
    factory = find_factory(make_game(name).name)
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
            "'puct', got 'utc' (did you mean 'uct'?)",
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
        (["duel"], "unknown command 'duel'; there are list, play, match, tournament, train"),
        (
            ["reproduce", "hexx"],
            "unknown experiment 'hexx' (did you mean 'hex'?); there are bandits",
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
        (["render", "hex", "--out", "hex.jpg"], "hex.jpg must end in one of .gif, .png, .svg"),
        (["render", "tictactoe", "--out", "x.png", "--ply", "99"], "ply must be from 0 to"),
    ],
)
def test_errors_are_one_line(capsys, arguments, message):
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


def test_interrupted_command_prints_one_line(capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(match_command, "play_and_report", interrupt)
    assert run(capsys, *MATCH) == (130, "", "interrupted\n")


def exists(command):
    return find_spec(COMMANDS[command].target.partition(":")[0]) is not None


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_that_fits(capsys, monkeypatch, command, columns):
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


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_help(capsys, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit, match="0"):
        main(["reproduce", name, "--help"])
    out = capsys.readouterr().out
    assert out.startswith(f"usage: ludoteca reproduce {name}")
    assert max(map(len, out.splitlines())) <= 80


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
        assert not exists(name) or len(command.summary) <= 72
    plain = out.partition("examples:")[0]
    assert max(map(len, plain.splitlines())) <= columns


@pytest.mark.parametrize("name", COMMANDS)
def test_a_misspelled_command_is_suggested(capsys, name):
    status, _, err = run(capsys, name[:-1])
    assert status == 2
    assert f"unknown command {name[:-1]!r} (did you mean {name!r}?); there are list, play" in err


def test_version_is_printed(capsys):
    for option in ("--version", "-V"):
        assert run(capsys, option) == (0, f"ludoteca {__version__}", "")
    assert __version__ == tomllib.loads(PYPROJECT.read_text())["project"]["version"]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_lists_fit_the_terminal(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    for arguments, whole in (
        (["list"], ["BreakthroughSuicide-v0", "17 x 7 x 11", "episode_steps=200", "observation"]),
        (["list", "hex"], ["--board-size", "parameter", 'gymnasium.make("ludoteca/Hex-v0")']),
        (["list", "hungry_geese"], ["--episode-steps", "deterministic", "random_valid"]),
        (["list", "mcts"], ["grave_reference", "default", "1000000"]),
    ):
        assert main(arguments) == 0
        out = capsys.readouterr().out
        assert max(map(len, out.splitlines())) <= columns
        assert all(text in out for text in whole)


def test_solve_prints_the_result_of_every_move(capsys, tmp_path):
    file = tmp_path / "solution.json"
    status, out, err = run(capsys, "solve", "hex", "--board-size", "3", "--json", str(file))
    assert (status, err) == (0, "")
    assert out.startswith("Hex, board_size=3: black to move wins with perfect play")
    assert "5 moves win: c1 a2 b2 c2 a3 4 moves lose: a1 b1 b3 c3" in out
    read = json.loads(file.read_text())
    assert (read["game"], read["returns"]) == ("hex:board_size=3,first=black,swap=False", [1, -1])
    assert read["actions"]["b2"] == 1
    _, out, _ = run(capsys, "solve", "hex:board_size=3", "--moves", "a1")
    assert out.startswith("Hex, board_size=3, after a1: white to move wins with perfect play")
    _, out, _ = run(capsys, "solve", "tictactoe", "--moves", "b2", "a1")
    assert "X to move draws with perfect play 7 moves draw: b1" in out


def test_exploit_prints_results_of_all_games(capsys):
    arguments = ["best-response", "tictactoe", "--agent", "greedy", "--seat", "second"]
    status, out, _ = run(capsys, "exploit", *arguments)
    assert status == 0
    assert "greedy as second player of tictactoe, against every possible opponent:" in out
    assert re.search(r"decisions [\d,]+ ends won [\d,]+ ends drawn [\d,]+ ends lost [1-9]", out)


@pytest.mark.parametrize("name", ["gomoku", "Connect-Four", "tic_tac_toe", "REVERSI"])
def test_aliases_of_games_are_accepted(capsys, name):
    status, out, _ = run(capsys, "list", name)
    assert status == 0
    assert f"spec {make_game(name).spec}" in out


def test_help_of_a_match_shows_the_parameters_of_the_game(capsys):
    status, out, _ = run(capsys, "match", "hungry_geese:rows=9", "--help")
    assert status == 0
    assert "--hunger-rate INT" in out
    assert "every so many steps each goose loses a segment, 1 to 10,000. (default: 40)" in out
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


def program(path, arguments, interrupted_by):
    """Return a process of ours that gets SIGINT from a module that it imports."""
    for name, code in interrupted_by.items():
        file = path / "modules" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"import os, signal, time\n{code}")
    search = [str(path / "modules"), *sys.path]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, search))}
    env |= {"NUMBA_CACHE_DIR": str(path / "cache")}
    return subprocess.run(
        [sys.executable, "-P", *arguments], capture_output=True, text=True, cwd=path, env=env
    )


WHILE_IMPORTING = {"numba.py": "os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"}
WHILE_COMPILING = {
    "sitecustomize.py": """
from numba.core import event

class Interrupt(event.Listener):
    def on_start(self, event):
        os.kill(os.getpid(), signal.SIGINT)
    def on_end(self, event):
        pass

event.register("numba:compile", Interrupt())
"""
}


@pytest.mark.parametrize(
    "arguments",
    [["-m", "ludoteca", "list"], ["-m", "ludoteca.train.dqn"], ["ludoteca", "list"]],
    ids=["package", "module", "script"],
)
def test_an_interrupted_import_is_one_line(tmp_path, arguments):
    script = "import sys\nfrom ludoteca.__main__ import main\nsys.exit(main())\n"
    (tmp_path / "ludoteca").write_text(script)
    done = program(tmp_path, arguments, WHILE_IMPORTING)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_interrupt_in_other_programs_raises_keyboard_interrupt(tmp_path):
    (tmp_path / "users.py").write_text("import ludoteca\n")
    done = program(tmp_path, ["users.py"], WHILE_IMPORTING)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.endswith("KeyboardInterrupt\n")
    assert "Traceback" in done.stderr


@pytest.mark.compiled
def test_interrupted_compiling_is_one_line(tmp_path):
    done = program(tmp_path, ["-m", "ludoteca", *MATCH, "--games", "2"], WHILE_COMPILING)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_workers_are_not_interrupted_while_they_start(tmp_path):
    (tmp_path / "work.py").write_text(
        "from functools import partial\n"
        "from ludoteca.local_executor import LocalExecutor\n"
        "if __name__ == '__main__':\n"
        "    with LocalExecutor(2) as workers:\n"
        "        print(list(workers.run(partial(pow, 2, k) for k in range(3))))\n"
    )
    interrupt = """
import sys
if "--multiprocessing-fork" in sys.orig_argv:
    os.kill(os.getpid(), signal.SIGINT)
"""
    done = program(tmp_path, ["work.py"], {"sitecustomize.py": interrupt})
    assert (done.returncode, done.stdout, done.stderr) == (0, "[1, 2, 4]\n", "")


@pytest.mark.parametrize(
    ("argv", "original", "ours"),
    [
        (["-m", "x"], ["python", "-P", "-m", "ludoteca.train.dqn", "x"], True),
        (["-m"], ["python", "-mludoteca"], True),
        (["-m"], ["python", "-Pm", "ludoteca"], True),
        (["-m", "ludoteca"], ["python", "-m", "pytest", "ludoteca"], False),
        (["-m"], ["python", "-m", "ludoteca_plus"], False),
        (["/usr/bin/ludoteca", "list"], ["python", "/usr/bin/ludoteca", "list"], True),
        (["mine.py"], ["python", "mine.py"], False),
        (["-c", "-m"], ["python", "-c", "import ludoteca", "-m"], False),
        ([""], ["python"], False),
    ],
)
def test_interrupt_guard_recognizes_our_programs(argv, original, ours):
    assert is_our_program(argv, original) == ours


def test_the_command_runs_as_a_program(tmp_path):
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
    assert script == f"{face.__name__}:{main.__name__}"


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

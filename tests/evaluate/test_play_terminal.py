"""Tests of `ludoteca play` and of interactive games in the terminal."""

import io
import sys

import numpy as np
import pytest
from interactive import KINDS, Illegal, Throwing, User, inputs

from ludoteca.__main__ import main
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.cli import play as command
from ludoteca.evaluate.play import window
from ludoteca.evaluate.play.agent_thread import AgentFailure, AgentThread
from ludoteca.evaluate.play.screen import Screen
from ludoteca.evaluate.play.session import HUMAN, Session

pytestmark = pytest.mark.interpreted


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    """Run the test in an empty folder, where games are saved, with short error messages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LUDOTECA_DEBUG", raising=False)


def run(capsys, monkeypatch, arguments, lines=()):
    """Run `ludoteca play` with lines to read; return its status, its output and its errors."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    status = main(["play", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_game_is_played_in_the_terminal(capsys, monkeypatch, tmp_path):
    lines = ["?", "b2", "b2", "what", "undo", "hint", "C3", "save game.json", "quit"]
    arguments = ["tictactoe", "--terminal", "--agent", "mcts:simulations=100", "--seed", "1"]
    status, out, err = run(capsys, monkeypatch, arguments, lines)
    assert (status, err) == (0, "")
    assert "legal moves: a1 b1 c1 a2 b2 c2 a3 b3 c3" in out
    assert "X to move" in out
    assert "O plays " in out
    assert "visit shares" in out
    assert "simulations/s" in out
    assert "b2 is illegal here; ? lists the legal moves" in out
    assert "there is no move 'what' in tictactoe" in out
    assert "hint: " in out
    assert "saved: game.json" in out
    replay = Replay.load(tmp_path / "game.json")
    assert replay.actions[0] == 8
    assert len(replay.actions) == 2
    assert replay.players == (HUMAN, "mcts:simulations=100")


def test_a_finished_game_can_be_taken_back_in_the_terminal(capsys, monkeypatch):
    lines = ["a1", "a2", "b1", "b2", "c1", "a3", "undo", "c3", "new", "undo"]
    arguments = ["tictactoe", "--terminal", "--seat", "both", "--agent", "random"]
    status, out, _ = run(capsys, monkeypatch, arguments, lines)
    assert status == 0
    assert "X wins" in out
    assert "the game is over: undo, new, save or quit" in out
    assert "O to move, last move c3" in out
    assert out.rstrip().endswith("X>")  # input ended
    assert "there is nothing to undo" in out


def test_agents_play_each_other_in_the_terminal(capsys, monkeypatch, tmp_path):
    arguments = ["connect4", "--rows", "4", "--terminal", "--seat", "none"]
    arguments += ["--agent", "random", "greedy", "--replay", "games/a.json", "--seed", "2"]
    status, out, err = run(capsys, monkeypatch, arguments)
    assert (status, err) == (0, "")
    replay = Replay.load(tmp_path / "games" / "a.json")
    assert replay.returns is not None
    assert replay.players == ("random", "greedy")
    assert replay.seed == 2
    assert out.count(" plays ") == len(replay.actions)
    again = run(capsys, monkeypatch, [*arguments[:-3], "games/b.json", "--seed", "2"])
    assert again[0] == 0
    assert Replay.load(tmp_path / "games" / "b.json") == replay


@pytest.mark.parametrize("missing", ["display", "pygame", "PIL", "window"])
def test_without_a_window_games_run_in_the_terminal(capsys, monkeypatch, missing):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    if missing in ("pygame", "PIL"):
        monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
        monkeypatch.setitem(sys.modules, missing, None)
    if missing == "window":
        monkeypatch.setenv("SDL_VIDEODRIVER", "nonsense")
    status, out, err = run(capsys, monkeypatch, ["tictactoe", "--agent", "random"], ["b2"])
    assert status == 0
    assert "O plays" in out
    assert err.endswith("; playing in the terminal\n")


def test_command_opens_a_window(capsys, monkeypatch, pygame, tmp_path):
    def user(controller):  # a window whose user clicks the center and waits for the answer
        def script():
            yield from inputs(Screen(controller), 4)
            while not controller.session.waits_for_human:
                yield None

        opened = User(pygame, script())
        picture = Screen(controller).draw()
        opened.show(np.zeros((picture.height, picture.width, 3), np.uint8))
        return opened

    monkeypatch.setattr(window, "open_window", user)
    arguments = ["tictactoe", "--agent", "random", "--move-delay", "0", "--replay", "game.json"]
    status, out, err = run(capsys, monkeypatch, [*arguments, "--moves", "a1", "c3"])
    assert (status, out, err) == (0, "saved: game.json\n", "")
    replay = Replay.load(tmp_path / "game.json")
    assert replay.actions[:3] == [0, 8, 4]
    assert len(replay.actions) == 4


@pytest.mark.parametrize(
    ("spec", "agent"), [("tictactoe", "mcts:simulations=50"), *((kind, "random") for kind in KINDS)]
)
def test_screenshots_are_written(capsys, monkeypatch, spec, agent, tmp_path):
    arguments = [spec, "--agent", agent, "--values", "--screenshot", "new/a.png"]
    status, out, err = run(capsys, monkeypatch, [*arguments, "--seat", "second"])
    assert (status, out, err) == (0, "1 plies: new/a.png\n", "")
    data = (tmp_path / "new" / "a.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) < 60_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tron"], "tron is simultaneous: only sequential games can be played"),
        (["hex", "--agent", "chess"], "unknown agent 'chess'"),
        (["hex", "--agent", "random", "random"], "two agents play each other with --seat none"),
        (["hex", "--moves", "a1", "a1"], "a1 is illegal here"),
        (["hex", "--moves", "z1"], "there is no move 'z1' in hex; moves look like a1, "),
        (["hex", "--move-delay", "-1"], "move_delay must be a number from 0 to 60"),
        (["hex", "--screenshot", "a.jpg"], "a.jpg must end in .png"),
        (["hex", "--seed", "-1"], "a seed must be an integer from 0"),
        (
            ["hex", "--board", "7"],
            "play does not know --board 7 (did you mean --board-size?); "
            "parameters of hex are --board",
        ),
    ],
)
def test_errors_are_one_line(capsys, monkeypatch, arguments, message):
    status, out, err = run(capsys, monkeypatch, arguments)
    assert (status, out) == (2, "")
    assert err.startswith("ludoteca: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("agent", [Illegal, Throwing])
def test_failing_agent_prints_one_line(capsys, monkeypatch, agent, tmp_path):
    monkeypatch.setattr("ludoteca.agents.registry.make_agent", lambda spec, game: agent(game))
    lines = ["a1", "b2", "undo", "save game.json", "quit"]
    status, out, err = run(capsys, monkeypatch, ["tictactoe", "--terminal"], lines)
    assert status == 2
    assert "O: mcts:simulations=1000 failed: " in out
    # After the failure, and after `b2` and `undo`, which are not possible any more.
    assert out.count("save [FILE] writes the game so far, quit ends") == 3
    assert Replay.load(tmp_path / "game.json").actions == [0]
    assert err.startswith("ludoteca: mcts:simulations=1000 failed: ")
    assert err.count("\n") == 1


def test_exceptions_become_failures():
    game = make_game("tictactoe")
    session = Session(game, (HUMAN, "agent"))
    session.play(0)
    failure = AgentThread(Illegal(game), "agent").think(session)
    assert isinstance(failure, AgentFailure)
    assert str(failure).startswith("agent failed: it chose action 0")


def test_command_passes_every_option(capsys, monkeypatch):
    calls = []
    monkeypatch.setattr(command, "start_playing", lambda *g, **n: calls.append((g, n)))
    assert run(capsys, monkeypatch, ["hex:board_size=4", "--swap", "--seat", "both"])[0] == 0
    (game, agents, seat), named = calls[0]
    assert game.spec == "hex:board_size=4,first=black,swap=True"
    assert (agents, seat) == (("mcts:simulations=1000",), "both")
    assert not any(named[key] for key in ("seed", "moves", "values", "replay", "terminal"))
    assert named["move_delay"] == 0.5

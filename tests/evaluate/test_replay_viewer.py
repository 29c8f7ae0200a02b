"""Tests of replays shown in the terminal, printed and drawn."""

import io
import xml.etree.ElementTree as ET

import pytest
from boards import small_spec
from rich.console import Console

from ludoteca.__main__ import main
from ludoteca.envs.registry import GAMES
from ludoteca.envs.render.replay_scenes import replay_scenes, seconds_per_position
from ludoteca.envs.replay import Replay
from ludoteca.evaluate import replay_viewer
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.replay_rendering import replay_text
from ludoteca.evaluate.replay_viewer import replay_frames, watch_replay

pytestmark = pytest.mark.interpreted

GEESE = ("deterministic", "greedy", "random_safe")


@pytest.fixture(scope="module")
def replay():
    """Return a game of three agents."""
    return play_match("hungry_geese:num_players=3", GEESE, 1, seed=12, num_replays=1).replays[0]


@pytest.fixture
def file(replay, tmp_path):
    """Return the file of the game."""
    replay.save(tmp_path / "game.json")
    return tmp_path / "game.json"


@pytest.fixture
def sleeps(monkeypatch):
    """Return the durations passed to `time.sleep`, which returns at once."""
    durations = []
    monkeypatch.setattr(replay_viewer.time, "sleep", durations.append)
    return durations


def test_terminal_shows_one_position_after_another(replay, sleeps):
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=90, height=30, color_system="truecolor")
    watch_replay(replay, 0.25, console)
    plies = len(replay.actions)
    assert sleeps == [0.25] * (plies + 1)
    terminal_output = out.getvalue()
    assert all(terminal_output.count(f"ply {k} of {plies}") >= 1 for k in range(plies + 1))
    assert "\x1b[1A" in terminal_output  # cursor up, over the last position
    for name in GEESE:
        assert terminal_output.count(name) >= plies + 1
    assert "38;2;" in terminal_output  # 24-bit colors


def test_without_a_terminal_all_positions_are_printed_at_once(replay, sleeps):
    out = io.StringIO()
    watch_replay(replay, console=Console(file=out, width=90))
    assert sleeps == []
    printed = out.getvalue()
    assert printed.count(" of ") == len(replay.actions) + 1
    assert "\x1b" not in printed
    assert "out at ply" in printed
    assert printed.count("deterministic") == len(replay.actions) + 1


@pytest.mark.parametrize("width", [40, 90])
def test_players_are_shown_beside_or_below_the_board(replay, width):
    out = io.StringIO()
    console = Console(file=out, width=width)
    console.print(replay_frames(replay, width)[0])
    lines = out.getvalue().splitlines()
    (line,) = [k for k, line in enumerate(lines) if "ply 0" in line]
    assert line == (0 if width == 90 else 8)  # beside the board, or below its 7 rows


@pytest.mark.parametrize("name", GAMES)
def test_every_game_can_be_watched(name, sleeps):
    agents = ["random"] * 2
    replay = play_match(small_spec(name), agents, 1, seed=1, num_replays=1).replays[0]
    out = io.StringIO()
    watch_replay(replay, console=Console(file=out, width=100))
    assert out.getvalue().count(" of ") == len(replay.actions) + 1
    scenes = replay_scenes(replay)
    assert len(scenes) == len(replay.actions) + 1
    assert len({(scene.width, scene.height, scene.base) for scene in scenes}) == 1


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_seconds_must_be_positive(replay, seconds):
    with pytest.raises(ValueError, match="seconds must be positive, got"):
        watch_replay(replay, seconds)


# A game is shown in 30 s, but a position for at most 0.6 s, and at least 0.15 s.
@pytest.mark.parametrize(("plies", "seconds"), [(0, 0.6), (9, 0.6), (100, 0.3), (199, 30 / 199)])
def test_long_games_are_shown_faster(plies, seconds):
    assert seconds_per_position(Replay("hex", 0, list(range(plies)), None)) == pytest.approx(
        seconds
    )
    assert seconds_per_position(Replay("hex", 0, list(range(5000)), None)) == 0.15


def test_printed_games_show_players_and_lengths(replay):
    start, end = replay_text(replay, 0), replay_text(replay, len(replay.actions))
    assert "A deterministic  length 1\nB greedy         length 1" in "\n".join(start)
    text = "\n".join(end)
    assert "out at ply" in text
    assert "1st" in text
    assert text.count("ply") == 1 + text.count("at ply")


@pytest.mark.parametrize("name", [pytest.param("a.gif", marks=pytest.mark.slow), "b.svg", "c.png"])
def test_replay_command_writes_images(capsys, file, replay, name):
    out = file.parent / name
    assert main(["replay", str(file), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{len(replay.actions)} plies: {out}\n"
    start = {"a.gif": b"GIF89a", "b.svg": b"<svg", "c.png": b"\x89PNG"}[name]
    assert out.read_bytes().startswith(start)
    if name == "b.svg":
        root = ET.fromstring(out.read_text())
        texts = [element.text for element in root.iter() if element.text]
        assert [texts.count(agent) for agent in GEESE] == [1, 1, 1]
        assert f"ply {len(replay.actions)} of {len(replay.actions)}" in texts


def test_replay_command_shows_positions(capsys, file, sleeps):
    assert main(["replay", str(file), "--watch"]) == 0
    assert "ply 1 of" in capsys.readouterr().out
    assert main(["replay", str(file), "--ply", "3"]) == 0
    assert "\nply 3: 0 " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--out", "game.mp4"],
            "expected a file name with the suffix .gif, .png, .svg, got game.mp4",
        ),
        (["--out", "game.gif", "--seconds", "0"], "times must be positive, got 0.0"),
        (["--watch", "--seconds", "-1"], "seconds must be positive, got -1.0"),
        (["--watch", "--out", "game.gif"], "expected either --watch or --out, got both"),
        (["--watch", "--final"], "--watch shows the whole game: expected no --final and no --ply"),
        (["--final", "--ply", "1"], "expected either --final or --ply, got both"),
        (["--seconds", "1"], "--seconds needs --watch or --out"),
        (["--ply", "9999"], "ply must be from 0 to"),
    ],
)
def test_error_messages_have_one_line(capsys, monkeypatch, file, options, message):
    monkeypatch.chdir(file.parent)
    monkeypatch.delenv("LUDOTECA_DEBUG", raising=False)
    assert main(["replay", str(file), *options]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("ludoteca: ")
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert not list(file.parent.glob("game.[gm]*"))

"""Images of boards: SVG animations, GIF, PNG and pixel arrays."""

import io
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from rendered_games import SVG, play, position

from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.render import board_text, gif, png, render, rgb_array, scene, svg_animation


@pytest.mark.parametrize("name", GAMES)
def test_svg_animation_shows_one_image_at_a_time(name):
    game = make_game(name)
    scenes = [scene(game, s, action) for s, action in play(game)[-30:]]
    root = ET.fromstring(svg_animation(scenes, seconds=0.5, last_seconds=2))
    groups = root.findall(f"{SVG}g")
    assert len(groups) == len(scenes)
    assert [group.get("display") for group in groups] == ["none"] * (len(groups) - 1) + ["inline"]
    total = 0.5 * (len(scenes) - 1) + 2
    for i in range(len(scenes)):
        time_fraction = (0.5 * i + 0.25) / total  # in the middle of the time of image i
        visible = []
        for group in groups:
            animate = group.find(f"{SVG}animate")
            assert float(animate.get("dur").removesuffix("s")) == pytest.approx(total)
            times = [float(time) for time in animate.get("keyTimes").split(";")]
            assert times[0] == 0
            assert times == sorted(set(times))
            last = np.searchsorted(times, time_fraction, side="right") - 1
            visible.append(animate.get("values").split(";")[last] == "inline")
        assert visible == [j == i for j in range(len(scenes))]


def test_gif_has_every_image_and_its_duration():
    from PIL import Image

    game, s = position("tictactoe", [])
    scenes = [scene(game, s)]
    for action in (4, 0, 8):
        game.step(s, action)
        scenes.append(scene(game, s, action))
    with Image.open(io.BytesIO(gif(scenes, seconds=0.5, last_seconds=2))) as image:
        assert image.n_frames == 4
        durations = []
        for i, expected in enumerate(scenes):
            image.seek(i)
            durations.append(image.info["duration"])
            pixels = np.array(image.convert("RGB")).astype(int)
            assert np.abs(pixels - rgb_array(expected)).mean() < 3  # a palette has 256 colors
    assert durations == [500, 500, 500, 2000]


@pytest.mark.parametrize("animate", [svg_animation, gif])
def test_invalid_animations_are_errors(animate):
    small, large = make_game("hex:board_size=3"), make_game("hex:board_size=4")
    with pytest.raises(ValueError, match="at least one scene"):
        animate([])
    with pytest.raises(ValueError, match="scene 1, of size"):
        animate([scene(small, small.new()), scene(large, large.new())])
    with pytest.raises(ValueError, match="times must be positive"):
        animate([scene(small, small.new())], seconds=0)


def test_png_has_the_pixels_of_rgb_array():
    from PIL import Image

    game = make_game("othello")
    start = scene(game, game.new())
    with Image.open(io.BytesIO(png(start))) as image:
        assert image.format == "PNG"
        pixels = np.array(image.convert("RGB")).astype(int)
    assert np.abs(pixels - rgb_array(start)).mean() < 2


@pytest.mark.slow
def test_images_in_the_middle_of_games_are_written(tmp_path):
    command = [sys.executable, "-W", "error", "-m", "ludoteca.envs.render", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(files) == {f"{make_game(name).name}.png" for name in GAMES}
    assert all(data.startswith(b"\x89PNG") and len(data) < 60_000 for data in files.values())


def test_records_and_arrays_of_one_position_are_drawn():
    game = make_game("tictactoe")
    batch = game.empty(3)
    for s in batch.view(np.recarray):
        game.init(s, 0)
    expected = board_text(game, game.new())
    assert board_text(game, batch[1]) == board_text(game, batch[1:2]) == expected
    with pytest.raises(
        ValueError, match=r"one position of tictactoe.*got an array of shape \(3,\)"
    ):
        board_text(game, batch)
    with pytest.raises(ValueError, match="expected one position of tictactoe"):
        scene(game, make_game("connect4").new())


def test_the_error_without_pillow_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    game = make_game("tictactoe")
    with pytest.raises(ImportError, match=r'pip install "ludoteca\[render\]"'):
        render(game, game.new(), "rgb_array")
    assert render(game, game.new(), "svg").startswith("<svg")

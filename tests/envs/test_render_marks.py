"""Marks of choices on the board, and text that is aligned to the right."""

import numpy as np
import pytest

from ludoteca.envs.registry import make_game
from ludoteca.envs.render import Marks, marked, rgb_array, scene, svg
from ludoteca.envs.render.geometry import board_geometry
from ludoteca.envs.render.shapes import Circle, Line, Scene, Text


def added(spec, marks, *actions):
    """Return the geometry of a board, and the shapes that marks add to its scene after actions."""
    game = make_game(spec)
    s = game.new()
    for action in actions:
        game.step(s, action)
    plain = scene(game, s)
    with_marks = marked(plain, game, s, marks)
    assert with_marks.shapes[: len(plain.shapes)] == plain.shapes
    assert with_marks.base == plain.base
    return board_geometry(game.layout), with_marks.shapes[len(plain.shapes) :]


def test_choices_are_dots_and_rings_around_pieces():
    geometry, shapes = added("tictactoe", Marks(choices=(0, 4)), 4)
    dot, ring = shapes
    assert isinstance(dot, Circle)
    assert (dot.x, dot.y) == geometry.center(0, 0)
    assert dot.fill
    assert dot.radius < 0.2 * geometry.cell
    assert (ring.x, ring.y) == geometry.center(1, 1)
    assert ring.fill is None
    assert ring.radius > 0.4 * geometry.cell


@pytest.mark.parametrize(("spec", "corners"), [("tictactoe", 4), ("hex:board_size=3", 6)])
def test_frames_lie_inside_their_cells(spec, corners):
    geometry, shapes = added(spec, Marks(selected=4, advised=(8,)))
    lines = [shape for shape in shapes if isinstance(shape, Line)]
    assert len(lines) == 2 * corners
    assert len({line.color for line in lines}) == 2
    for cell, frame in ((8, lines[:corners]), (4, lines[corners:])):
        for line in frame:
            assert geometry.cell_at(*line.start) == geometry.cell_at(*line.end) == divmod(cell, 3)


def test_labels_are_written_on_pieces():
    geometry, shapes = added("breakthrough", Marks(labels={35: "0.25"}))
    (text,) = [shape for shape in shapes if isinstance(shape, Text)]
    assert text.text == "0.25"
    assert geometry.cell_at(text.x, text.y) == (5, 5)


def test_without_marks_nothing_is_added():
    assert added("othello", Marks())[1] == ()


def test_text_is_anchored_left_right_or_in_the_middle():
    def word_at_50(anchor):
        return Scene(100, 20, "#ffffff", (), (Text(50, 10, "word", 12, "#000000", anchor),))

    def columns(anchor):
        dark = (rgb_array(word_at_50(anchor)) < 128).any(axis=(0, 2))
        return np.flatnonzero(dark)

    assert columns("right").max() < 51
    assert columns("left").min() >= 49
    assert columns("middle").min() < 50 < columns("middle").max()
    assert 'text-anchor="end"' in svg(word_at_50("right"))

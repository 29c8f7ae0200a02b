"""Tests of figures that are declared by panels and series."""

import io

import numpy as np
import pytest
from PIL import Image

from ludoteca.evaluate.figures import Panel, Series, panels_png, percentages
from ludoteca.evaluate.statistics.intervals import wilson

pytestmark = pytest.mark.interpreted


class Axes:
    """Double of Matplotlib's axes, which records the calls of its methods."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda *args, **options: self.calls.append((name, args, options))


def test_bars_reach_from_the_points_to_their_bounds():
    axes = Axes()
    series = Series([1, 2], [5.0, 6.0], "o", ([4.0, 3.0], [7.0, 6.5]), {"label": "x"})
    Panel([series], {"xlabel": "games"}).draw(axes)
    name, (_, y, (below, above)), options = axes.calls[0]
    assert (name, options) == ("errorbar", {"fmt": "o", "label": "x"})
    np.testing.assert_array_equal(y, [5, 6])
    np.testing.assert_array_equal(below, [1, 3])
    np.testing.assert_array_equal(above, [2, 0.5])
    assert ("set", (), {"xlabel": "games"}) in axes.calls


def test_percentages_have_wilson_intervals():
    values, (low, high) = percentages([1, 30], [4, 40])
    np.testing.assert_allclose(values, [25, 75])
    np.testing.assert_allclose([low[1], high[1]], 100 * np.array(wilson(30, 40)))


def test_figures_are_png_files_of_the_given_size():
    panels = [
        Panel(
            [Series([1, 2], [3, 4], options={"label": "x"})],
            {"title": "a"},
            legend={},
            vertical={1.5: {}},
        ),
        Panel([Series([1, 10], [1, 2])], {"xscale": "log"}, horizontal={1: {}}, xticks={1: "one"}),
        Panel([], image=np.zeros((4, 4, 3), np.uint8)),
    ]
    png = panels_png(panels, (3, 2), columns=2, dpi=50, colors=16)
    image = Image.open(io.BytesIO(png))
    assert (image.format, image.size) == ("PNG", (150, 100))

"""Figures as PNG files."""

import io

from matplotlib.figure import Figure
from PIL import Image


def figure_png(figure: Figure, colors: int | None = None) -> bytes:
    """Return a figure as a PNG file.

    Args:
        figure: the figure.
        colors: maximum number of colors, which makes files of flat drawings smaller; None: all.
    """
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    if colors is None:
        return drawn.getvalue()
    file = io.BytesIO()
    # Flat colors and their blends at the edges fit a palette.
    Image.open(drawn).convert("RGB").quantize(colors).save(file, format="png", optimize=True)
    return file.getvalue()

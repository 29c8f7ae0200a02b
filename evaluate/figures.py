"""Matplotlib figures as PNG files."""

import io

from matplotlib.figure import Figure
from PIL import Image


def figure_png(figure: Figure, colors: int | None = None) -> bytes:
    """Return a figure as the content of a PNG file.

    Args:
        figure: the figure.
        colors: maximum number of colors, which makes the files smaller; None for no limit.
    """
    png = io.BytesIO()
    figure.savefig(png, format="png")
    if colors is None:
        return png.getvalue()
    file = io.BytesIO()
    # Flat colors and their blends at the edges fit a palette.
    Image.open(png).convert("RGB").quantize(colors).save(file, format="png", optimize=True)
    return file.getvalue()

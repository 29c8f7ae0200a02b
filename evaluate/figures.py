"""Matplotlib figures as PNG files, and figures that are declared by their panels and series."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from ludoteca.evaluate.statistics.intervals import wilson

SMALL = {"fontsize": "small"}  # options of a legend with small text
DOTTED = {"color": "#888888", "linestyle": ":", "linewidth": 1}  # style of a line for comparison


@dataclass(frozen=True)
class Series:
    """Points of a panel, which a line may connect.

    Attributes:
        x: x values. Shape `[n]`.
        y: y values. Shape `[n]`.
        style: Matplotlib's format of markers and line, such as `"o-"`; default: a line.
        bounds: lower and upper ends of intervals of y, which are drawn as bars; None for no bars.
            Shape `[2, n]`.
        options: Matplotlib's options, such as `color` and `label`.
    """

    x: ArrayLike
    y: ArrayLike
    style: str = ""
    bounds: ArrayLike | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Panel:
    """Panel of a figure, with axes of its own.

    Attributes:
        series: series in the order in which they are drawn.
        options: properties of the axes, such as `title`, `xlabel`, `yscale` and `ylim`.
        legend: options of the legend; None for no legend.
        vertical: options of vertical lines, by x.
        horizontal: options of horizontal lines, by y.
        xticks: labels of the ticks of the x axis, by x; None for Matplotlib's ticks.
        integers: whether the ticks of the x axis are integers; with thousands separators if they
            are `"thousands"`.
        title_size: size of the title's font.
        image: image that fills the panel, in place of the axes. RGB, uint8 `[height, width, 3]`.
    """

    series: Sequence[Series]
    options: Mapping[str, Any] = field(default_factory=dict)
    legend: Mapping[str, Any] | None = None
    vertical: Mapping[float, Mapping[str, Any]] = field(default_factory=dict)
    horizontal: Mapping[float, Mapping[str, Any]] = field(default_factory=dict)
    xticks: Mapping[float, str] | None = None
    integers: bool | str = False
    title_size: str = "large"
    image: NDArray[np.uint8] | None = None

    def draw(self, axes: Any) -> None:
        """Draw the panel."""
        for one in self.series:
            if one.bounds is None:
                axes.plot(one.x, one.y, *filter(None, [one.style]), **one.options)
            else:
                y = np.asarray(one.y, np.float64)
                low, high = np.asarray(one.bounds, np.float64)
                axes.errorbar(one.x, y, (y - low, high - y), fmt=one.style, **one.options)
        for x, options in self.vertical.items():
            axes.axvline(x, **options)
        for height, options in self.horizontal.items():
            axes.axhline(height, **options)
        title = self.options.get("title", "")
        axes.set(**{name: value for name, value in self.options.items() if name != "title"})
        axes.set_title(title, fontsize=self.title_size)
        if self.xticks is not None:
            axes.set_xticks(list(self.xticks), list(self.xticks.values()))
            axes.set_xticks([], minor=True)
        if self.integers == "thousands":
            axes.xaxis.set_major_formatter(lambda x, position: f"{x:,.0f}")
        elif self.integers:
            axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.3)
        if self.image is not None:
            axes.imshow(self.image)
            axes.axis("off")
        if self.legend is not None:
            axes.legend(**self.legend)


def panels_png(
    panels: Sequence[Panel],
    size: tuple[float, float],
    columns: int = 1,
    dpi: float = 100,
    colors: int | None = None,
    legend: Mapping[str, Any] | None = None,
    **options: Any,
) -> bytes:
    """Return a figure as the content of a PNG file.

    Args:
        panels: panels of the figure, row by row.
        size: width and height, in inches.
        columns: number of panels in a row.
        dpi: pixels per inch.
        colors: maximum number of colors, see `figure_png`.
        legend: options of the legend of the whole figure, which has the labels of the first panel;
            None for no legend.
        **options: other options of Matplotlib's `subplots`, such as `sharex`.
    """
    figure = Figure(figsize=size, dpi=dpi, layout="constrained")
    grid = figure.subplots(-(-len(panels) // columns), columns, squeeze=False, **options)
    for panel, axes in zip(panels, grid.flat, strict=False):
        panel.draw(axes)
    for axes in grid.flat[len(panels) :]:
        axes.axis("off")
    if legend is not None:
        figure.legend(*grid[0, 0].get_legend_handles_labels(), **legend)
    return figure_png(figure, colors)


def percentages(
    counts: Sequence[int], totals: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return percentages, and the bounds of their Wilson 95 % intervals, for a series.

    Args:
        counts: numbers of successes. Shape `[n]`.
        totals: numbers of trials. Shape `[n]`.

    Returns:
        The percentages, shape `[n]`, and their bounds, shape `[2, n]`.
    """
    bounds = [wilson(count, total) for count, total in zip(counts, totals, strict=True)]
    return 100 * np.divide(counts, totals), 100 * np.array(bounds).T


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

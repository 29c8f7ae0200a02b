"""Figures of a tournament report, as PNG files."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ludoteca.evaluate.figures import figure_png
from ludoteca.evaluate.statistics.ranks import groups
from ludoteca.evaluate.statistics.ratings import Ratings

# Sizes of figures are in inches; offsets along rows of agents are fractions of a row.
DPI, COLORS = 110, 96  # resolution, and number of colors of the PNG files
BLUE, GRAY, LIGHT = "#2f6db5", "#555555", "#dfe8f3"
MARKERS = "osD^vP*Xhd<>"
MAX_LEGEND = len(MARKERS)  # maximum number of games with a legend
BIN = 50  # Elo points of a bar of the distribution of ratings
MAX_ANNOTATED = 24  # maximum number of agents in a heat map with numbers


def box_plot(
    points: NDArray[Any],
    names: Sequence[str],
    games: Sequence[str],
    max_points: int,
    score_name: str,
) -> bytes:
    """Draw the distribution of each agent's points over the games, as a PNG file.

    The agent with the highest median is on top.

    Args:
        points: points of each agent in each game. Shape `[games, agents]`.
        names: names of the agents.
        games: titles of the games.
        max_points: number of times that each agent played each game, which is its maximum number
            of points there.
        score_name: name of the points, such as `"wins"`.
    """
    order = np.argsort(np.median(points, axis=0), kind="stable")
    figure, axes = _figure(9.0, 1.6 + 0.5 * len(names))
    axes.boxplot(
        [points[:, a] for a in order],
        orientation="horizontal",
        widths=0.6,
        patch_artist=True,
        showfliers=False,  # all points are plotted below
        boxprops={"facecolor": LIGHT, "edgecolor": GRAY},
        medianprops={"color": BLUE, "linewidth": 2},
        whiskerprops={"color": GRAY},
        capprops={"color": GRAY},
    )
    rows = np.arange(1, len(names) + 1)
    for g, title in enumerate(games):
        has_legend = g < MAX_LEGEND and len(games) <= MAX_LEGEND
        offset = 0.18 * (g / max(len(games) - 1, 1) * 2 - 1)  # so that equal points do not overlap
        axes.plot(
            points[g, order],
            rows + offset,
            MARKERS[g] if has_legend else "o",
            color=f"C{g % 10}" if has_legend else GRAY,
            label=title if has_legend else None,
            markersize=5,
            zorder=3,
        )
    axes.set_yticks(rows, [names[a] for a in order])
    axes.axvline(max_points / 2, color=GRAY, linewidth=0.8, linestyle=":")
    axes.set_xlabel(f"{score_name} of {max_points:,} games of each kind (dotted: half of them)")
    axes.set_title("Points over the games: quartiles, median, and every game")
    if len(games) <= MAX_LEGEND:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return figure_png(figure, COLORS)


def compared_boxes(
    panels: Mapping[str, Sequence[NDArray[Any]]],
    names: Sequence[str],
    sources: Sequence[str],
    label: str,
    columns: int = 2,
    same_scale: Literal["all", "row", "col"] = "all",
) -> bytes:
    """Draw box plots of several sources beside each other, as a PNG file.

    A box has the quartiles and the median; its whiskers reach the farthest values within 1.5 times
    the height of the box. All values are drawn as points.

    Args:
        panels: values of each source, by title of the panel. Shape `[values, agents]`; a panel may
            have fewer agents than there are names.
        names: names of the agents.
        sources: names of the sources, for the legend.
        label: label of the y axes.
        columns: number of panels in a row.
        same_scale: which panels have the same y axis: `"all"`, or those of a `"row"` or `"col"`.
    """
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(5.0 * columns, 3.2 * rows), dpi=DPI, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharey=same_scale).flat
    width = 0.8 / len(sources)
    for k, (axes, (title, all_values)) in enumerate(zip(grid, panels.items(), strict=False)):
        agents = np.arange(all_values[0].shape[1])
        for source, values in enumerate(all_values):
            x, color = agents + (source - (len(sources) - 1) / 2) * width, f"C{source}"
            axes.boxplot(
                values,
                positions=x,
                widths=0.8 * width,
                showfliers=False,  # all values are plotted below
                medianprops={"color": color, "linewidth": 2},
                **{part: {"color": color} for part in ("boxprops", "whiskerprops", "capprops")},
            )
            axes.plot(
                np.broadcast_to(x, values.shape), values, "o", color=color, markersize=3, alpha=0.6
            )
            axes.plot([], [], color=color, linewidth=2, label=sources[source])
        axes.set_xticks(agents, names[: len(agents)])
        axes.set_title(title, fontsize=11)
        axes.grid(axis="y", alpha=0.3)
        if k % columns == 0:
            axes.set_ylabel(label)
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside upper center", frameon=False,
        ncols=len(sources),
    )  # fmt: skip
    return figure_png(figure, COLORS)


def shorten(name: str, length: int = 36) -> str:
    """Return a name of at most `length` characters; a longer one has `…` instead of its middle."""
    start = length // 3
    return name if len(name) <= length else f"{name[:start]}…{name[1 - length + start :]}"


def heat_map(fractions: NDArray[np.float64], names: Sequence[str], score_name: str) -> bytes:
    """Draw pairwise results as a PNG file: percentages of the row's agent against the column's.

    Agents are in descending order of their sums of fractions.

    Args:
        fractions: fractions of points, row against column, 0 on the diagonal. Shape
            `[agents, agents]`.
        names: names of the agents.
        score_name: name of the fractions, for the title.
    """
    n, order = len(names), np.argsort(-fractions.sum(1), kind="stable")
    names, fractions = [names[a] for a in order], fractions[order][:, order]
    percentages = np.where(np.eye(n, dtype=bool), np.nan, 100 * fractions)
    cell = min(0.5, 6.5 / n)
    figure, axes = _figure(2.6 + 1.2 * cell * n, 1.9 + cell * n)
    image = axes.imshow(percentages, cmap="RdBu", vmin=0, vmax=100, aspect="auto")
    axes.set_facecolor("#eeeeee")
    axes.set_xticks(range(n), names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(n), names)
    if n <= MAX_ANNOTATED:
        for a in range(n):
            for b in range(n):
                if a != b:
                    is_dark = abs(percentages[a, b] - 50) > 30  # the ends of the color map are dark
                    axes.text(
                        b,
                        a,
                        f"{percentages[a, b]:.0f}",
                        ha="center",
                        va="center",
                        color="white" if is_dark else "black",
                        fontsize=min(10, 22 * cell),
                    )
    figure.colorbar(image, ax=axes, label="%")
    axes.set_title(f"{score_name} of the row against the column, %", fontsize=11)
    return figure_png(figure, COLORS)


def rating_plot(ratings: Ratings, names: Sequence[str]) -> bytes:
    """Draw the ratings with their intervals as a PNG file, the best on top."""
    order = np.argsort(ratings.elo, kind="stable")
    figure, axes = _figure(8.0, 1.5 + 0.38 * len(names))
    elo, rows = ratings.elo[order], np.arange(len(names))
    errors = np.stack([elo - ratings.low[order], ratings.high[order] - elo])
    axes.errorbar(elo, rows, xerr=errors, fmt="o", color=BLUE, ecolor=GRAY, capsize=4)
    for row, x in zip(rows, elo, strict=True):
        axes.annotate(
            f"{x:+.0f}", (x, row), (0, 6), textcoords="offset points", ha="center", fontsize=8
        )
    axes.set_yticks(rows, [names[a] for a in order])
    axes.set_ylim(-0.6, len(names) - 0.3)
    axes.axvline(0, color=GRAY, linewidth=0.8, linestyle=":")
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("Elo, mean 0, with 95 % intervals")
    axes.set_title("Ratings over all games")
    return figure_png(figure, COLORS)


def rating_distribution(
    names: Sequence[str],
    ratings: Sequence[Ratings],
    types: Sequence[str],
    colors: Mapping[str, str],
) -> bytes:
    """Draw a histogram of ratings, and below it each rating with its interval, as a PNG file.

    Args:
        names: names of the agents, in the order in which they are drawn.
        ratings: rating of each agent.
        types: type of each agent.
        colors: color of each type, in the order of the legend.
    """
    elo = [float(rating.elo) for rating in ratings]
    figure = Figure(figsize=(7.5, 8), dpi=DPI, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1, 3))
    edges = np.arange(BIN * np.floor(min(elo) / BIN), max(elo) + BIN, BIN)
    above.hist(
        [[e for e, t in zip(elo, types, strict=True) if t == kind] for kind in colors],
        bins=edges.tolist(), stacked=True, color=list(colors.values()), label=list(colors),
    )  # fmt: skip
    above.set_ylabel("agents")
    above.legend(fontsize="small")
    for k, (rating, kind) in enumerate(zip(ratings, types, strict=True)):
        low, high = float(rating.elo - rating.low), float(rating.high - rating.elo)
        below.errorbar(
            float(rating.elo), k, xerr=[[low], [high]], color=colors[kind], marker="o",
            markersize=4, capsize=2,
        )  # fmt: skip
    below.set_yticks(range(len(names)), names, fontsize="small")
    below.invert_yaxis()
    below.set_xlabel("Elo, 95 % interval")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    return figure_png(figure, colors=64)


def rank_plot(
    mean_ranks: NDArray[np.float64], names: Sequence[str], critical_difference: float
) -> bytes:
    """Draw the critical difference diagram of Demsar (see `statistics.ranks`) as a PNG file.

    Agents are points on an axis of mean ranks; bars below it join agents without significant
    differences. Units of the axes are ranks for x, and 0.42 inches for y.

    Args:
        mean_ranks: mean rank of each agent over the games, 1 for the best. Shape `[agents]`.
        names: names of the agents.
        critical_difference: minimum significant difference of mean ranks.
    """
    n = len(names)
    order = np.argsort(mean_ranks, kind="stable")
    bars = groups(mean_ranks, critical_difference)
    num_left = (n + 1) // 2  # names of the better half are on the left, the others on the right
    depth = 1.0 + 0.35 * len(bars)  # distance of the first name below the axis
    lowest = depth + 0.6 * max(num_left - 1, n - num_left - 1)  # distance of the last name
    # The axis numbers and the bar of the critical difference are above the axis, up to y = 1.4.
    figure, axes = _figure(9.0, 1.4 + 0.42 * (lowest + 1.4))
    margin = 0.15 * (n - 1)
    axes.set_xlim(1 - margin, n + margin)
    axes.set_ylim(-lowest - 0.4, 1.4)
    axes.axis("off")
    axes.plot([1, n], [0, 0], color="black", linewidth=1)
    for rank in range(1, n + 1):
        axes.plot([rank, rank], [0, 0.15], color="black", linewidth=1)
        axes.text(rank, 0.22, str(rank), ha="center", va="bottom")
    axes.plot([1, min(1 + critical_difference, n + margin)], [1.0, 1.0], color=GRAY, linewidth=2)
    label = f"critical difference {critical_difference:.2f}"
    axes.text(1, 1.1, label, color=GRAY, va="bottom", fontsize=9)
    for position, a in enumerate(order):
        rank = mean_ranks[a]
        on_left = position < num_left
        row = position if on_left else n - 1 - position
        y, x = -(depth + 0.6 * row), (1 if on_left else n)
        axes.plot([rank, rank, x], [0, y, y], color=GRAY, linewidth=0.8)
        axes.plot(rank, 0, "o", color=BLUE, markersize=5, zorder=3)
        text = f"{names[a]} {rank:.2f}" if on_left else f"{rank:.2f} {names[a]}"
        axes.annotate(
            text,
            (x, y),
            (-4 if on_left else 4, 0),
            textcoords="offset points",
            ha="right" if on_left else "left",
            va="center",
        )
    ordered = mean_ranks[order]
    for k, (low, high) in enumerate(bars):
        y = -0.4 - 0.35 * k
        axes.plot([ordered[low] - 0.03, ordered[high] + 0.03], [y, y], color=BLUE, linewidth=4)
    axes.set_title("Mean ranks, 1 the best; bars join agents that do not differ significantly")
    return figure_png(figure, COLORS)


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    return figure, figure.add_subplot()

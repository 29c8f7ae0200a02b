"""Learning curve of a reinforcement learning run: results of its evaluations, and losses."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ludoteca.evaluate.figures import figure_png
from ludoteca.evaluate.seat_results import has_mean_returns, seat_names
from ludoteca.train.algorithm import NOBODY, SELF_PLAY_RETURN
from ludoteca.train.evaluation import MEAN_RETURN
from ludoteca.train.loop import RLTraining
from ludoteca.train.metrics import Row

COLORS = ("#1f77d0", "#d6452b", "#2a9d5c", "#8a5cc2", "#c98a1b", "#5b6770")
GRAY = "#888888"


def draw_curve(training: RLTraining, results: dict[str, Any]) -> bytes:
    """Return the curves of evaluation results and losses, as a PNG file.

    The results are win rates, or mean returns in games that are not zero-sum.

    Args:
        training: the run.
        results: contents of `results.json`.
    """
    metrics, algorithm = training.metrics.rows, training.algorithm
    figure = Figure(figsize=(7.5, 6), dpi=120, layout="constrained")
    axes, loss_axes = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    if has_mean_returns(training.game):
        _draw_returns(axes, training, results)
    else:
        _draw_win_rates(axes, training)
    selected_games = training.selected["games"]
    axes.axvline(selected_games, color=GRAY, linestyle=":", linewidth=1, label="selected")
    partner = algorithm.report_text().partner
    with_partner = "" if partner == NOBODY else f" with {partner}"
    axes.set_title(f"{training.config.game}{with_partner}")
    axes.legend(loc="lower right", fontsize="small")
    for name, color in zip(algorithm.plotted_losses, ("#5b6770", "#c98a1b"), strict=False):
        loss_axes.plot(
            *points(metrics, name), color=color, linewidth=1, label=name.replace("_", " ")
        )
    loss_axes.legend(loc="upper right", fontsize="small")
    loss_axes.set_xlabel("games learned from")
    loss_axes.xaxis.set_major_formatter(lambda x, position: f"{x:,.0f}")
    for panel in (axes, loss_axes):
        panel.grid(alpha=0.3)
    return figure_png(figure)


def _draw_win_rates(axes: Axes, training: RLTraining) -> None:
    """Draw the win rates against each opponent and in training, in percent."""
    metrics, seats = training.metrics.rows, seat_names(training.game)
    names = [f"{opponent}__{seat}" for opponent in training.algorithm.opponents() for seat in seats]
    for name, color in zip(names, COLORS * len(names), strict=False):
        steps, rates = points(metrics, name)
        percentages = [100 * rate for rate in rates]
        axes.plot(steps, percentages, color=color, marker=".", label=_label(name))
    for seat, color in zip(seats, COLORS, strict=False):
        steps, rates = points(metrics, f"training__{seat}")
        if steps:
            percentages = [100 * rate for rate in rates]
            label = f"{seat}, in training"
            axes.plot(steps, percentages, color=color, alpha=0.35, linewidth=1, label=label)
    axes.set_ylabel("games won, %")
    axes.set_ylim(-2, 102)


def _draw_returns(axes: Axes, training: RLTraining, results: dict[str, Any]) -> None:
    """Draw the mean returns in evaluations and in training, and those of other agents."""
    metrics, game = training.metrics.rows, training.game
    labels = {MEAN_RETURN: "evaluation"}
    if game.num_players > 1:
        labels = {
            f"{opponent}__{seat}_return": _label(f"{opponent}__{seat}")
            for opponent in training.algorithm.opponents()
            for seat in seat_names(game)
        }
    for (name, label), color in zip(labels.items(), COLORS * len(labels), strict=False):
        axes.plot(*points(metrics, name), color=color, marker=".", label=label)
    steps, returns = points(metrics, SELF_PLAY_RETURN)
    if steps:
        axes.plot(steps, returns, color=GRAY, linewidth=1, label="in training, without opponents")
    for baseline in results["baselines"]:
        mean_return = baseline["seats"][0]["mean_return"]
        axes.axhline(mean_return, color="black", linestyle="--", label=baseline["agent"])
    axes.set_ylabel("mean return")
    axes.set_ylim(-1.04, 1.04)


def _label(name: str) -> str:
    """Return the label of a metric `{opponent}__{seat}`."""
    opponent, seat = name.rsplit("__", 1)
    return f"against {opponent}" if seat == "any" else f"{seat} against {opponent}"


def points(metrics: list[Row], name: str) -> tuple[list[float], list[float]]:
    """Return the steps and values of a metric."""
    pairs = [(row["step"], row[name]) for row in metrics if row.get(name) is not None]
    return [float(step or 0) for step, _ in pairs], [float(value or 0) for _, value in pairs]

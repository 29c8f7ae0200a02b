"""Report of a tuning run: tables for the terminal, and a folder with JSON and a figure."""

from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from ludoteca.evaluate.figures import figure_png
from ludoteca.evaluate.tuning.result import TuningResult
from ludoteca.files import write_atomically
from ludoteca.provenance import run_provenance
from ludoteca.terminal_table import TerminalTable


def values_table(result: TuningResult) -> TerminalTable:
    """Return the table of the starting and recommended values of the parameters."""
    how = f"{result.games:,} games in {len(result.evaluations):,} evaluations"
    table = TerminalTable(
        ["parameter", "start", "tuned"],
        title=f"{result.game}: {how if result.evaluations else 'trained weights'}",
    )
    for name, value in result.values.items():
        table.add(name, result.start_values[name], value)
    return table


def matches_table(result: TuningResult) -> TerminalTable:
    """Return the table of the final matches of the tuned agent; scores with 95 % intervals."""
    table = TerminalTable(
        ["opponent", "games", "wins", "draws", "losses", "score %", "95 % interval", "Elo"],
        title=f"{result.agent} against",
        caption="games that the optimizer did not use; a draw counts as half a win",
    )
    for match in result.matches:
        games = match.wins + match.draws + match.losses
        low, high = match.interval
        table.add(
            "agent with starting values" if match.opponent == result.start else match.opponent,
            f"{games:,}",
            str(match.wins),
            str(match.draws),
            str(match.losses),
            f"{100 * match.score:.1f}",
            f"{100 * low:.1f} to {100 * high:.1f}",
            "-" if match.elo is None else f"{match.elo:+.0f}",
        )
    return table


def errors_table(result: TuningResult) -> TerminalTable:
    """Return the table of the errors of playout weights in positions that were not in training."""
    table = TerminalTable(
        ["playouts", "squared error", "log-likelihood"],
        title="test positions",
        caption="of the mean return of playouts, and of the moves of the searches",
    )
    for name, errors in result.errors.items():
        table.add(name, f"{errors['squared_error']:.3f}", f"{errors['log_likelihood']:.2f}")
    return table


def write_report(result: TuningResult, folder: Path) -> None:
    """Write `tuning.json` and, if there are evaluations, `tuning.png` to a folder."""
    content = tuning_json(result) | run_provenance()
    write_atomically(folder / "tuning.json", dumps(content, indent=2) + "\n")
    if result.evaluations:
        write_atomically(folder / "tuning.png", tuning_png(result))


def tuning_json(result: TuningResult) -> dict[str, Any]:
    """Return the result as JSON values, with the number of evaluations, which are in the log."""
    return {
        "game": result.game,
        "agent": result.agent,
        "values": result.values,
        "start": result.start,
        "start_values": result.start_values,
        "evaluations": len(result.evaluations),
        "games": result.games,
        "matches": [asdict(match) for match in result.matches],
    } | ({"errors": result.errors} if result.errors else {})


def tuning_png(result: TuningResult) -> bytes:
    """Return a PNG figure of the evaluated values: a row per parameter, scores as colors."""
    parameters = result.parameters
    figure = Figure(figsize=(7, 0.8 + 1.8 * len(parameters)), layout="constrained")
    rows = figure.subplots(len(parameters), 1, sharex=True, squeeze=False)[:, 0]
    numbers = range(1, len(result.evaluations) + 1)
    scores = [evaluation.score for evaluation in result.evaluations]
    for parameter, axes in zip(parameters, rows, strict=True):
        texts = [evaluation.values[parameter.name] for evaluation in result.evaluations]
        choices = {text: k for k, text in enumerate(parameter.choices)}  # choice -> y coordinate
        values = [choices[text] if choices else float(text) for text in texts]
        best = result.values[parameter.name]
        points = axes.scatter(numbers, values, c=scores, cmap="viridis", s=12, vmin=0, vmax=1)
        axes.axhline(choices[best] if choices else float(best), color="tab:red", linewidth=1)
        axes.set_ylabel(parameter.name)
        if choices:
            axes.set_yticks(range(len(choices)), choices)
        if parameter.is_log:
            axes.set_yscale("log")
    rows[-1].set_xlabel("evaluation (line: recommended value)")
    figure.colorbar(points, ax=list(rows), label="score")
    return figure_png(figure)

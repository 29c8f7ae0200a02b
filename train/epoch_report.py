"""Report of a supervised training run: results, learning curve and text."""

from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ludoteca.evaluate.figures import figure_png
from ludoteca.evaluate.markdown import table
from ludoteca.files import write_atomically
from ludoteca.terminal_table import TerminalTable
from ludoteca.train.epochs import SupervisedTraining
from ludoteca.train.learning_curve import points
from ludoteca.train.report import provenance_section, run_description, write_card, write_results

COLORS = {"training": "#5b6770", "validation": "#1f77d0"}


@dataclass(frozen=True)
class ValidationReport:
    """Validation results of a training run, for its report.

    Attributes:
        title: title of the report.
        introduction: paragraph about the data.
        data: description of the data, as JSON values.
        validation: validation results of the best network, as JSON values.
        headings: headings of their table.
        rows: rows of their table, as texts.
        notes: paragraph that explains the headings.
        panels: panels of the learning curve: label, and name of the metrics after `training_` and
            `validation_`.
    """

    title: str
    introduction: str
    data: dict[str, Any]
    validation: list[dict[str, Any]]
    headings: tuple[str, ...]
    rows: list[tuple[str, ...]]
    notes: str
    panels: tuple[tuple[str, str], ...]


def write_supervised_report(
    training: SupervisedTraining, findings: ValidationReport
) -> dict[str, Any]:
    """Write all files of a training run; return the content of `results.json`.

    Adds a model card to `best.safetensors`; writes `learning_curve.png` and `report.md`, and
    `results.json` if the training is finished, or else `results_so_far.json`.
    """
    folder = training.config.run_dir
    results = run_description(training.game, training.config) | {
        "data": findings.data,
        "training": {
            "epochs": training.epoch,
            "best": training.selected,
            "seconds": round(training.seconds, 1),
            "precision": training.precision,
            "finished": training.finished,
        },
        "validation": findings.validation,
        "metrics": training.metrics.rows,
    }
    write_card(folder / "best.safetensors", results, ("data", "training", "validation"))
    write_results(folder, results, training.finished)
    write_atomically(folder / "learning_curve.png", _draw(training, findings))
    write_atomically(folder / "report.md", _describe(results, findings))
    return results


def validation_table(findings: ValidationReport) -> TerminalTable:
    """Return the validation results as a table for the terminal."""
    terminal_table = TerminalTable(findings.headings, title="validation of the best network")
    for row in findings.rows:
        terminal_table.add(*row)
    return terminal_table


def _draw(training: SupervisedTraining, findings: ValidationReport) -> bytes:
    """Return the learning curve as PNG."""
    panels = findings.panels
    figure = Figure(figsize=(7, 1 + 3 * len(panels)), layout="constrained", dpi=110)
    all_axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (label, metric) in zip(all_axes, panels, strict=True):
        for split, color in COLORS.items():
            curve = points(training.metrics.rows, f"{split}_{metric}")
            if curve[0]:
                axes.plot(*curve, color=color, marker=".", label=split)
        epoch = training.selected["epoch"]
        axes.axvline(epoch, color="#888888", linestyle=":", linewidth=1, label="selected")
        axes.set_ylabel(label)
        axes.legend(fontsize="small")
        axes.grid(alpha=0.3)
    all_axes[-1].set_xlabel("epochs")
    all_axes[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure_png(figure)


def _describe(results: dict[str, Any], findings: ValidationReport) -> str:
    """Return the report as Markdown."""
    training = results["training"]
    return f"""# {findings.title}

{findings.introduction}

## Validation

{table(findings.headings, findings.rows)}

{findings.notes}

## Learning

![Learning curve](learning_curve.png)

{training["epochs"]} epochs in {training["seconds"]:,.0f} seconds, validation included. The network
of epoch {training["best"]["epoch"]} was selected, {_reason(training)}.

{provenance_section(results)}"""


def _reason(training: dict[str, Any]) -> str:
    """Return the reason for the selection of the network."""
    if "loss" not in training["best"]:
        reason = "the last one, as no epoch was finished"
    else:
        reason = "as it has the lowest validation loss"
    if training["finished"]:
        return reason
    return reason + "; the training was stopped before its end,\nand the same command resumes it"

"""Training a value network to its end, with a progress bar and a report."""

import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ludoteca.train.value_network.config import Config
from ludoteca.train.value_network.report import HEADINGS, finish, rows
from ludoteca.train.value_network.training import Training


def train(config: Config, progress: bool = False, tensorboard: bool = True) -> Path | None:
    """Train a network and write the report.

    Args:
        config: the settings.
        progress: show how it goes on standard error, and the results on standard output.
        tensorboard: whether TensorBoard's files are written.

    Returns:
        The file of the best network, or None if time was up before the end.
    """
    training, start = Training(config, tensorboard), time.monotonic()
    size = training.positions_per_epoch
    with _bar(disable=not progress) as bar:
        task = bar.add_task("", total=config.epochs * size, completed=training.epoch * size)
        before = training.epoch
        for seen in training.run():
            bar.update(task, completed=before * size + seen, description=_describe(training))
            if training.epoch > before:
                before = training.epoch
                if config.minutes and time.monotonic() - start > 60 * config.minutes:
                    break
    training.metrics.close()
    if not training.finished:
        print(f"{training.epoch} of {config.epochs} epochs; the same command goes on")
        return None
    results = finish(training)
    if progress:
        Console().print(_table(results), highlight=False)
        print(f"report: {config.folder / 'report.md'}")
    return config.folder / "best.safetensors"


def _describe(training: Training) -> str:
    if not training.metrics.rows:
        return ""
    last = training.metrics.rows[-1]
    return (
        f"epoch {training.epoch}: error {last['training_loss']:.3f}, "
        f"in validation {last['validation_loss']:.3f}"
    )


def _table(results: dict[str, Any]) -> Table:
    shown = Table(title="the best network in validation")
    for k, heading in enumerate(HEADINGS):
        shown.add_column(heading, justify="left" if k == 0 else "right")
    for row in rows(results):
        shown.add_row(*row)
    return shown


def _bar(disable: bool) -> Progress:
    columns = (BarColumn(), TextColumn("{task.percentage:.0f} %"), TimeRemainingColumn())
    shown = TextColumn("{task.description}")
    return Progress(*columns, shown, console=Console(stderr=True), disable=disable)

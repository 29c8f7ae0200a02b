"""What the commands that train have in common: a progress bar, a time limit, and the end."""

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ludoteca.train.epoch_report import Findings, findings_table, finish_epochs
from ludoteca.train.epochs import EpochTraining
from ludoteca.train.loop import RoundTraining
from ludoteca.train.report import Subject, finish, results_table
from ludoteca.train.settings import EpochConfig, RoundConfig

Training = TypeVar("Training", bound=RoundTraining)
InEpochs = TypeVar("InEpochs", bound=EpochTraining)
Config = TypeVar("Config", bound=RoundConfig | EpochConfig)


def train(training: Training, subject: Callable[[Training], Subject]) -> dict[str, Any] | None:
    """Train to the end or until time is up, and show how it goes; then write the report.

    Args:
        training: a run.
        subject: tells of a finished run what its report is about.

    Returns:
        What is in `results.json`, or None if time was up before.
    """
    config, start = training.config, time.monotonic()
    with _bar() as progress:
        task = progress.add_task("", total=config.games, completed=training.games)
        for games in training.run():
            progress.update(task, completed=games, description=describe(training))
            if config.minutes and time.monotonic() - start > 60 * config.minutes:
                break
    if not training.finished:
        training.save()
    training.metrics.close()
    if not training.finished:
        print(f"{training.games:,} of {config.games:,} games; the same command goes on")
        return None
    results = finish(training, subject(training))
    Console().print(results_table(results), highlight=False)
    print(f"report: {config.folder / 'report.md'}")
    return results


def train_epochs(
    training: InEpochs, find: Callable[[InEpochs], Findings], progress: bool = True
) -> dict[str, Any] | None:
    """Train in epochs to the end or until time is up; then write the report.

    Args:
        training: a run.
        find: measures the best network of a finished run.
        progress: show how it goes on standard error, and the results on standard output.

    Returns:
        What is in `results.json`, or None if time was up before.
    """
    config, start = training.config, time.monotonic()
    size, before = training.positions_per_epoch, training.epoch
    with _epochs_bar(disable=not progress) as bar:
        task = bar.add_task("", total=config.epochs * size, completed=before * size)
        for seen in training.run():
            bar.update(task, completed=before * size + seen, description=_last_epoch(training))
            if training.epoch > before:
                before = training.epoch
                if config.minutes and time.monotonic() - start > 60 * config.minutes:
                    break
    training.metrics.close()
    if not training.finished:
        print(f"{training.epoch} of {config.epochs} epochs; the same command goes on")
        return None
    findings = find(training)
    results = finish_epochs(training, findings)
    if progress:
        Console().print(findings_table(findings), highlight=False)
        print(f"report: {config.folder / 'report.md'}")
    return results


def parse_preset(
    name: str, description: str | None, modern: Config, document: Config, arguments: Sequence[str]
) -> Config:
    """Read a command line: a preset, `modern` if none is named, and settings that differ.

    Args:
        name: of the module.
        description: what it does.
        modern: the preset that learns well.
        document: the preset of the document.
        arguments: of the command.
    """
    about = f"{(description or '').strip()}\n\nShown are the settings of the preset"
    presets = {
        "modern": (
            f"{about} `modern`, what learns well, which is meant if none is named. There is also "
            "`document`, what the document did: `document --help`.",
            modern,
        ),
        "document": (f"{about} `document`, what the document did.", document),
    }
    named = arguments[:1] and arguments[0] in presets
    config: Config = tyro.extras.overridable_config_cli(
        presets,
        prog=f"python -m {name}",
        args=arguments if named else ["modern", *arguments],
    )
    return config


def run_command(name: str, main: Callable[[], Any]) -> None:
    """Run a command; bad settings end it with a message."""
    try:
        main()
    except (ValueError, OSError) as error:
        sys.exit(f"{name}: {error}")
    except KeyboardInterrupt:
        sys.exit("interrupted; the same command goes on from the last checkpoint")


def describe(training: RoundTraining) -> str:
    """Tell how the last evaluation went."""
    for row in reversed(training.metrics.rows):
        rates = {
            name: rate
            for name, rate in row.items()
            if name.endswith(("__first", "__second", "__any")) and not name.startswith("training")
        }
        if rates:
            return ", ".join(
                f"{name.removesuffix('__any').replace('__', ' as ')} {100 * rate:.1f} %"
                for name, rate in rates.items()
                if rate is not None
            )
    return ""


def _last_epoch(training: EpochTraining) -> str:
    """Tell how the last epoch went."""
    if not training.metrics.rows:
        return ""
    last = training.metrics.rows[-1]
    return (
        f"epoch {training.epoch}: loss {last['training_loss']:.3f}, in validation "
        f"{last['validation_loss']:.3f}, accuracy {100 * (last['validation_accuracy'] or 0):.1f} %"
    )


def _epochs_bar(disable: bool) -> Progress:
    """Return a progress bar on standard error, if one is wanted."""
    columns = (BarColumn(), TextColumn("{task.percentage:.0f} %"), TimeRemainingColumn())
    shown = TextColumn("{task.description}")
    return Progress(*columns, shown, console=Console(stderr=True), disable=disable)


def _bar() -> Progress:
    """Return a progress bar on standard error."""
    return Progress(
        BarColumn(),
        TextColumn("{task.completed:,} of {task.total:,} games"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=Console(stderr=True),
    )

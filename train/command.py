"""What the commands that train have in common: a progress bar, a time limit, and the end."""

import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ludoteca.train.loop import RoundTraining
from ludoteca.train.report import Subject, finish, results_table

Training = TypeVar("Training", bound=RoundTraining)


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
            if name.endswith(("__first", "__second")) and not name.startswith("training")
        }
        if rates:
            return ", ".join(
                f"{name.replace('__', ' as ')} {100 * rate:.1f} %"
                for name, rate in rates.items()
                if rate is not None
            )
    return ""


def _bar() -> Progress:
    """Return a progress bar on standard error."""
    return Progress(
        BarColumn(),
        TextColumn("{task.completed:,} of {task.total:,} games"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=Console(stderr=True),
    )

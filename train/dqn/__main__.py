"""Deep Q-learning with experience replay.

`python -m ludoteca.train.dqn` learns with what has proved useful since the document: target
network, double, dueling, several steps, prioritized replay, masked negamax targets.
`python -m ludoteca.train.dqn document` has the settings of Tanaka, "Inteligencia artificial para o
jogo de Hex" (2018). All settings can be changed; the defaults below are those of the preset. An
interrupted run goes on, to the same result, when the same command is given again.
"""

import sys
import time
from collections.abc import Sequence
from typing import Any

import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ludoteca.train.dqn.config import DOCUMENT, MODERN, Config
from ludoteca.train.dqn.report import finish, results_table
from ludoteca.train.dqn.training import Training

PRESETS = {
    "modern": ("What learns well.", MODERN),
    "document": ("What the document did.", DOCUMENT),
}


def main(config: Config) -> dict[str, Any] | None:
    """Train, evaluate the best network, and write the report.

    Returns:
        What is in `results.json`, or None if time was up before.
    """
    training = Training(config)
    start = time.monotonic()
    with bar() as progress:
        task = progress.add_task("", total=config.games, completed=training.games)
        for games in training.run():
            progress.update(task, completed=games, description=describe(training))
            if config.minutes and time.monotonic() - start > 60 * config.minutes:
                break
    if not training.finished:
        training.save()
        training.metrics.close()
        print(f"{training.games:,} of {config.games:,} games; the same command goes on")
        return None
    training.metrics.close()
    results = finish(training)
    Console().print(results_table(results), highlight=False)
    print(f"report: {config.folder / 'report.md'}")
    return results


def bar() -> Progress:
    """Return a progress bar on standard error."""
    return Progress(
        BarColumn(),
        TextColumn("{task.completed:,} of {task.total:,} games"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=Console(stderr=True),
    )


def describe(training: Training) -> str:
    """Tell how the last evaluation went."""
    for row in reversed(training.metrics.rows):
        tested = {
            name: rate for name, rate in row.items() if name.endswith(("__first", "__second"))
        }
        rates = {name: rate for name, rate in tested.items() if not name.startswith("training")}
        if rates:
            return ", ".join(
                f"{name.replace('__', ' as ')} {100 * rate:.1f} %"
                for name, rate in rates.items()
                if rate is not None
            )
    return ""


def parse(arguments: Sequence[str]) -> Config:
    """Read a command line: a preset, `modern` if none is named, and settings that differ."""
    named = arguments[:1] and arguments[0] in PRESETS
    config: Config = tyro.extras.overridable_config_cli(
        PRESETS,
        prog="python -m ludoteca.train.dqn",
        args=arguments if named else ["modern", *arguments],
        description=__doc__,
    )
    return config


if __name__ == "__main__":
    try:
        main(parse(sys.argv[1:]))
    except (ValueError, OSError) as error:
        sys.exit(f"ludoteca.train.dqn: {error}")
    except KeyboardInterrupt:
        sys.exit("interrupted; the same command goes on from the last checkpoint")

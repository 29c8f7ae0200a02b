"""Command for recorded games: generation, conversion and verification.

`python -m ludoteca.train.data generate --game othello --agents mcts random --games 1000` plays
games; `convert episodes.zip --out runs/real.npz` reads the episodes of Kaggle's competition, tables
and files of games; `verify runs/real.npz` replays a file of games.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ludoteca.train.command import run_command
from ludoteca.train.data.convert import ConversionConfig, ConversionReport, convert, count_samples
from ludoteca.train.data.dataset import GameDataset
from ludoteca.train.data.generate import GenerationConfig, generate
from ludoteca.train.data.storage import load_dataset


@dataclass(frozen=True)
class VerificationConfig:
    """Settings of a verification."""

    files: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Files of games, `.npz` or `.csv`."""


Command = (
    Annotated[GenerationConfig, tyro.conf.subcommand("generate", description="Play games.")]
    | Annotated[ConversionConfig, tyro.conf.subcommand("convert", description="Convert files.")]
    | Annotated[VerificationConfig, tyro.conf.subcommand("verify", description="Replay games.")]
)


def main(command: GenerationConfig | ConversionConfig | VerificationConfig) -> None:
    """Run a command, and print a summary of the games."""
    if isinstance(command, VerificationConfig):
        for path in command.files:
            _print_summary(path, load_dataset(path))
    elif isinstance(command, GenerationConfig):
        _print_summary(command.out, generate(command, progress=not command.print_games))
    else:
        dataset, report = convert(command, progress=True)
        _print_summary(command.out, dataset, report.agents)
        _print_skipped(command, report)


def _print_summary(
    path: Path, dataset: GameDataset, agents: dict[str, dict[str, int]] | None = None
) -> None:
    """Print the number of games, and the numbers of samples of each agent.

    Args:
        path: the file of the games.
        dataset: the games.
        agents: numbers of samples, see `count_samples`; None: they are counted here.
    """
    table = Table("agent", "seats", "actions to learn from")
    for name, counts in (agents or count_samples(dataset)).items():
        table.add_row(Text(name or "(no name)"), f"{counts['seats']:,}", f"{counts['actions']:,}")
    Console().print(table)
    signs = np.sign(dataset.labels())
    fractions = ", ".join(
        f"{(signs == sign).mean():.1%} {name}"
        for sign, name in ((1, "positive"), (0, "zero"), (-1, "negative"))
    )
    print(
        f"{path}: {len(dataset):,} games (returns: {fractions}), "
        f"{len(dataset.actions) + len(dataset):,} positions, {path.stat().st_size:,} bytes"
    )


def _print_skipped(config: ConversionConfig, report: ConversionReport) -> None:
    """Print the files and games that were skipped."""
    print(
        f"of {report.found:,} games in the files, {len(report.skipped):,} could not be used and "
        f"{report.unselected:,} have no selected player; see {config.out.with_suffix('.json')}"
    )
    for source, reason in report.skipped:
        print(f"  {source}: {reason}")


if __name__ == "__main__":
    run_command(
        "ludoteca.train.data",
        lambda: main(tyro.cli(Command, prog="python -m ludoteca.train.data", description=__doc__)),
    )

"""Games in which all move at once, with who played, to learn moves and results from.

`python -m ludoteca.train.data generate --agents flat:simulations=125 --games 1000` lets agents
play Hungry Geese; `python -m ludoteca.train.data convert episodes.zip` reads the episodes of
Kaggle's competition.
"""

from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ludoteca.train.command import run_command
from ludoteca.train.data.convert import ConversionConfig, ConversionReport, convert, count_moves
from ludoteca.train.data.formats import TableConversion, load_games
from ludoteca.train.data.formats import convert as convert_table
from ludoteca.train.data.generate import GenerationConfig, generate
from ludoteca.train.data.generate_sequential import SequentialGenerationConfig
from ludoteca.train.data.generate_sequential import generate as generate_sequential

Command = (
    Annotated[GenerationConfig, tyro.conf.subcommand("generate", description="Play games.")]
    | Annotated[ConversionConfig, tyro.conf.subcommand("convert", description="Read episodes.")]
    | Annotated[SequentialGenerationConfig, tyro.conf.subcommand("generate-sequential")]
    | Annotated[TableConversion, tyro.conf.subcommand("convert-table")]
)


def main(
    command: GenerationConfig | ConversionConfig | SequentialGenerationConfig | TableConversion,
) -> None:
    """Generate or convert games, and print a summary."""
    if isinstance(command, SequentialGenerationConfig):
        _summarize(generate_sequential(command, progress=True))
        return
    if isinstance(command, TableConversion):
        _summarize(convert_table(command))
        return
    if isinstance(command, GenerationConfig):
        games = generate(command, progress=True)
        moves = count_moves(games)
    else:
        games, report = convert(command, progress=True)
        moves = report.agents
    table = Table("agent", "seats", "moves to learn from")
    for name, counts in moves.items():
        table.add_row(Text(name or "(no name)"), f"{counts['seats']:,}", f"{counts['moves']:,}")
    Console().print(table)
    size = command.out.stat().st_size
    print(f"{command.out}: {len(games):,} games, {len(games.actions):,} positions, {size:,} bytes")
    if isinstance(command, ConversionConfig):
        _tell(command, report)


def _summarize(path: Path) -> None:
    """Print how many games a file holds, and how they ended."""
    games = load_games(path)
    labels, size = games.labels(), path.stat().st_size
    shares = ", ".join(
        f"{(labels == value).mean():.1%} {name}"
        for value, name in ((1, "won"), (0, "drawn"), (-1, "lost"))
    )
    count = len(games) + len(games.actions)
    print(f"{path}: {len(games):,} games ({shares}), {count:,} positions, {size:,} bytes")


def _tell(conversion: ConversionConfig, report: ConversionReport) -> None:
    """Tell what was left out."""
    print(
        f"of {report.found:,} games found, {len(report.skipped):,} could not be used and "
        f"{report.unwanted:,} have no seat to learn from: {conversion.out.with_suffix('.json')}"
    )
    for place, reason in report.skipped:
        print(f"  {place}: {reason}")


if __name__ == "__main__":
    run_command(
        "ludoteca.train.data",
        lambda: main(tyro.cli(Command, prog="python -m ludoteca.train.data", description=__doc__)),
    )

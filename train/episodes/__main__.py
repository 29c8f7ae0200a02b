"""Games in which all move at once, with who played, to learn moves and results from.

`python -m ludoteca.train.episodes generate --agents flat:simulations=125 --games 1000` lets agents
play Hungry Geese; `python -m ludoteca.train.episodes convert episodes.zip` reads the episodes of
Kaggle's competition.
"""

from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ludoteca.train.command import run_command
from ludoteca.train.episodes.convert import Conversion, Report, convert, count_moves
from ludoteca.train.episodes.generate import Config, generate

Command = (
    Annotated[Config, tyro.conf.subcommand("generate", description="Play games.")]
    | Annotated[Conversion, tyro.conf.subcommand("convert", description="Read episode files.")]
)


def main(command: Config | Conversion) -> None:
    """Generate or convert, and tell what came of it."""
    if isinstance(command, Config):
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
    if isinstance(command, Conversion):
        _tell(command, report)


def _tell(conversion: Conversion, report: Report) -> None:
    """Tell what was left out."""
    print(
        f"of {report.found:,} games found, {len(report.skipped):,} could not be used and "
        f"{report.unwanted:,} have no seat to learn from: {conversion.out.with_suffix('.json')}"
    )
    for place, reason in report.skipped:
        print(f"  {place}: {reason}")


if __name__ == "__main__":
    run_command(
        "ludoteca.train.episodes",
        lambda: main(
            tyro.cli(Command, prog="python -m ludoteca.train.episodes", description=__doc__)
        ),
    )

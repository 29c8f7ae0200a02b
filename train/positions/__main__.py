"""Games of UCT with the results of all their positions, to learn values from.

`python -m ludoteca.train.positions generate --games 10000` lets UCT play against random moves;
`python -m ludoteca.train.positions convert games.npz datos_otelo.csv` turns one form of file into
another.
"""

from typing import Annotated

import tyro

from ludoteca.train.command import run_command
from ludoteca.train.positions.generate import Config, generate
from ludoteca.train.positions.storage import Conversion, convert, load_games

Command = (
    Annotated[Config, tyro.conf.subcommand("generate", description="Play games.")]
    | Annotated[Conversion, tyro.conf.subcommand("convert", description="Change a file's form.")]
)


def main(command: Config | Conversion) -> None:
    """Generate or convert, and tell what came of it."""
    path = generate(command, progress=True) if isinstance(command, Config) else convert(command)
    games = load_games(path)
    labels, size = games.labels(), path.stat().st_size
    shares = ", ".join(
        f"{(labels == value).mean():.1%} {name}"
        for value, name in ((1, "won"), (0, "drawn"), (-1, "lost"))
    )
    count = len(games) + len(games.actions)
    print(f"{path}: {len(games):,} games ({shares}), {count:,} positions, {size:,} bytes")


if __name__ == "__main__":
    run_command(
        "ludoteca.train.positions",
        lambda: main(
            tyro.cli(Command, prog="python -m ludoteca.train.positions", description=__doc__)
        ),
    )

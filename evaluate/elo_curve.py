"""Elo curve of a training run: ratings of its checkpoints, beside other agents.

`ludoteca rating runs/othello --against mcts:simulations=200` plays every copy against the ones
around it and against all the others, and writes `elo_curve.png`, `elo_curve.csv` and
`elo_curve.json` to the run's folder.
"""

import csv
import io
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np

from ludoteca.agents.networks.weights import load_weights
from ludoteca.envs.params import integer
from ludoteca.envs.registry import make_game
from ludoteca.envs.targets import names_from
from ludoteca.evaluate.cli.commands import Command, run_command
from ludoteca.evaluate.figures import figure_png
from ludoteca.evaluate.match import play_match, seat_agents
from ludoteca.evaluate.match_record import MatchRecord
from ludoteca.evaluate.statistics.ratings import rate
from ludoteca.executor import LOCAL, make_executor
from ludoteca.files import write_whole
from ludoteca.provenance import package_versions, run_info
from ludoteca.terminal_table import TerminalTable
from ludoteca.worker import resolving

NEIGHBORS = 2  # each copy plays so many later ones


@dataclass(frozen=True)
class RatedAgent:
    """A copy of the network, or another agent.

    Attributes:
        name: what it is called.
        agent: its spec string.
        games: after how many games of training; None of other agents.
        elo: its rating; the mean of all is 0.
        low: lower end of its 95 % interval.
        high: upper end.
    """

    name: str
    agent: str
    games: int | None
    elo: float = 0.0
    low: float = 0.0
    high: float = 0.0


def rate_checkpoints(
    run: Path,
    against: tuple[str, ...] = ("random",),
    agent: str = "az:path={path},simulations=32,precision=auto",
    games: int = 100,
    random_plies: int = 4,
    seed: int = 0,
    out: Path | None = None,
    processes: int | None = 1,
    executor: str = LOCAL,
) -> list[RatedAgent]:
    """Play the matches, and write the ratings.

    Args:
        run: folder of a training run with copies of its network (`--keep-every`).
        against: spec strings of other agents.
        agent: spec string of an agent with a copy, whose file takes the place of `{path}`.
        games: of each match.
        random_plies: at the beginning of each game, the same for both sides; networks would
            otherwise play the same game again and again.
        seed: of the matches.
        out: folder for the results; by default the run's.
        processes: how many matches are played side by side; with None as many as there are cores,
            or as the cluster has room for.
        executor: where they are played, see `ludoteca.executor.make_executor`.

    Returns:
        The copies, in the order of training, and the others.

    Raises:
        ValueError: if there is no copy, or an argument is wrong.
    """
    integer("games", games, 2, 10**6)
    if "{path}" not in agent:
        raise ValueError(f"agent needs {{path}} where the file goes, got {agent!r}")
    out = run if out is None else out
    copies = sorted(checkpoints_of(run))
    if not copies:
        raise ValueError(
            f"{run} has no copies of a network: train with --keep-every, or with "
            "`ludoteca train GAME --set keep_every=100`"
        )
    rated_agents = [
        RatedAgent(f"{count:,} games", agent.format(path=path), count) for count, path in copies
    ]
    rated_agents += [RatedAgent(spec, spec, None) for spec in against]
    with names_from(copies[0][1]):
        game = make_game(load_weights(copies[0][1])[1]["game"])
    wins, draws = np.zeros((2, len(rated_agents), len(rated_agents)))
    pairs = [
        (i, j)
        for i, j in combinations(range(len(rated_agents)), 2)
        if i < len(copies) and (j >= len(copies) or j - i <= NEIGHBORS)
    ]
    tasks = (
        partial(
            _play,
            game.spec,
            (rated_agents[i].agent, rated_agents[j].agent),
            games,
            seed,
            random_plies,
        )
        for i, j in pairs
    )
    with make_executor(executor, processes, len(pairs)) as workers:
        for (i, j), total in zip(_shown(pairs), workers.run(tasks), strict=True):
            wins[i, j], wins[j, i] = total.wins, total.losses
            draws[i, j] = draws[j, i] = total.draws
    ratings = rate(wins, draws)
    rated = [
        replace(one, elo=float(elo), low=float(low), high=float(high))
        for one, elo, low, high in zip(
            rated_agents, ratings.elo, ratings.low, ratings.high, strict=True
        )
    ]
    _write(rated, out, game.spec, games)
    return rated


def _play(
    game: str, agents: tuple[str, str], games: int, seed: int, random_plies: int
) -> MatchRecord:
    """Play a match; return the games of its first agent."""
    with resolving(game, *agents):
        made = make_game(game)
        pair = seat_agents(made, agents)
    return play_match(made, pair, games, seed=seed, random_plies=random_plies).totals[0]


def checkpoints_of(run: Path) -> Iterator[tuple[int, Path]]:
    """Yield after how many games each copy was made, and its file."""
    for path in (run / "kept").glob("games-*.safetensors"):
        yield int(path.stem.removeprefix("games-")), path


def draw(rated_agents: Sequence[RatedAgent]) -> bytes:
    """Draw the ratings of the copies over the games of training, and the others as lines."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), dpi=110, layout="constrained")
    axes = figure.subplots()
    copies = [one for one in rated_agents if one.games is not None]
    elo = np.array([one.elo for one in copies])
    reach = np.array([[one.elo - one.low, one.high - one.elo] for one in copies]).T
    steps = [one.games or 0 for one in copies]
    axes.errorbar(steps, elo, yerr=reach, fmt="o-", color="#1f77d0", capsize=3, markersize=4)
    for one in rated_agents:
        if one.games is None:
            axes.axhline(one.elo, color="#5b6770", linewidth=1, linestyle="--")
            axes.annotate(
                one.name, (0.995, one.elo), xycoords=("axes fraction", "data"), ha="right",
                va="bottom", fontsize=8, color="#5b6770",
            )  # fmt: skip
    axes.set_xlabel("games of training")
    axes.set_ylabel("Elo, with 95 % intervals")
    axes.xaxis.set_major_formatter(lambda x, position: f"{x:,.0f}")
    axes.grid(alpha=0.3)
    return figure_png(figure)


def _write(rated_agents: Sequence[RatedAgent], out: Path, game: str, games: int) -> None:
    file = io.StringIO()
    table = csv.DictWriter(file, [*asdict(rated_agents[0])], lineterminator="\n")
    table.writeheader()
    table.writerows(asdict(one) for one in rated_agents)
    write_whole(out / "elo_curve.csv", file.getvalue())
    content = {
        "about": run_info(),
        "versions": package_versions(),
        "game": game,
        "games_per_match": games,
        "ratings": [asdict(one) for one in rated_agents],
    }
    write_whole(out / "elo_curve.json", json.dumps(content, indent=1) + "\n")
    write_whole(out / "elo_curve.png", draw(rated_agents))


def _shown(pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(pairs, "matches", console=console, disable=not sys.stderr.isatty())


def elo_table(rated_agents: Sequence[RatedAgent]) -> TerminalTable:
    """Return the ratings as a table for the terminal, the strongest first."""
    table = TerminalTable(("checkpoint or agent", "Elo", "95 % interval"))
    for one in sorted(rated_agents, key=lambda one: -one.elo):
        table.add(one.name, f"{one.elo:+.0f}", f"{one.low:+.0f} to {one.high:+.0f}")
    return table


def main() -> int:
    """Run the command line, as `ludoteca rating` does; return its exit status."""
    command = Command("ludoteca.evaluate.cli.rating:rating", "")
    return run_command(command, sys.argv[1:], "python -m ludoteca.evaluate.elo_curve")


if __name__ == "__main__":
    sys.exit(main())

"""Elo curve of a training run: ratings of its checkpoints and of other agents.

`ludoteca rating runs/othello --against mcts:simulations=200` plays every checkpoint against its
neighbors and all other agents, and writes `elo_curve.png`, `elo_curve.csv` and
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
from ludoteca.envs.params import check_integer
from ludoteca.envs.registry import make_game
from ludoteca.envs.targets import untrusted_names
from ludoteca.evaluate.cli.commands import Command, run_command
from ludoteca.evaluate.figures import figure_png
from ludoteca.evaluate.match import make_match_agents, play_match
from ludoteca.evaluate.match_record import MatchRecord
from ludoteca.evaluate.statistics.ratings import rate
from ludoteca.executor import LOCAL, make_executor
from ludoteca.files import write_atomically
from ludoteca.progress import progress_bar
from ludoteca.provenance import run_provenance
from ludoteca.terminal_table import TerminalTable
from ludoteca.worker import add_worker_location_to_errors

NEIGHBORS = 2  # number of following checkpoints that each checkpoint plays


@dataclass(frozen=True)
class RatedAgent:
    """Rating of a checkpoint or of another agent; the Elo numbers are 0 until it is rated.

    Attributes:
        name: name of the agent.
        agent: spec string of the agent.
        games: number of games trained before the checkpoint; None for other agents.
        elo: Elo rating, relative to the mean of all agents.
        low: lower end of the 95 % interval.
        high: upper end of the interval.
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
    """Play matches of the checkpoints of a training run, and write the ratings.

    Args:
        run: folder of a training run with checkpoints (`--checkpoint-interval`).
        against: spec strings of other agents.
        agent: spec string of a checkpoint's agent; `{path}` stands for the checkpoint's file.
        games: number of games of each match.
        random_plies: number of random plies at the beginning of each game, the same for both
            seatings of the agents; otherwise networks would repeat the same game.
        seed: seed of the matches.
        out: folder of the results; by default the run's folder.
        processes: number of concurrent matches; None for one per core, or as many as the cluster
            has resources for.
        executor: executor of the matches, see `ludoteca.executor.make_executor`.

    Returns:
        The checkpoints in the order of training, then the other agents.

    Raises:
        ValueError: if there are no checkpoints, or an argument is invalid.
    """
    check_integer("games", games, 2, 10**6)
    if "{path}" not in agent:
        raise ValueError(
            f"agent must contain {{path}}, which stands for the checkpoint's file, got {agent!r}"
        )
    out = run if out is None else out
    checkpoints = sorted(numbered_checkpoints(run))
    if not checkpoints:
        raise ValueError(
            f"{run} has no checkpoints: train with --checkpoint-interval, or with "
            "`ludoteca train GAME --set checkpoint_interval=100`"
        )
    rated_agents = [
        RatedAgent(f"{count:,} games", agent.format(path=path), count)
        for count, path in checkpoints
    ]
    rated_agents += [RatedAgent(spec, spec, None) for spec in against]
    with untrusted_names(checkpoints[0][1]):
        game = make_game(load_weights(checkpoints[0][1])[1]["game"])
    wins, draws = np.zeros((2, len(rated_agents), len(rated_agents)))  # each [agents, agents]
    pairs = [
        (i, j)
        for i, j in combinations(range(len(rated_agents)), 2)
        if i < len(checkpoints) and (j >= len(checkpoints) or j - i <= NEIGHBORS)
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
    with (
        make_executor(executor, processes, len(pairs)) as workers,
        progress_bar(len(pairs), sys.stderr.isatty(), "matches") as advance,
    ):
        for (i, j), record in zip(pairs, workers.run(tasks), strict=True):
            wins[i, j], wins[j, i] = record.wins, record.losses
            draws[i, j] = draws[j, i] = record.draws
            advance(1)
    ratings = rate(wins, draws)
    rated = [
        replace(agent, elo=float(elo), low=float(low), high=float(high))
        for agent, elo, low, high in zip(
            rated_agents, ratings.elo, ratings.low, ratings.high, strict=True
        )
    ]
    _write(rated, out, game.spec, games)
    return rated


def _play(
    game: str, agents: tuple[str, str], games: int, seed: int, random_plies: int
) -> MatchRecord:
    """Play a match; return the record of its first agent."""
    with add_worker_location_to_errors(game, *agents):
        loaded_game = make_game(game)
        pair = make_match_agents(loaded_game, agents)
    return play_match(loaded_game, pair, games, seed=seed, random_plies=random_plies).totals[0]


def numbered_checkpoints(run: Path) -> Iterator[tuple[int, Path]]:
    """Yield the number of training games and the file of each checkpoint of a run, not sorted."""
    for path in (run / "checkpoints").glob("games-*.safetensors"):
        yield int(path.stem.removeprefix("games-")), path


def plot_elo_curve(rated_agents: Sequence[RatedAgent]) -> bytes:
    """Return a PNG plot of the checkpoints' ratings over training games, other agents as lines."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), dpi=110, layout="constrained")
    axes = figure.subplots()
    checkpoints = [rated for rated in rated_agents if rated.games is not None]
    elo = np.array([rated.elo for rated in checkpoints])
    bars = np.array([[rated.elo - rated.low, rated.high - rated.elo] for rated in checkpoints]).T
    steps = [rated.games or 0 for rated in checkpoints]
    axes.errorbar(steps, elo, yerr=bars, fmt="o-", color="#1f77d0", capsize=3, markersize=4)
    for rated in rated_agents:
        if rated.games is None:
            axes.axhline(rated.elo, color="#5b6770", linewidth=1, linestyle="--")
            axes.annotate(
                rated.name, (0.995, rated.elo), xycoords=("axes fraction", "data"), ha="right",
                va="bottom", fontsize=8, color="#5b6770",
            )  # fmt: skip
    axes.set_xlabel("training games")
    axes.set_ylabel("Elo, with 95 % intervals")
    axes.xaxis.set_major_formatter(lambda x, position: f"{x:,.0f}")
    axes.grid(alpha=0.3)
    return figure_png(figure)


def _write(rated_agents: Sequence[RatedAgent], out: Path, game: str, games: int) -> None:
    """Write the ratings as CSV, JSON and a figure; `games` is the number of games per match."""
    file = io.StringIO()
    table = csv.DictWriter(file, [*asdict(rated_agents[0])], lineterminator="\n")
    table.writeheader()
    table.writerows(asdict(rated) for rated in rated_agents)
    write_atomically(out / "elo_curve.csv", file.getvalue())
    content = {
        **run_provenance(),
        "game": game,
        "games_per_match": games,
        "ratings": [asdict(rated) for rated in rated_agents],
    }
    write_atomically(out / "elo_curve.json", json.dumps(content, indent=1) + "\n")
    write_atomically(out / "elo_curve.png", plot_elo_curve(rated_agents))


def elo_table(rated_agents: Sequence[RatedAgent]) -> TerminalTable:
    """Return the ratings as a table for the terminal, the strongest agent first."""
    table = TerminalTable(("checkpoint or agent", "Elo", "95 % interval"))
    for rated in sorted(rated_agents, key=lambda rated: -rated.elo):
        interval = f"{rated.low:+.0f} to {rated.high:+.0f}"
        table.add(rated.name, f"{rated.elo:+.0f}", interval)
    return table


def main() -> int:
    """Run the command line, as `ludoteca rating` does; return its exit status."""
    command = Command("ludoteca.evaluate.cli.rating:rating", "")
    return run_command(command, sys.argv[1:], "python -m ludoteca.evaluate.elo_curve")


if __name__ == "__main__":
    sys.exit(main())

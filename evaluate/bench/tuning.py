"""Benchmark of parameter optimizers: `ludoteca bench tuning`.

Every optimizer tunes the exploration constant alpha of UCB1 from alpha = 2, with several seeds. A
grid search with more games gives a reference value; every tuned agent plays a match against the
agent with that value, and another one against alpha = 2.
"""

import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from json import dumps
from pathlib import Path

from rich.console import Console

from ludoteca.evaluate.bench.rounds import select_names
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.statistics.intervals import score_interval
from ludoteca.evaluate.tuning.optimizers.registry import OPTIMIZERS
from ludoteca.evaluate.tuning.run import TuningResult, tune_agent
from ludoteca.files import write_atomically
from ludoteca.provenance import run_provenance
from ludoteca.terminal_table import TerminalTable

GAMES = ("connect4", "breakthrough:rows=6,columns=6", "hex:board_size=5")
AGENT = "mcts:simulations=100,policy=ucb1,policy.alpha=2"
PARAMETER = "policy.alpha=0.01:4:log"
GRID = "grid:levels=12"  # the grid search that gives the reference value
SEEDS = (0, 1, 2)
GRID_GAMES_FACTOR = 5  # games of the grid search, as a multiple of an optimizer's
RANDOM_PLIES = 2
MATCH_GAMES = 1000


@dataclass(frozen=True)
class TunedAlpha:
    """Value of alpha that an optimizer recommends, and the scores of its matches.

    Attributes:
        game: spec string of the game.
        optimizer: name of the optimizer.
        seed: seed of the run.
        alpha: the recommended value.
        grid_alpha: the reference value, the best one of the grid.
        against_start: score against the agent with alpha = 2, in [0, 1], in `MATCH_GAMES` games.
        against_grid: score against the agent with the reference value, in as many games.
    """

    game: str
    optimizer: str
    seed: int
    alpha: float
    grid_alpha: float
    against_start: float
    against_grid: float


def bench_tuning(
    json: Path | None,
    games: int = 4000,
    folder: Path = Path("runs/bench_tuning"),
    only: tuple[str, ...] = (),
) -> list[TunedAlpha]:
    """Tune with every optimizer, print the table, and write all numbers as JSON.

    Args:
        json: file for the results; None: no file.
        games: number of games per optimizer and seed; the grid search plays five times as many.
        folder: folder of the tuning runs; an interrupted benchmark resumes there.
        only: names of games, or their prefixes; by default all.
    """
    names = select_names([game.partition(":")[0] for game in GAMES], only)
    values: list[TunedAlpha] = []
    for game in GAMES:
        if (name := game.partition(":")[0]) not in names:
            continue
        reference = _tune(  # with a seed that is not one of `SEEDS`
            game, GRID, len(SEEDS), GRID_GAMES_FACTOR * games, folder / name / "grid_best"
        )
        for optimizer in OPTIMIZERS:
            for seed in SEEDS:
                out = folder / name / f"{optimizer}_{seed}"
                tuned = _tune(game, optimizer, seed, games, out)
                values.append(
                    TunedAlpha(
                        game=game,
                        optimizer=optimizer,
                        seed=seed,
                        alpha=float(tuned.values["policy.alpha"]),
                        grid_alpha=float(reference.values["policy.alpha"]),
                        against_start=_score(game, tuned.agent, tuned.start, games),
                        against_grid=_score(game, tuned.agent, reference.agent, games),
                    )
                )
    console = Console(highlight=False)
    console.print(tuning_table(values), soft_wrap=True)
    if json is not None:
        content = {"values": [asdict(value) for value in values]} | run_provenance(
            "cmaes", "optuna"
        )
        write_atomically(json, dumps(content, indent=2) + "\n")
        console.print(f"all numbers: {json}", soft_wrap=True)
    return values


def tuning_table(values: Sequence[TunedAlpha]) -> TerminalTable:
    """Return the values and scores by game and optimizer, the runs of all seeds in one row."""
    table = TerminalTable(
        ["game", "grid", "optimizer", "alpha", "against 2", "against the grid's"],
        title="constant alpha of UCB1, tuned by optimizers",
        caption=f"grid: the best alpha of a grid search with {GRID_GAMES_FACTOR} times as many "
        f"games; alpha: the tuned value of each of {len(SEEDS)} seeds; against 2, against the "
        "grid's: scores in % against the agents with alpha = 2 and with the grid's alpha: mean "
        f"over the seeds' matches of {MATCH_GAMES:,} games, 95 % interval over these games, lowest "
        "and highest seed",
        text_columns=3,
    )
    rows = defaultdict[tuple[str, str], list[TunedAlpha]](list)
    for value in values:
        rows[value.game, value.optimizer].append(value)
    for (game, optimizer), runs in rows.items():
        table.add(
            game.partition(":")[0],
            f"{runs[0].grid_alpha:g}",
            optimizer,
            ", ".join(f"{run.alpha:.2g}" for run in runs),
            _scores_text([run.against_start for run in runs]),
            _scores_text([run.against_grid for run in runs]),
        )
    return table


def _scores_text(scores: Sequence[float]) -> str:
    """Return the mean score in percent, its interval, and the range over the seeds."""
    games = MATCH_GAMES * len(scores)
    mean = sum(scores) / len(scores)
    # Draws count as half wins and half losses here, so the interval is slightly too wide.
    low, high = score_interval(round(mean * games), 0, games)
    return (
        f"{100 * mean:.1f} ({100 * low:.1f} to {100 * high:.1f}; seeds {100 * min(scores):.1f} to "
        f"{100 * max(scores):.1f})"
    )


def _tune(game: str, optimizer: str, seed: int, games: int, out: Path) -> TuningResult:
    """Tune alpha in the run folder `out`; the final match is short, because it is not used."""
    return tune_agent(
        game,
        AGENT,
        [PARAMETER],
        out,
        optimizer=optimizer,
        games=games,
        match_games=2,
        random_plies=RANDOM_PLIES,
        seed=seed,
        progress=sys.stderr.isatty(),
    )


def _score(game: str, agent: str, opponent: str, first_game: int) -> float:
    """Return the score of an agent in games that no optimizer has used.

    Args:
        game: spec string of the game.
        agent: spec string of the agent.
        opponent: spec string of its opponent.
        first_game: index of the first game, which selects the random numbers.
    """
    if agent == opponent:
        return 0.5
    record = play_match(
        game,
        [agent, opponent],
        MATCH_GAMES,
        seed=len(SEEDS) + 1,
        first_game=first_game,
        random_plies=RANDOM_PLIES,
    ).totals[0]
    return record.score

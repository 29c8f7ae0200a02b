"""Benchmark of optimizers: exploration constants that they find, against the best of a grid.

`ludoteca bench tuning` tunes the constant alpha of UCB1 from alpha = 2, with every optimizer and
several seeds. A larger grid search gives the value to compare with; every tuned agent plays a match
against it, and another one against alpha = 2.
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
from ludoteca.files import write_whole
from ludoteca.provenance import run_provenance
from ludoteca.terminal_table import TerminalTable

GAMES = ("connect4", "breakthrough:rows=6,columns=6", "hex:board_size=5")
AGENT = "mcts:simulations=100,policy=ucb1,policy.alpha=2"
PARAMETER = "policy.alpha=0.01:4:log"
GRID = "grid:levels=12"  # whose best value the optimizers are compared with
SEEDS = (0, 1, 2)
GRID_GAMES = 5  # games of that grid, as a multiple of an optimizer's
RANDOM_PLIES = 2
MATCH_GAMES = 1000


@dataclass(frozen=True)
class TunedValue:
    """Value that an optimizer recommends.

    Attributes:
        game: spec string of the game.
        optimizer: name of the optimizer.
        seed: seed of the run.
        alpha: the recommended value.
        grid_alpha: the best value of the grid.
        against_start: score against the agent at the start, in `MATCH_GAMES` games.
        against_grid: score against the best value of the grid.
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
) -> list[TunedValue]:
    """Tune with every optimizer, print the table, and write all numbers as JSON.

    Args:
        json: the file to write, or None.
        games: number of games of an optimizer; the grid has five times as many.
        folder: folder of the runs; an interrupted benchmark resumes there.
        only: names of games, or their beginnings; by default all.
    """
    names = select_names([game.partition(":")[0] for game in GAMES], only)
    values: list[TunedValue] = []
    for game in GAMES:
        if (name := game.partition(":")[0]) not in names:
            continue
        best = _tune(game, GRID, len(SEEDS), GRID_GAMES * games, folder / name / "grid_best")
        for optimizer in OPTIMIZERS:
            for seed in SEEDS:
                out = folder / name / f"{optimizer}_{seed}"
                tuned = _tune(game, optimizer, seed, games, out)
                values.append(
                    TunedValue(
                        game=game,
                        optimizer=optimizer,
                        seed=seed,
                        alpha=float(tuned.values["policy.alpha"]),
                        grid_alpha=float(best.values["policy.alpha"]),
                        against_start=_score(game, tuned.agent, tuned.start, games),
                        against_grid=_score(game, tuned.agent, best.agent, games),
                    )
                )
    console = Console(highlight=False)
    console.print(tuning_table(values), soft_wrap=True)
    if json is not None:
        content = {"values": [asdict(value) for value in values]} | run_provenance(
            "cmaes", "optuna"
        )
        write_whole(json, dumps(content, indent=2) + "\n")
        console.print(f"all numbers: {json}", soft_wrap=True)
    return values


def tuning_table(values: Sequence[TunedValue]) -> TerminalTable:
    """Return the values and scores by game and optimizer, the runs of all seeds in one row."""
    table = TerminalTable(
        ["game", "grid", "optimizer", "alpha", "against 2", "against the grid's"],
        title="constant alpha of UCB1, found by optimizers",
        caption=f"grid: best value of a grid with {GRID_GAMES} times as many games; alpha: value "
        f"of each of {len(SEEDS)} seeds; scores in %, the mean of the seeds' matches of "
        f"{MATCH_GAMES:,} games, with a 95 % interval over these games, and the lowest and highest "
        "seed",
        text_columns=3,
    )
    rows = defaultdict[tuple[str, str], list[TunedValue]](list)
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
    low, high = score_interval(round(mean * games), 0, games)
    return (
        f"{100 * mean:.1f} ({100 * low:.1f} to {100 * high:.1f}; seeds {100 * min(scores):.1f} to "
        f"{100 * max(scores):.1f})"
    )


def _tune(game: str, optimizer: str, seed: int, games: int, out: Path) -> TuningResult:
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
    """Return the score of an agent in games that no optimizer has seen."""
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

"""Benchmark of parameter optimizers: `ludoteca bench tuning`.

Every optimizer tunes parameters of tree search with several seeds. A grid search with more games
gives reference values; every tuned agent plays a match against the agent with these values, and
another one against the agent with the starting values. `tuning_page` writes the page of results.
"""

import sys
from dataclasses import asdict, dataclass
from json import dumps
from pathlib import Path
from typing import Any

from rich.console import Console

from ludoteca.evaluate.bench.rounds import select_names
from ludoteca.evaluate.bench.tuning_page import markdown_page, tuning_table
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.tuning.optimizers.registry import OPTIMIZERS
from ludoteca.evaluate.tuning.result import TuningResult
from ludoteca.evaluate.tuning.run import tune_agent
from ludoteca.files import parse_json, write_atomically
from ludoteca.provenance import run_provenance

UCB1 = "mcts:simulations=100,policy=ucb1,policy.alpha=2"
ALPHA = "policy.alpha=0.01:4:log"
BREAKTHROUGH = "breakthrough:rows=6,columns=6"
SEEDS = (0, 1, 2)
GRID_GAMES_FACTOR = 5  # games of the grid search, as a multiple of an optimizer's
RANDOM_PLIES = 2  # number of random plies at the beginning of each game
MATCH_GAMES = 1000  # games of each match of a recommended value


@dataclass(frozen=True)
class Problem:
    """Tuning problem.

    Attributes:
        game: spec string of the game.
        agent: spec string of the agent, with starting values of the parameters; the others start in
            the middle of their ranges.
        parameters: the tuned parameters, see `parse_parameter`.
        grid: spec string of the grid search that gives the reference values.
    """

    game: str
    agent: str
    parameters: tuple[str, ...]
    grid: str


PROBLEMS = {
    "connect4": Problem("connect4", UCB1, (ALPHA,), "grid:levels=12"),
    "breakthrough": Problem(BREAKTHROUGH, UCB1, (ALPHA,), "grid:levels=12"),
    "hex": Problem("hex:board_size=5", UCB1, (ALPHA,), "grid:levels=12"),
    "breakthrough_two_parameters": Problem(
        BREAKTHROUGH, UCB1, (ALPHA, "fpu=0.5:3"), "grid:levels=6"
    ),
}


def bench_tuning(
    json: Path | None,
    games: int = 4000,
    folder: Path = Path("runs/bench_tuning"),
    only: tuple[str, ...] = (),
    page: Path | None = None,
    *,
    keep: bool = False,
) -> dict[str, Any]:
    """Tune with every optimizer, print a table, and write all numbers as JSON, and a page.

    The files are written after each problem, so that an interrupted benchmark leaves its results.

    Args:
        json: file for the results; None: no file.
        games: number of games per optimizer and seed; the grid search plays five times as many.
        folder: folder of the tuning runs; an interrupted benchmark resumes there.
        only: names of problems, or their prefixes; by default all.
        page: file for the page in Markdown; None: no file.
        keep: keep the results in `json`, and tune only the problems that it lacks, or those in
            `only`.

    Returns:
        The results by problem: the values of `Problem`, the starting and the reference values
        (`"start"`, `"reference"`), the `"runs"`, see `tune_with_all`, and the provenance.

    Raises:
        ValueError: if there is no such problem, or a page or `keep` has no file for the results.
        OSError: if a file cannot be read or written.
    """
    names = select_names(list(PROBLEMS), only)
    if json is None and (page is not None or keep):
        raise ValueError("bench tuning: --page and --keep need --json, the file of all numbers")
    results: dict[str, Any] = {}
    if keep and json is not None and json.exists():
        results = parse_json(json.read_bytes())["problems"]
        names = [name for name in names if only or name not in results]
    for name in names:
        results[name] = tune_with_all(PROBLEMS[name], games, folder / name)
        results = {name: results[name] for name in PROBLEMS if name in results}
        if json is not None:
            write_atomically(json, dumps({"problems": results}, indent=1) + "\n")
    console = Console(highlight=False)
    console.print(tuning_table(results), soft_wrap=True)
    if json is not None:
        console.print(f"all numbers: {json}", soft_wrap=True)
        if page is not None:
            write_atomically(page, markdown_page(results, json.name))
    return results


def tune_with_all(problem: Problem, games: int, folder: Path) -> dict[str, Any]:
    """Tune with the grid search and every optimizer and seed; return the results as JSON values.

    An entry of `"runs"` has the name of the `"optimizer"`, the `"seed"`, the recommended
    `"values"`, and wins, draws and losses of the matches `"against_start"` and
    `"against_reference"`.

    Args:
        problem: the problem.
        games: number of games per optimizer and seed.
        folder: folder of the tuning runs.
    """
    about = run_provenance(
        "cmaes", "optuna", games=games, match_games=MATCH_GAMES, random_plies=RANDOM_PLIES
    )
    reference = _tune(  # with a seed that is not one of `SEEDS`
        problem, problem.grid, len(SEEDS), GRID_GAMES_FACTOR * games, folder / "grid_best"
    )
    runs = []
    for optimizer in OPTIMIZERS:
        for seed in SEEDS:
            tuned = _tune(problem, optimizer, seed, games, folder / f"{optimizer}_{seed}")
            runs.append(
                {
                    "optimizer": optimizer,
                    "seed": seed,
                    "values": tuned.values,
                    "against_start": _play(problem.game, tuned.agent, tuned.start, seed),
                    "against_reference": _play(problem.game, tuned.agent, reference.agent, seed),
                }
            )
    return {
        **asdict(problem),
        "parameters": list(problem.parameters),
        "grid_games": GRID_GAMES_FACTOR * games,
        "start": reference.start_values,
        "reference": reference.values,
        "runs": runs,
        **about,
    }


def _tune(problem: Problem, optimizer: str, seed: int, games: int, out: Path) -> TuningResult:
    """Tune in the run folder `out`; the final match is short, because it is not used."""
    return tune_agent(
        problem.game,
        problem.agent,
        problem.parameters,
        out,
        optimizer=optimizer,
        games=games,
        match_games=2,
        random_plies=RANDOM_PLIES,
        seed=seed,
        progress=sys.stderr.isatty(),
    )


def _play(game: str, agent: str, opponent: str, seed: int) -> list[int]:
    """Return wins, draws and losses in games that no optimizer has used.

    Args:
        game: spec string of the game.
        agent: spec string of the agent.
        opponent: spec string of its opponent.
        seed: seed of the tuning run. Its games have random numbers of their own, so that runs which
            recommend equal values play different games.
    """
    record = play_match(
        game,
        [agent, opponent],
        MATCH_GAMES,
        seed=len(SEEDS) + 1 + seed,
        random_plies=RANDOM_PLIES,
    ).totals[0]
    return [record.wins, record.draws, record.losses]

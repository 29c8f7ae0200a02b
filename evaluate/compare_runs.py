"""Comparison of training runs: aggregate scores over several seeds, with bootstrap intervals."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from glob import glob
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.bootstrap import (
    AGGREGATES,
    RESAMPLES,
    Estimate,
    bootstrap,
    probability_of_improvement,
)
from ludoteca.files import read_json
from ludoteca.terminal_table import TerminalTable

RESULTS_FILE = "results.json"  # in the folder of a finished run
PER_RUN_SETTINGS = ("seed", "run_dir")  # settings that may differ between the runs of a group
MIN_SEEDS = 10  # with fewer seeds, bootstrap intervals are too narrow, see `bootstrap`


@dataclass(frozen=True)
class RunGroup:
    """Runs with the same settings and different seeds.

    Attributes:
        name: folder or pattern of the run folders, see `read_group`.
        game: spec string of the game.
        seeds: seeds of the runs.
        opponents: opponents of the final evaluation: the tasks of the aggregate scores.
        scores: mean score of each run against each opponent, from 0 to 1; a draw counts as half a
            win, and all seats count equally. Shape `[runs, opponents]`.
    """

    name: str
    game: str
    seeds: tuple[int, ...]
    opponents: tuple[str, ...]
    scores: NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """Comparison of groups of runs.

    Attributes:
        groups: the groups.
        opponents: opponents that all groups have in common.
        aggregates: estimates of each group, by the name of the aggregate.
        improvements: probability that a run of group i scores higher than a run of group j, by
            `(i, j)` with i < j, see `probability_of_improvement`.
    """

    groups: tuple[RunGroup, ...]
    opponents: tuple[str, ...]
    aggregates: tuple[dict[str, Estimate], ...]
    improvements: dict[tuple[int, int], Estimate]


def read_group(name: str) -> RunGroup:
    """Read the final evaluations of runs that differ in their seeds.

    Args:
        name: a folder of run folders, or a pattern of run folders such as `runs/dqn-*`.

    Raises:
        ValueError: if there are no finished runs, two have the same seed, or their settings, games
            or opponents differ.
        OSError: if a file cannot be read.
    """
    folders = [Path(name), *sorted(Path(name).glob("*"))]
    if not Path(name).is_dir():
        folders = [Path(path) for path in sorted(glob(name))]
    files = [folder / RESULTS_FILE for folder in folders if (folder / RESULTS_FILE).is_file()]
    if not files:
        raise ValueError(
            f"expected a folder of run folders, or a pattern of them such as 'runs/dqn-*', each "
            f"with {RESULTS_FILE} of a finished training; found none in {name!r}"
        )
    runs = [_read_run(file) for file in files]
    game, config, opponents = runs[0]["game"], _shared_settings(runs[0]), tuple(runs[0]["scores"])
    seeds: dict[int, Path] = {}
    for file, run in zip(files, runs, strict=True):
        differing = [
            f"{key} {config.get(key)!r} and {_shared_settings(run).get(key)!r}"
            for key in sorted({*config, *_shared_settings(run)})
            if config.get(key) != _shared_settings(run).get(key)
        ]
        if run["game"] != game:
            differing.append(f"game {game!r} and {run['game']!r}")
        if tuple(run["scores"]) != opponents:
            differing.append(f"opponents {opponents} and {tuple(run['scores'])}")
        if differing:
            raise ValueError(
                f"the runs of a group may differ only in {' and '.join(PER_RUN_SETTINGS)}, but "
                f"{files[0].parent} and {file.parent} have {'; '.join(differing)}"
            )
        if run["seed"] in seeds:
            raise ValueError(
                f"{seeds[run['seed']].parent} and {file.parent} have the same seed, {run['seed']}: "
                "runs of a group need different seeds"
            )
        seeds[run["seed"]] = file
    scores = np.array([[run["scores"][name] for name in opponents] for run in runs])
    return RunGroup(name, game, tuple(seeds), opponents, scores)


def _shared_settings(run: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that all runs of a group must share."""
    return {key: value for key, value in run["config"].items() if key not in PER_RUN_SETTINGS}


def _read_run(file: Path) -> dict[str, Any]:
    """Return game, settings, seed, and the score against each opponent, from a results file."""
    content = read_json(file)
    try:
        scores = {}
        for match in content["evaluation"]:
            scores[str(match["opponent"])] = float(np.mean([*map(_score, match["seats"])]))
        config = dict(content["config"])
        seed = int(config["seed"])
        game = str(content["game"])
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise ValueError(
            f"{file}: expected the results of a training with game, config and evaluation, got "
            f"{type(error).__name__}: {error}"
        ) from None
    if not scores or not all(0 <= score <= 1 for score in scores.values()):
        raise ValueError(f"{file}: expected an evaluation with scores from 0 to 1, got {scores}")
    return {"game": game, "config": config, "seed": seed, "scores": scores}


def _score(seat: dict[str, Any]) -> float:
    """Return the score in a seat, from 0 to 1; in games that are not zero-sum by mean return."""
    score = seat.get("score", (seat["wins"] + seat["draws"] / 2) / seat["games"])
    return float(score)


def compare_runs(
    names: Sequence[str], confidence: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Comparison:
    """Compare groups of runs by their scores against the opponents that all groups played.

    Args:
        names: folders or patterns of the groups, see `read_group`.
        confidence: level of the bootstrap intervals.
        resamples: number of bootstrap samples.
        seed: seed of the samples.

    Raises:
        ValueError: if the groups have different games or no common opponent, or a group is invalid,
            see `read_group`.
    """
    groups = tuple(map(read_group, names))
    if not groups:
        raise ValueError("expected one group of runs or more, got none")
    if len({group.game for group in groups}) > 1:
        raise ValueError(
            "the groups have different games: "
            + ", ".join(f"{group.name}: {group.game}" for group in groups)
        )
    common_opponents = tuple(
        name for name in groups[0].opponents if all(name in group.opponents for group in groups)
    )
    if not common_opponents:
        raise ValueError(
            "the groups have no common opponent: "
            + "; ".join(f"{group.name}: {', '.join(group.opponents)}" for group in groups)
        )
    scores = [
        group.scores[:, [group.opponents.index(name) for name in common_opponents]]
        for group in groups
    ]

    def estimate(aggregate: Any, *arrays: NDArray[np.float64]) -> Estimate:
        return bootstrap(aggregate, *arrays, confidence=confidence, resamples=resamples, seed=seed)

    return Comparison(
        groups,
        common_opponents,
        tuple(
            {name: estimate(aggregate, array) for name, aggregate in AGGREGATES.items()}
            for array in scores
        ),
        {
            (i, j): estimate(probability_of_improvement, scores[i], scores[j])
            for i, j in combinations(range(len(groups)), 2)
        },
    )


def comparison_tables(comparison: Comparison) -> list[TerminalTable]:
    """Return the table of the aggregates, and that of the probabilities of improvement if any."""
    table = TerminalTable(
        ("runs", "seeds", *AGGREGATES), title=f"against {', '.join(comparison.opponents)}"
    )
    for group, aggregates in zip(comparison.groups, comparison.aggregates, strict=True):
        cells = (_cell(aggregates[name]) for name in AGGREGATES)
        table.add(group.name, str(len(group.seeds)), *cells)
    tables = [table]
    if comparison.improvements:
        table = TerminalTable(("runs", "better than", "probability"), text_columns=2)
        for (i, j), estimate in comparison.improvements.items():
            table.add(comparison.groups[i].name, comparison.groups[j].name, _cell(estimate))
        tables.append(table)
    return tables


def comparison_notes(comparison: Comparison) -> list[str]:
    """Return notes on the scores and the intervals of a comparison."""
    num_seeds = min(len(group.seeds) for group in comparison.groups)
    notes = ["scores: 0 to 1, a draw counts half; intervals: stratified bootstrap over seeds"]
    if num_seeds < MIN_SEEDS:
        seeds = "1 seed" if num_seeds == 1 else f"{num_seeds} seeds"
        notes.append(f"with {seeds} the intervals are too narrow: use {MIN_SEEDS} or more")
    return notes


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON values."""
    groups = comparison.groups
    return {
        "game": groups[0].game,
        "opponents": list(comparison.opponents),
        "groups": [
            {
                "name": group.name,
                "seeds": list(group.seeds),
                "opponents": list(group.opponents),
                "scores": group.scores.tolist(),
                "aggregates": {name: asdict(value) for name, value in aggregates.items()},
            }
            for group, aggregates in zip(groups, comparison.aggregates, strict=True)
        ],
        "probabilities_of_improvement": [
            {"first": groups[i].name, "second": groups[j].name, **asdict(value)}
            for (i, j), value in comparison.improvements.items()
        ],
    }


def _cell(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"

"""Page and table of the results of `ludoteca bench tuning`."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ludoteca.evaluate.bench.provenance_text import measured_on
from ludoteca.evaluate.markdown import p_text, table
from ludoteca.evaluate.statistics.differences import mean_interval
from ludoteca.evaluate.statistics.intervals import score_interval
from ludoteca.evaluate.statistics.verdicts import LEVEL
from ludoteca.evaluate.statistics.wilcoxon import holm
from ludoteca.terminal_table import TerminalTable

MATCHES = {"against_start": "starting values", "against_reference": "reference"}
MARGIN = 5  # points in %, as in the study `equivalence`
HEADINGS = (
    "optimizer", "values of each seed", "match against", "score of each seed",
    "mean (interval over games)", "interval over seeds", "verdict",
)  # fmt: skip

BEGIN = """\
# Optimizers of `ludoteca tune`

Every optimizer tunes parameters of tree search with {games:,} games for each of {seeds} seeds.
The reference is the best point of a grid that was searched with {grid_games:,} games, {factor}
times as many. Each tuned agent plays {match_games:,} games against the agent with the starting
values, and as many against the reference; no optimizer has used these games, and each seed has
games of its own.

- Scores are in %, a draw being half a win. The first interval is over the games of all seeds
  together (95 %): it says how strong these tuned agents are. The second is Student's over the
  scores of the seeds (95 %): it says how strong the agents of further seeds would be, and holds
  for the verdict.
- Verdict against the starting values: *better* or *worse* if the interval over seeds excludes
  50 %, otherwise inconclusive.
- Verdict against the reference: the same, and *equal within {margin} points* if the 90 % interval
  over seeds (two one-sided tests) lies within {low} and {high} %, the margin of the study
  [equivalence](../equivalence/report.md).
- The reference is the result of one grid search. Its score in the search is the highest of a
  noisy grid, so better values may exist.
- With three seeds an interval over seeds is wide: a true difference of a few points can be
  inconclusive.

Simulation balancing, which trains the weights of softmax playouts, has no range of values that a
grid could search; its results are in [playout_policy](../playout_policy/report.md).
"""
PROBLEM = """\
## {title}

`{agent}` in `{game}`, tuned: {parameters}; starting values: {start}; reference (`{grid}`):
{reference}.

{measured_on}

{table}

{summary}
"""
END = """\
## Comparison of the optimizers

One-way analysis of variance (F test) of the scores of the seeds, for each problem and opponent,
with Holm's correction for all {count} tests:

{table}

{verdict}

All numbers are in [{json}]({json}). `ludoteca bench tuning --keep --json FILE --page FILE` writes
this page again from them, without playing.
"""


def markdown_page(results: Mapping[str, Any], json_name: str) -> str:
    """Return the page.

    Args:
        results: results by problem, see `bench_tuning`.
        json_name: name of the file with all numbers, in the folder of the page.
    """
    first = next(iter(results.values()))
    about, seeds = first["about"], {run["seed"] for run in first["runs"]}
    begin = BEGIN.format(
        games=about["games"],
        seeds=len(seeds),
        grid_games=first["grid_games"],
        factor=first["grid_games"] // about["games"],
        match_games=about["match_games"],
        margin=MARGIN,
        low=50 - MARGIN,
        high=50 + MARGIN,
    )
    sections = [
        PROBLEM.format(
            title=_title(name),
            agent=problem["agent"],
            game=problem["game"],
            parameters=", ".join(f"`{parameter}`" for parameter in problem["parameters"]),
            start=_named_values(problem["start"]),
            grid=problem["grid"],
            reference=_named_values(problem["reference"]),
            measured_on=measured_on(problem),
            table=table(HEADINGS, _rows(problem), text_columns=3),
            summary=_summary(problem),
        )
        for name, problem in results.items()
    ]
    return "\n".join([begin, *sections, _comparison(results, json_name)])


def tuning_table(results: Mapping[str, Any]) -> TerminalTable:
    """Return the table for the terminal: mean scores with intervals over the seeds."""
    out = TerminalTable(
        ["problem", "optimizer", "values", *(f"against {name}" for name in MATCHES.values())],
        title="parameters of tree search, tuned by optimizers",
        caption="values: those of each seed; scores in % with 95 % intervals over the seeds",
        text_columns=3,
    )
    for name, problem in results.items():
        for optimizer, runs in _by_optimizer(problem).items():
            cells = [_seed_text(_scores(runs, match)) for match in MATCHES]
            out.add(name, optimizer, _values_text(runs), *cells)
    return out


def verdict_against(match: str, scores: Sequence[float]) -> str:
    """Return the verdict on the scores of the seeds, in %.

    Args:
        match: key of `MATCHES`.
        scores: one score for each seed, at least two.
    """
    _, low, high = mean_interval(scores)
    if low > 50 or high < 50:
        return "better" if low > 50 else "worse"
    if match == "against_reference":
        _, low, high = mean_interval(scores, 0.9)
        if low > 50 - MARGIN and high < 50 + MARGIN:
            return f"equal within {MARGIN} points"
    return "inconclusive"


def variance_test(groups: Sequence[Sequence[float]]) -> float:
    """Return the p-value of the F test that the means of all groups are equal."""
    from scipy.stats import f_oneway

    return float(f_oneway(*groups).pvalue)


def _comparison(results: Mapping[str, Any], json_name: str) -> str:
    """Return the last section: the tests of differences between the optimizers."""
    tests = [
        (name, match, variance_test([_scores(runs, match) for runs in optimizers.values()]))
        for name, problem in results.items()
        for match in MATCHES
        if len(optimizers := _by_optimizer(problem)) > 1
    ]
    corrected = holm([p for *_, p in tests])
    rows = [
        (_title(name), MATCHES[match], p_text(p), p_text(own))
        for (name, match, p), own in zip(tests, corrected, strict=True)
    ]
    different = [row[0] for row, own in zip(rows, corrected, strict=True) if own < LEVEL]
    verdict = (
        f"The optimizers differ significantly in: {', '.join(dict.fromkeys(different))}."
        if different
        else "No test is significant after the correction, so it is inconclusive which optimizer\n"
        "is best. That is no evidence that they are equally good."
    )
    headings = ("problem", "match against", "F test", "corrected")
    return END.format(
        count=len(tests),
        table=table(headings, rows, text_columns=2),
        verdict=verdict,
        json=json_name,
    )


def _rows(problem: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the rows of a problem's table: two for each optimizer."""
    rows: list[tuple[str, ...]] = []
    for optimizer, runs in _by_optimizer(problem).items():
        for match, title in MATCHES.items():
            scores = _scores(runs, match)
            rows.append(
                (
                    f"`{optimizer}`",
                    _values_text(runs),
                    title,
                    ", ".join(f"{score:.1f}" for score in scores),
                    _games_text(runs, match),
                    _interval_text(*mean_interval(scores)[1:]),
                    verdict_against(match, scores),
                )
            )
    return rows


def _summary(problem: Mapping[str, Any]) -> str:
    """Return the sentences with the verdicts of all optimizers."""
    sentences = []
    for match, title in MATCHES.items():
        by_verdict = defaultdict[str, list[str]](list)
        for optimizer, runs in _by_optimizer(problem).items():
            by_verdict[verdict_against(match, _scores(runs, match))].append(f"`{optimizer}`")
        parts = "; ".join(f"{verdict}: {', '.join(names)}" for verdict, names in by_verdict.items())
        sentences.append(f"Against the {title}: {parts}.")
    return " ".join(sentences)


def _by_optimizer(problem: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the runs of all seeds by optimizer."""
    optimizers = defaultdict[str, list[dict[str, Any]]](list)
    for run in problem["runs"]:
        optimizers[run["optimizer"]].append(run)
    return dict(optimizers)


def _scores(runs: Sequence[Mapping[str, Any]], match: str) -> list[float]:
    """Return the score of each seed in %."""
    return [100 * (run[match][0] + run[match][1] / 2) / sum(run[match]) for run in runs]


def _games_text(runs: Sequence[Mapping[str, Any]], match: str) -> str:
    """Return the score in all games, with its interval over the games."""
    wins, draws, losses = (sum(run[match][k] for run in runs) for k in range(3))
    games = wins + draws + losses
    low, high = score_interval(wins, draws, games)
    return f"{100 * (wins + draws / 2) / games:.1f} {_interval_text(100 * low, 100 * high)}"


def _seed_text(scores: Sequence[float]) -> str:
    """Return the mean score of the seeds, with its interval over the seeds."""
    mean, low, high = mean_interval(scores)
    return f"{mean:.1f} {_interval_text(low, high)}"


def _interval_text(low: float, high: float) -> str:
    """Return an interval as text."""
    return f"({low:.1f} to {high:.1f})"


def _values_text(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return the recommended values of each seed; several parameters are separated by slashes."""
    return ", ".join(
        " / ".join(f"{float(value):.2g}" for value in run["values"].values()) for run in runs
    )


def _named_values(values: Mapping[str, str]) -> str:
    """Return values with the names of their parameters."""
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _title(name: str) -> str:
    """Return the title of a problem."""
    return name.replace("_", " ")

"""The report on Hex beside the document's tables."""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ludoteca.envs.files import write_whole
from ludoteca.evaluate.bench.report import about_this_run, our_versions
from ludoteca.evaluate.markdown import table
from ludoteca.evaluate.reproduce import document_hex as document
from ludoteca.evaluate.reproduce.hex_runs import ABLATIONS, MIXED, grid_name

Results = Mapping[str, dict[str, Any]]
# What the issue of beating the document asks for: board, opponent, seat -> document, ours.
TARGETS = (
    (5, MIXED, "first", "77 (over training)", 98),
    (5, MIXED, "second", "9", 60),
    (5, "heuristic", "first", "80", 100),
    (6, MIXED, "first", "45", 95),
    (7, MIXED, "first", "2", 90),
    (8, MIXED, "first", "0.027", 80),
    (11, MIXED, "first", "-", 50),
)


class Curve:
    """Wins and losses of a training run, from its `metrics.csv`."""

    def __init__(self, folder: Path):
        with (folder / "metrics.csv").open() as file:
            self.rows = [row for row in csv.DictReader(file) if row["loss"]]
        self.seat = "first" if self.rows and self.rows[0]["training__first"] else "second"

    def points(self, name: str) -> tuple[list[int], list[float]]:
        """Return games and values."""
        return [int(row["step"]) for row in self.rows], [float(row[name]) for row in self.rows]

    def wins(self, low: float = 0.0, high: float = 1.0) -> float:
        """Return the share of games won, in %, in a part of the run.

        Args:
            low: where the part begins, as a share of all games.
            high: where it ends.
        """
        steps, rates = self.points(f"training__{self.seat}")
        before, won, played = 0, 0.0, 0
        for step, rate in zip(steps, rates, strict=True):
            if low * steps[-1] < step <= high * steps[-1]:
                won += rate * (step - before)
                played += step - before
            before = step
        return 100 * won / max(played, 1)


def write(theirs: Results, ours: Results, folder: Path, out: Path, **about: Any) -> None:
    """Write `report.md`, `results.json` and the pictures.

    Args:
        theirs: results of the document's runs, by name; none if they were not made.
        ours: likewise of ours.
        folder: where the runs are.
        out: where the report goes.
        about: what else to tell about the run.
    """
    run, versions = {**about_this_run(), **about}, our_versions()
    curves = {name: Curve(folder / name) for name in theirs}
    parts = [HEAD]
    if ours:
        parts.append(beyond_section(ours))
    if theirs:
        parts += [
            grid_section(curves, theirs),
            best_section(curves, theirs),
            modes_section(curves),
            boards_section(curves, theirs),
            ablation_section(curves, theirs),
        ]
        write_whole(out / "best.png", draw(curves["best"], "wins and loss of the longer run"))
        write_whole(out / "second.png", draw(curves["second"], "second player"))
    parts.append(how_section(theirs, ours, run, versions))
    content = {
        "about": run,
        "versions": versions,
        "document": {
            name: {
                "settings": theirs[name]["config"],
                "training": theirs[name]["training"],
                "wins_in_training": curves[name].wins(),
                "wins_at_the_end": curves[name].wins(0.95),
                "evaluation": theirs[name]["evaluation"],
            }
            for name in theirs
        },
        "beyond": {
            name: {key: one[key] for key in ("config", "training", "evaluation", "about")}
            for name, one in ours.items()
        },
    }
    write_whole(out / "results.json", json.dumps(content, indent=1) + "\n")
    write_whole(out / "report.md", "\n\n".join(parts) + "\n")


HEAD = """# Deep Q-learning in Hex

The experiments of Tanaka, "Inteligencia artificial para o jogo de Hex" (University of Sao Paulo,
2018), and networks that do better. Opponents are the electric-resistance heuristic and Mixed, which
plays at random every fifth time."""


def beyond_section(ours: Results) -> str:
    """Return the table of targets and what our networks reach."""
    rows = []
    for size, opponent, seat, theirs, target in TARGETS:
        found = ours.get(f"hex{size}")
        if found is None:
            continue
        rated = rating(found, opponent, seat)
        reached = "yes" if 100 * rated["win_rate"] >= target else "**no**"
        rows.append(
            (
                f"{size}x{size}, {seat} player against {opponent}",
                theirs,
                target,
                interval(rated),
                f"{rated['games']:,}",
                f"{found['training']['games']:,}",
                f"{found['training']['seconds'] / 60:.1f}",
                reached,
            )
        )
    headings = (
        "what", "document, %", "target, %", "ours, % (95 % interval)", "evaluation games",
        "training games", "minutes", "reached",
    )  # fmt: skip
    others = [
        (f"{name.removeprefix('hex')}x{name.removeprefix('hex')}", part["opponent"], *rates)
        for name, one in ours.items()
        for part in one["evaluation"]
        for rates in [[interval(seat) for seat in part["seats"]]]
    ]
    return f"""## Beyond the document

Greedy play of the best network of a run with the preset `modern`, both seats learned by one
network, from its own moves and the opponent's (mirrored), with the position after the reply as the
next one. The document's numbers are shares over the whole training, with exploration; it used
150,000 to 300,000 games.

{table(headings, rows)}

All evaluations of these networks, wins in % with 95 % intervals. The heuristic always answers the
same, so that all games of a seat against it are one.

{table(("board", "against", "as first player", "as second player"), others, texts=2)}"""


def grid_section(curves: Mapping[str, Curve], theirs: Results) -> str:
    """Return table 4.1 beside ours."""
    points = [
        (rate, gamma, epsilon, layers)
        for rate in document.LEARNING_RATES
        for gamma in document.GAMMAS
        for epsilon in document.EPSILONS
        for layers in document.LAYERS
    ]
    ordered = sorted(points, key=lambda point: -curves[grid_name(*point)].wins())
    rows = [
        (
            *point,
            document.GRID.get(point, "below 3"),
            f"{curves[grid_name(*point)].wins():.1f}",
            f"{curves[grid_name(*point)].wins(0.95):.1f}",
            interval(rating(theirs[grid_name(*point)], MIXED, "first")),
        )
        for point in ordered
    ]
    headings = (
        "learning rate", "gamma", "epsilon", "layers", "document, %", "ours, %",
        "last twentieth, %", "greedy, %",
    )  # fmt: skip
    return f"""## Parameters (table 4.1)

Wins as first player against Mixed on 5x5, mirrored, over the whole training of
{theirs[grid_name(*points[0])]["training"]["games"]:,} games (the document: 150,000). The settings
are the document's as we read them: last layer zero instead of all weights, and rewards of 1 instead
of 100; the ablation below shows why. The document tells its 12 best of 36.

{table(headings, rows, texts=0)}"""


def best_section(curves: Mapping[str, Curve], theirs: Results) -> str:
    """Return table 4.2 and figure 4.1 beside ours."""
    best = curves["best"]
    games = theirs["best"]["training"]["games"]
    return f"""## The longer run (table 4.2, figure 4.1)

{games:,} games with learning rate 0.01, gamma 0.8, epsilon 0.1, two layers: {best.wins():.1f} %
won over the training (document: {document.BEST} %), {best.wins(0.95):.1f} % in the last
twentieth (the document: above {document.LAST_HUNDRED} %), greedily afterwards
{interval(rating(theirs["best"], MIXED, "first"))}.

![Wins and loss](best.png)"""


def modes_section(curves: Mapping[str, Curve]) -> str:
    """Return table 4.3 beside ours."""
    rows = [
        (
            mode,
            f"{games:,}",
            percent,
            f"{curves[mode].wins(0, games / 300_000):.1f}",
        )
        for (mode, games), percent in document.MODES.items()
    ]
    return f"""## Simple and mirrored (table 4.3)

Wins as first player against the heuristic, which always answers the same, so far in training; the
games of half-length runs are the first half of ours.

{table(("mode", "games in the document", "document, %", "ours, %"), rows)}"""


def boards_section(curves: Mapping[str, Curve], theirs: Results) -> str:
    """Return tables 4.4 and 4.5 beside ours."""
    rows = [
        (
            f"{size}x{size}, first player",
            f"{theirs[f'board-{size}']['training']['games']:,}",
            percent,
            f"{curves[f'board-{size}'].wins():.3f}",
            f"{curves[f'board-{size}'].wins(0.95):.1f}",
        )
        for size, percent in document.BOARDS.items()
    ]
    rows.append(
        (
            "5x5, second player",
            f"{theirs['second']['training']['games']:,}",
            document.SECOND,
            f"{curves['second'].wins():.3f}",
            f"{curves['second'].wins(0.95):.1f}",
        )
    )
    headings = ("what", "games", "document, %", "ours, %", "last twentieth, %")
    return f"""## Larger boards, second player (tables 4.4, 4.5, figure 4.2)

Wins against Mixed over the training. The document does not tell how many games it played on larger
boards ("fewer").

{table(headings, rows)}

![Second player](second.png)"""


ABLATION_TEXTS = {
    "literal": "the document, literally: all weights zero, rewards 100",
    "weights": "PyTorch's first weights, rewards 100",
    "head": "only the last layer zero, rewards 100",
    "rewards": "all weights zero, rewards 1",
    "both": "**our reading:** only the last layer zero, rewards 1",
    "default": "PyTorch's first weights, rewards 1",
    "memory": "our reading, memory of 30,000 instead of 300",
    "masked": "our reading, only legal moves in targets",
    "target": "our reading, targets from a copy that is 100 updates old",
}
assert ABLATION_TEXTS.keys() == ABLATIONS.keys()


def ablation_section(curves: Mapping[str, Curve], theirs: Results) -> str:
    """Return what single changes of the document's settings do."""
    rows = []
    for name, text in ABLATION_TEXTS.items():
        curve, found = curves[f"ablation-{name}"], theirs[f"ablation-{name}"]
        losses = curve.points("loss")[1]
        rows.append(
            (
                text,
                f"{curve.wins():.1f}",
                f"{curve.wins(0.8):.1f}",
                interval(rating(found, MIXED, "first")),
                f"{max(losses):.3g}",
                f"{losses[-1]:.3g}",
            )
        )
    headings = (
        "settings", "won, %", "last fifth, %", "greedy, %", "largest loss", "last loss",
    )  # fmt: skip
    games = theirs["ablation-literal"]["training"]["games"]
    return f"""## What the document's settings need to learn (ablation)

{games:,} games each, first player against Mixed on 5x5, mirrored.

{table(headings, rows)}

With all weights at zero, every hidden unit is zero for every position, and stays so: the gradient
of a layer is a product with the layer above, or with the zeros that come in from below. Only the
last biases learn, so that the network has one opinion of each cell, whatever the position. With
other first weights and rewards of 100, the first gradients are so large that a step of 0.01 makes
the loss explode; what is left are numbers that are no numbers, or units that are never active
again. With rewards of 1 the same network learns."""


def how_section(
    theirs: Results, ours: Results, run: Mapping[str, Any], versions: Mapping[str, str]
) -> str:
    """Return what is needed to do it again."""
    spent = []
    for runs, cores in (
        (theirs, "one core for each of the document's"),
        (ours, "two cores for our"),
    ):
        if runs:
            hours = sum(one["training"]["seconds"] for one in runs.values()) / 3600
            spent.append(f"{hours:.2f} hours of {cores} {len(runs)} runs")
    precisions = {one["training"]["precision"] for one in (*theirs.values(), *ours.values())}
    told = ", ".join(f"{name} {number}" for name, number in versions.items())
    return f"""## How it was done

- Command: `{run["command"]}`
- Training: {", ".join(spent)}.
- Losses weigh `1 - plies / (longest game + 1)`: the document does not tell its weights. Networks
  computed in {", ".join(sorted(precisions))}.
- Date: {run["date"]}; versions: {told}
- Machine: {run["cpu"]}, {run["cores"]} cores
- Every run's settings and results are in [results.json](results.json)."""


def rating(results: Mapping[str, Any], opponent: str, seat: str) -> dict[str, Any]:
    """Return what an evaluation found against an opponent in a seat."""
    for part in results["evaluation"]:
        if part["opponent"] == opponent:
            for rated in part["seats"]:
                if rated["seat"] == seat:
                    return dict(rated)
    raise KeyError(f"no evaluation against {opponent} as {seat} player")


def interval(rated: Mapping[str, Any]) -> str:
    """Return a share in % with its interval."""
    low, high = 100 * rated["low"], 100 * rated["high"]
    return f"{100 * rated['win_rate']:.1f} ({low:.1f} to {high:.1f})"


def draw(curve: Curve, title: str) -> bytes:
    """Return the wins and the loss of a run as a PNG file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 5.5), dpi=110, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    steps, rates = curve.points(f"training__{curve.seat}")
    above.plot(steps, [100 * rate for rate in rates], color="#1f77d0", linewidth=0.6)
    above.set_ylabel("won, % of each point's games")
    above.set_ylim(-2, 102)
    above.set_title(title)
    below.plot(*curve.points("loss"), color="#5b6770", linewidth=0.6)
    below.set_ylabel("loss")
    below.set_xlabel("games")
    below.xaxis.set_major_formatter(lambda x, position: f"{x:,.0f}")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()

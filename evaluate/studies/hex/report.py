"""The report on Hex beside the document's tables."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ludoteca.evaluate.markdown import table
from ludoteca.evaluate.studies.hex import tanaka2018 as document
from ludoteca.evaluate.studies.hex.plan import ABLATIONS, MIXED, Run, grid_name
from ludoteca.evaluate.studies.hex.records import Curve
from ludoteca.evaluate.studies.study import Records, provenance, provenance_lines, write_study
from ludoteca.files import write_whole

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


def write(
    records: Mapping[str, Records],
    planned: Mapping[str, Mapping[str, Run]],
    folder: Path,
    out: Path,
    fast: bool = False,
) -> None:
    """Write `report.md`, `results.json` and the pictures.

    Args:
        records: what is kept of the finished runs, by part and name.
        planned: all runs, by part and name; sections whose runs are not all finished are left out.
        folder: where the runs are that were made now.
        out: where the report goes.
        fast: whether the runs are too short to learn anything.
    """
    theirs, ours = records["document"], records["beyond"]
    parts = [HEAD]
    if fast:
        parts.append("**A fast run, to see that all of it works: too few games to learn from.**")
    if ours.keys() == planned["beyond"].keys():
        parts.append(beyond_section(ours))
    for names, section in SECTIONS:
        if all(name in theirs for name in planned["document"] if name.startswith(names)):
            parts.append(section(theirs))
    for name, title in PICTURES.items():
        if name in theirs and (folder / name / "metrics.csv").exists():
            write_whole(out / f"{name}.png", draw(Curve(folder / name), title))
    made = provenance(out, records)
    parts.append(how_section(records, planned, made["versions"]))
    write_study(out, "\n\n".join(parts) + "\n", records, made)


PICTURES = {"best": "wins and loss of the longer run", "second": "second player"}

HEAD = """# Deep Q-learning in Hex

The experiments of Tanaka, "Inteligencia artificial para o jogo de Hex" (University of Sao Paulo,
2018), and networks that do better. Opponents are the electric-resistance heuristic and Mixed, which
plays at random every fifth time."""


def beyond_section(ours: Records) -> str:
    """Return the table of targets and what our networks reach."""
    rows = []
    for size, opponent, seat, theirs, target in TARGETS:
        found = ours.get(f"hex{size}")
        if found is None:
            continue
        rated = rating(found, opponent, seat)
        rows.append(
            (
                f"{size}x{size}, {seat} player against {opponent}",
                theirs,
                target,
                shown(rated, opponent),
                "1" if opponent in WITHOUT_CHANCE else f"{rated['games']:,}",
                f"{found['training']['games']:,}",
                f"{found['training']['seconds'] / 60:.1f}",
                reached(rated, opponent, target),
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
        for rates in [[shown(seat, part["opponent"]) for seat in part["seats"]]]
    ]
    return f"""## Beyond the document

Greedy play of the best network of a run with the preset `default`, both seats learned by one
network, from its own moves and the opponent's (mirrored), with the position after the reply as the
next one. The document's numbers are shares over the whole training, with exploration; it used
150,000 to 300,000 games. Mixed is also the opponent in the training of all these networks. A target
is reached, or not, if the whole interval says so. Each network is one training run with one seed.

{table(headings, rows)}

All evaluations of these networks, wins in % with 95 % intervals. Nothing is random in games of a
network against the heuristic: all that were played in a seat are the same game, and count as one,
without an interval.

{table(("board", "against", "as first player", "as second player"), others, texts=2)}"""


def grid_section(theirs: Records) -> str:
    """Return table 4.1 beside ours."""
    points = [
        (rate, gamma, epsilon, layers)
        for rate in document.LEARNING_RATES
        for gamma in document.GAMMAS
        for epsilon in document.EPSILONS
        for layers in document.LAYERS
    ]
    runs = {point: theirs[grid_name(*point)] for point in points}
    ordered = sorted(points, key=lambda point: -runs[point]["wins"]["all"])
    rows = [
        (
            *point,
            f"{runs[point]['training']['games']:,}",
            document.GRID.get(point, "below 3"),
            f"{runs[point]['wins']['all']:.1f}",
            f"{runs[point]['wins']['last_twentieth']:.1f}",
            interval(rating(runs[point], MIXED, "first")),
        )
        for point in ordered
    ]
    precision = ", ".join(sorted({runs[point]["training"]["precision"] for point in points}))
    headings = (
        "learning rate", "gamma", "epsilon", "layers", "games", "document, %", "ours, %",
        "last twentieth, %", "greedy, %",
    )  # fmt: skip
    return f"""## Parameters (table 4.1)

Wins as first player against Mixed on 5x5, mirrored, over the whole training. The document played
150,000 games with each, and tells its 12 best of 36; the others played fewer games here. The
settings are the document's as we read them: last layer zero instead of all weights, rewards of 1
instead of 100 (the ablation below shows why), and convolutions in {precision}, of which the
document does not speak. Each line is one training run with one seed: its intervals are those of the
evaluation's games, and say nothing of how other runs with the same settings would end. Of lines
whose shares are near each other, the order means nothing.

{table(headings, rows, texts=0)}"""


def best_section(theirs: Records) -> str:
    """Return table 4.2 and figure 4.1 beside ours."""
    best = theirs["best"]
    games, wins = best["training"]["games"], best["wins"]
    return f"""## The longer run (table 4.2, figure 4.1)

{games:,} games with learning rate 0.01, gamma 0.8, epsilon 0.1, two layers: {wins["all"]:.1f} %
won over the training (document: {document.BEST} %), {wins["last_twentieth"]:.1f} % in the last
twentieth (the document: above {document.LAST_HUNDRED} %), greedily afterwards
{interval(rating(best, MIXED, "first"))}.

![Wins and loss](best.png)"""


def modes_section(theirs: Records) -> str:
    """Return table 4.3 beside ours."""
    rows = [
        (
            mode,
            f"{games:,}",
            percent,
            f"{theirs[mode]['wins']['first_half' if games == 150_000 else 'all']:.1f}",
        )
        for (mode, games), percent in document.MODES.items()
    ]
    return f"""## Simple and mirrored (table 4.3)

Wins as first player against the heuristic, which always answers the same, so far in training; the
games of half-length runs are the first half of ours.

{table(("mode", "games in the document", "document, %", "ours, %"), rows)}"""


def boards_section(theirs: Records) -> str:
    """Return tables 4.4 and 4.5 beside ours."""
    rows = [
        (
            f"{size}x{size}, first player",
            f"{theirs[f'board-{size}']['training']['games']:,}",
            percent,
            f"{theirs[f'board-{size}']['wins']['all']:.3f}",
            f"{theirs[f'board-{size}']['wins']['last_twentieth']:.1f}",
        )
        for size, percent in document.BOARDS.items()
    ]
    rows.append(
        (
            "5x5, second player",
            f"{theirs['second']['training']['games']:,}",
            document.SECOND,
            f"{theirs['second']['wins']['all']:.3f}",
            f"{theirs['second']['wins']['last_twentieth']:.1f}",
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


def ablation_section(theirs: Records) -> str:
    """Return what single changes of the document's settings do."""
    rows = []
    for name, text in ABLATION_TEXTS.items():
        found = theirs[f"ablation-{name}"]
        rows.append(
            (
                text,
                f"{found['wins']['all']:.1f}",
                f"{found['wins']['last_fifth']:.1f}",
                interval(rating(found, MIXED, "first")),
                found["loss"]["largest"],
                found["loss"]["last"],
            )
        )
    headings = (
        "settings", "won, %", "last fifth, %", "greedy, %", "largest loss", "last loss",
    )  # fmt: skip
    games = theirs["ablation-literal"]["training"]["games"]
    return f"""## What the document's settings need to learn (ablation)

{games:,} games each, first player against Mixed on 5x5, mirrored. Each line is **one training run
with one seed**, and its interval that of the evaluation's games alone: differences between lines
may be those between runs.

{table(headings, rows)}

With all weights at zero, every hidden unit is zero for every position, and stays so: the gradient
of a layer is a product with the layer above, or with the zeros that come in from below. Only the
last biases learn, so that the network has one opinion of each cell, whatever the position. With
other first weights and rewards of 100, the first gradients are so large that a step of 0.01 makes
the loss explode; what is left are weights that are not finite, or units that are never active
again. With rewards of 1 the same network learns."""


# Beginnings of the names of a section's runs, and what writes it, in the report's order.
SECTIONS = (
    (("grid",), grid_section),
    (("best",), best_section),
    (("simple", "mirrored"), modes_section),
    (("board", "second"), boards_section),
    (("ablation",), ablation_section),
)


def how_section(
    records: Mapping[str, Records],
    planned: Mapping[str, Mapping[str, Run]],
    versions: Mapping[str, str],
) -> str:
    """Return what is needed to do it again."""
    spent = []
    for part, cores in (
        ("document", "one core each, the document's"),
        ("beyond", "two cores each, ours"),
    ):
        runs = records[part]
        if runs:
            hours = sum(one["training"]["seconds"] for one in runs.values()) / 3600
            count = f"{len(runs)} of {len(planned[part])} runs"
            spent.append(f"{hours:.2f} hours for {count} ({cores})")
    every = [one for runs in records.values() for one in runs.values()]
    precisions = {one["training"]["precision"] for one in every}
    return f"""## How it was done

- Command: `python -m ludoteca.evaluate.studies hex`; every run's own command is in its record.
- Training: {", ".join(spent)}.
- Losses weigh `1 - plies / (longest game + 1)`: the document does not give its weights.
- Networks computed in {", ".join(sorted(precisions))} (`--precision auto`), also those with the
  document's settings. That is our choice: the document does not speak of it, and PyTorch's default
  is 32 bits; what difference it makes is not measured.
{provenance_lines(records, versions)}
- Every run's settings and results are in [results.json](results.json)."""


def rating(results: Mapping[str, Any], opponent: str, seat: str) -> dict[str, Any]:
    """Return what an evaluation found against an opponent in a seat."""
    for part in results["evaluation"]:
        if part["opponent"] == opponent:
            for rated in part["seats"]:
                if rated["seat"] == seat:
                    return dict(rated)
    raise KeyError(f"no evaluation against {opponent} as {seat} player")


WITHOUT_CHANCE = ("heuristic",)  # opponents that always answer the same, as do the networks


def shown(rated: Mapping[str, Any], opponent: str) -> str:
    """Return a share in % with its interval; of games that are all the same, whether it was won."""
    if opponent in WITHOUT_CHANCE:
        return "won" if rated["wins"] == rated["games"] else "not won"
    return interval(rated)


def reached(rated: Mapping[str, Any], opponent: str, target: float) -> str:
    """Return whether a share of wins reaches a target in %, by its interval."""
    if opponent in WITHOUT_CHANCE:
        return "yes" if rated["wins"] == rated["games"] else "**no**"
    if 100 * rated["low"] >= target:
        return "yes"
    return "**no**" if 100 * rated["high"] < target else "inconclusive"


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

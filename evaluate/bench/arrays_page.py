"""Page of the results of `ludoteca bench arrays`, in Markdown."""

from collections.abc import Mapping
from typing import Any

from ludoteca.evaluate.bench.provenance_text import measured_on
from ludoteca.evaluate.bench.report import format_amount
from ludoteca.evaluate.markdown import table

SIXFOLD = (5.0, 7.0)  # ratios that are read as the paper's "about 6 times"
EQUAL = (1 / 1.1, 1.1)  # ratios of two libraries that are read as equally fast

BEGIN = """\
# Hex with NumPy and with PyTorch

The paper on Hex (Tanaka, University of Sao Paulo, 2018) says about the speed of its program:

- boards in PyTorch were slower than boards in NumPy that are converted for the network, without a
  number (section 3.8);
- 8x8 was about 6 times slower than 5x5, without saying what was timed (section 4.5).

In each of {rounds} rounds the two sides of a row are measured in turn, at least {seconds:g} s
each, in CPU time of all threads, so that other programs matter less. Both libraries had {threads}
(`OMP_NUM_THREADS={count}`). A ratio is the speed of the first side divided by that of the second:
the geometric mean over the rounds, with a 95 % interval (Student's t of the logarithms). Speeds
are medians.

{measured_on}
"""
LIBRARIES = """\
## NumPy and PyTorch

Boards are planes in plain Python, whose elements are read and written one by one by the same code
for both libraries; after each move they become a tensor of floats. The network is the paper's,
with two convolutions of 48 and 384 filters.

{table}

Verdicts: a side is faster if the interval excludes 1. The two are equally fast if the interval
lies within {low:.2f} and {high:.2f} (10 %). Otherwise it is inconclusive.
"""
SIZES = """\
## 5x5 and 8x8

The last two rows are the games of the paper's training, without and with its updates of 200
positions every five games. The network, with random weights, plays first against `mixed`, and
sees each position in PyTorch. The rules run in plain Python. `mixed` is compiled here and was not
in the paper, so it takes a smaller part of the time than there. Games on 8x8 can have 2.56 times
as many moves as on 5x5.

{table}

"About 6 times" is read as 5 to 7. A row reproduces it if its interval lies within, and does not
if it lies outside; otherwise it is inconclusive. {summary}

All samples are in [{json}]({json}).
"""


def markdown_page(content: Mapping[str, Any], json_name: str) -> str:
    """Return the page.

    Args:
        content: the report of the benchmark as JSON values.
        json_name: name of the file with all numbers, in the folder of the page.

    Raises:
        ValueError: if the report does not have the intervals of all groups.
    """
    rows: dict[str, list[dict[str, Any]]] = {
        group: [] for group in ("boards", "convolutions", "sizes")
    }
    for row in content["rows"]:
        if row["interval"] is None:
            raise ValueError(f"the page needs intervals, and there is none of {row['measure']!r}")
        rows[row["group"]].append(row)
    if missing := [group for group, found in rows.items() if not found]:
        raise ValueError(f"the page needs all measures, and there is no {', '.join(missing)}")
    about = content["about"]
    libraries = [
        _row(row, library_verdict(row["interval"], names))
        for group, names in (
            ("boards", ("NumPy", "PyTorch")),
            ("convolutions", ("PyTorch", "NumPy")),
        )
        for row in rows[group]
    ]
    sizes = [(row, sixfold_verdict(row["interval"])) for row in rows["sizes"]]
    headings = ("measure: first side, second side", "first", "second", "ratio")
    parts = (
        BEGIN.format(
            measured_on=measured_on(content),
            rounds=about["rounds"],
            threads="one thread" if about["threads"] == 1 else f"{about['threads']} threads",
            count=about["threads"],
            seconds=about["seconds_per_side"] / about["rounds"],
        ),
        LIBRARIES.format(
            table=table((*headings, "verdict"), libraries), low=EQUAL[0], high=EQUAL[1]
        ),
        SIZES.format(
            table=table((*headings, "about 6 times"), [_row(*each) for each in sizes]),
            summary=sixfold_summary({row["measure"]: verdict for row, verdict in sizes}),
            json=json_name,
        ),
    )
    return "\n".join(parts)


def library_verdict(interval: tuple[float, float], names: tuple[str, str]) -> str:
    """Return which of two libraries is faster, by the interval of the first one's speed ratio."""
    low, high = interval
    if EQUAL[0] <= low and high <= EQUAL[1]:
        return "equally fast"
    if low > 1 or high < 1:
        return f"{names[0] if low > 1 else names[1]} is faster"
    return "inconclusive"


def sixfold_verdict(interval: tuple[float, float]) -> str:
    """Return whether a ratio reproduces the paper's "about 6 times", by its interval."""
    low, high = interval
    if SIXFOLD[0] <= low and high <= SIXFOLD[1]:
        return "yes"
    return "no" if low > SIXFOLD[1] or high < SIXFOLD[0] else "inconclusive"


def sixfold_summary(verdicts: Mapping[str, str]) -> str:
    """Return the sentences about the measures that are about 6 times slower.

    Args:
        verdicts: verdicts by the names of measures in the report.
    """
    names = {
        verdict: [name.partition(":")[0] for name, own in verdicts.items() if own == verdict]
        for verdict in ("yes", "no", "inconclusive")
    }
    if not names["yes"]:
        sentences = ["No part of the program reproduces the paper's factor here."]
    else:
        sentences = [f"The paper's factor is reproduced by: {', '.join(names['yes'])}."]
        if names["no"]:
            sentences.append(f"It is not by: {', '.join(names['no'])}.")
    if names["inconclusive"]:
        sentences.append(f"Inconclusive: {', '.join(names['inconclusive'])}.")
    return " ".join(sentences)


def _row(row: Mapping[str, Any], verdict: str) -> tuple[str, ...]:
    """Return the cells of a comparison."""
    low, high = row["interval"]
    return (
        f"{row['measure']} ({row['unit']})",
        format_amount(row["ours"], row["unit"]),
        format_amount(row["peer"], row["unit"]),
        f"{row['ratio']:.2f} ({low:.2f} to {high:.2f})",
        verdict,
    )

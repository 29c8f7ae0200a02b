"""Markdown formatting of tables and numbers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ludoteca.evaluate.statistics.differences import mean_interval
from ludoteca.evaluate.statistics.intervals import score_interval, wilson


def table(headings: Sequence[str], rows: Iterable[Sequence[Any]], text_columns: int = 1) -> str:
    """Return a table; the first `text_columns` columns are aligned left, the others right.

    Raises:
        ValueError: if a row has more or fewer cells than there are headings.
    """
    alignments = [":--" if k < text_columns else "--:" for k in range(len(headings))]
    lines = [_line(headings), _line(alignments)]
    for row in rows:
        if len(row) != len(headings):
            raise ValueError(f"expected {len(headings)} cells, got {len(row)}: {list(row)}")
        lines.append(_line(row))
    return "\n".join(lines)


def number(x: float, digits: int = 1) -> str:
    """Return a number with thousands separators, without decimals if it is an integer."""
    return f"{x:,.0f}" if float(x).is_integer() else f"{x:,.{digits}f}"


def percent(fraction: float, digits: int = 1) -> str:
    """Return a fraction as a percentage, e.g. `"61.3 %"`."""
    return f"{100 * fraction:.{digits}f} %"


def with_interval(value: float, interval: tuple[float, float]) -> str:
    """Return a percentage with its interval, e.g. `"61.3 (58.2 to 64.3)"`.

    Args:
        value: the percentage.
        interval: bounds of the interval, as fractions in [0, 1].
    """
    low, high = interval
    return f"{value:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def mean_text(values: Sequence[float], baseline: Sequence[float] | None = None) -> str:
    """Return a mean of percentages with its 95 % interval, such as that of training runs.

    Args:
        values: percentages, one for each seed; a single one has no interval.
        baseline: percentages of the same seeds, to subtract.
    """
    if baseline:
        values = [value - other for value, other in zip(values, baseline, strict=True)]
    if len(values) < 2:
        return f"{values[0]:.1f}"
    mean, low, high = mean_interval(values)
    return with_interval(mean, (low / 100, high / 100))


def wilson_share(count: int, total: int) -> str:
    """Return 100 * count / total, a percentage, with its Wilson 95 % interval."""
    return with_interval(100 * count / total, wilson(count, total))


def points_share(total: Mapping[str, int]) -> str:
    """Return the percentage of points (a draw is half a point) with its 95 % interval.

    Args:
        total: numbers of `"wins"`, `"draws"` and `"games"` of an agent.
    """
    points = 100 * (total["wins"] + total["draws"] / 2) / total["games"]
    return with_interval(points, score_interval(total["wins"], total["draws"], total["games"]))


def p_value(p: float) -> str:
    """Return a p value with two decimals, below 0.1 with four; `"< 0.0001"` if it is smaller."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.1 else f"{p:.2f}"


def p_text(p: float) -> str:
    """Return a p value with its name, e.g. `"p = 0.0078"` or `"p < 0.0001"`."""
    value = p_value(p)
    return f"p {value}" if value.startswith("<") else f"p = {value}"


def bold(text: str, when: bool = True) -> str:
    """Return the text in bold if `when`."""
    return f"**{text}**" if when else text


def _line(cells: Sequence[Any]) -> str:
    """Return a row of a table; `chr(92)` is the backslash that escapes a vertical bar."""
    return f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in cells)} |"

"""Tests of the tables that a training prints at its end, at any terminal width."""

import io

import pytest
from rich.console import Console

from ludoteca.train.epoch_report import ValidationReport, validation_table
from ludoteca.train.evaluation_table import results_table


def printed(table, width: int) -> str:
    """Return a table as printed; assert that it fits the width and is not truncated."""
    console = Console(file=io.StringIO(), width=width)
    console.print(table, highlight=False)
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    return text


def seat(name: str, games: int, distinct: int | None = None) -> dict:
    """Return the results in a seat; `distinct` is the number of different games."""
    counts = {"games": games, "wins": games - 3, "draws": 1, "losses": 2, "distinct": distinct}
    return {"seat": name, "win_rate": 0.98765, "low": 0.97531, "high": 0.99999, **counts}


OPPONENTS = ("mcts:simulations=1000,policy=uct,threads=2", "mixed:epsilon=0.2", "deterministic")
RESULTS = {
    "game": "hex:board_size=5",
    "evaluation": [
        {"opponent": name, "seats": [seat("first", 12_345), seat("second", 12_345, distinct=1)]}
        for name in OPPONENTS
    ],
}


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_results_table_is_not_truncated(width):
    text = printed(results_table(RESULTS), width)
    words = set(text.split())
    headings = {"seat", "games", "wins", "draws", "win", "rate", "95", "interval"}
    assert headings <= words
    assert text.count("97.53 to 100.00") == 6
    assert text.count("12,345") == 6
    assert text.count("(all the same)") == 3
    joined = "".join(text.split())
    assert all(name in joined for name in OPPONENTS)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_validation_table_is_not_truncated(width):
    headings = ("moves of", "validated", "learned", "accuracy", "cross-entropy")
    headings += ("squared error of the value", "without network")
    agents = ("all", "mcts:simulations=1000,policy=uct", "deterministic")
    cells = ("1,234,567", "7,654,321", "98.7 %", "0.123", "0.456", "0.789")
    findings = ValidationReport(
        title="Moves",
        introduction="",
        data={},
        validation=[],
        headings=headings,
        rows=[(agent, *cells) for agent in agents],
        notes="",
        panels=(),
    )
    text = printed(validation_table(findings), width)
    joined = "".join(text.split())
    assert all(word in text.split() for heading in headings[1:] for word in heading.split())
    assert all(agent in joined for agent in agents)
    assert all(text.count(cell) == len(agents) for cell in cells)


def test_wide_terminals_have_a_line_for_each_row():
    lines = printed(results_table(RESULTS), 120).splitlines()
    assert lines[0] == "the trained network in Hex"
    assert len(lines) == 3 + 6 + 3
    assert lines[3].split()[:3] == [OPPONENTS[0], "first", "12,345"]

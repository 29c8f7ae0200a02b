"""Tests of terminal tables that never truncate cells."""

import io

import pytest
from rich.console import Console

from ludoteca.terminal_table import TerminalTable, break_name

NAMES = [
    "mcts:simulations=1000,policy=uct,threads=2",
    "random",
    "az:runs/connect4/best.safetensors",
]


def table(**options):
    """Return a table with a row for each of `NAMES`."""
    terminal_table = TerminalTable(("agent", "games", "mean rank", "95 % interval"), **options)
    for k, name in enumerate(NAMES):
        terminal_table.add(name, f"{10 ** (3 * k):,}", "1.50", "-20 to +20")
    return terminal_table


def print_table(terminal_table, width):
    """Return a table as a terminal of this width shows it."""
    console = Console(file=io.StringIO(), width=width)
    console.print(terminal_table, soft_wrap=True)
    return console.file.getvalue()


@pytest.mark.parametrize("width", range(20, 121, 4))
def test_headings_and_numbers_are_never_broken(width):
    out = print_table(table(title="a match of three", caption="the intervals are Wilson's"), width)
    for word in ("games", "mean", "rank", "interval", "1,000,000", "1.50", "-20 to +20", "random"):
        assert word in out
    assert "…" not in out
    joined = "".join(out.split())
    assert all(name in joined for name in NAMES)
    assert max(map(len, out.splitlines())) <= width


def test_a_wide_terminal_has_a_line_for_each_row():
    lines = print_table(table(), 120).splitlines()
    assert lines[0].split() == ["agent", "games", "mean", "rank", "95", "%", "interval"]
    assert set(lines[1]) == {"─"}
    assert [line.split()[0] for line in lines[2:]] == NAMES


def test_long_names_take_their_own_lines():
    lines = print_table(table(), 50).splitlines()
    assert NAMES[0] in lines
    assert lines[lines.index(NAMES[0]) + 1].split() == ["1", "1.50", "-20", "to", "+20"]


def test_sentences_are_wrapped_at_words():
    terminal_table = TerminalTable(("name", "meaning"), sentences=True)
    terminal_table.add("simulations", "how many games are played from the position before it moves")
    for width in (20, 45, 60, 200):
        out = print_table(terminal_table, width)
        assert " ".join(terminal_table.rows[0].cells[1].split()) in " ".join(
            out.replace("simulations", "").replace("name", "").split()
        ).replace("meaning", "").replace("  ", " ")
        assert max(map(len, out.splitlines())) <= width


def test_spec_strings_in_sentences_break_between_parameters():
    terminal_table = TerminalTable(("", ""), sentences=True)
    terminal_table.add("spec", "tictactoe:board_size=15,line=5")
    assert print_table(terminal_table, 31).split() == ["spec", "tictactoe:board_size=15,", "line=5"]
    assert print_table(terminal_table, 24).split() == ["spec", "tictactoe:", "board_size=15,line=5"]
    assert all(line.strip() for line in print_table(terminal_table, 24).splitlines())
    for width in range(1, 60):
        assert max(map(len, print_table(terminal_table, width).splitlines())) <= max(width, 5)


def test_rows_have_a_cell_for_each_heading():
    with pytest.raises(ValueError, match="expected 4 cells, got 2"):
        table().add("random", "1")


def test_names_break_at_colons_and_commas():
    name = "mcts:simulations=50,policy=uct"
    assert break_name(name, 20) == ["mcts:simulations=50,", "policy=uct"]
    assert break_name(name, 19) == ["mcts:", "simulations=50,", "policy=uct"]
    assert break_name("abcdefgh", 3) == ["abc", "def", "gh"]
    assert break_name("", 10) == [""]

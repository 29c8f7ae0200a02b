"""Tests of figure 3.2 of the Hex paper (Tanaka 2018): interpretations of its circuits, and values.

A position is a circuit between the edges of a color; `LINKS` are ways to set the conductance of the
links between cells.
"""

import numpy as np
import pytest

from ludoteca.agents.games.hex.conductance import LINKS, solve
from ludoteca.agents.games.hex.stone_values import estimated, stone_values
from ludoteca.evaluate.studies.hex.worked_example import OCCUPIED, VALUES, compare

pytestmark = pytest.mark.interpreted

# Key of `SCORES`: value of a cell by the conductances w' of white and b' of black after the move.
NEUROHEX = "1 - b'/w', or w'/b' - 1"


def stones(n, *cells):
    """Return a board, bool `[n, n]`, with stones on some cells `(row, column)`."""
    board = np.zeros((n, n), bool)
    for cell in cells:
        board[cell] = True
    return board


@pytest.mark.parametrize(("links", "expected"), [("sum", 7 / 12), ("unit", 11 / 15)])
def test_empty_board_matches_hand_computation(links, expected):
    # Cells a b over c d. By symmetry under a half turn, d = 1 - a and c = 1 - b. With links of 1,
    # Kirchhoff's law gives 2 - 3 a = 0 and 3 - 5 b = 0; a current of 1/15 flows from a to b.
    circuit = solve(stones(2), stones(2), links)
    assert circuit.conductance == pytest.approx(expected)
    assert circuit.counted == pytest.approx(expected)
    if links == "unit":
        np.testing.assert_allclose(circuit.currents, [[1 / 3, 7 / 15], [7 / 15, 1 / 3]])


@pytest.mark.parametrize(("links", "expected"), [("sum", 4), ("unit", 4), ("pairwise", 3)])
def test_stone_in_a_column_is_a_node_or_joins_its_neighbors(links, expected):
    # The resistance of the column: four links, or three if the stone is not a node.
    own = stones(3, (1, 1))
    enemy = stones(3, *((row, column) for row in range(3) for column in (0, 2)))
    circuit = solve(own, enemy, links)
    assert 1 / circuit.conductance == pytest.approx(expected)
    np.testing.assert_allclose(circuit.currents[[0, 2], 1], 1 / expected)


def test_current_through_cells_at_both_edges_is_not_counted():
    own, enemy = stones(2, (0, 0)), stones(2, (0, 1))
    circuit = solve(own, enemy, "pairwise")  # c is linked to both edges, and by d to the far one
    assert circuit.conductance == pytest.approx(3 / 5)
    assert circuit.counted == pytest.approx(1 / 5)


@pytest.mark.parametrize("links", LINKS)
def test_connected_and_separated_edges_have_infinite_and_no_conductance(links):
    column, row = stones(3, (0, 1), (1, 1), (2, 1)), stones(3, (1, 0), (1, 1), (1, 2))
    assert solve(column, stones(3), links).conductance == np.inf
    assert solve(stones(3), row, links).conductance == 0


def test_circuits_of_neurohex_give_all_values_of_the_figure():
    white = stones(5, (0, 0), (1, 0), (2, 3), (3, 0), (3, 1), (3, 2))
    assert not (white & ~OCCUPIED).any()
    conductances = estimated(white, OCCUPIED & ~white, "pairwise", counted=True)
    values = stone_values(NEUROHEX, conductances)
    np.testing.assert_array_equal(np.trunc(values * 100) / 100, VALUES[~OCCUPIED])


@pytest.mark.slow
def test_only_one_interpretation_gives_the_figure(tmp_path, capsys):
    readings = compare(tmp_path)
    # Of 25 empty cells, `truncated` have the value of the figure, cut to two decimals.
    assert [reading.truncated for reading in readings].count(25) == 1
    assert (readings[0].links, readings[0].score) == ("pairwise", NEUROHEX)
    assert "| pairwise |" in capsys.readouterr().out
    assert "25 of the 25" in " ".join((tmp_path / "figure_3_2.md").read_text().split())

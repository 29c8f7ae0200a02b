"""Tests of tournament reports that are read, and written again, from their `results.json`."""

import json

import numpy as np
import pytest

from ludoteca.evaluate.forfeits import Forfeit
from ludoteca.evaluate.tournament import plots, report
from ludoteca.evaluate.tournament.plan import Match, Tournament
from ludoteca.evaluate.tournament.results import Results
from ludoteca.evaluate.tournament.saved_results import read_results

pytestmark = pytest.mark.interpreted

AGENTS = ("random", "greedy", "flat:simulations=5", "flat:simulations=9")


@pytest.fixture
def results(monkeypatch):
    """Return random results with draws, except between the first two agents and in one game."""
    monkeypatch.setattr(report, "draw_figures", lambda *args: {})  # drawing takes long
    games = ("othello:board_size=4", "othello:board_size=6")
    tournament = Tournament(games, AGENTS, 60, 3, draws="loss", names=("a", "b", "c", "d"))
    shape = (2, len(tournament.pairs), 3, 20)
    rng = np.random.default_rng(0)
    outcomes = rng.integers(-1, 2, shape).astype(np.int8)
    outcomes[0], outcomes[1, 0] = (2 * (x > 0) - 1 for x in (outcomes[0], outcomes[1, 0]))
    forfeit = Forfeit(game=7, agent=2, seat=1, ply=3, kind="timeout", message="10 s")
    return Results(
        tournament,
        outcomes,
        np.full(shape[:2], 60 * 9),
        np.ones(1),
        [(Match(1, (0, 2), 1), forfeit)],
    )


def test_results_are_those_of_their_report(results, tmp_path):
    report.write_report(results, tmp_path)
    read = read_results(tmp_path)
    assert read.tournament == results.tournament
    assert read.forfeits == results.forfeits
    assert read.pair_results == results.pair_results
    np.testing.assert_array_equal(read.wins_by_repeat(), results.wins_by_repeat())
    np.testing.assert_array_equal(read.by_repeat.points, results.by_repeat.points)
    wins = results.wins_by_repeat()
    assert wins[1, 0, 3].tolist() == (results.outcomes[1, 2] == 1).sum(1).tolist()
    assert wins[1, 3, 0].tolist() == (results.outcomes[1, 2] == -1).sum(1).tolist()


def test_reports_are_written_again_as_they_were(results, tmp_path):
    report.write_report(results, tmp_path)
    old = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert old.keys() == {"report.md", "results.csv", "results.json"}
    for name in ("report.md", "results.csv"):
        (tmp_path / name).unlink()
    report.rewrite_report(tmp_path)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == old
    assert "| c | 1 | 1 timeout | 10 s |" in old["report.md"]


def test_losses_by_repeat_of_older_reports_are_known_without_draws(results, tmp_path):
    report.write_report(results, tmp_path)
    content = json.loads((tmp_path / "results.json").read_text())
    for pair in content["pairs"]:
        del pair["losses_by_repeat"]
    (tmp_path / "results.json").write_text(json.dumps(content))
    wins, expected = read_results(tmp_path).wins_by_repeat(), results.wins_by_repeat()
    np.testing.assert_array_equal(wins[0], expected[0])
    known = ~np.isnan(wins[1])
    np.testing.assert_array_equal(wins[1][known], expected[1][known])
    unknown = {(int(a), int(b)) for a, b, _ in np.argwhere(~known)}
    # Agent 1 drew with nobody before it. Agent 2 drew with 0 and 1, agent 3 with three.
    assert unknown == {(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)}
    # The wins of agent 2 over agent 1 are all other wins of agent 2, if those over 0 are known.
    content["pairs"][6 + 1]["draws"] = 0
    (tmp_path / "results.json").write_text(json.dumps(content))
    assert not np.isnan(read_results(tmp_path).wins_by_repeat()[1, 2, 1]).any()


@pytest.mark.parametrize("change", [{"wins_by_repeat": [1, 2]}, {"wins_by_repeat": []}])
def test_damaged_counts_by_repeat_are_rejected(results, tmp_path, change):
    report.write_report(results, tmp_path)
    content = json.loads((tmp_path / "results.json").read_text())
    content["pairs"] = [pair | change for pair in content["pairs"]]
    (tmp_path / "results.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="expected 3 repeats, as the tournament has"):
        read_results(tmp_path)


def test_boxes_of_two_sources_have_the_quartiles_of_their_values(monkeypatch):
    drawn = []
    monkeypatch.setattr(plots, "figure_png", lambda figure, colors: drawn.append(figure) or b"")
    ours, theirs = np.arange(8.0).reshape(4, 2), np.full((4, 2), 9.0)
    panels = {"first": (ours, theirs), "second": (ours[:, :1], theirs[:, :1])}
    plots.compared_boxes(panels, ("a", "b"), ("here", "there"), "wins")
    first, second = drawn[0].axes
    assert [axes.get_title() for axes in (first, second)] == ["first", "second"]
    assert [text.get_text() for text in second.get_xticklabels()] == ["a"]
    assert [text.get_text() for text in drawn[0].legends[0].get_texts()] == ["here", "there"]
    medians = {float(line.get_ydata()[0]) for line in first.lines if line.get_linewidth() == 2
               if len(line.get_ydata())}  # fmt: skip
    assert medians == {3.0, 4.0, 9.0}
    # "here" is on the left of the agent's tick, "there" on the right.
    points = [line for line in first.lines if line.get_marker() == "o"]
    assert sorted(float(line.get_xdata()[0]) for line in points) == pytest.approx(
        [-0.2, 0.2, 0.8, 1.2]
    )

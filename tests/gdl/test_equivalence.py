"""Tests that the rule sheets of this package and its games are equal in random games."""

import pytest

from ludoteca.envs.gdl import own_sheets
from ludoteca.envs.gdl.own_sheets import GAME_SHEETS
from ludoteca.evaluate.gdl.equivalence import compare_games, compare_with_game


@pytest.mark.parametrize(("name", "plies"), [("tictactoe", 1000), ("tron", 100)])
@pytest.mark.interpreted
def test_sheet_and_game_are_equal_in_some_games(name, plies):
    equivalence = compare_with_game(GAME_SHEETS[name], plies, seed=3, num_envs=16)
    assert equivalence.difference == ""
    assert equivalence.plies >= plies
    assert equivalence.games > 20
    assert equivalence.states >= plies


@pytest.mark.slow
@pytest.mark.parametrize("name", GAME_SHEETS)
def test_sheet_and_game_are_equal_in_many_games(name):
    equivalence = compare_with_game(GAME_SHEETS[name], plies=100_000, seed=4)
    assert equivalence.difference == ""
    assert equivalence.plies >= 100_000
    assert equivalence.games > 300


@pytest.mark.slow
def test_compiled_sheet_and_game_are_equal_in_some_games():
    equivalence = compare_games(GAME_SHEETS["tictactoe"], plies=20_000)
    assert equivalence.difference == ""
    assert equivalence.plies >= 20_000
    assert equivalence.games > 1000


@pytest.mark.slow
@pytest.mark.parametrize("name", GAME_SHEETS)
def test_compiled_sheet_and_game_are_equal_in_many_games(name):
    equivalence = compare_games(GAME_SHEETS[name], plies=100_000)
    assert equivalence.difference == ""
    assert equivalence.plies >= 100_000
    assert equivalence.games > 500


@pytest.mark.parametrize(
    ("rule", "other", "difference"),
    [
        ("(not (gap_in_rising ?player))", "(not (gap_in_rising o))", "terminal is False"),
        ("(<= terminal (not open))\n", "", "terminal is False"),
        ("(empty ?x ?y))\n", "(empty ?x ?y) (distinct ?x b))\n", "moves that the sheet lacks"),
        ("(<= (goal ?player 50)", "(<= (goal ?player 40)", "goals are {0: 40, 1: 40}"),
        ("(<= (goal ?player 0)", "(<= (goal ?player 1)", "by the game's returns"),
        ("(init (control x))", "(init (control o))", "of x: legal is"),
        ("(does ?player (mark ?x ?y))", "(does o (mark ?x ?y)) (role ?player)", "of o: legal is"),
    ],
)
@pytest.mark.interpreted
def test_sheet_with_another_rule_differs(monkeypatch, tmp_path, rule, other, difference):
    text = GAME_SHEETS["tictactoe"].path.read_text()
    assert rule in text
    (tmp_path / "tictactoe.kif").write_text(text.replace(rule, other))
    monkeypatch.setattr(own_sheets, "FOLDER", tmp_path)
    equivalence = compare_with_game(GAME_SHEETS["tictactoe"], plies=3000, max_states=0, num_envs=64)
    assert difference in equivalence.difference


@pytest.mark.parametrize(
    ("rule", "other", "difference"),
    [
        ("(not (gap_in_rising ?player))", "(not (gap_in_rising o))", "terminated"),
        ("(empty ?x ?y))\n", "(empty ?x ?y) (distinct ?x b))\n", "is legal in the game"),
        ("(<= (goal ?player 0)", "(<= (goal ?player 1)", "rewards"),
        ("(init (control x))", "(init (control o))", "the players to move differ"),
        ("(does ?player (mark ?x ?y))", "(does o (mark ?x ?y)) (role ?player)", "legal is True"),
    ],
)
# The analysis of a sheet warns of positions without a goal, which some of these rules lead to.
@pytest.mark.filterwarnings("ignore::ludoteca.envs.gdl.errors.GDLWarning")
@pytest.mark.slow
def test_compiled_sheet_with_another_rule_differs(monkeypatch, tmp_path, rule, other, difference):
    text = GAME_SHEETS["tictactoe"].path.read_text()
    (tmp_path / "tictactoe.kif").write_text(text.replace(rule, other))
    monkeypatch.setattr(own_sheets, "FOLDER", tmp_path)
    equivalence = compare_games(GAME_SHEETS["tictactoe"], plies=500, num_envs=16)
    assert difference in equivalence.difference


@pytest.mark.interpreted
def test_additional_fluents_are_a_difference(monkeypatch, tmp_path):
    text = GAME_SHEETS["tictactoe"].path.read_text()
    counter = "(init (step 0)) (<= (next (step 0)) (true (step 0)))"
    (tmp_path / "tictactoe.kif").write_text(text + counter)
    monkeypatch.setattr(own_sheets, "FOLDER", tmp_path)
    equivalence = compare_with_game(GAME_SHEETS["tictactoe"], plies=10)
    assert equivalence.difference == "only by the sheet: {'(step 0)'}, by the game: set()"

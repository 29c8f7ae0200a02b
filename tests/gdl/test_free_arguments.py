"""Relations divided by their free arguments, merged alternatives and splits of several variables.

Each technique is compared with the interpreter, which has none of them, in random games.
"""

import pytest

from ludoteca.envs.gdl import ground, split
from ludoteca.envs.gdl.alternatives import merge_alternatives
from ludoteca.envs.gdl.compile import compile_text
from ludoteca.envs.gdl.estimates import Estimates
from ludoteca.envs.gdl.free_arguments import separate_free_arguments
from ludoteca.envs.gdl.interpreter import make_interpreter
from ludoteca.envs.gdl.own_sheets import find_sheet
from ludoteca.envs.gdl.parse import parse
from ludoteca.envs.gdl.rules import read_rules
from ludoteca.envs.gdl.split import split_rules
from ludoteca.evaluate.gdl.differences import compare_trace
from ludoteca.evaluate.gdl.interpreted_machine import InterpretedMachine
from ludoteca.evaluate.gdl.machine import RuleMachine, play_random_games

# A guard, a horse and a king against rooks and a pawn. A piece may not leave its cell (?i ?j) for
# the cell (?cx ?cy) if the king would then be threatened by a piece that it does not capture.
PINS = """
(role a) (init (ply 1)) (mine guard) (mine horse)
(init (cell 1 1 king)) (init (cell 2 1 guard)) (init (cell 3 1 blank)) (init (cell 4 1 rook))
(init (cell 1 2 horse)) (init (cell 2 2 blank)) (init (cell 3 2 pawn)) (init (cell 4 2 blank))
(init (cell 1 3 rook)) (init (cell 2 3 blank)) (init (cell 3 3 blank)) (init (cell 4 3 blank))
(number 1) (number 2) (number 3) (number 4)
(succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7)
(<= (near ?a ?b) (number ?a) (number ?b) (or (succ ?a ?b) (succ ?b ?a)))
(<= (different ?x ?y ?u ?v)
    (number ?x) (number ?y) (number ?u) (number ?v) (distinct ?x ?u))
(<= (different ?x ?y ?u ?v)
    (number ?x) (number ?y) (number ?u) (number ?v) (distinct ?y ?v))
(<= (row ?u ?y ?x ?i ?j) (near ?u ?x) (succ ?u ?x) (number ?y) (number ?i) (number ?j))
(<= (row ?u ?y ?x ?i ?y) (succ ?u ?i) (row ?i ?y ?x ?i ?y))
(<= (row ?u ?y ?x ?i ?j) (succ ?u ?w) (true (cell ?w ?y blank)) (row ?w ?y ?x ?i ?j))
(<= (column ?x ?v ?y ?i ?j) (near ?v ?y) (succ ?v ?y) (number ?x) (number ?i) (number ?j))
(<= (column ?x ?v ?y ?x ?j) (succ ?v ?j) (column ?x ?j ?y ?x ?j))
(<= (column ?x ?v ?y ?i ?j) (succ ?v ?w) (true (cell ?x ?w blank)) (column ?x ?w ?y ?i ?j))
(<= (line ?u ?y ?x ?y ?i ?j) (or (row ?u ?y ?x ?i ?j) (row ?x ?y ?u ?i ?j)))
(<= (line ?x ?v ?x ?y ?i ?j) (or (column ?x ?v ?y ?i ?j) (column ?x ?y ?v ?i ?j)))
(<= (rook_sees ?u ?v ?x ?y ?i ?j) (true (cell ?u ?v rook)) (line ?u ?v ?x ?y ?i ?j))
(<= (pawn_sees ?u ?v ?x ?y ?i ?j)
    (true (cell ?u ?v pawn)) (near ?u ?x) (near ?v ?y) (number ?i) (number ?j))
(<= (threatened ?cx ?cy ?x ?y ?i ?j)
    (or (rook_sees ?u ?v ?x ?y ?i ?j) (pawn_sees ?u ?v ?x ?y ?i ?j)) (different ?cx ?cy ?u ?v))
(<= (goes ?p ?u ?v ?x ?v) (true (cell ?u ?v ?p)) (near ?u ?x) (number ?v))
(<= (goes ?p ?u ?v ?u ?y) (true (cell ?u ?v ?p)) (near ?v ?y) (number ?u))
(<= (goes horse ?u ?v ?x ?y) (true (cell ?u ?v horse)) (near ?u ?w) (near ?w ?x) (near ?v ?y))
(<= (legal a (move ?p ?u ?v ?x ?y))
    (mine ?p) (goes ?p ?u ?v ?x ?y) (true (cell ?kx ?ky king)) (different ?x ?y ?kx ?ky)
    (not (threatened ?x ?y ?kx ?ky ?u ?v)))
(<= (legal a (move king ?u ?v ?x ?y))
    (goes king ?u ?v ?x ?y) (true (cell ?x ?y blank)) (not (threatened ?x ?y ?x ?y ?u ?v)))
(legal a stay)
(<= (next (cell ?u ?v blank)) (does a (move ?p ?u ?v ?x ?y)))
(<= (next (cell ?x ?y ?p)) (does a (move ?p ?u ?v ?x ?y)))
(<= (next (cell ?x ?y ?p)) (true (cell ?x ?y ?p)) (does a (move ?q ?u ?v ?w ?z))
    (different ?x ?y ?u ?v) (different ?x ?y ?w ?z))
(<= (next (cell ?x ?y ?p)) (true (cell ?x ?y ?p)) (does a stay))
(<= (next (ply ?n)) (true (ply ?m)) (succ ?m ?n))
(<= terminal (true (ply 7)))
(<= (goal a 100) (not (rook_left))) (<= (goal a 0) (rook_left))
(<= rook_left (true (cell ?x ?y rook)))
"""


@pytest.fixture
def divided(monkeypatch):
    """Ground anew with divided relations after a few instances; list the rules before and after."""
    found = []

    def record(rules, *args):
        found.append((rules, separate_free_arguments(rules, *args)))
        return found[-1][1]

    monkeypatch.setattr(ground, "FIRST_BUDGET", 20)
    monkeypatch.setattr(ground, "LARGE_SHARE", 10**6)
    monkeypatch.setattr(ground, "demandable_relations", lambda *args: set())
    monkeypatch.setattr(ground, "MIN_DIVISION_GAIN", 0)
    monkeypatch.setattr(ground, "separate_free_arguments", record)
    monkeypatch.setattr(ground, "FEW_ROWS", 1)
    monkeypatch.setattr(split, "FEW_ROWS", 1)
    return found


def assert_plays_as_interpreted(text, network, games=8, seed=3):
    interpreted = InterpretedMachine(make_interpreter(text))
    comparison = compare_trace(
        interpreted, play_random_games(RuleMachine(network), games, seed, 30)
    )
    assert comparison.positions > games
    assert not comparison.differences


def free_relations(rules):
    return {str(rule.head[0]) for rule in rules if str(rule.head[0]).startswith("free ")}


def test_relations_are_divided_by_their_free_arguments(divided):
    network = compile_text(PINS)
    assert len(divided) == 1
    before, after = divided[0]
    assert free_relations(before) == set()
    assert {name.split()[-1] for name in free_relations(after)} >= {
        "row", "column", "line", "rook_sees", "pawn_sees", "threatened",
    }  # fmt: skip
    # The rest follows only from cells next to the ignored one: the base case is in `free ... row`.
    rest = [rule for rule in after if rule.head[0] == "row"]
    assert rest
    assert all(any(str(atom[0]).endswith("row") for atom in rule.positive) for rule in rest)
    # Cells differ in the column or in the row; the other coordinate is free.
    assert {name for name in free_relations(after) if name.endswith(" threatened")} >= {
        "free 1:number 5:number 6:number threatened", "free 2:number 5:number 6:number threatened",
    }  # fmt: skip
    assert_plays_as_interpreted(PINS, network)


def test_division_reduces_the_instances(divided, monkeypatch):
    network = compile_text(PINS)
    assert len(divided) == 1
    monkeypatch.setattr(ground, "FIRST_BUDGET", 10**6)
    complete = compile_text(PINS)
    assert len(divided) == 1  # grounded at once
    assert network.instances < complete.instances / 2
    assert network.moves == complete.moves


def test_relations_are_not_divided_without_a_gain(divided, monkeypatch):
    monkeypatch.setattr(ground, "MIN_DIVISION_GAIN", 10**9)
    whole = compile_text(PINS)
    assert not divided
    monkeypatch.setattr(ground, "FIRST_BUDGET", 10**6)
    assert whole.num_gates == compile_text(PINS).num_gates


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "tron", "dice_race"])
def test_division_keeps_the_meaning(name, divided):
    text = find_sheet(name).read_text()
    network = compile_text(text)
    assert divided
    assert_plays_as_interpreted(text, network, games=2)


@pytest.mark.parametrize(
    ("query", "is_free"), [("(inner ?x)", True), ("(outer ?x)", False), ("(true (at ?x))", False)]
)
def test_arguments_stay_if_they_may_be_outside_their_domain_in_a_negative_literal(query, is_free):
    text = f"""
    (role a) (inner 1) (inner 2) (outer 2) (outer 3) (init (at 1)) (init (at 3)) (init on)
    (<= (bad ?x) (inner ?x) (true on)) (<= (bad ?x) (outer ?x) (not (true on)) (true (at ?x)))
    (<= (legal a (go ?x)) {query} (not (bad ?x))) (legal a stay)
    (<= (next (at ?x)) (does a (go ?x))) (<= (next (at 3)) (does a stay))
    (<= (goal a 0) (role a)) (<= terminal (true (at 2)))
    """
    rules = read_rules(parse(text))
    domains = {name: [r.head for r in rules if r.head[0] == name] for name in ("inner", "outer")}
    estimates = Estimates(rules, lambda relation: None)
    result = separate_free_arguments(rules, {"bad", "legal", "next"}, domains, estimates)
    assert free_relations(result) == ({"free 1:inner bad"} if is_free else set())


def test_alternatives_become_a_relation_of_their_own():
    text = """
    (cell 1) (cell 2) (cell 3) (cell 4) (rook 1 2) (queen 2 3)
    (<= (threat ?z) (or (rook ?x ?y) (queen ?x ?y)) (seen ?x ?y ?z) (cell ?z))
    (<= (seen ?x ?y ?z) (cell ?x) (cell ?y) (cell ?z))
    """
    rules = read_rules(parse(text))
    estimates = Estimates(rules, lambda relation: None)
    merged = merge_alternatives(rules, estimates, few_rows=1)
    assert [str(rule) for rule in merged if rule.head[0] == "threat"] == [
        "(<= (threat ?z) (either 0 ?x ?y) (seen ?x ?y ?z) (cell ?z))"
    ]
    assert [str(rule) for rule in merged if str(rule.head[0]).startswith("either")] == [
        "(<= (either 0 ?x ?y) (rook ?x ?y))", "(<= (either 0 ?x ?y) (queen ?x ?y))",
    ]  # fmt: skip
    assert merge_alternatives(rules, estimates, few_rows=10**6) == rules


def test_thorough_splits_bind_the_variables_of_negative_literals_by_demands(monkeypatch):
    monkeypatch.setattr(split, "FEW_ROWS", 1)
    rules = read_rules(parse(PINS))
    estimates = Estimates(rules, lambda relation: None)
    result = split_rules(rules, estimates, thorough=True)
    demands = [rule for rule in result if str(rule.head[0]).startswith("demand ")]
    assert demands
    users = [r for r in result if any(str(a[0]).startswith("demand ") for a in r.positive)]
    # The square of the king is not an argument of the auxiliary relation of legal moves.
    assert any(
        atom[0] == "threatened" and not {atom[3], atom[4]} & set(rule.head)
        for rule in users
        for atom in rule.negative
    )

"""Tests of the checks of rule sheets, and of rules for `base` and `input`."""

from functools import partial

import numpy as np
import pytest

from ludoteca.agents.registry import make_agent
from ludoteca.envs.gdl.checks import check_rules
from ludoteca.envs.gdl.compile import compile_text
from ludoteca.envs.gdl.errors import GDLError, GDLLimitError, GDLWarning
from ludoteca.envs.gdl.game import gdl
from ludoteca.envs.gdl.interpreter import make_interpreter
from ludoteca.envs.gdl.parse import parse
from ludoteca.envs.gdl.rules import read_rules
from ludoteca.evaluate.gdl import limited_process
from ludoteca.evaluate.gdl.interpreted_machine import InterpretedMachine
from ludoteca.evaluate.gdl.machine import RuleMachine

pytestmark = pytest.mark.interpreted

# A player sets a number three times.
SMALL = """(role a)
(init (n 0)) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal a (set ?x)) (succ ?x ?y))
(<= (next (n ?x)) (does a (set ?x)))
(<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))
(<= terminal (true (step 3)))
(<= (goal a 100) (true (n 2)))
(<= (goal a 0) (not (true (n 2))))
"""
# The same number is set by rules that read it from lists of moves and fluents.
LISTED = """(role a) (role b) (init (n 0))
(base (n 0)) (base (n 1)) (base (n 2))
(<= (input ?r (set ?x)) (role ?r) (base (n ?x)))
(<= (listed ?r ?m) (input ?r ?m))
(<= (legal ?r ?m) (listed ?r ?m) (distinct ?m (set 0)))
(legal b noop)
(<= (next (n ?x)) (does a (set ?x)) (base (n ?x)))
(<= (next (n ?x)) (true (n ?x)) (not (input b (set ?x))))
(<= terminal (true (n 2)))
(<= (goal ?r 100) (role ?r) (true (n 2)))
(<= (goal ?r 0) (role ?r) (not (true (n 2))))
"""


def problems_of(text):
    """Return the problems of a sheet as texts with their severities."""
    problems = check_rules(read_rules(parse(text)))
    return [f"{problem.severity}: {problem}" for problem in problems]


@pytest.mark.parametrize(
    "make",
    [
        lambda text: RuleMachine(compile_text(text)),
        lambda text: InterpretedMachine(make_interpreter(text)),
    ],
    ids=["compiled", "interpreted"],
)
def test_rules_of_base_and_input_hold_in_bodies(make):
    machine = make(LISTED)
    assert machine.legal() == (("(set 1)", "(set 2)"), ("(set 1)", "(set 2)", "noop"))
    machine.step(["(set 1)", "noop"])
    assert machine.fluents() == ("(n 1)",)
    machine.step(["(set 2)", "(set 1)"])
    assert machine.fluents() == ("(n 2)",)
    assert machine.goals() == ((100,), (100,))


def test_rules_of_base_and_input_are_left_out_if_no_other_rule_uses_them():
    listings = "(<= (base (n ?x)) (unknown ?y)) (<= (input a (set ?x)) (base ?x))"
    assert problems_of(SMALL + listings) == []
    assert len(read_rules(parse(SMALL + listings))) == len(read_rules(parse(SMALL)))
    assert problems_of(SMALL + "(<= (p ?x) (input a ?x))") == [
        "warning: line 9, column 1: nothing defines input, in the rule for (p ?x)"
    ]


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ("  (<= (goal a 101) (true (n 1)))", "error: line 9, column 3: a goal must be an integer"),
        ("(goal a -5)", "from 0 to 100, got (goal a -5)"),
        ("(<= (goal ?r win) (role ?r))", "from 0 to 100, got (goal ?r win)"),
        ("(role b)", "error: line 9, column 1: the role b never has a legal move: no rule"),
        ("(role b) (legal b noop)", "error: line 9, column 1: the role b never has a goal: no"),
        ("(role b) (goal b 0)", "the role b never has a legal move"),
    ],
)
def test_goals_and_moves_that_cannot_be_are_errors_with_their_place(added, message):
    found = problems_of(SMALL + added)
    assert any(message in problem for problem in found)
    with pytest.raises(GDLError, match=r"sheet: line 9, column \d: "):
        compile_text(SMALL + added)


def test_roles_that_variables_may_name_and_chance_are_no_problem():
    for_all = "(role b) (<= (legal ?r noop) (role ?r)) (<= (goal ?r 50) (role ?r))"
    assert problems_of(SMALL + for_all) == []
    assert problems_of(SMALL + "(role random) (legal random toss)") == []


@pytest.mark.parametrize(
    ("added", "line"),
    [
        ("(<= (next (n (s ?x))) (true (n ?x)))", 9),
        ("(<= (next (n (s ?x)))\n (q ?x))\n(<= (q ?x) (true (n ?x)))", 9),
        ("(<= (legal a (set (s ?x))) (true (n ?x)))", 9),  # with `next` of SMALL
        ("\n(<= (next (s ?f)) (true ?f)) (init (s 0))", 10),
        ("(p 0) (<= (p (s ?x)) (p ?x))", 9),
    ],
)
def test_terms_that_grow_in_each_step_are_a_warning(added, line):
    found = [problem for problem in problems_of(SMALL + added) if "grow" in problem]
    assert len(found) == 1
    assert found[0].startswith(f"warning: line {line}, column ")
    assert "terms may grow without end: (<= (" in found[0]


@pytest.mark.parametrize(
    "added",
    [
        "(<= (next (n (s ?x))) (true (n ?x)) (succ ?x ?y))",  # `succ` has finitely many values
        "(<= (next (old (n ?x))) (true (n ?x)))",  # `old` is not nested again
        "(<= (next (n ?x)) (true (n (s ?x))))",
        "(<= (list (l ?x nil)) (succ ?x ?y)) (<= (list (l ?x (l ?y nil))) (succ ?x ?y))"
        "(<= (add ?x (l ?y ?t) (l ?y ?u)) (succ ?x ?y) (list ?t) (add ?x ?t ?u) (list ?u))",
        "(<= (next ?f) (true ?f) (not (does a ?f))) (<= (kept ?f) (true ?f))",
        "(<= (p (s ?x)) (q ?x)) (<= (q ?x) (p (s (s ?x)))) (p (s (s (s 0))))",
    ],
)
def test_terms_of_bounded_depth_are_no_problem(added):
    assert not any("grow" in problem for problem in problems_of(SMALL + added))


def test_errors_about_growing_terms_name_the_rule():
    text = SMALL + "(<= (next (n (s ?x))) (true (n ?x)))"
    where = r", by line 9, column 1: \(<= \(next \(n \(s \?x\)\)\) \(true \(n \?x\)\)\)"
    with pytest.raises(GDLLimitError, match=where):
        compile_text(text)


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ("(q (f 1)) (q (f 1 2))", "f is a function of 2 arguments in (f 1 2), and a function of 1"),
        ("(<= (legal a set) (true (n 1)))", "set is an object in set, and a function of 1"),
        ("(q set) (<= (set ?x) (succ ?x ?y))", "set is an object in line 9, and a relation in"),
    ],
)
def test_constants_with_several_meanings_are_a_warning(added, message):
    found = problems_of(SMALL + added)
    assert any(message in problem for problem in found)
    assert all(problem.startswith("warning: line 9, column ") for problem in found)
    assert problems_of(SMALL + "(<= (n ?x) (succ ?x ?y))") == []  # a function and a relation


def test_forbidden_dependencies_name_the_rule_at_fault_and_the_path():
    added = "(<= (legal a wait) (g 1))\n(<= (g ?x) (h ?x))\n(<= (h ?x) (does a (set ?x)))"
    assert problems_of(SMALL + added) == [
        "error: line 9, column 1: legal must not depend on does, but does: legal <- g <- h <- does"
    ]


def test_infix_syntax_is_an_error_with_a_hint():
    with pytest.raises(GDLError, match=r"line 2, column 5: .*expected prefix syntax \(KIF\)"):
        parse("; a sheet\nrole(white). legal(P, noop) :- role(P).")


def test_endless_games_are_a_warning(tmp_path):
    path = tmp_path / "endless.kif"
    path.write_text(SMALL.replace("(succ 2 3)", "(succ 2 0)"))
    with pytest.warns(GDLWarning) as warned:
        game = gdl(str(path), max_instances=1)  # interpreted
    assert "perhaps no game ever ends" in str(warned[-1].message)
    assert game.max_plies == 1200  # 4 times the positions of the random games


# Only one of eight sequences of moves gives 100, and its opposite gives 50.
PUZZLE = """
(role a) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3)
(move left) (move right)
(<= (legal a ?m) (move ?m))
(<= (next (made ?n ?m)) (true (step ?n)) (does a ?m))
(<= (next (made ?n ?m)) (true (made ?n ?m)))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= best (true (made 0 left)) (true (made 1 right)) (true (made 2 right)))
(<= second (true (made 0 right)) (true (made 1 left)) (true (made 2 left)))
(<= terminal (true (step 3)))
(<= (goal a 100) best) (<= (goal a 50) second)
(<= (goal a 0) (not best) (not second))
"""


def test_mcts_finds_the_best_goal_of_a_puzzle(tmp_path):
    path = tmp_path / "puzzle.kif"
    path.write_text(PUZZLE)
    with pytest.warns(GDLWarning, match="interpreted"):
        game = gdl(str(path), max_instances=1)
    assert (game.num_players, game.has_chance) == (1, False)
    agent, states, moves = make_agent("mcts:simulations=60", game), game.empty(1), []
    s = states.view(np.recarray)[0]
    game.init(s, 0)
    while not game.is_terminal(s):
        seeds = np.array([[len(moves)]], np.uint64)
        (action,) = agent.act(states, np.array([0]), seeds, np.array([0]))
        moves.append(game.action_names[action])
        game.step(s, action)
    assert moves == ["left", "right", "right"]


CUBE = "(role a) (init (step 0)) (legal a stop) (goal a 100) (<= terminal (true (n 0)))"


@pytest.mark.slow
@pytest.mark.parametrize(
    "added",
    [
        "(<= (legal a (choose ?x ?y ?z)) (value ?x) (value ?y) (value ?z))",
        "(<= (next (chosen ?x ?y ?z)) (value ?x) (value ?y) (value ?z))",
        "(<= (p ?x ?y ?z) (value ?x) (value ?y) (value ?z) (true (n ?z)))"
        "(<= (next (n ?x)) (value ?x))"
        "(<= (legal a go) (value ?x) (value ?y) (value ?z) (not (p ?x ?y ?z)))",
    ],
    ids=["moves", "fluents", "negation"],
)
def test_sheets_of_a_billion_instances_end_within_time_and_memory(added, tmp_path, monkeypatch):
    path = tmp_path / "cube.kif"
    path.write_text(CUBE + " ".join(f"(value {i})" for i in range(1000)) + added)
    monkeypatch.setattr(limited_process, "MAX_MEMORY", 4 << 30)
    with pytest.raises(
        limited_process.ProcessError, match=r"GDLLimitError: .*max_instances=3,000,000"
    ):
        limited_process.run_in_limits(partial(gdl, str(path)), 150)

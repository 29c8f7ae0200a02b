"""The interpreter of rule sheets, against compiled sheets and naive evaluation."""

import itertools
import random
import re
import warnings

import numpy as np
import pytest
from command_line import run

from ludoteca.envs.gdl import vocabulary
from ludoteca.envs.gdl.batch import BatchSimulator
from ludoteca.envs.gdl.compile import compile_sheet
from ludoteca.envs.gdl.datalog import Evaluator
from ludoteca.envs.gdl.errors import GDLError, GDLLimitError, GDLWarning
from ludoteca.envs.gdl.game import dynamics, rules
from ludoteca.envs.gdl.interpreter import make_interpreter, read_interpreter
from ludoteca.envs.gdl.own_sheets import find_sheet, sheet_names
from ludoteca.envs.gdl.parse import parse, show
from ludoteca.envs.gdl.rules import Rule, read_rules
from ludoteca.envs.gdl.vocabulary import find_vocabulary
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.gdl import coverage
from ludoteca.evaluate.gdl.interpreted_machine import InterpretedMachine
from ludoteca.evaluate.gdl.machine import make_machine, play_random_games
from ludoteca.testing import check_game, check_kernels

# A walk of a token; `path` has more ground instances than the compiler allows.
LARGE = """
(role a) (init (at 0)) (init (clock 0)) (succ 0 1) (succ 1 2) (succ 2 0)
(<= (legal a (go ?y)) (true (at ?x)) (succ ?x ?y)) (legal a stay)
(<= (next (at ?y)) (does a (go ?y))) (<= (next (at ?x)) (true (at ?x)) (does a stay))
(<= (next (clock 1)) (true (clock 0))) (<= (next (clock 2)) (true (clock 1)))
(<= terminal (true (clock 2)))
(<= (goal a 100) (true (at ?x)) (path ?x (s (s (s 2))))) (<= (goal a 0) (not (goal a 100)))
(<= (path ?x ?x) (succ ?x ?y)) (<= (path ?x (s ?y)) (path ?x ?y))
"""


def evaluator(text, **limits):
    return Evaluator(read_rules(parse(text)), **limits)


@pytest.mark.slow
@pytest.mark.parametrize("name", sheet_names())
def test_interpreted_and_compiled_sheets_have_the_same_games(name):
    compiled = make_machine(find_sheet(name))
    interpreted = InterpretedMachine(read_interpreter(find_sheet(name)))
    games = [list(play_random_games(m, 5, 11, 100)) for m in (compiled, interpreted)]
    assert games[0] == games[1]


def naive_answers(rules, constants):
    """Derive all atoms of positive rules by trying all values of all variables."""
    known, size = set(), -1
    while len(known) > size:
        size = len(known)
        for rule in rules:
            names = sorted({t for atom in (rule.head, *rule.positive) for t in atom if t[0] == "?"})
            for values in itertools.product(constants, repeat=len(names)):
                value = dict(zip(names, values, strict=True))
                ground = [
                    tuple(value.get(t, t) for t in atom) for atom in (rule.head, *rule.positive)
                ]
                if known.issuperset(ground[1:]):
                    known.add(ground[0])
    return known


@pytest.mark.parametrize("seed", range(40))
def test_recursive_rules_have_the_answers_of_naive_evaluation(seed):
    rng = random.Random(seed)
    constants, names, terms = "abc", ("p", "q", "r"), ("?x", "?y", "?z", "a")
    facts = [Rule(("e", *rng.choices(constants, k=2))) for _ in range(4)]
    recursive = []
    for _ in range(rng.randint(3, 7)):
        body = [
            (rng.choice((*names, "e")), *rng.choices(terms, k=2)) for _ in range(rng.randint(1, 3))
        ]
        bound = [term for atom in body for term in atom[1:]]
        recursive.append(Rule((rng.choice(names), *rng.choices(bound, k=2)), body))
    expected = naive_answers(facts + recursive, constants)
    tested = Evaluator(facts + recursive)
    queries = list(itertools.product(names, (None, *constants), (None, *constants)))
    rng.shuffle(queries)  # tables of earlier queries must not change later answers
    for name, x, y in queries:
        found = tested.query(name, x, y) if name in {r.head[0] for r in recursive} else []
        matching = {
            atom
            for atom in expected
            if atom[0] == name and x in (None, atom[1]) and y in (None, atom[2])
        }
        assert set(found) == matching, (name, x, y)
        assert len(found) == len(set(found))


def test_negation_uses_complete_answers_of_recursive_rules():
    tested = evaluator(
        """
        (edge a b) (edge b c) (edge c a) (edge d a) (node a) (node b) (node c) (node d)
        (<= (reach ?x ?y) (edge ?x ?y)) (<= (reach ?x ?z) (reach ?x ?y) (reach ?y ?z))
        (<= (apart ?x ?y) (node ?x) (node ?y) (not (reach ?x ?y)))
        """
    )
    assert {atom[1:] for atom in tested.query("apart", None, None)} == {(x, "d") for x in "abcd"}


def test_facts_of_the_state_replace_earlier_ones():
    tested = evaluator("(<= (twice ?x) (true (at ?x)) (does a ?x)) (<= (once ?x) (true (at ?x)))")
    for state, move, once, twice in (("1", "1", 1, 1), ("1", "2", 1, 0), ("2", "2", 1, 1)):
        tested.set_state([("at", state)])
        tested.set_moves([("a", move)])
        assert tested.query("once", None) == [("once", state)] * once
        assert tested.query("twice", None) == [("twice", state)] * twice


def test_unstratified_negation_endless_rules_and_deep_recursion_are_errors():
    tested = evaluator("(<= (goal a 1) (not (goal a 2))) (<= (goal a 2) (not (goal a 1)))")
    with pytest.raises(GDLError, match="depends on its own negation"):
        tested.query("goal", "a", "1")
    tested = evaluator("(n 0) (<= (n (s ?x)) (n ?x)) (<= (m ?x) (n ?x))", max_answers=1000)
    with pytest.raises(GDLLimitError, match=r"the query .m [?]. needs more than"):
        tested.query("m", None)
    down = "(down 0) (<= (down ?y) (succ ?x ?y) (down ?x))"
    down += " ".join(f"(succ {i} {i + 1})" for i in range(9000))
    with pytest.raises(GDLLimitError, match="too deep a recursion"):
        evaluator(down).query("down", "9000")
    assert evaluator(down).query("down", "2000") == [("down", "2000")]


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n == "othello" else n for n in sheet_names()],
)
def test_vocabulary_is_that_of_the_compiled_sheet(name, monkeypatch):
    network, interpreter = compile_sheet(find_sheet(name)), read_interpreter(find_sheet(name))
    fluents, moves, _ = find_vocabulary(interpreter, 60.0, 10**6)
    assert set(map(show, fluents)) == set(network.fluents)
    assert {show(move) for role in moves for move in role} == set(network.moves)
    monkeypatch.setattr(vocabulary, "MAX_TESTED_ROWS", 0)
    assert set(network.fluents) <= set(map(show, find_vocabulary(interpreter, 60.0, 10**6)[0]))


def test_vocabularies_without_end_and_too_many_moves_are_errors(monkeypatch):
    endless = LARGE.replace("(does a (go ?y)))", "(does a (go ?y))) (<= (next (s ?x)) (true ?x))")
    with pytest.raises(GDLLimitError, match=r"may grow without end|ground instances"):
        find_vocabulary(make_interpreter(endless), 60.0, 10**6)
    monkeypatch.setattr(vocabulary, "MAX_MOVES", 399)
    numbers = " ".join(f"(n {i})" for i in range(20))
    many = LARGE + numbers + "(<= (legal a (put ?x ?y)) (n ?x) (n ?y))"
    with pytest.raises(GDLLimitError, match="the role a has more than 399 possible moves"):
        find_vocabulary(make_interpreter(many), 60.0, 10**6)


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "large.kif"
    path.write_text(LARGE)
    return path


@pytest.mark.interpreted
def test_sheet_that_cannot_be_compiled_is_a_game(large):
    with pytest.warns(GDLWarning, match="large.kif: .*its rules are interpreted"):
        game = make_game("gdl", path=str(large))
    assert rules(game).fluents == (
        *(f"(at {i})" for i in range(3)),
        *(f"(clock {i})" for i in range(3)),
    )
    assert game.action_names == ("stay", "go 0", "go 1", "go 2")
    with pytest.raises(GDLError, match="is interpreted: it has no gates"):
        BatchSimulator(rules(game))
    for last, expected in (("go 2", 1.0), ("stay", -1.0)):
        s, out = game.new(), np.zeros(1)
        for name in ("go 1", last):
            game.step(s, game.action_names.index(name))
        game.returns(s, out)
        assert game.is_terminal(s)
        assert out.tolist() == [expected]


@pytest.mark.interpreted
def test_commands_describe_and_play_a_sheet_that_cannot_be_compiled(large, capsys, monkeypatch):
    monkeypatch.setattr(coverage, "INTERPRETED_SECONDS", 0.01)
    warning = r"ludoteca: warning: large.kif: .*its rules are interpreted[^\n]*\n"
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        status, out, err = run(capsys, "gdl", "info", str(large), "--seconds", "0.01")
        assert status == 0
        assert "interpreted" in out
        assert "dynamics one player" in out
        assert re.fullmatch(warning, err)
        status, out, err = run(capsys, "gdl", "trace", str(large))
        assert status == 0
        assert out.count("clock") == 3
        assert re.fullmatch(warning, err)
    found = coverage.measure_coverage("large", large, None, 30.0, 0.01)
    assert (found.failure, found.dynamics, found.mean_plies) == ("", "one player", 2)
    assert "may grow without end" in found.limit


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "name", ["tictactoe", "tron", pytest.param("three_in_line", marks=pytest.mark.slow)]
)
def test_interpreted_game_is_the_compiled_game(name):
    with pytest.warns(GDLWarning, match="interpreted"):
        game = make_game("gdl", path=name, max_instances=1)
    own = make_game("gdl", path=name)
    assert game.dynamics == own.dynamics
    assert rules(game).fluents == rules(own).fluents
    assert len(dynamics(game).control) == len(dynamics(own).control)
    rng = np.random.default_rng(0)
    for _ in range(3):
        s, t = game.new(), own.new()
        while not own.is_terminal(t):
            assert np.array_equal(s.fluents, t.fluents)
            chosen = []
            for player in range(game.num_players) if game.simultaneous else (None,):
                legal = [game.action_names[a] for a in game.legal(s, player)]
                assert legal == [own.action_names[a] for a in own.legal(t, player)]
                chosen.append(rng.choice(legal))
            for g, r in ((game, s), (own, t)):
                actions = [g.action_names.index(action) for action in chosen]
                g.step(r, np.array(actions) if g.simultaneous else actions[0])
        assert game.is_terminal(s)
        assert game.validate(s) == ""
        scores = np.zeros((2, game.num_players))
        game.returns(s, scores[0])
        own.returns(t, scores[1])
        assert np.array_equal(*scores)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore::ludoteca.envs.gdl.errors.GDLWarning")
def test_compiled_environments_run_interpreted_rules():
    game = make_game("gdl", path="tictactoe", max_instances=1)
    check_kernels(game, games=3)
    check_game(game, games=2)


@pytest.mark.interpreted
def test_errors_of_rules_end_the_game_with_a_warning(tmp_path):
    path = tmp_path / "loop.kif"
    # After the move `bad`, the goal depends on its own negation; random games do not end there.
    path.write_text(LARGE + "(<= (path ?x p) (true (at ?x)) (path ?x (s ?y)))")
    with pytest.warns(GDLWarning):
        game = make_game("gdl", path=str(path))
    evaluation = rules(game).phase1.evaluate.__self__
    evaluation._interpreter._evaluator._max_answers = 1
    with pytest.warns(GDLWarning, match="the game ends: the query"):
        s = game.new()
    assert game.is_terminal(s)

"""Techniques for large sheets: estimates, splits by cost, persistent fluents, choices of moves.

Each technique is compared with the interpreter, which has none of them, in random games.
"""

import warnings

import numpy as np
import pytest

from ludoteca.agents.registry import make_agent
from ludoteca.envs.engine.playouts import play_randomly
from ludoteca.envs.gdl import actions as gdl_actions
from ludoteca.envs.gdl import compile as compiler
from ludoteca.envs.gdl import ground, split
from ludoteca.envs.gdl.compile import compile_text
from ludoteca.envs.gdl.dynamics import analyze
from ludoteca.envs.gdl.errors import GDLLimitError, GDLWarning
from ludoteca.envs.gdl.estimates import Estimates
from ludoteca.envs.gdl.game import make_network_game, new_position
from ludoteca.envs.gdl.interpreter import make_interpreter
from ludoteca.envs.gdl.limits import Limits
from ludoteca.envs.gdl.parse import parse
from ludoteca.envs.gdl.persistence import replace_persistent_fluents
from ludoteca.envs.gdl.rules import read_rules
from ludoteca.envs.gdl.split import split_rules
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.gdl.differences import compare_trace
from ludoteca.evaluate.gdl.interpreted_machine import InterpretedMachine
from ludoteca.evaluate.gdl.machine import RuleMachine, play_random_games

# A player leaves one cell, enters another and shoots at a third one, as in the Game of the Amazons.
# The player may not shoot the cell that it leaves. Shot cells are out of the game.
SHOTS = """
(role a) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3)
(cell 0) (cell 1) (cell 2) (cell 3) (cell 4)
(init (at 0 me)) (init (at 1 me)) (init (at 4 rock))
(<= (full ?x) (true (at ?x ?what)))
(<= (empty ?x) (cell ?x) (not (full ?x)))
(<= (can_go ?x ?y ?z) (true (at ?x me)) (empty ?y) (empty ?z) (distinct ?y ?z))
(<= (legal a (go ?x ?y ?z)) (can_go ?x ?y ?z))
(<= (legal a wait) (not some_can_go))
(<= some_can_go (can_go ?x ?y ?z))
(<= (next (at ?x ?what)) (true (at ?x ?what)) (does a (go ?x1 ?x2 ?x3)) (distinct ?x ?x1))
(<= (next (at ?x ?what)) (true (at ?x ?what)) (does a wait))
(<= (next (at ?x me)) (does a (go ?x1 ?x ?x3)))
(<= (next (at ?x shot)) (does a (go ?x1 ?x2 ?x)))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= terminal (true (step 3)))
(<= (goal a 100) (true (at 0 me)))
(<= (goal a 0) (not (true (at 0 me))))
"""

# An explorer in a corridor of ten cells with a wall, which the rules treat as a fluent.
CORRIDOR = """
(role a) (init (at 0)) (init (wall 3 4)) (init (torch 5))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8) (succ 8 9)
(<= (legal a forward) (true (at ?x)))
(<= (legal a back) (true (at ?x)))
(<= (next (at ?y)) (true (at ?x)) (does a forward) (succ ?x ?y) (not (true (wall ?x ?y))))
(<= (next (at ?x)) (true (at ?x)) (does a forward) (true (wall ?x ?y)))
(<= (next (at ?x)) (true (at ?y)) (does a back) (succ ?x ?y))
(<= (next (at 0)) (true (at 0)) (does a back))
(<= (next (wall ?x ?y)) (true (wall ?x ?y)))
(<= (next (torch ?x)) (true (torch ?x)) (not (does a back)))
(<= terminal (true (at 3)))
(<= (goal a 100) (true (torch 5)))
(<= (goal a 50) (not (true (torch 5))))
"""


def differences(text, network, games=10):
    """Return the positions of random games of a network, and how the interpreter's differ."""
    trace = list(play_random_games(RuleMachine(network), games, 1, 30))
    comparison = compare_trace(InterpretedMachine(make_interpreter(text)), trace)
    assert comparison.positions == len(trace) > games
    return comparison.differences


def estimates_of(text):
    return Estimates(read_rules(parse(text)), lambda relation: None)


def test_estimates_of_joins_are_exact_for_independent_arguments():
    numbers = " ".join(f"(n {i}) (m {i} {(3 * i) % 10})" for i in range(10))
    estimates = estimates_of(numbers)
    assert estimates.rows([("n", "?x")]) == 10
    assert estimates.rows([("n", "?x"), ("n", "?y")]) == 100
    assert estimates.rows([("n", "3"), ("n", "?y")]) == 10
    exact = Estimates(read_rules(parse(numbers)), lambda relation: 10)
    assert exact.rows([("m", "?x", "?y")]) == 10
    assert exact.rows([("m", "?x", "?y"), ("m", "?y", "?z")]) == 10
    assert exact.rows([("m", "?x", "3")]) == 1


def test_domains_of_arguments_follow_states_and_moves():
    estimates = estimates_of(SHOTS)
    assert estimates.rows([("true", ("at", "?x", "?what"))]) == 5 * 3
    assert estimates.rows([("true", ("step", "?n"))]) == 4
    assert estimates.rows([("does", "?r", ("go", "?x", "?y", "?z"))]) == 5**3
    # Two literals restrict a variable to the terms that both can have.
    assert estimates.rows([("true", ("at", "?x", "rock")), ("true", ("step", "?x"))]) == 4


def test_domains_of_terms_that_grow_are_cut_off():
    estimates = estimates_of("(p 0) (<= (p (s ?x)) (p ?x)) (<= (q ?x) (p ?x))")
    assert 1 < estimates.rows([("q", "?x")]) < 100


@pytest.fixture
def many_splits(monkeypatch):
    """Split rules by estimates even if they have few instances."""
    monkeypatch.setattr(split, "FEW_ROWS", 1)
    monkeypatch.setattr(split, "MANY_ROWS", 100)
    monkeypatch.setattr(split, "MIN_GAIN_OF_MOVES", 2)


@pytest.fixture
def low_budgets(monkeypatch):
    """Ground anew with rules split by estimates after a few instances."""
    monkeypatch.setattr(ground, "FIRST_BUDGET", 50)
    monkeypatch.setattr(ground, "SPLIT_BUDGET", 50)
    monkeypatch.setattr(ground, "LATE_SPLIT_BUDGET", 50)


def test_splits_by_estimates_move_large_moves_out_of_frame_axioms(many_splits):
    rules = read_rules(parse(SHOTS))
    by_variables = split_rules(rules)
    by_estimates = split_rules(rules, Estimates(rules, lambda relation: None))
    sizes = [
        Estimates(each, lambda relation: None).total(each) for each in (by_variables, by_estimates)
    ]
    assert sizes[1] < sizes[0] / 2
    grounded = [ground.Grounder(each, Limits()) for each in (by_variables, by_estimates)]
    assert len(grounded[1].instances) < len(grounded[0].instances)
    assert set(grounded[0].possible("next")) == set(grounded[1].possible("next"))


def test_instances_of_all_attempts_count(many_splits, low_budgets):
    network = compile_text(SHOTS)
    assert network.counted_instances >= network.instances
    compile_text(SHOTS, max_instances=network.counted_instances)
    with pytest.raises(GDLLimitError, match="ground instances of rules"):
        compile_text(SHOTS, max_instances=network.counted_instances - 1)


def test_the_number_of_instances_is_that_of_the_largest_attempt():
    limits = Limits(max_instances=5)
    for count in (3, 5, 2):
        limits.restart()
        for _ in range(count):
            limits.count_instance()
    assert (limits.instances, limits.counted_instances) == (2, 5)
    with pytest.raises(GDLLimitError, match="max_instances=5 "):
        limits.check_instances(6)


def test_splits_by_estimates_keep_the_meaning(many_splits, low_budgets, monkeypatch):
    found = []
    monkeypatch.setattr(
        ground, "split_rules", lambda *args: found.append(args) or split_rules(*args)
    )
    network = compile_text(SHOTS)
    assert len(found[-1]) == 2  # split by estimates
    assert differences(SHOTS, network) == ()


def test_disjunctions_of_moves_are_choices_as_moves_are():
    # The cell that is left is either named by the moves, or by a relation that the moves define.
    named = SHOTS.replace("(does a (go ?x1 ?x2 ?x3)) (distinct ?x ?x1)", "(leaves_other ?x)")
    named += """
        (<= (leaves ?x) (does a (go ?x ?y ?z)))
        (<= (leaves_other ?x) (cell ?x) (leaves ?y) (distinct ?x ?y))
    """
    direct, indirect = compile_text(SHOTS), compile_text(named)
    assert differences(named, indirect) == ()
    assert len(indirect.phase2.gates) <= 1.2 * len(direct.phase2.gates)


def test_persistent_fluents_are_constants_of_the_rules(monkeypatch):
    network = compile_text(CORRIDOR)
    assert "(wall 3 4)" in network.fluents  # still a part of the state
    assert {f"(at {i})" for i in range(4)} <= set(network.fluents)
    assert "(at 4)" not in network.fluents  # behind the wall
    assert differences(CORRIDOR, network) == ()
    monkeypatch.setattr(compiler, "replace_persistent_fluents", list)
    general = compile_text(CORRIDOR)
    assert "(at 4)" in general.fluents
    assert network.num_gates < general.num_gates


def test_positions_keep_persistent_fluents():
    network = compile_text(CORRIDOR)
    game = make_network_game(network, analyze(network), "corridor", {})
    position = new_position(game, ["(at 2)", "(wall 3 4)"])  # the torch may be out
    assert game.validate(position) == ""
    with pytest.raises(ValueError, match=r"must have \(wall 3 4\), which never changes, true"):
        new_position(game, ["(at 2)", "(torch 5)"])
    s = game.new()
    i = network.fluents.index("(wall 3 4)")
    s.fluents[i >> 6] ^= np.uint64(1 << (i & 63))
    assert "which never changes" in game.validate(s)


@pytest.mark.parametrize(
    "rule",
    [
        "(<= (next (wall ?x ?y)) (true (wall ?x ?y)) (not (true (at 2))))",
        "(<= (next (wall 3 ?y)) (true (wall 3 ?y)))",
        "(<= (next (wall ?x ?x)) (true (wall ?x ?x)))",
        "(<= (next (wall ?y ?x)) (true (wall ?x ?y)))",
        "(<= (next ?f) (true ?f) (does a back))",
        "(<= (next (wall ?x ?y)) (true (wall ?x ?y))) (<= (next (wall 0 1)) (does a back))",
    ],
)
def test_fluents_that_may_change_are_not_persistent(rule):
    text = CORRIDOR.replace("(<= (next (wall ?x ?y)) (true (wall ?x ?y)))", rule)
    rules = read_rules(parse(text))
    assert replace_persistent_fluents(rules) == rules
    assert differences(text, compile_text(text)) == ()


# A player names two of 200 numbers; the second one is remembered, and the last one wins.
PAIRS = (
    " ".join(f"(number {i})" for i in range(200))
    + """
(role a) (role b) (init (control a)) (init (last 0))
(<= (legal ?r (name ?x ?y)) (true (control ?r)) (number ?x) (number ?y))
(<= (legal a wait) (true (control b)))
(<= (legal b wait) (true (control a)))
(<= (next (last ?y)) (does ?r (name ?x ?y)))
(<= (next (control b)) (true (control a)))
(<= (next over) (true (control b)))
(<= terminal (true over))
(<= (goal a 100) (not (true (last 199))))
(<= (goal a 0) (true (last 199)))
(<= (goal b 100) (true (last 199)))
(<= (goal b 0) (not (true (last 199))))
"""
)


@pytest.mark.slow
@pytest.mark.parametrize("max_instances", [3_000_000, 1], ids=["compiled", "interpreted"])
def test_sheet_with_more_moves_than_an_int16_numbers(tmp_path, monkeypatch, max_instances):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))  # no network from earlier tests
    (tmp_path / "pairs.kif").write_text(PAIRS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GDLWarning)  # the limit
        game = make_game("gdl", path=str(tmp_path / "pairs.kif"), max_instances=max_instances)
    assert (game.action_dtype, game.num_actions // 40_000) == (np.int32, 1)
    number = {name: action for action, name in enumerate(game.action_names)}
    s = game.new()
    assert [game.action_names[a] for a in game.legal(s)] == [
        f"name {x} {y}" for x in range(200) for y in range(200)
    ]
    game.step(s, number["name 199 198"])
    win, out = number["name 199 199"], np.zeros(2)
    assert win > 32_767
    assert win in game.legal(s)
    report = make_agent("mcts:simulations=50", game).search(s)
    assert report.action in game.legal(s)
    game.step(s, win)
    game.returns(s, out)
    assert out.tolist() == [-1.0, 1.0]
    assert play_randomly(game, 3)[1] >= 6


def test_actions_of_large_sheets_are_limited(monkeypatch):
    monkeypatch.setattr(gdl_actions, "MAX_MOVES", 9)
    network = compile_text(SHOTS)
    with pytest.raises(GDLLimitError, match="different moves, more than 9"):
        make_network_game(network, analyze(network), "shots", {})

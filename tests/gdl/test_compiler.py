"""The compiler of rule sheets: errors with their places, limits, and the meaning of the rules."""

import gc
import itertools
import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from ludoteca.envs.gdl import compile as compiler
from ludoteca.envs.gdl import ground, network_cache
from ludoteca.envs.gdl.checks import check_rules
from ludoteca.envs.gdl.compile import compile_sheet, compile_text
from ludoteca.envs.gdl.dynamics import analyze, prove_max_plies
from ludoteca.envs.gdl.errors import GDLError, GDLLimitError
from ludoteca.envs.gdl.gates import Gates
from ludoteca.envs.gdl.ground import Grounder
from ludoteca.envs.gdl.interpreter import make_interpreter
from ludoteca.envs.gdl.limits import Limits
from ludoteca.envs.gdl.own_sheets import find_sheet
from ludoteca.envs.gdl.parse import parse, read_sheet, show
from ludoteca.envs.gdl.rules import read_rules
from ludoteca.envs.gdl.split import split_rules
from ludoteca.evaluate.gdl.differences import compare_trace
from ludoteca.evaluate.gdl.interpreted_machine import InterpretedMachine
from ludoteca.evaluate.gdl.machine import RuleMachine, make_machine, play_random_games

# Two players choose `left` or `right` at the same time, three times. Both win if they ever both
# chose `left` in the same step.
SMALL = """
(role a) (role b)
(init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal ?r left) (role ?r))
(<= (legal ?r right) (role ?r))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (next (met ?m)) (does a ?m) (does b ?m))
(<= (next (met ?m)) (true (met ?m)))
(<= (goal ?r 100) (role ?r) (true (met left)))
(<= (goal ?r 0) (role ?r) (not (true (met left))))
(<= terminal (true (step 3)))
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(role a)\n  (init (b)", "line 2, column 3: '[(]' is never closed"),
        ("(role a)\n)", r"line 2, column 1: '\)' without '\('"),
        ("(role a) ()", "line 1, column 10: an empty list"),
        ("(role a)\n((f) b)", "line 2, column 1: a list must begin with the name"),
        ("(" * 1_000_000, "line 1, column 101: parentheses are nested more than 100 deep"),
        ("; nothing", "holds no statement"),
        ("(role a)\n(init (p " + "9" * 5000 + "))", "line 2, column 10: .* more than 640 digits"),
        ("(role a)\n c" + "9" * 5000, "line 2, column 2: .* more than 640 digits"),
        ("(role a b)", "line 1, column 1: role takes 1 argument, got 2"),
        ("(<= (true x) (p))", "'true' cannot be the head"),
        ("(<= (next x) (true (or a b)))", "cannot stand inside a term"),
    ],
)
def test_syntax_errors_have_line_and_column(text, message):
    with pytest.raises(GDLError, match=message):
        read_rules(parse(text))


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ("(<= (p ?x) (q ?y)) (q 1)", "line 12, column 1: the variable [?]x in the head"),
        ("(<= (p 1) (q ?y) (not (q ?z))) (q 1)", r"variable [?]z in \(not"),
        ("(<= (p 1) (not (p 1)))", "p depends on its own negation"),
        ("(q 1) (q 1 2)", "q has 2 arguments"),
        ("(<= (legal a x) (does a left))", "legal must not depend on does"),
        ("(<= (init x) (true (step 0)))", "init must not depend on true"),
        ("(<= (p 1) (next (step 1)))", "next must not occur in a body"),
        ("(role c) (role d) (role e) (role f) (role g) (role h) (role i)", "9 players, at most 8"),
        ("(role c)", "the role c never has|the role c has no goal"),
        ("(<= (goal a 101) (true (step 3)))", "integer from 0 to 100, got .goal a 101"),
    ],
)
def test_faults_against_the_specification_are_errors(added, message):
    text = SMALL + added
    if added == "(role c)":  # rules for `?r` hold for all roles
        text = text.replace("(role ?r)", "(p ?r)") + "(p a) (p b)"
    with pytest.raises(GDLError, match=message):
        compile_text(text)


@pytest.mark.parametrize("relation", ["legal", "goal", "terminal"])
def test_required_relations_are_missed(relation):
    lines = [line for line in SMALL.splitlines() if f"({relation} " not in line]
    lines = [line for line in lines if relation != "terminal" or "terminal" not in line]
    with pytest.raises(GDLError, match=f"the sheet has no rule for {relation}"):
        compile_text("\n".join(lines))


def test_a_sheet_is_not_read_beyond_its_limit(tmp_path):
    path = tmp_path / "large.kif"
    path.write_bytes(b"(" * 9_000_000)
    with pytest.raises(GDLError, match="expected at most 8,388,608 bytes"):
        read_sheet(path)


@pytest.mark.parametrize(
    "text",
    [
        "(<= (t ?x) (n ?x)) (<= (p ?a ?b ?c) (n ?a) (n ?b) (n ?c) (not (t ?c)))",  # no results
        "(<= (p ?a ?b ?c) (n ?a) (n ?b) (n ?c)) (<= (legal a ?a) (p ?a ?b ?c) (not (true ?c)))",
        "(<= (p (s ?x)) (p ?x)) (p 0)",
    ],
)
def test_limits_end_long_joins_many_instances_and_growing_terms(text):
    numbers = " ".join(f"(n {i})" for i in range(1000))
    start = time.process_time()
    with pytest.raises(GDLLimitError):
        compile_text(SMALL + numbers + text, max_seconds=0.5, max_instances=100_000)
    assert time.process_time() - start < 2


def test_networks_follow_the_rules():
    network = compile_text(SMALL)
    assert network.roles == ("a", "b")
    assert network.moves == ("left", "right") * 2
    dynamics = analyze(network)
    assert not dynamics.sequential
    assert (dynamics.max_plies, dynamics.max_plies_proved) == (3, True)
    games = dynamics.random_games
    # Both roles win if in one of the three steps both choose `left`.
    share = games.mean_goals(network) / 100
    error = 5 * np.sqrt(0.25 / games.games)  # 5 standard deviations of a share, at most
    assert np.allclose(share, 1 - 0.75**3, atol=error)


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "breakthrough"])
def test_control_is_proved_and_waiting_moves_are_determined(name):
    dynamics = analyze(compile_sheet(find_sheet(name)))
    assert dynamics.sequential
    assert dynamics.proved
    assert len(dynamics.control) == 2
    assert dynamics.waits.sum() == 2


def test_step_counters_bound_the_length_of_games():
    assert prove_max_plies(compile_text(SMALL)) == 3
    endless = SMALL.replace("(succ 2 3)", "(succ 2 0)").replace("(step 3)", "(met right)")
    assert prove_max_plies(compile_text(endless)) == 0


def test_gates_are_made_only_for_used_results():
    unused = "(<= (pair ?x ?y) (does a ?x) (does b ?y) (not (true (met ?x))))"
    made = []
    for text in (SMALL, SMALL + unused):
        grounder = Grounder(split_rules(read_rules(parse(text))), Limits())
        made.append((len(grounder.instances), Gates(grounder, Limits()).operations))
    assert made[1][0] == made[0][0] + 4
    assert len(made[1][1]) == len(made[0][1])


# Two kinds of moves, each with a rule by which the other cells keep their pieces.
SLIDES = """
(role a) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3)
(number 0) (number 1) (number 2) (number 3) (number 4) (number 5) (number 6) (number 7)
(init (cell 0 stone)) (init (cell 1 stone)) (init (cell 2 stone))
(<= (legal a (move ?x ?y)) (true (cell ?x ?p)) (number ?y) (distinct ?x ?y))
(<= (legal a (swap ?x ?y)) (number ?x) (number ?y) (distinct ?x ?y))
(<= (next (cell ?y ?p)) (does a (move ?x ?y)) (true (cell ?x ?p)))
(<= (next (cell ?z ?p)) (does a (move ?x ?y)) (true (cell ?z ?p)) (other ?z ?x) (other ?z ?y))
(<= (next (cell ?y ?p)) (does a (swap ?x ?y)) (true (cell ?x ?p)))
(<= (next (cell ?x ?p)) (does a (swap ?x ?y)) (true (cell ?y ?p)))
(<= (next (cell ?z ?p)) (does a (swap ?x ?y)) (true (cell ?z ?p)) (other ?z ?x) (other ?z ?y))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (other ?x ?y) (number ?x) (number ?y) (distinct ?x ?y))
(<= terminal (true (step 3)))
(<= (goal a 100) (true (cell 7 stone)))
(<= (goal a 0) (not (true (cell 7 stone))))
"""


def test_auxiliary_relations_of_moves_are_united(monkeypatch):
    network = compile_text(SLIDES)
    comparison = compare_trace(
        InterpretedMachine(make_interpreter(SLIDES)),
        play_random_games(RuleMachine(network), games=20, seed=0, max_plies=10),
    )
    assert comparison.positions == 20 * 4
    assert comparison.differences == ()
    monkeypatch.setattr(
        Gates, "_union", lambda self, numbers: self._any(self._literals[n] for n in numbers)
    )
    assert network.num_gates < 0.75 * compile_text(SLIDES).num_gates


def test_similar_conjunctions_share_most_gates():
    gates = Gates(Grounder(split_rules(read_rules(parse(SMALL))), Limits()), Limits())
    literals = [gates._new_node() for _ in range(256)]
    gates._all(literals)
    made = len(gates.operations)
    gates._all(literals[:100] + literals[101:])
    assert len(gates.operations) - made <= 8  # the path to the missing literal
    assert gates._all([]) == 1
    assert gates._all([literals[7], literals[7] ^ 1, literals[9]]) == 0


def test_splitting_keeps_the_meaning():
    text = (
        SMALL
        + """
        (edge 1 2) (edge 2 3) (edge 3 4) (edge 4 1)
        (<= (far ?x) (edge ?x ?a) (edge ?a ?b) (edge ?b ?c) (distinct ?c ?x) (true (met ?m)))
        (<= (legal a (go ?x)) (far ?x))
    """
    )
    rules = read_rules(parse(text))
    split = split_rules(rules)
    assert len(split) > len(rules)
    assert max(_count_variables(rule) for rule in split) < 5
    network = compile_text(text)
    assert {f"(go {x})" for x in range(1, 5)} <= set(network.moves)


# A player flips three of eight cells. The rules define `count` for all triples of cells, but use it
# only for the cells 0, 1 and 2.
COUNT = """
(role a) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3)
(number 0) (number 1) (number 2) (number 3) (number 4) (number 5) (number 6) (number 7)
(<= (init (cell ?x 0)) (number ?x))
(<= (legal a (flip ?x)) (number ?x))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (next (cell ?x 1)) (does a (flip ?x)))
(<= (next (cell ?x ?v)) (true (cell ?x ?v)) (not (does a (flip ?x))))
(<= terminal (true (step 3)))
(<= (goal a ?v) (count 0 1 2 ?v))
(<= (count ?x ?y ?z 100) (true (cell ?x 1)) (true (cell ?y 1)) (true (cell ?z 1)))
(<= (count ?x ?y ?z 50) (true (cell ?x 1)) (true (cell ?y 1)) (true (cell ?z 0)))
(<= (count ?x ?y ?z 50) (true (cell ?x 1)) (true (cell ?y 0)) (number ?z))
(<= (count ?x ?y ?z 0) (true (cell ?x 0)) (number ?y) (number ?z))
"""


def test_large_relations_are_derived_only_for_the_arguments_that_rules_ask_for(monkeypatch):
    complete = compile_text(COUNT)
    monkeypatch.setattr(ground, "FIRST_BUDGET", 600)
    restricted = compile_text(COUNT)
    assert complete.instances > 2 * 8**3
    assert restricted.instances < 100
    games = [list(play_random_games(RuleMachine(n), 30, 1, 9)) for n in (complete, restricted)]
    assert games[0] == games[1]
    assert {position.goals for position in games[0] if position.terminal} >= {(0,), (50,)}


def test_demands_larger_than_their_relations_are_dropped(monkeypatch):
    raised = []

    class Recorded(ground.LargeDemandsError):
        def __init__(self, relations):
            super().__init__(relations)
            raised.append(relations)

    text = (
        COUNT
        + """
    (<= (near ?x ?y ?z) (true (cell ?x 1)) (succ ?x ?y) (succ ?y ?z))
    (<= (legal a (near ?x)) (number ?x) (number ?y) (number ?z) (near ?x ?y ?z))
    """
    )
    complete = compile_text(text)
    monkeypatch.setattr(ground, "FIRST_BUDGET", 300)
    monkeypatch.setattr(ground, "LARGE_SHARE", 10_000)
    monkeypatch.setattr(ground, "LargeDemandsError", Recorded)
    given_up = compile_text(text)
    assert raised == [{"near"}]
    assert given_up.instances < 100  # `count` still has a demand
    games = [list(play_random_games(RuleMachine(n), 10, 1, 9)) for n in (complete, given_up)]
    assert games[0] == games[1]


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "breakthrough", "tron"])
def test_demand_keeps_the_meaning(name, monkeypatch):
    path = find_sheet(name)
    machines = [make_machine(path)]
    found = []
    with_neighbors = ground.with_neighbors
    monkeypatch.setattr(ground, "FIRST_BUDGET", 20)
    monkeypatch.setattr(ground, "LARGE_SHARE", 20)
    monkeypatch.setattr(
        ground, "with_neighbors", lambda *args: found.append(with_neighbors(*args)) or found[-1]
    )
    machines.append(make_machine(path))
    assert found
    complete, restricted = (list(play_random_games(machine, 2, 3, 30)) for machine in machines)
    assert complete == restricted


def _count_variables(rule):
    """Return how many different variables the body of a rule has."""
    atoms = itertools.chain(rule.positive, rule.negative)
    return len({word for atom in atoms for word in show(atom).strip("()").split() if "?" in word})


def test_warnings_do_not_prevent_compilation():
    problems = check_rules(read_rules(parse(SMALL + "(<= (p 1) (missing 2))")))
    assert [problem.severity for problem in problems] == ["warning"]
    assert "nothing defines missing" in problems[0].text


def test_relations_without_rules_never_hold():
    rules = "(<= (wins ?r) (role ?r) (without_rules ?r)) (<= (goal ?r 1) (wins ?r))"
    network, plain = compile_text(SMALL + rules, "added"), compile_text(SMALL, "small")
    assert any("without_rules" in problem for problem in network.problems)
    assert network.fluents == plain.fluents
    assert network.num_gates == plain.num_gates


def test_the_key_of_a_cached_network_depends_on_all_modules_of_the_compiler():
    folder, found, modules = Path(network_cache.__file__).parent, set(), ["compile"]
    while modules:
        module = modules.pop()
        found.add(module)
        source = (folder / f"{module}.py").read_text()
        imported = re.findall(r"^from ludoteca\.envs\.gdl\.(\w+) import", source, re.MULTILINE)
        modules += set(imported) - found
    assert set(network_cache.COMPILER) == found


def test_compilations_that_overlap_restore_the_thresholds_of_the_garbage_collector(monkeypatch):
    before, inside, leave = gc.get_threshold(), threading.Event(), threading.Event()

    def wait(rules):
        inside.set()
        assert leave.wait(10)
        return rules

    with monkeypatch.context() as patch:
        patch.setattr(compiler, "replace_persistent_fluents", wait)
        first = threading.Thread(target=compile_text, args=(SMALL,))
        first.start()
        assert inside.wait(10)
    # The second compilation begins during the first, and ends after it.
    monkeypatch.setattr(
        compiler, "replace_persistent_fluents", lambda rules: [leave.set(), first.join(), rules][-1]
    )
    compile_text(SMALL)
    assert gc.get_threshold() == before


def test_cached_networks_equal_compiled_ones(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    network = compile_text(SMALL)
    network_cache.save_network("key", network)
    loaded = network_cache.load_network("key")
    assert loaded is not None
    assert (loaded.roles, loaded.moves, loaded.fluents) == (
        network.roles,
        network.moves,
        network.fluents,
    )
    assert np.array_equal(loaded.phase2.gates, network.phase2.gates)
    assert np.array_equal(loaded.persistent, network.persistent)
    assert loaded.counted_instances == network.counted_instances > 0
    path = next(Path(tmp_path).rglob("*.npz"))
    path.write_bytes(path.read_bytes()[:100])
    assert network_cache.load_network("key") is None


def test_cached_networks_have_at_most_max_instances(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiler, "MIN_CACHED_SECONDS", -1)
    counted = compile_text(SMALL, use_cache=True).counted_instances
    problem = f"small: the sheet has more than max_instances={counted - 1} "
    with pytest.raises(GDLLimitError, match=problem):
        compile_text(SMALL, "small", max_instances=counted - 1)
    compile_text(SMALL, max_instances=counted)
    monkeypatch.setattr(compiler, "ground", None)  # only the cache has a network
    with pytest.raises(GDLLimitError, match=problem):
        compile_text(SMALL, "small", max_instances=counted - 1, use_cache=True)
    network = compile_text(SMALL, max_instances=counted, use_cache=True)
    assert network.counted_instances == counted

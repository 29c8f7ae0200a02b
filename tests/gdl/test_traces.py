"""Tests of traces of rule sheets: reading, writing, and comparison with another program."""

import json
from dataclasses import replace

import pytest

from ludoteca.envs.gdl.own_sheets import find_sheet
from ludoteca.evaluate.gdl.differences import compare_trace
from ludoteca.evaluate.gdl.machine import make_machine, play_random_games
from ludoteca.evaluate.gdl.traces import read_trace

pytestmark = pytest.mark.interpreted


@pytest.fixture(scope="module")
def machine():
    """Return the machine of Tic-Tac-Toe's rule sheet."""
    return make_machine(find_sheet("tictactoe"))


@pytest.fixture(scope="module")
def positions(machine):
    """Return the positions of three random games."""
    return list(play_random_games(machine, games=3, seed=1, max_plies=20))


def test_trace_is_read_as_it_was_written(positions):
    assert list(read_trace(position.line() for position in positions)) == positions
    assert [position.terminal for position in positions].count(True) == 3


def test_same_seed_gives_the_same_games(machine, positions):
    assert list(play_random_games(machine, 3, 1, 20)) == positions
    assert list(play_random_games(machine, 3, 2, 20)) != positions


def test_long_games_are_cut_off(machine):
    games = list(play_random_games(machine, games=2, seed=0, max_plies=3))
    assert [(position.game, position.ply) for position in games] == [
        (game, ply) for game in (0, 1) for ply in range(4)
    ]


def test_trace_of_the_same_sheet_has_no_differences(machine, positions):
    comparison = compare_trace(machine, positions)
    assert comparison.differences == ()
    assert (comparison.games, comparison.finished) == (3, 3)
    assert comparison.positions == len(positions)


def test_games_that_are_cut_off_are_not_finished(machine, positions):
    cut_off = [position for position in positions if position.game > 0 or position.ply < 4]
    comparison = compare_trace(machine, cut_off)
    assert (comparison.games, comparison.finished) == (3, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": ()}, "state: extra: (control x)"),
        ({"state": ("(control o)",)}, "state: missing: (control o); extra: (control x)"),
        ({"terminal": True, "goals": (50, 50)}, "terminal is False, expected True"),
        ({"legal": (("(mark a 1)",), ("noop",))}, "legal moves of x: extra: (mark a 2)"),
        ({"legal": ((), ())}, "legal moves of x: extra"),
    ],
)
def test_difference_is_described_and_ends_its_game_only(machine, positions, change, message):
    changed = [replace(positions[0], **change), *positions[1:]]
    comparison = compare_trace(machine, changed)
    assert len(comparison.differences) == 1
    assert comparison.differences[0].startswith("game 0, ply 0: ")
    assert message in comparison.differences[0]
    in_later_games = sum(position.game > 0 for position in positions)
    assert comparison.positions == 1 + in_later_games


def test_other_goals_are_a_difference(machine, positions):
    end = next(k for k, position in enumerate(positions) if position.terminal)
    changed = replace(positions[end], goals=(30, 70))
    comparison = compare_trace(machine, [*positions[:end], changed])
    assert "expected (30, 70)" in comparison.differences[0]


@pytest.mark.parametrize(
    "change",
    [
        {"game": -1},
        {"ply": "0"},
        {"terminal": 1},
        {"state": "(control x)"},
        {"state": [1]},
        {"legal": None},
        {"legal": [["noop"]]},
        {"moves": ["noop"]},
    ],
)
def test_line_that_is_not_a_position_is_rejected(positions, change):
    content = json.loads(positions[0].line()) | change
    with pytest.raises(ValueError, match="line 2 of the trace is not a position"):
        list(read_trace([positions[0].line(), json.dumps(content)]))


@pytest.mark.parametrize("line", ["", "[]", "{}", "[" * 10_000])
def test_line_that_is_not_an_object_is_rejected(line):
    with pytest.raises(ValueError, match="line 1 of the trace is not a position"):
        list(read_trace([line]))


def test_machine_rejects_unknown_fluents_and_moves(machine):
    with pytest.raises(ValueError, match=r"\(cell z 1 x\) can never be true"):
        machine.set_fluents(["(cell z 1 x)"])
    machine.reset()
    with pytest.raises(ValueError, match=r"o has no move \(mark z 1\)"):
        machine.step(["(mark a 1)", "(mark z 1)"])


def test_machine_continues_from_given_fluents(machine):
    machine.set_fluents(["(cell a 1 x)", "(cell b 2 x)", "(control x)"])
    machine.step(["(mark c 3)", "noop"])
    assert machine.is_terminal()
    assert machine.goals() == ((100,), (0,))


# After the first step b has no legal move if a goes left; the end on the right has no goal for b.
FAULTY = """
(role a) (role b) (init (at start))
(<= (legal a left) (true (at start))) (<= (legal a right) (true (at start)))
(<= (legal b wait) (true (at start))) (<= (legal a wait) (true (at left)))
(<= (next (at left)) (does a left)) (<= (next (at right)) (does a right))
(<= terminal (true (at right))) (goal a 100) (<= (goal b 50) (true (at left)))
"""


def faulty_trace(move, **last):
    """Return a trace of `FAULTY`: a move of a, and the position after it."""
    legal = [["left", "right"], ["wait"]]
    first = {"ply": 0, "terminal": False, "state": ["(at start)"], "legal": legal}
    first |= {"game": 0, "moves": [move, "wait"]}
    return read_trace(map(json.dumps, [first, {"game": 0, "ply": 1} | last]))


def test_faults_of_a_sheet_are_compared(tmp_path):
    (tmp_path / "faulty.kif").write_text(FAULTY)
    machine = make_machine(tmp_path / "faulty.kif")
    stuck = {"terminal": False, "state": ["(at left)"], "legal": [["wait"], []], "moves": []}
    comparison = compare_trace(machine, faulty_trace("left", **stuck))
    assert (comparison.finished, comparison.differences) == (1, ())
    for goals, difference in (
        ([100, None], ()),
        ([100, 0], ("game 0, ply 1: goals are (100, None), expected (100, 0)",)),
    ):
        end = {"terminal": True, "state": ["(at right)"], "goals": goals}
        assert compare_trace(machine, faulty_trace("right", **end)).differences == difference


SHEET = """
(role player) (init (step 0)) (legal player go) (<= (next (step 1)) (true (step 0)))
(<= terminal (true (step 1)))
"""


@pytest.mark.parametrize(
    ("goal_rules", "message"),
    [
        ("(goal player 50) (goal player 100)", r"player has 2 goals \(50, 100\)"),
        ("(<= (goal player 50) (true (step 0)))", "player has 0 goals"),
    ],
)
def test_sheet_without_a_unique_goal_at_the_end_is_rejected(tmp_path, goal_rules, message):
    file = tmp_path / "sheet.kif"
    file.write_text(SHEET + goal_rules)
    with pytest.raises(ValueError, match=message):
        list(play_random_games(make_machine(file), 1, 0, 5))


def test_sheet_without_a_legal_move_in_a_state_is_rejected(tmp_path):
    file = tmp_path / "sheet.kif"
    text = SHEET.replace("(legal player go)", "(<= (legal player go) (true (step 1)))")
    file.write_text(text + "(goal player 50)")
    with pytest.raises(ValueError, match=r"player has no legal move in the state \(step 0\)"):
        list(play_random_games(make_machine(file), 1, 0, 5))

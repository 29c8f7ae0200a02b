"""Groups of fluents of which at most one, or exactly one, is true: candidates and proofs."""

import numpy as np
import pytest

from ludoteca.envs.gdl.batch import BatchSimulator
from ludoteca.envs.gdl.compile import compile_sheet, compile_text
from ludoteca.envs.gdl.dynamics import analyze
from ludoteca.envs.gdl.one_hot import FluentGroup, find_groups, prove_groups
from ludoteca.envs.gdl.own_sheets import find_sheet, sheet_names

# A lamp that a player may switch, and a step counter; the game ends at step 60.
LAMP = """
(role a) (init (step 0)) (init (lamp red)) (init (streak 0))
(legal a stay) (legal a switch)
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (next (lamp green)) (true (lamp red)) (does a switch))
(<= (next (lamp red)) (true (lamp green)) (does a switch))
(<= (next (lamp ?color)) (true (lamp ?color)) (does a stay))
(<= (next (streak ?n)) (true (streak ?m)) (succ ?m ?n) (does a switch))
(<= (next (streak 60)) (true (streak 60)) (does a switch))
(<= (next (streak 0)) (does a stay))
(goal a 100)
(<= terminal (true (step 60)))
""" + " ".join(f"(succ {n} {n + 1})" for n in range(60))


def groups_of(text):
    """Return the groups of the text of a sheet, by their patterns."""
    network = compile_text(text)
    return {group.pattern: group for group in find_groups(network, analyze(network))}


def test_groups_are_proved_by_induction():
    groups = groups_of(LAMP)
    assert groups.keys() == {"(step ?)", "(lamp ?)", "(streak ?)"}
    for group in groups.values():
        assert group.exactly_one
        assert group.proved


@pytest.mark.parametrize(
    ("rule", "observed", "proved"),
    [
        # Both colors after step 50, which random games show.
        ("(<= (next (lamp red)) (true (step 50)))", False, False),
        # Another fluent after step 50.
        ("(<= (next (lit all)) (true (step 50)))", True, True),
        # Both colors if the lamp is switched 40 times in a row, which random games do not show.
        ("(<= (next (lamp red)) (true (streak 40)))", True, False),
        # A state that cannot be reached, because there is only one step at a time.
        ("(<= (next (lamp red)) (true (step 50)) (true (step 51)))", True, True),
    ],
)
def test_groups_that_break_late_or_rarely_are_not_proved(rule, observed, proved):
    groups = groups_of(LAMP + rule)
    assert ("(lamp ?)" in groups) == observed
    assert any(group.proved for group in groups.values() if group.pattern == "(lamp ?)") == proved
    assert groups["(step ?)"].proved


def test_the_last_fluent_of_a_group_may_go_out():
    text = LAMP.replace(
        "(<= (next (lamp ?color)) (true (lamp ?color)) (does a stay))",
        "(<= (next (lamp ?color)) (true (lamp ?color)) (does a stay) (not (true (streak 40))))"
        "(<= (next (lamp ?color)) (true (lamp ?color)) (true (streak 40)) (true (streak 39)))",
    )
    group = groups_of(text)["(lamp ?)"]
    assert (group.proved, group.exactly_one) == (True, False)


def test_groups_that_the_initial_state_contradicts_are_not_proved():
    network = compile_text(LAMP + "(init (lamp green))")
    lamps = tuple(i for i, fluent in enumerate(network.fluents) if fluent.startswith("(lamp"))
    (group,) = prove_groups(network, [FluentGroup("(lamp ?)", lamps, exactly_one=True)])
    assert not group.proved


def test_moves_that_are_not_legal_are_not_considered():
    # A cell can be marked only once, because a marked cell cannot be marked: groups of the cells.
    network = compile_sheet(find_sheet("tictactoe"))
    groups = find_groups(network, analyze(network))
    assert all(group.proved for group in groups)
    assert [group.pattern for group in groups if group.exactly_one] == ["(control ?)"]
    assert {group.pattern for group in groups if not group.exactly_one} == {
        f"(cell {column} {row} ?)" for column in "abc" for row in "123"
    }
    empty = "(empty ?x ?y))\n(<= (legal"
    text = find_sheet("tictactoe").read_text()
    assert empty in text
    anywhere = compile_text(text.replace(empty, "(column ?x) (row ?y))\n(<= (legal"))
    assert anywhere.fluents == network.fluents
    assert not any(
        group.proved
        for group in prove_groups(anywhere, list(groups))
        if group.pattern.startswith("(cell")
    )


# Numbers of groups: the control fluents and the pieces on each cell; in Tron each head.
PROVED = {
    "atari_go": 1 + 7 * 7,
    "breakthrough": 1 + 6 * 6,
    "connect4": 1 + 6 * 7,
    "hex": 1 + 11 * 11,
    "othello": 1 + 8 * 8,
    "tictactoe_large": 1 + 5 * 5,
    "tron": 2,
}
QUICK = {"atari_go", "breakthrough", "dice_race"}
SHEETS = [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in sheet_names()]


@pytest.mark.parametrize("name", SHEETS)
def test_groups_of_our_sheets_hold_in_other_random_games(name):
    network = compile_sheet(find_sheet(name))
    dynamics = analyze(network)
    groups = [group for group in find_groups(network, dynamics) if group.proved]
    assert len(groups) >= PROVED.get(name, 0)
    control = {fluent for fluent in dynamics.control if fluent >= 0}
    assert not control or any(set(group.fluents) == control for group in groups)
    simulator = BatchSimulator(network, seed=9)
    for _ in range(30):
        simulator.play(1)
        for group in groups:
            bits = np.unpackbits(simulator.fluents[list(group.fluents)].view(np.uint8), axis=1)
            counts = bits.sum(0)
            assert counts.max() <= 1
            assert counts.min() == 1 or not group.exactly_one

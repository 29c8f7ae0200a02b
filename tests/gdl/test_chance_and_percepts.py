"""Rule sheets with chance (the role `random`) and hidden information (`sees`), of GDL-II."""

import itertools
from collections import Counter

import numpy as np
import pytest
from chance_games import (
    COINS,
    MATCH,
    SHEETS,
    chance_to_win,
    chi_square,
    play,
    returns,
    true_fluents,
    write,
)

from ludoteca.envs.gdl import chance
from ludoteca.envs.gdl.batch import BatchSimulator
from ludoteca.envs.gdl.checks import check_rules
from ludoteca.envs.gdl.compile import compile_sheet, compile_text
from ludoteca.envs.gdl.errors import GDLError
from ludoteca.envs.gdl.game import dynamics, rules
from ludoteca.envs.gdl.interpreter import read_interpreter
from ludoteca.envs.gdl.network_cache import load_network, save_network
from ludoteca.envs.gdl.own_sheets import find_sheet
from ludoteca.envs.gdl.parse import parse
from ludoteca.envs.gdl.percepts import percept_names
from ludoteca.envs.gdl.rules import read_rules
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.gdl.interpreted_machine import InterpretedMachine
from ludoteca.evaluate.gdl.machine import RuleMachine, make_machine, play_random_games
from ludoteca.testing import check_kernels

pytestmark = pytest.mark.interpreted


def observed(game, s, player):
    """Return the percepts since the last action, those of the game, and the last action."""
    names, out = percept_names(rules(game)), np.full(game.observation_shape, 7, np.int8)
    game.observe(s, player, out)
    recent, known, action, seat = np.split(
        out.ravel(), np.cumsum([len(names), len(names), game.num_actions])
    )
    assert seat.tolist() == [int(p == player) for p in range(game.num_players)]
    assert action.sum() <= 1
    return (
        {names[i] for i in np.flatnonzero(recent)},
        {names[i] for i in np.flatnonzero(known)},
        game.action_names[int(action.argmax())] if action.any() else None,
    )


# Kuhn poker: the actions of all games, and the chips that the first player wins (with the sign of
# the comparison of the cards where there is a showdown). Written from Kuhn's paper.
KUHN_GAMES = {
    ("check", "check"): lambda higher: higher,
    ("check", "bet", "fold"): lambda higher: -1,
    ("check", "bet", "call"): lambda higher: 2 * higher,
    ("bet", "fold"): lambda higher: 1,
    ("bet", "call"): lambda higher: 2 * higher,
}
CARDS = ("jack", "queen", "king")


def test_kuhn_poker_has_the_game_tree_of_kuhn():
    game = make_game("gdl:path=kuhn_poker")
    assert (game.dynamics, game.num_players) == ("sequential", 2)
    assert set(game.action_names) == {"check", "bet", "fold", "call"}
    assert dynamics(game).proved
    assert not game.is_terminal(make_game("gdl:path=kuhn_poker,max_plies=1").new())
    deals = {}
    for seed in range(40):
        s = game.new(seed)
        hands = {f.split()[1]: f.split()[2][:-1] for f in true_fluents(game, s) if "(has" in f}
        deals.setdefault((hands["first"], hands["second"]), s)
    assert set(deals) == set(itertools.permutations(CARDS, 2))
    for (cards, start), (moves, chips) in itertools.product(deals.items(), KUHN_GAMES.items()):
        s, shown, last = start.copy(), set(), [None, None]
        recent = [{f"(card {card})"} for card in cards]
        for ply, move in enumerate(moves):
            assert not game.is_terminal(s)
            assert game.player(s) == ply % 2
            expected = {"fold", "call"} if "bet" in moves[:ply] else {"check", "bet"}
            assert {game.action_names[a] for a in game.legal(s)} == expected
            for p in range(2):
                assert observed(game, s, p) == (recent[p], {f"(card {cards[p]})"} | shown, last[p])
            play(game, s, move)
            percepts = {f"(did {('first', 'second')[ply % 2]} {move})"}
            if ply + 1 == len(moves) and move != "fold":
                percepts |= {f"(shown first {cards[0]})", f"(shown second {cards[1]})"}
            shown |= percepts
            recent[1 - ply % 2] = recent[1 - ply % 2] | percepts
            recent[ply % 2], last[ply % 2] = percepts, move
        assert game.is_terminal(s)
        assert observed(game, s, 0) == (recent[0], {f"(card {cards[0]})"} | shown, last[0])
        higher = 1 if CARDS.index(cards[0]) > CARDS.index(cards[1]) else -1
        assert returns(game, s) == [chips(higher) / 2, -chips(higher) / 2]


def test_chance_is_uniform_and_lives_in_the_state():
    kuhn, race = make_game("gdl:path=kuhn_poker"), make_game("gdl:path=dice_race")
    deals = Counter(
        tuple(sorted(f for f in true_fluents(kuhn, kuhn.new(seed)) if "(has" in f))
        for seed in range(300)
    )
    assert len(deals) == 6
    assert chi_square(deals, dict.fromkeys(deals, 1 / 6)) < 20.5  # 5 degrees, p = 0.001
    start, faces = race.new(0), Counter()
    for seed in range(240):
        s = start.copy()
        s.rng[0] = seed
        copy = s.copy()
        play(race, s, "run")
        play(race, copy, "run")
        assert s == copy
        faces[next(f for f in true_fluents(race, s) if "(at white" in f)] += 1
    expected = {f"(at white {cell})": 1 / 6 for cell in range(1, 7)}
    assert chi_square(faces, expected) < 20.5


@pytest.mark.compiled
def test_random_dice_races_are_won_as_often_as_computed():
    # `analyze`: the simulation that the dynamics of each sheet need, so it is compiled anyway.
    simulator = BatchSimulator(compile_sheet(find_sheet("dice_race")), seed=5, analyze=True)
    result = simulator.play(400)
    expected = chance_to_win(0, 0, "random")[0]
    assert result.games > 10_000
    assert result.two_choosers == 0
    white = result.mean_goals(simulator.network)[0] / 100
    assert abs(white - expected) < 4 * (expected * (1 - expected) / result.games) ** 0.5


def kriegspiel_reference(moves):
    """Return player to move, open cells by player, result, and new percepts of a game."""
    marks, tried, mover, percepts = {}, [set(), set()], 0, [set(), set()]
    result = None
    lines = [[c + r for r in "123"] for c in "abc"] + [[c + r for c in "abc"] for r in "123"]
    lines += [["a1", "b2", "c3"], ["a3", "b2", "c1"]]
    for cell in moves:
        tried[mover].add(cell)
        free = cell not in marks
        percepts[mover] = {f"({'marked' if free else 'refused'} {cell[0]} {cell[1]})"}
        if free:
            marks[cell] = mover
            percepts[1 - mover] = percepts[1 - mover] | {"turn"}
            mover = 1 - mover
        for p in range(2):
            if any(all(marks.get(c) == p for c in line) for line in lines):
                result = [1.0, -1.0] if p == 0 else [-1.0, 1.0]
        if result is None and len(marks) == 9:
            result = [0.0, 0.0]
    return mover, tried, result, percepts


def test_kriegspiel_tictactoe_has_the_rules_of_its_reference():
    game, rng = make_game("gdl:path=kriegspiel_tictactoe"), np.random.default_rng(0)
    results = Counter()
    for _ in range(20):
        s, moves = game.new(), []
        while True:
            mover, tried, result, percepts = kriegspiel_reference(moves)
            for p in range(2):
                assert observed(game, s, p)[0] == percepts[p]
            assert game.is_terminal(s) == (result is not None)
            if result is not None:
                assert returns(game, s) == result
                results[result[0]] += 1
                break
            assert game.player(s) == mover
            legal = {game.action_names[a][4:].replace(" ", "") for a in game.legal(s)}
            assert legal == {c + r for c in "abc" for r in "123"} - tried[mover]
            moves.append(str(rng.choice(sorted(legal))))
            play(game, s, f"try {moves[-1][0]} {moves[-1][1]}")
    assert len(results) == 3


@pytest.mark.parametrize("name", SHEETS)
def test_percepts_of_compiled_and_interpreted_sheets_are_equal(name):
    compiled = make_machine(find_sheet(name))
    interpreted = InterpretedMachine(read_interpreter(find_sheet(name)))
    seen = 0
    for position in play_random_games(compiled, 5, 3, 100):
        interpreted.set_fluents(position.state)
        if position.moves:
            compiled_percepts = compiled.percepts(position.moves)
            assert compiled_percepts == interpreted.percepts(position.moves)
            seen += sum(map(len, compiled_percepts))
    assert (seen > 0) == (name != "dice_race")


def test_a_single_player_does_not_move_while_chance_does(tmp_path):
    game = make_game("gdl", path=write(tmp_path, COINS))
    assert (game.num_players, game.dynamics, game.action_names) == (
        1,
        "sequential",
        ("heads", "tails"),
    )
    ends, rng = Counter(), np.random.default_rng(1)
    for seed in range(400):
        s, guesses = game.new(seed), 0
        while not game.is_terminal(s):
            play(game, s, ("heads", "tails")[rng.integers(2)])
            guesses += 1
        assert s.plies == 2 * guesses  # joint moves
        ends[guesses, returns(game, s)[0]] += 1
    expected = {(1, -1.0): 1 / 2, (2, -1.0): 1 / 4, (3, -1.0): 1 / 8, (3, 1.0): 1 / 8}
    assert chi_square(ends, expected) < 16.3  # 3 degrees, p = 0.001


def test_players_wait_by_actions_if_chance_may_end_the_game_at_once(tmp_path):
    text = COINS.replace("(init (turn guesser))", "(init (turn random))")
    guessed = text + "(init (guess heads)) (init (guess tails))"  # the first toss is a hit
    game = make_game("gdl", path=write(tmp_path, guessed))
    assert game.action_names == ("heads", "tails")
    assert game.new().plies == 0
    game = make_game("gdl", path=write(tmp_path, text))  # without a guess, the first toss is a miss
    assert game.action_names == ("heads", "noop", "tails")
    s = game.new()
    assert game.legal(s) == [1]
    play(game, s, "noop")
    assert game.is_terminal(s)
    check_kernels(game, games=3)


def test_proofs_about_the_start_may_merge_states(monkeypatch):
    kuhn = make_game("gdl:path=kuhn_poker")
    arguments = rules(kuhn), dynamics(kuhn).waits
    for max_states in (4096, 1):  # 6 deals
        monkeypatch.setattr(chance, "MAX_STATES", max_states)
        assert not chance.chance_may_end_first(*arguments)
    monkeypatch.setattr(chance, "MAX_WAITING", 1)
    assert chance.chance_may_end_first(*arguments)  # not proved


def test_chance_moves_with_simultaneous_players(tmp_path):
    game = make_game("gdl", path=write(tmp_path, MATCH))
    assert (game.num_players, game.dynamics) == (2, "simultaneous")
    check_kernels(game, games=5)
    results = Counter()
    for seed in range(400):
        s = game.new(seed)
        with np.errstate(over="ignore"):
            game.step(s, np.array([0, 1]))
        results[returns(game, s)[0]] += 1
    assert chi_square(results, {1.0: 1 / 2, -1.0: 1 / 2}) < 10.8  # 1 degree, p = 0.001


def test_cached_percepts_equal_compiled_ones(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    network = compile_sheet(find_sheet("kuhn_poker"), use_cache=False)
    save_network("key", network)
    loaded = load_network("key")
    assert loaded.has_hidden_information
    assert loaded.percepts == network.percepts
    assert np.array_equal(loaded.percept_roles, network.percept_roles)
    assert np.array_equal(loaded.phase3.outputs, network.phase3.outputs)


def test_the_random_role_is_a_role_of_the_state_machine():
    # No sheet has to give `random` a goal. The traces have none then.
    machine = RuleMachine(compile_text(COINS))
    assert machine.roles == ("guesser", "random")
    *_, last = play_random_games(machine, 1, 0, 100)
    assert last.terminal
    assert last.goals[1] is None
    assert '"goals": [' in last.line()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (COINS.replace("(role guesser)", ""), "error: the sheet has no player"),
        (COINS + "(<= (next seen) (sees guesser ?x))", "error: sees must not occur in a body"),
        (COINS + "(sees gueser hello)", "warning: sees is for gueser, which is not a role"),
        (COINS + "(<= (sees guesser ?s) (does random ?s))", ""),
        (COINS + " ".join(f"(role r{i})" for i in range(8)), "error: the sheet has 9 players"),
    ],
)
def test_checks_of_random_and_sees(text, problem):
    problems = [f"{p.severity}: {p.text}" for p in check_rules(read_rules(parse(text)))]
    assert any(found.startswith(problem) for found in problems) if problem else not problems
    if problem.startswith("error"):
        with pytest.raises(GDLError):
            compile_text(text)

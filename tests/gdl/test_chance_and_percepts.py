"""Rule sheets with chance (the role `random`) and hidden information (`sees`), of GDL-II."""

import itertools
from collections import Counter
from functools import cache

import numpy as np
import pytest

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.network.search import NetworkGuidedSearch
from ludoteca.agents.search.sequential.tree import ENTRY, UNEXPANDED
from ludoteca.envs.gdl import chance
from ludoteca.envs.gdl.batch import BatchSimulator
from ludoteca.envs.gdl.board_layout import fluent_bits
from ludoteca.envs.gdl.checks import check_rules
from ludoteca.envs.gdl.compile import compile_sheet, compile_text
from ludoteca.envs.gdl.errors import GDLError, GDLWarning
from ludoteca.envs.gdl.game import dynamics, new_position, rules
from ludoteca.envs.gdl.interpreter import read_interpreter
from ludoteca.envs.gdl.network_cache import load_network, save_network
from ludoteca.envs.gdl.own_sheets import find_sheet
from ludoteca.envs.gdl.parse import parse
from ludoteca.envs.gdl.percepts import percept_names
from ludoteca.envs.gdl.rules import read_rules
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.gdl.interpreted_machine import InterpretedMachine
from ludoteca.evaluate.gdl.machine import RuleMachine, make_machine, play_random_games
from ludoteca.testing import check_game, check_kernels

pytestmark = pytest.mark.interpreted
SHEETS = ("dice_race", "kriegspiel_tictactoe", "kuhn_poker")

# One player guesses coins, which are tossed while the player waits; the player sees the tosses.
COINS = """
(role guesser) (role random) (init (turn guesser)) (init (count 0)) (side heads) (side tails)
(succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal ?r ?s) (true (turn ?r)) (side ?s))
(<= (legal guesser noop) (true (turn random))) (<= (legal random noop) (true (turn guesser)))
(<= (next (turn random)) (true (turn guesser))) (<= (next (turn guesser)) (true (turn random)))
(<= (next (guess ?s)) (does guesser ?s) (side ?s))
(<= hit (does random ?s) (true (guess ?s)))
(<= (next (count ?n)) (true (count ?m)) (succ ?m ?n) hit)
(<= (next (count ?n)) (true (count ?n)) (not hit))
(<= (next missed) (does random ?s) (side ?s) (not hit)) (<= (next missed) (true missed))
(<= terminal (true (count 3))) (<= terminal (true missed))
(<= (goal guesser 100) (true (count 3))) (<= (goal guesser 0) (not (true (count 3))))
"""
# Both players and chance show a side at the same time; a player who equals chance alone wins.
MATCH = """
(role a) (role b) (role random) (init start) (side heads) (side tails)
(<= (legal ?r ?s) (role ?r) (side ?s))
(<= (next (shown ?r ?s)) (does ?r ?s))
(<= terminal (true (shown random ?s)))
(<= (equal ?r) (true (shown ?r ?s)) (true (shown random ?s)))
(<= (player ?r) (role ?r) (distinct ?r random))
(<= (goal ?r 100) (player ?r) (equal ?r) (player ?q) (not (equal ?q)))
(<= (goal ?r 0) (player ?r) (not (equal ?r)) (player ?q) (equal ?q))
(<= (goal a 50) (equal a) (equal b)) (<= (goal b 50) (equal a) (equal b))
(<= (goal a 50) (not (equal a)) (not (equal b))) (<= (goal b 50) (not (equal a)) (not (equal b)))
"""


def write(tmp_path, text):
    """Write a rule sheet; return its path."""
    path = tmp_path / "sheet.kif"
    path.write_text(text)
    return str(path)


def true_fluents(game, s):
    network = rules(game)
    return {network.fluents[i] for i in np.flatnonzero(fluent_bits(s, len(network.fluents)))}


def play(game, s, name):
    with np.errstate(over="ignore"):
        game.step(s, game.action_names.index(name))


def returns(game, s):
    out = np.zeros(game.num_players)
    game.returns(s, out)
    return out.tolist()


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


def chi_square(counts, probabilities):
    """Return the chi-square statistic of counts by outcome."""
    total = sum(counts.values())
    assert set(counts) <= set(probabilities)
    return sum((counts[x] - total * p) ** 2 / (total * p) for x, p in probabilities.items())


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


@cache
def chance_to_win(own, other, policy):
    """Return the probability that the player to move wins the dice race, and that of each move.

    `policy`: both players play at random, or the best move.
    """
    values = []
    for steps in ((3,), (1, 2, 3, 4, 5, 6)):
        cells = [min(own + step, 20) for step in steps]
        wins = [1 if c == 20 else 1 - chance_to_win(other, c, policy)[0] for c in cells]
        values.append(sum(wins) / len(wins))
    return (sum(values) / 2 if policy == "random" else max(values)), tuple(values)


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


@pytest.mark.parametrize("name", SHEETS)
def test_kernels_keep_the_contract(name):
    check_kernels(make_game("gdl", path=name), games=5)


@pytest.mark.parametrize("name", ["dice_race", "kuhn_poker"])
def test_interpreted_games_keep_the_contract(name):
    with pytest.warns(GDLWarning, match="its rules are interpreted"):
        game = make_game("gdl", path=name, max_instances=1)
    assert game.num_players == 2
    check_kernels(game, games=2)


@pytest.mark.slow
def test_interpreted_games_keep_the_contract_in_compiled_code():
    with pytest.warns(GDLWarning, match="its rules are interpreted"):
        game = make_game("gdl:path=kuhn_poker,max_instances=2")
    check_game(game, games=3, environments=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHEETS)
def test_environments_pass_the_conformance_suites(name):
    check_game(make_game("gdl", path=name), games=5)


@pytest.mark.slow
@pytest.mark.parametrize("text", [COINS, MATCH])
def test_other_environments_with_chance_pass_the_conformance_suites(text, tmp_path):
    check_game(make_game("gdl", path=write(tmp_path, text)), games=5)


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


def test_the_state_is_observed_on_demand_and_without_percepts():
    hidden, state = make_game("gdl:path=kuhn_poker"), make_game("gdl:path=kuhn_poker,observe=state")
    network = rules(state)
    assert state.observation_shape == (len(network.fluents) + 2, 1, 1)
    assert hidden.observation_shape == (2 * len(percept_names(network)) + 4 + 2, 1, 1)
    race = make_game("gdl:path=dice_race")
    assert race.observation_shape == (len(rules(race).fluents) + 2, 1, 1)
    s, out = state.new(1), np.zeros(state.observation_shape, np.int8)
    state.observe(s, 1, out)
    shown = {network.fluents[i] for i in np.flatnonzero(out[:-2])}
    assert shown == true_fluents(state, s)
    with pytest.raises(ValueError, match="observe must be"):
        make_game("gdl:path=kuhn_poker,observe=all")


def test_a_position_is_made_from_its_fluents():
    game = make_game("gdl:path=kuhn_poker")
    s = game.new(4)
    play(game, s, "bet")
    same = new_position(game, true_fluents(game, s), int(s.plies), seed=1)
    assert game.validate(same) == ""
    assert game.legal(same) == game.legal(s)
    assert game.player(same) == game.player(s) == 1
    with pytest.raises(ValueError, match="can never be true"):
        new_position(game, ["(has first ace)"])


def test_chance_moves_in_a_position_in_which_players_wait():
    game = make_game("gdl:path=kuhn_poker")
    network, kernels = rules(game), vars(game)["_rules"][2]
    initial = np.array(network.fluents)[network.initial].tolist()
    s = new_position(game, initial)
    assert game.validate(s) == ""
    assert len(game.legal(s)) == 2
    assert (s.plies, new_position(game, initial, plies=1).plies) == (0, 2)  # chance deals
    s.fluents[:] = 0
    for i in np.flatnonzero(network.initial):
        s.fluents[i >> 6] |= np.uint64(1 << (i & 63))
    with np.errstate(over="ignore"):
        kernels.refresh(s)
    assert game.legal(s) == []
    assert "only chance moves" in game.validate(s)


def test_validate_finds_percepts_that_do_not_exist():
    game = make_game("gdl:path=kuhn_poker")
    for name, value in (("last_action", 4), ("game_percepts", 2**63)):
        s = game.new()
        s[name] = value
        assert name in game.validate(s)


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


def test_options_that_need_a_game_without_chance_are_refused():
    game = make_game("gdl:path=dice_race")
    for option in ("solver=True", "transpositions=True", "decisive=win", "reuse=True"):
        with pytest.raises(ValueError, match=r"needs? a game without chance"):
            make_agent(f"mcts:{option}", game)
    for name in ("alphabeta", "mcts:amaf=rave,threads=2"):
        with pytest.raises(ValueError, match="chance"):
            make_agent(name, game)
    with pytest.raises(ValueError, match="needs a game without chance"):
        NetworkGuidedSearch(Encoder(game), 1, 10)


@pytest.mark.slow
def test_openspiel_has_no_hidden_information():
    pytest.importorskip("pyspiel")
    from ludoteca.envs.adapters.openspiel import load_game

    with pytest.raises(ValueError, match="expected observe=state"):
        load_game("gdl:path=kuhn_poker")
    state = load_game("gdl:path=kuhn_poker,observe=state").new_initial_state()
    assert state.is_chance_node()
    while not state.is_terminal():
        state.apply_action((state.legal_actions() or [0])[0])
    assert state.returns() in ([0.5, -0.5], [-0.5, 0.5], [1, -1], [-1, 1])


def test_search_does_not_know_the_chance_events_to_come():
    game = make_game("gdl:path=dice_race")
    fluents = ["(at white 14)", "(at black 15)", "(control white)"]
    for spec in ("mcts:simulations=20", "flat:simulations=20"):
        actions = []
        for stream in range(3):
            s = new_position(game, fluents, seed=stream)
            agent = make_agent(spec, game)
            rngs = np.array([[9]], np.uint64)
            states = np.array([s], game.state)
            actions.append(int(agent.act(states, np.zeros(1, int), rngs, np.zeros(1, int))[0]))
            actions.append(int(rngs[0, 0]))
        assert actions == actions[:2] * 3


@pytest.mark.parametrize("entries", [16, 4096])
def test_all_nodes_of_a_tree_with_chance_are_found_by_its_table(entries):
    agent = make_agent("mcts:simulations=400", make_game("gdl:path=dice_race"))
    tree = agent._workspace.trees[0]._replace(table=np.zeros(entries, ENTRY))
    agent._workspace.trees[0] = tree
    report = agent.search(agent.game.new())
    used = tree.table[tree.table["first_child"] != UNEXPANDED]
    assert (len(used) == entries) == (entries == 16)
    assert tree.size == 1 + used["num_children"].sum()  # 1: the root
    assert report.simulations == 400


@pytest.mark.slow
def test_search_finds_the_values_of_the_dice_race():
    game = make_game("gdl:path=dice_race")
    agent = make_agent("mcts:simulations=20000", game)
    for own, other in ((0, 0), (13, 12), (15, 17), (17, 14)):
        fluents = [f"(at white {own})", f"(at black {other})", "(control white)"]
        report = agent.search(new_position(game, fluents))
        walk, run = chance_to_win(own, other, "best")[1]
        assert report.name == ("walk" if walk > run else "run")
        means = {candidate.name: candidate.mean for candidate in report.candidates}
        assert means[report.name] == pytest.approx(max(walk, run), abs=0.03)

"""Tests of games from rule sheets: dynamics, actions, returns, limits and validation."""

import pickle

import numpy as np
import pytest

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.registry import make_agent
from ludoteca.envs.engine.trajectory import record_trajectory
from ludoteca.envs.game import FORFEIT
from ludoteca.envs.gdl import evaluate, full_evaluation
from ludoteca.envs.gdl.batch import BatchSimulator
from ludoteca.envs.gdl.board_layout import fluent_bits
from ludoteca.envs.gdl.compile import compile_sheet, compile_text
from ludoteca.envs.gdl.dynamics import analyze, is_zero_sum
from ludoteca.envs.gdl.errors import GDLWarning
from ludoteca.envs.gdl.game import dynamics, make_network_game, rules
from ludoteca.envs.gdl.interpreted_network import observe_dynamics
from ludoteca.envs.gdl.interpreter import make_interpreter
from ludoteca.envs.gdl.own_sheets import find_sheet
from ludoteca.envs.gdl.state_record import CONFLICT, LIMIT, STUCK, TERMINAL
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.solve import solve
from ludoteca.testing import check_game, check_kernels

# Three players choose heads or tails at the same time; the goal depends on a player's own choice.
COINS = """
(role a) (role b) (role c) (init start)
(<= (legal ?r heads) (role ?r)) (<= (legal ?r tails) (role ?r))
(<= (next (shown ?r ?m)) (does ?r ?m))
(<= terminal (true (shown a ?m)))
(<= (goal ?r 80) (true (shown ?r heads)))
(<= (goal ?r 50) (true (shown ?r tails)))
(<= (goal ?r 10) (role ?r) (true start))
"""
# One player walks to the right; standing still is allowed, so games can be endless.
WALK = """
(role walker) (init (at 0)) (succ 0 1) (succ 1 2)
(legal walker stay) (<= (legal walker step) (true (at ?x)) (succ ?x ?y))
(<= (next (at ?y)) (does walker step) (true (at ?x)) (succ ?x ?y))
(<= (next (at ?x)) (does walker stay) (true (at ?x)))
(<= terminal (true (at 2)))
(<= (goal walker 100) (true (at 2))) (<= (goal walker 0) (not (true (at 2))))
"""
# Both players have the goal 100 if one of them chooses heads, and otherwise 0.
SHARED = """
(role a) (role b) (init start)
(<= (legal a heads) (true start)) (<= (legal a tails) (true start)) (legal b noop)
(<= (next won) (does a heads)) (<= (next over) (does a ?m))
(<= terminal (true over))
(<= (goal a 100) (true won)) (<= (goal b 100) (true won))
(<= (goal a 0) (not (true won))) (<= (goal b 0) (not (true won)))
"""

# Two players move in turn; b has no move in state 2, in which a is to move.
TURNS = """
(role a) (role b) (init (control a)) (init (n 0))
(<= (legal ?r go) (true (control ?r))) (<= (legal ?r left) (true (control ?r)))
(<= (legal a noop) (true (control b)))
(<= (legal b noop) (true (control a)) (not (true (n 2))))
(<= (next (control a)) (true (control b))) (<= (next (control b)) (true (control a)))
(<= (next (n 1)) (true (n 0)))
(<= (next (n 2)) (true (n 1)))
(<= (next (n 3)) (true (n 2))) (<= (next (n 4)) (true (n 3)))
(<= terminal (true (n 4))) (<= (goal ?r 50) (role ?r))
"""
# Chance decides whether state 1 is followed by state 2, or by another one in its place.
DEAL = """
(role random) (legal random heads) (legal random tails)
(<= (next (n 2)) (true (n 1)) (does random heads))
(<= (next (n other)) (true (n 1)) (does random tails)) (<= (next (n 3)) (true (n other)))
"""


def write(tmp_path, text, name="sheet.kif"):
    """Write a rule sheet; return its path."""
    path = tmp_path / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", ["tictactoe", "connect4"])
def test_gdl_games_equal_built_in_games_move_by_move(name):
    game, own = make_game("gdl", path=name), make_game(name)
    assert game.num_actions == own.num_actions
    rng = np.random.default_rng(0)
    for _ in range(20):
        s, t = game.new(), own.new()
        # Connect Four's actions are numbered alike. Row 1 of Tic-Tac-Toe is at the top of our game,
        # but at the bottom of the board of a sheet.
        rows = [2, 1, 0] if name == "tictactoe" else [0, 1, 2]
        image = {a: 3 * rows[a // 3] + a % 3 for a in range(own.num_actions)}
        while not own.is_terminal(t):
            assert sorted(image[a] for a in game.legal(s)) == own.legal(t)
            assert game.player(s) == own.player(t)
            action = int(rng.choice(game.legal(s)))
            game.step(s, action)
            own.step(t, image[action])
        assert game.is_terminal(s)
        a, b = np.zeros(2), np.zeros(2)
        game.returns(s, a)
        own.returns(t, b)
        assert np.array_equal(a, b)


def test_moves_that_only_wait_are_no_actions():
    game = make_game("gdl:path=connect4")
    assert "noop" in rules(game).moves
    assert "noop" not in game.action_names
    assert dynamics(game).proved


@pytest.mark.parametrize("text", [COINS, WALK])
def test_kernels_keep_the_contract(text, tmp_path):
    check_kernels(make_game("gdl", path=write(tmp_path, text)), games=5)


def test_games_know_whether_they_are_zero_sum(tmp_path):
    assert all(make_game(f"gdl:path={name}").zero_sum for name in ("tictactoe", "tron"))
    assert not make_game("gdl:path=prisoners_dilemma").zero_sum
    for text in (COINS, WALK):  # three players, one player
        assert not make_game("gdl", path=write(tmp_path, text)).zero_sum


def test_goals_that_two_players_have_equally_often_are_not_zero_sum():
    network = compile_text(SHARED)
    result = BatchSimulator(network, analyze=True).play(10)
    assert result.games == result.other_sums > 0
    opposed = compile_text(
        SHARED.replace("(<= (goal b 0) (not", "(<= (goal b 100) (not").replace(
            "(<= (goal b 100) (true", "(<= (goal b 0) (true"
        )
    )
    assert BatchSimulator(opposed, analyze=True).play(10).other_sums == 0
    # In some of these samples of 20 games, both players have the goal 100 in exactly ten.
    interpreter = make_interpreter(SHARED)
    known = [observe_dynamics(interpreter, network, seed).random_games for seed in range(30)]
    assert any(set(result.goal_counts.tolist()) == {10} for result in known)
    assert not any(is_zero_sum(network, result) for result in known)


def test_what_needs_zero_sum_games_refuses_others(tmp_path):
    sheet = find_sheet("tictactoe").read_text()
    path = write(tmp_path, sheet.replace("(goal ?player 0)", "(goal ?player 10)"))
    game = make_game("gdl", path=path)
    assert not game.zero_sum
    with pytest.raises(ValueError, match="solver needs a zero-sum game"):
        make_agent("mcts:solver=true", game)
    with pytest.raises(ValueError, match="expected a zero-sum game"):
        Encoder(game)
    with pytest.raises(ValueError, match="expected a sequential, zero-sum game"):
        solve(game)


@pytest.mark.slow
@pytest.mark.parametrize("text", [COINS, WALK])
def test_environments_pass_the_conformance_suites(text, tmp_path):
    check_game(make_game("gdl", path=write(tmp_path, text)), games=5)


def test_goals_of_three_players_are_returns(tmp_path):
    game = make_game("gdl", path=write(tmp_path, COINS))
    assert (game.num_players, game.dynamics, game.action_names) == (
        3,
        "simultaneous",
        ("heads", "tails"),
    )
    s, out = game.new(), np.zeros(3)
    game.step(s, [0, 1, 0])
    game.returns(s, out)
    assert game.is_terminal(s)
    assert out.tolist() == [0.6, 0.0, 0.6]


def test_a_player_that_forfeits_loses(tmp_path):
    game = make_game("gdl", path=write(tmp_path, COINS))
    s, out = game.new(), np.zeros(3)
    game.step(s, [FORFEIT, 1, 0])
    game.returns(s, out)
    assert out.tolist() == [-1, 0, 0.6]
    game = make_game("gdl", path="tron")
    s, out = game.new(), np.zeros(2)
    game.step(s, [game.legal(s, 0)[0], FORFEIT])
    game.returns(s, out)
    assert game.is_terminal(s)
    assert out.tolist() == [1, -1]


def test_single_player_games_end_at_the_goal_or_at_max_plies(tmp_path):
    game = make_game("gdl", path=write(tmp_path, WALK), max_plies=3)
    step, stay = (game.action_names.index(name) for name in ("step", "stay"))
    assert (game.num_players, game.dynamics) == (1, "sequential")
    for actions, expected, over in (
        ([step, step], 1.0, 1),
        ([stay, stay, stay], -1.0, LIMIT),
        ([stay, step, step], 1.0, 1),
    ):
        s, out = game.new(), np.zeros(1)
        for action in actions:
            assert not game.is_terminal(s)
            game.step(s, action)
        game.returns(s, out)
        assert (out[0], int(s.over)) == (expected, over)


@pytest.mark.slow
def test_interpreted_and_straight_evaluation_agree(monkeypatch):
    network = compile_sheet(find_sheet("tictactoe"))
    known = analyze(network)
    straight = make_network_game(network, known, "straight", {})
    monkeypatch.setattr(evaluate, "MAX_STRAIGHT_GATES", 0)
    monkeypatch.setattr(evaluate, "MAX_PYTHON_GATES", 0)
    interpreted = make_network_game(network, known, "interpreted", {})
    games = [
        record_trajectory(straight, 20, seed=1),
        record_trajectory(interpreted, 20, seed=1),
        record_trajectory(straight, 20, seed=1, interpreted=True),
        record_trajectory(interpreted, 20, seed=1, interpreted=True),
    ]
    for other in games[1:]:
        for name in straight.state.names:
            assert np.array_equal(games[0].positions[name], other.positions[name])


def test_definitions_with_cycles_are_iterated_to_their_least_fixpoint(tmp_path):
    # Cells 0 to 5 on a ring; a player closes edges; a cell is reached along closed edges from 0.
    text = """
    (role p) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 0)
    (<= (legal p (close ?x)) (succ ?x ?y) (not (true (closed ?x))))
    (<= (next (closed ?x)) (does p (close ?x))) (<= (next (closed ?x)) (true (closed ?x)))
    (<= (joined ?x ?y) (succ ?x ?y) (true (closed ?x)))
    (<= (joined ?x ?y) (succ ?y ?x) (true (closed ?y)))
    (reached 0) (<= (reached ?y) (reached ?x) (joined ?x ?y))
    (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
    (<= terminal (reached 3))
    (<= (goal p 100) (reached 2)) (<= (goal p 30) (not (reached 2)))
    """
    game = make_game("gdl", path=write(tmp_path, text))
    assert rules(game).phase1.has_loops
    close = {name: i for i, name in enumerate(game.action_names)}
    for order, score in (("012", 1.0), ("534", -0.4), ("1 3 0 2", 1.0)):
        s, out = game.new(), np.zeros(1)
        for x in order.replace(" ", ""):
            assert not game.is_terminal(s)
            game.step(s, close[f"close {x}"])
        game.returns(s, out)
        assert game.is_terminal(s)
        assert out[0] == pytest.approx(score)


def test_a_second_role_with_a_choice_ends_a_sequential_game():
    # Random games do not reach the state in which b has a choice, after the move `go 7` nine times.
    moves = " ".join(f"(rare {i})" for i in range(40))
    text = f"""
    (role a) (role b) (init (at 0)) {moves}
    (<= (legal a (go ?x)) (rare ?x)) (legal b noop)
    (<= (legal b extra) (true (lucky 9)))
    (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8)
    (succ 8 9) (init (lucky 0))
    (<= (next (lucky ?y)) (true (lucky ?x)) (succ ?x ?y) (does a (go 7)))
    (<= terminal (true (at 1)))
    (<= (next (at 1)) (does a (go 8)))
    (<= (goal ?r 50) (role ?r))
    """
    network = compile_text(text)
    known = analyze(network)
    assert known.sequential
    assert not known.proved
    game = make_network_game(network, known, "rare", {})
    s = game.new()
    for _ in range(9):
        assert not game.is_terminal(s)
        game.step(s, game.action_names.index("go 7"))
    assert s.over == CONFLICT


def test_states_without_a_legal_move_end_games_with_a_warning(tmp_path):
    text = """
    (role walker) (init (at 0))
    (<= (legal walker left) (true (at 0))) (<= (legal walker right) (true (at 0)))
    (<= (next (at 1)) (does walker left)) (<= (next (at 2)) (does walker right))
    (<= terminal (true (at 2)))
    (goal walker 100)
    """
    with pytest.warns(GDLWarning, match="a role has no legal move"):
        game = make_game("gdl", path=write(tmp_path, text))
    for name, over, expected in (("left", STUCK, -1.0), ("right", TERMINAL, 1.0)):
        s, out = game.new(), np.zeros(1)
        game.step(s, game.action_names.index(name))
        game.returns(s, out)
        assert (s.over, out[0]) == (over, expected)


@pytest.mark.parametrize("by_chance", [False, True])
def test_a_player_without_a_move_ends_a_game_though_the_player_to_move_is_proved(by_chance):
    text = TURNS.replace("(<= (next (n 2)) (true (n 1)))", DEAL) if by_chance else TURNS
    network = compile_text(text)
    known = analyze(network)
    assert (known.proved, known.moves_proved) == (True, False)
    game = make_network_game(network, known, "turns", {})
    ends = set()
    for seed in range(10):
        s = game.new(seed)
        for _ in range(4):
            if not game.is_terminal(s):
                game.step(s, game.legal(s)[0])
        ends.add((int(s.over), int(s.plies)))
    assert ends == ({(STUCK, 2), (TERMINAL, 4)} if by_chance else {(STUCK, 2)})
    always = compile_text(text.replace("(not (true (n 2)))", ""))
    assert analyze(always).moves_proved


def test_validate_finds_positions_that_do_not_fit_together():
    game = make_game("gdl")
    s = game.new()
    assert game.validate(s) == ""
    for name, value in (("plies", -1), ("to_move", 1), ("over", 1), ("joint", 99)):
        wrong = s.copy()
        wrong[name] = value
        assert name in game.validate(wrong)
    wrong = s.copy()
    wrong["fluents"][-1] |= np.uint64(1 << 63)
    assert "beyond its" in game.validate(wrong)


def test_games_are_the_same_objects_and_pickled_by_their_spec(tmp_path):
    path = write(tmp_path, WALK)
    game = make_game("gdl", path=path)
    assert make_game(game.spec) is game
    assert pickle.loads(pickle.dumps(game)) is game
    write(tmp_path, WALK.replace("(succ 1 2)", "(succ 1 3) (succ 3 2)"))
    assert make_game(game.spec) is not game


def test_flat_observations_are_fluents_and_the_player():
    game = make_game("gdl", planes="flat")
    s = game.new()
    game.step(s, game.action_names.index("mark b 2"))
    network = rules(game)
    for player in range(2):
        out = np.zeros(game.observation_shape, np.int8)
        game.observe(s, player, out)
        fluents, own = out[: len(network.fluents), 0, 0], out[len(network.fluents) :, 0, 0]
        assert np.array_equal(fluents, fluent_bits(s, len(network.fluents)))
        assert own.tolist() == [int(player == p) for p in range(2)]
        shown = {network.fluents[i] for i in np.flatnonzero(fluents)}
        assert shown == {"(cell b 2 x)", "(control o)"}


def test_unknown_sheets_are_refused_with_the_names_of_ours():
    with pytest.raises(ValueError, match=r"no file 'conect4'.* connect4,"):
        make_game("gdl:path=conect4")


def test_python_asks_once_for_the_compiled_evaluation_of_large_programs(monkeypatch):
    made, called = [], []
    monkeypatch.setattr(
        full_evaluation,
        "make_walk",
        lambda: made.append(1) or (lambda *values: called.append(values)),
    )
    monkeypatch.setattr(evaluate, "MAX_PYTHON_GATES", 0)
    network = compile_text(WALK)
    run = evaluate.make_evaluation(network.phase1, len(network.fluents), None)
    for _ in range(3):
        run(np.zeros(1, np.uint64), np.zeros(1, np.int32), np.zeros(1, np.uint64))
    assert (len(made), len(called)) == (1, 3)

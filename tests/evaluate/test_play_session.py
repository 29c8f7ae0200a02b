"""Tests of sessions of interactive games, and of analyses of positions.

Helpers of `interactive`: `sit` returns the controller of a game with a person in one seat, `do`
plays an action by clicks and keys, `settle` waits until a person is to move.
"""

from dataclasses import replace

import numpy as np
import pytest
from interactive import First, Following, do, settle, sit

from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.report import Candidate, SearchReport
from ludoteca.envs.games.bitboards import bit
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.play.analysis import MoveAnalysis, think
from ludoteca.evaluate.play.heat_map import heat_map
from ludoteca.evaluate.play.screen import Screen
from ludoteca.evaluate.play.session import HUMAN, Session, find_action
from ludoteca.evaluate.play.terminal import Terminal

pytestmark = pytest.mark.interpreted


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    """Run the test in an empty folder, where games are saved, with short error messages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LUDOTECA_DEBUG", raising=False)


def test_undo_goes_back_to_the_humans_last_decision():
    session = Session(make_game("tictactoe"), (HUMAN, "agent"))
    assert not session.undo()
    session.play_named(["a1", "b2"])
    assert session.undo()
    assert session.actions == []
    session.play_named(["a1", "b2", "c3"])  # the agent has not answered
    assert session.undo()
    assert session.actions == [0, 4]
    session = Session(make_game("tictactoe"), ("agent", HUMAN))
    session.play_named(["a1"])
    assert not session.undo()  # the human has not moved yet
    session = Session(make_game("tictactoe"), ("agent", "agent"))
    session.play_named(["a1", "b2"])
    assert session.undo()
    assert session.actions == [0]


def test_undo_after_the_end_resumes_from_the_same_position():
    session = Session(make_game("tictactoe"), (HUMAN, "agent"))
    session.play_named(["a1", "a2", "b1", "b2", "c1"])
    assert session.is_over
    assert session.mover is None
    assert session.legal() == []
    assert session.undo()
    assert (session.is_over, session.mover) == (False, 0)
    assert session.replay().returns is None
    session.play_named(["c1"])
    assert session.replay().returns == (1, -1)


def test_illegal_moves_are_refused():
    session = Session(make_game("tictactoe"), (HUMAN, HUMAN))
    session.play(4)
    with pytest.raises(
        ValueError, match=r"action 4 is illegal after \[4\]: the legal actions are \[0, 1"
    ):
        session.play(4)
    with pytest.raises(ValueError, match="b2 is illegal here"):
        session.play_named(["b2"])
    with pytest.raises(ValueError, match="no move 'z9' in tictactoe; moves look like a1, b2, c3"):
        session.play_named(["z9"])
    assert find_action(session.game, "C3", session.legal()) == 8


def test_sessions_refuse_invalid_games():
    with pytest.raises(ValueError, match="tron is simultaneous"):
        Session(make_game("tron"), (HUMAN, "agent"))
    with pytest.raises(ValueError, match="has 2 players, got 1"):
        Session(make_game("hex"), (HUMAN,))
    with pytest.raises(ValueError, match="a seed must be"):
        Session(make_game("hex"), (HUMAN, HUMAN), -1)


def test_undo_and_replay_give_the_same_game():
    session = Session(make_game("tictactoe"), (HUMAN, "random"), seed=3)
    agent = make_agent("random", session.game)
    session.play(4)
    first = think(agent, "random", session)
    session.play(first.action)
    session.undo()
    session.play(4)
    assert think(agent, "random", session).action == first.action
    assert session.rng() != session.rng(0)


def test_analysis_of_a_search_has_visit_shares_and_score():
    session = Session(make_game("tictactoe"), (HUMAN, "mcts"))
    session.play_named(["b2", "a1", "c1"])  # a3 blocks the line c1, b2, a3
    analysis = think(make_agent("mcts:simulations=400", session.game), "mcts", session)
    assert session.game.action_names[analysis.action] == "a3"
    assert (analysis.ply, analysis.seat, analysis.simulations) == (3, 1, 400)
    assert np.nansum(analysis.shares) == pytest.approx(1)
    assert np.isfinite(analysis.shares).tolist() == [a in session.legal() for a in range(9)]
    assert 0 <= analysis.score <= 1
    assert analysis.best(2)[0] == analysis.action == np.nanargmax(analysis.action_weights)
    session.play_named(["b1", "a3"])
    assert session.is_over


def test_reused_tree_is_searched_further():
    session = Session(make_game("tictactoe"), (HUMAN, "mcts"))
    agent = make_agent("mcts:simulations=200,reuse=True", session.game)
    session.play(4)
    session.play(think(agent, "mcts", session).action)
    session.play(session.legal()[0])
    assert think(agent, "mcts", session).simulations > 200


def test_values_of_networks_and_heuristics_are_shown():
    session = Session(make_game("hex:board_size=3,swap=True"), (HUMAN, "heuristic"))
    session.play_named(["b2"])
    analysis = think(make_agent("heuristic", session.game), "heuristic", session)
    assert analysis.shares is None
    assert np.isnan(analysis.values[4])  # an occupied cell
    assert np.isnan(analysis.values[9])  # the swap, which has no cell
    assert analysis.score == pytest.approx((np.nanmax(analysis.values) + 1) / 2)
    heat = heat_map(session.game, session.current, analysis, None)
    assert np.isfinite(heat.values).sum() == 8
    assert heat.labels == {}


def test_proven_results_replace_means():
    session = Session(make_game("tictactoe"), (HUMAN, "mcts"))
    # Three visits of b2 with mean score 0.9, and one of a1, a proven win.
    candidates = (Candidate(4, "b2", 3, 0.9, ""), Candidate(0, "a1", 1, 0.7, "win"))
    report = SearchReport(0, "a1", 4, 0.5, 9, candidates, ("a1",), "win")
    agent = First(session.game)
    agent.search = lambda s, rng: report
    analysis = think(agent, "mcts", session)
    assert (analysis.score, analysis.proven) == (1, "win")
    assert analysis.values[[4, 0]].tolist() == [0.9, 1]
    assert analysis.shares[[4, 0]].tolist() == [0.75, 0.25]
    # A position may be solved without any simulation.
    report = replace(report, candidates=(Candidate(0, "a1", 0, 1.0, "win"),), simulations=0)
    analysis = think(agent, "mcts", session)
    assert (analysis.shares, analysis.score, analysis.best(3)) == (None, 1, [0])


def test_exact_endgames_have_disc_differences():
    session = Session(make_game("othello:board_size=4"), (HUMAN, "mcts"))
    analysis = think(make_agent("mcts:solver_empties=12", session.game), "mcts", session)
    assert (analysis.proven, analysis.exact) == ("loss", -10)  # the second player wins by ten discs
    assert "proven loss; exact score -10" in Terminal(session, {})._describe(analysis)


def test_agents_without_values_only_move():
    session = Session(make_game("tictactoe"), (HUMAN, "first"))
    analysis = think(First(session.game), "first", session)
    assert (analysis.action, analysis.action_weights, analysis.score, analysis.best(3)) == (
        0,
        None,
        None,
        [],
    )


def test_heat_map_labels_starts_then_targets_of_moves():
    game = make_game("breakthrough")
    s = game.new()
    shares = np.full(game.num_actions, np.nan)
    forward, capture = (game.action_names.index(name) for name in ("a2-a3", "a2-b3"))
    shares[forward], shares[capture] = 0.25, 0.5
    analysis = MoveAnalysis("mcts", 0, 0, capture, shares, shares)
    start = game.layout.moves[forward][0]
    assert heat_map(game, s, analysis, None).labels == {start: "0.75"}
    heat = heat_map(game, s, analysis, start)
    assert heat.labels == {}
    assert sorted(heat.values[np.isfinite(heat.values)]) == [0.25, 0.5]
    assert heat.covers(game.layout.moves[capture][1])
    s.pieces[1] |= bit(3, 1)  # something to capture on b3
    assert heat_map(game, s, analysis, start).labels == {game.layout.moves[capture][1]: "0.50"}
    best = MoveAnalysis("dqn", 0, 0, capture, None, shares)  # values are not added up
    assert heat_map(game, s, best, None).labels == {start: "0.50"}
    small_shares = MoveAnalysis("mcts", 0, 0, capture, shares / 1000, shares)
    assert not np.isfinite(heat_map(game, s, small_shares, None).values).any()


def test_agents_that_follow_games_catch_up_after_an_undo():
    controller = sit("connect4", Following(make_game("connect4")))
    for column in (3, 3, 3):
        do(Screen(controller), column)
        settle(controller)
    controller.key("u")
    controller.key("u")
    do(Screen(controller), 5)
    settle(controller)
    assert controller.failure is None
    assert controller.session.actions == [3, 0, 5, 0]


def test_the_game_after_the_largest_seed_has_seed_0():
    session = Session(make_game("tictactoe"), (HUMAN, HUMAN), seed=2**63 - 1)
    session.restart()
    assert session.seed == 0

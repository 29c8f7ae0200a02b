"""Tests of the player of General Game Playing (GGP), an HTTP server, with a match manager.

The manager sends the rules of a game (a sheet in GDL) and asks for moves: START, PLAY, STOP.
"""

import http.client
import threading
import time
from types import SimpleNamespace

import pytest
from ggp_manager import ask, play_whole_match, start_message

from ludoteca.agents.baselines import RandomAgent
from ludoteca.envs.gdl.own_sheets import find_sheet
from ludoteca.evaluate.cli import ggp_player as command
from ludoteca.evaluate.protocols import ggp_agent, ggp_match
from ludoteca.evaluate.protocols.ggp import GGPPlayer
from ludoteca.evaluate.protocols.ggp_http import MAX_REQUEST, GGPServer
from ludoteca.evaluate.protocols.ggp_messages import (
    MessageError,
    Play,
    Start,
    parse_message,
    split_list,
)
from ludoteca.evaluate.studies.ggp.uaemex2021 import GAMES as THESIS_GAMES

pytestmark = pytest.mark.interpreted
TICTACTOE = find_sheet("tictactoe")


@pytest.fixture
def serve():
    """Yield a function that starts a player with an agent and returns its address."""
    servers = []

    def start(spec, **options):
        player = GGPPlayer(spec, quiet=True, **options)
        server = GGPServer(("127.0.0.1", 0), player)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        servers.append((server, player, thread))
        return server.url

    yield start
    for server, player, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()
        player.close()


@pytest.mark.parametrize(
    ("sheet", "agents"),
    [
        ("tictactoe", ("random", "greedy")),
        ("prisoners_dilemma", ("random", "random")),
        pytest.param("tron", ("random", "random"), marks=pytest.mark.slow),
        pytest.param("breakthrough", ("random", "mcts"), marks=pytest.mark.slow),
        pytest.param("prisoners_dilemma", ("random", "mcts"), marks=pytest.mark.slow),
        pytest.param("eight_puzzle", ("random",), marks=pytest.mark.slow),
        ("three_in_line", ("random", "random", "random")),
        ("dice_race", ("greedy", "random", "random")),
        pytest.param("dice_race", ("flat", "random", "random"), marks=pytest.mark.slow),
        pytest.param("kuhn_poker", ("mcts", "random", "random"), marks=pytest.mark.slow),
    ],
)
def test_whole_matches(serve, sheet, agents):
    path = find_sheet(sheet)
    urls = [serve(agent, seed=k) for k, agent in enumerate(agents)]
    goals, _ = play_whole_match(path, urls, clocks="30 1")
    assert all(0 <= goal <= 100 for goal in goals)
    assert len(goals) == len(agents)
    assert ask(urls[0], "(INFO)") == "((name Ludoteca) (status available))"
    if sheet == "tictactoe":
        play_whole_match(path, urls, "second")


@pytest.mark.slow
@pytest.mark.parametrize("sheet", THESIS_GAMES)
def test_sheets_of_the_thesis_are_played_in_both_roles(serve, monkeypatch, sheet):
    """The manager asks for every move by HTTP, and checks it by the rules.

    The players answer `START` when they are ready: the start clock is for compilation.
    """
    printed = []
    monkeypatch.setattr(GGPPlayer, "_show", lambda self, text: printed.append(text))
    urls = [serve("alphabeta:depth=1", seed=1), serve("random", seed=2)]
    for k, players in enumerate([urls, urls[::-1]]):
        goals, moves = play_whole_match(find_sheet(sheet), players, f"thesis.{k}", clocks="300 1")
        assert len(moves) > 5
        assert len(goals) == 2
        assert all(0 <= goal <= 100 for goal in goals)
    assert not [text for text in printed if "random move" in text]


def test_better_agents_win(serve):
    urls = [serve("alphabeta:depth=2"), serve("random", seed=4)]
    assert play_whole_match(TICTACTOE, urls, clocks="30 20")[0] == (100, 0)


def test_legal_moves_are_answered_while_the_agent_is_busy(serve, monkeypatch):
    resume = threading.Event()

    class Busy(RandomAgent):
        """Agent that does not move before the end of the test."""

        def act(self, states, seats, rngs, env_indices):
            resume.wait(30)
            return super().act(states, seats, rngs, env_indices)

    monkeypatch.setattr(ggp_match, "make_agent", lambda spec, game: Busy(game))
    monkeypatch.setattr(ggp_match, "answer_seconds", lambda clock: 0.05)  # until an answer is due
    url = serve("random")
    assert ask(url, start_message(TICTACTOE, "m", "x")) == "READY"
    all_moves = [f"(mark {column} {row})" for column in "abc" for row in "123"]
    first = ask(url, "(PLAY m NIL)")
    while first.startswith("400 error: the rules are still being compiled"):
        first = ask(url, "(PLAY m NIL)")
    assert first in all_moves
    assert ask(url, f"(PLAY m ({first} noop))") == "noop"
    reply = next(move for move in all_moves if move != first)
    second = ask(url, f"(PLAY m (noop {reply}))")
    assert second in set(all_moves) - {first, reply}
    resume.set()


def test_the_best_move_so_far_is_answered_at_the_deadline(serve, monkeypatch):
    resume = threading.Event()

    class Endless(RandomAgent):
        """Agent that reports action 4, the center, until it is stopped, and then hangs."""

        monitor = None

        def act(self, states, seats, rngs, env_indices):
            if self.monitor is not None:
                reports = 0
                while not self.monitor(lambda: SimpleNamespace(action=4)):
                    reports += 1
                assert reports > 0
                resume.wait(30)
            return super().act(states, seats, rngs, env_indices)

    printed = []
    monkeypatch.setattr(GGPPlayer, "_show", lambda self, text: printed.append(text))
    monkeypatch.setattr(ggp_agent, "REPORT_SECONDS", 0)
    monkeypatch.setattr(ggp_match, "make_agent", lambda spec, game: Endless(game))
    url = serve("random")
    assert ask(url, start_message(TICTACTOE, "m", "x")) == "READY"
    monkeypatch.setattr(ggp_match, "answer_seconds", lambda clock: 0.1)
    assert ask(url, "(PLAY m NIL)") == "(mark b 2)"
    resume.set()
    assert len(printed) == 1


@pytest.mark.parametrize("last", ["(ABORT m)", "(STOP m NIL)", "(PLAY m NIL)"])
def test_messages_during_a_search_are_answered(serve, monkeypatch, last):
    searching = threading.Event()

    class Patient(RandomAgent):
        """Agent whose first search continues until it is stopped."""

        monitor = None

        def act(self, states, seats, rngs, env_indices):
            if self.monitor is not None and not searching.is_set():
                searching.set()
                while not self.monitor(lambda: SimpleNamespace(action=4)):
                    time.sleep(0.01)
            return super().act(states, seats, rngs, env_indices)

    monkeypatch.setattr(ggp_match, "make_agent", lambda spec, game: Patient(game))
    url, answers = serve("random"), []
    assert ask(url, start_message(TICTACTOE, "m", "x")) == "READY"
    seconds = iter([1.0, 30.0])  # of the first request for a move, and of the second
    monkeypatch.setattr(ggp_match, "answer_seconds", lambda clock: next(seconds))
    thread = threading.Thread(target=lambda: answers.append(ask(url, "(PLAY m NIL)")))
    thread.start()
    assert searching.wait(30)
    assert ask(url, "(INFO)").endswith("(status busy))")
    answer = ask(url, last)
    assert answer.startswith("(mark ") if "PLAY" in last else answer == "DONE"
    thread.join(30)
    assert answers[0].startswith("(mark ")


def test_moves_are_kept_until_the_rules_are_compiled(serve, monkeypatch):
    compiled, compile_text = threading.Event(), ggp_match.compile_text

    def compile_late(*args, **options):
        assert compiled.wait(30)
        return compile_text(*args, **options)

    monkeypatch.setattr(ggp_match, "compile_text", compile_late)
    monkeypatch.setattr(ggp_match, "answer_seconds", lambda clock: 0.01)
    url, problem = serve("random"), "400 error: the rules are still being compiled"
    assert ask(url, start_message(TICTACTOE, "m", "x")) == "READY"
    assert ask(url, "(PLAY m NIL)") == problem
    assert ask(url, "(PLAY m ((mark a 1) noop))") == problem
    compiled.set()
    monkeypatch.setattr(ggp_match, "answer_seconds", lambda clock: 30)
    answer = ask(url, "(PLAY m (noop (mark b 2)))")
    assert answer.startswith("(mark ")
    assert answer not in ("(mark a 1)", "(mark b 2)")


def test_a_match_may_end_before_its_rules_are_compiled(serve, monkeypatch):
    monkeypatch.setattr(ggp_match.GGPMatch, "_compile", lambda self: None)
    monkeypatch.setattr(ggp_match, "answer_seconds", lambda clock: 0.01)
    url = serve("random")
    assert ask(url, start_message(TICTACTOE, "m", "x")) == "READY"
    assert ask(url, "(STOP m NIL)") == "DONE"


def test_a_player_plays_one_match(serve):
    url, message = serve("random"), start_message(TICTACTOE, "one", "o")
    assert ask(url, "(ping)") == "((name Ludoteca) (status available))"
    assert ask(url, "(PREVIEW ((role x)) 5)") == "READY"
    assert ask(url, message) == "READY"
    assert ask(url, "( INFO )") == "((name Ludoteca) (status busy))"
    assert ask(url, message.replace("one", "two")) == "BUSY"
    assert ask(url, "(PREVIEW ((role x)) 5)") == "BUSY"
    for other in ("(PLAY two NIL)", "(STOP two NIL)", "(ABORT two)"):
        assert ask(url, other) == "BUSY"
    assert ask(url, "(ABORT one)") == "DONE"
    assert ask(url, "(PLAY one NIL)") == "BUSY"
    assert ask(url, message.replace("one", "two")) == "READY"
    assert ask(url, "(STOP two NIL)") == "DONE"


def test_a_match_whose_manager_has_gone_is_replaced(serve, monkeypatch):
    url, message = serve("random"), start_message(TICTACTOE, "one", "o")
    assert ask(url, message) == "READY"
    monkeypatch.setattr(ggp_match, "IDLE_SECONDS", -1e6)  # every manager has been idle for too long
    assert ask(url, "(INFO)") == "((name Ludoteca) (status available))"
    assert ask(url, message.replace("one", "two")) == "READY"


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("", "expected a list in parentheses, got ''"),
        ("INFO", "expected a list in parentheses"),
        ("(INFO) (INFO)", "expected a list in parentheses"),
        ("(PLAY m (a b)", "expected a list in parentheses"),
        ("()", "expected a message INFO, PING, PREVIEW, START, PLAY, STOP, ABORT, got ''"),
        ("(DANCE)", "expected a message .*, got 'DANCE'"),
        ("(INFO now)", "INFO needs 0 arguments, got 1"),
        ("(PLAY m)", "PLAY needs 2 arguments, got 1"),
        ("(PLAY (m) NIL)", "the name of a match must be one word"),
        (f"(ABORT {'m' * 201})", "the name of a match must be one word"),
        ("(PLAY m (() a))", "move, line 1, column 1: an empty list"),
        ("(PLAY m maybe)", "expected a list in parentheses, got 'maybe'"),
        ("(START m x rules 1 1)", "the rules must be a list of facts and rules"),
        ("(START m x ((role x)) ten 1)", "the start clock must be an integer from 1 to 86,400"),
        ("(START m x ((role x)) 1 0)", "the play clock must be an integer .* got '0'"),
        ("(START m x ((role x)) 1 999999999999)", "the play clock must be an integer"),
    ],
)
def test_malformed_messages_are_refused(message, problem):
    with pytest.raises(MessageError, match=problem):
        parse_message(message)


def test_messages_are_parsed():
    assert split_list("( a (b (c) ) ; comment )\n d)") == ["a", "(b (c) )", "d"]
    assert parse_message("( START kiosk.x WHITE ( (ROLE white) ) 30 5)") == Start(
        "kiosk.x", "WHITE", " (ROLE white) ", 30, 5
    )
    assert parse_message("(play m ( ( mark 1 2 ) noop ))") == Play("m", ("(mark 1 2)", "noop"))
    assert parse_message("(play m nil)") == Play("m", ())


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ("(role x)", "400 error: the rules"),
        ("(role y) (legal y a) (goal y 0) terminal", "400 error: the rules have no role x, only y"),
        (")(", "400 error: "),
        ("", "400 error: the rules holds no statement"),
    ],
)
def test_faulty_rules_are_refused(serve, rules, problem):
    url = serve("random")
    assert ask(url, f"(START m x ({rules}) 20 5)").startswith(problem)
    assert ask(url, "(INFO)").endswith("(status available))")


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("(PLAY m (noop))", "expected one move for each of 2 roles, got 1: noop"),
        (
            "(PLAY m ((mark 7 7) noop))",
            "the move (mark 7 7) of x is illegal: the legal moves are (mark a 1)",
        ),
        (
            "(PLAY m ((mark a 1) (mark a 2)))",
            "the move (mark a 2) of o is illegal: the legal moves are noop",
        ),
    ],
)
def test_illegal_joint_moves_change_nothing(serve, message, problem):
    url = serve("random")
    assert ask(url, start_message(TICTACTOE, "m", "o")) == "READY"
    assert ask(url, message).startswith(f"400 error: {problem}")
    assert ask(url, "(PLAY m NIL)") == "noop"
    assert ask(url, "(PLAY m ((mark a 1) noop))").startswith("(mark ")


def test_agents_that_cannot_play_the_rules_are_replaced_by_random_moves(serve, monkeypatch):
    printed = []
    monkeypatch.setattr(GGPPlayer, "_show", lambda self, text: printed.append(text))
    urls = [serve("alphabeta"), serve("random")]
    play_whole_match(find_sheet("prisoners_dilemma"), urls)
    assert any(
        "alphabeta cannot play: ValueError: alpha-beta search needs" in line for line in printed
    )


def test_requests_are_bounded_and_pages_are_refused(serve):
    url = serve("random")
    assert ask(url, "(INFO)", Origin="http://example.org").startswith("403 ")
    host = url.removeprefix("http://")
    for method, headers, status in [
        ("GET", {}, 405),
        ("POST", {"Content-Length": str(MAX_REQUEST + 1)}, 413),
        ("POST", {"Content-Length": "many"}, 411),
        ("PUT", {}, 501),
    ]:
        connection = http.client.HTTPConnection(host, timeout=30)
        connection.putrequest(method, "/")
        for key, value in headers.items():
            connection.putheader(key, value)
        connection.endheaders()
        assert connection.getresponse().status == status
        connection.close()


@pytest.mark.parametrize(
    ("options", "problem"),
    [({"agent": "nobody"}, "nobody"), ({"port": 70000}, "port"), ({"name": "two words"}, "name")],
)
def test_options_of_the_command_are_checked(options, problem):
    with pytest.raises(ValueError, match=problem):
        command.ggp_player(**options)


def test_a_search_has_ended_when_the_answer_is_due():
    for clock in (1, 5, 60):
        control = ggp_match.TimeControl(clock)
        assert control.thinking_seconds < ggp_match.answer_seconds(clock) < clock

"""Tests of the manager of General Game Playing (GGP) with faulty players, sheets and networks."""

import json
import random
import re
import signal
import socket
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from command_line import run

from ludoteca.evaluate.protocols import ggp_client
from ludoteca.evaluate.protocols.ggp_client import ask
from ludoteca.evaluate.protocols.ggp_manager import RemotePlayer, play_managed_match, play_series

ANSWERS = {"INFO": "()", "START": "READY", "PLAY": "go", "STOP": "DONE", "ABORT": "DONE"}


class FakePlayer(ThreadingHTTPServer):
    """Player with a given answer to each kind of message: a text, or a function that returns it.

    Attributes:
        messages: the messages so far.
        url: its address.
    """

    daemon_threads, block_on_close = True, False

    def __init__(self, **answers):
        self.answers, self.messages = ANSWERS | answers, []
        super().__init__(("127.0.0.1", 0), FakeHandler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def kinds(self):
        return [message.split()[1] for message in self.messages]


class FakeHandler(BaseHTTPRequestHandler):
    def do_POST(self):
        message = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.messages.append(message)
        answer = self.server.answers[message.split()[1]]
        data = (answer() if callable(answer) else answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format, *args):
        """Write no log."""


@pytest.fixture
def fake():
    """Yield a function that starts a fake player."""
    players = []

    def start(**answers):
        player = FakePlayer(**answers)
        players.append(player)
        threading.Thread(target=player.serve_forever, args=(0.01,), daemon=True).start()
        return player

    yield start
    for player in players:
        player.shutdown()
        player.server_close()


def sheet(legal=("go",), goals=((100,), (0,))):
    """Return a state machine of a game of one ply."""
    machine = SimpleNamespace(roles=("x", "o"), plies=0, legal=lambda: (("go",), legal))
    machine.reset = lambda: setattr(machine, "plies", 0)
    machine.step = lambda moves: setattr(machine, "plies", 1)
    machine.is_terminal = lambda: machine.plies == 1
    machine.goals = lambda: goals
    return machine


def play(machine, *players, clock=5):
    seated = [RemotePlayer(player.url, clock, clock) for player in players]
    return play_managed_match(machine, "", seated, (0, 1), "m", random.Random(0), 9)


def test_match_names_of_two_runs_differ(fake):
    players = [RemotePlayer(fake().url, 5, 5), RemotePlayer((second := fake()).url, 5, 5)]
    for _ in range(2):
        assert [match.goals for match in play_series(sheet(), "", players, 1)] == [(100, 0)]
    starts = [message for message in second.messages if "START" in message]
    assert len({message.split()[2] for message in starts}) == 2


def test_a_player_that_refuses_a_match_gets_no_abort(fake):
    ready, busy = fake(), fake(START="BUSY")
    with pytest.raises(OSError, match="did not start: it answered 'BUSY'"):
        play(sheet(), ready, busy)
    assert ready.kinds() == ["START", "ABORT"]
    assert busy.kinds() == ["START"]


def test_one_address_for_both_roles_does_not_hide_a_refusal(fake):
    player = fake(START=iter(["READY", "BUSY"]).__next__)
    with pytest.raises(OSError, match="did not start: it answered 'BUSY'"):
        play(sheet(), player, player)


def test_an_interrupt_aborts_at_once_while_a_player_prepares(fake):
    release = threading.Event()

    def prepare():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        release.wait(5)
        return "READY"

    ready, slow = fake(), fake(START=prepare)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        play(sheet(), ready, slow, clock=600)
    assert time.monotonic() - begin < 2
    assert "ABORT" in ready.kinds()
    assert slow.kinds() == ["START", "ABORT"]
    requests = [t for t in threading.enumerate() if t.name == ggp_client.THREAD_NAME]
    assert requests  # START is still pending
    assert all(thread.daemon for thread in requests)
    release.set()


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (sheet(legal=()), "o has no legal moves at ply 0"),
        (sheet(goals=((100,), ())), r"o has 0 goals \(\) at the end of the game"),
    ],
)
def test_a_faulty_sheet_gives_a_clear_error_and_aborts(fake, machine, message):
    players = fake(), fake()
    with pytest.raises(ValueError, match=message):
        play(machine, *players)
    assert [player.kinds()[-1] for player in players] == ["ABORT"] * 2


@contextmanager
def raw_server(*parts, pause=0.0):
    """Yield the address of a server that sends `parts` with pauses, after an INFO message."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            client, _ = server.accept()
            with client:
                received = b""
                while not received.endswith(b"( INFO )"):
                    received += client.recv(1 << 16)
                for part in parts:
                    try:
                        client.sendall(part)
                    except OSError:
                        return
                    time.sleep(pause)

        threading.Thread(target=answer, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize("head", [b"HTTP/1.0 200 OK\r\n\r\n", b"HTTP/1.0 200 OK\r\nX: "])
def test_an_answer_in_drops_is_late(head):
    with raw_server(head, *[b"a"] * 20, pause=0.05) as url:
        begin = time.monotonic()
        with pytest.raises(TimeoutError, match=rf"{url}: no whole answer within 0.2 seconds"):
            ask(url, "( INFO )", 0.2)
        assert time.monotonic() - begin < 0.6


def test_a_late_answer_is_refused_though_another_player_has_more_time(fake):
    late = fake(INFO=lambda: time.sleep(0.15) or "late")
    slow = fake(INFO=lambda: time.sleep(0.25) or "in time")
    first, second = ggp_client.ask_all(
        [ggp_client.Request(slow.url, "( INFO )", 5), ggp_client.Request(late.url, "( INFO )", 0.1)]
    )
    assert first == "in time"
    assert isinstance(second, TimeoutError)


def test_answers_of_a_wrong_size_or_form_are_errors(fake):
    long = fake(INFO="a" * (ggp_client.MAX_ANSWER + 1))
    with pytest.raises(OSError, match=f"{long.url}: the answer has more than 65536 bytes"):
        ask(long.url, "( INFO )", 5)
    with raw_server(b"what\r\n") as url, pytest.raises(OSError, match=f"{url}: "):
        ask(url, "( INFO )", 5)
    redirect = b"HTTP/1.0 302 Moved\r\nLocation: http://[::1\r\n\r\n"
    with raw_server(redirect) as url, pytest.raises(OSError, match=f"{url}: HTTP status 302"):
        ask(url, "( INFO )", 5)


@pytest.mark.parametrize("url", ["http://[::1", "http://a..b/", "http://:80", "http://a:b"])
def test_a_bad_address_is_named(url):
    with pytest.raises(OSError, match="^" + re.escape(f"{url}: ")):
        ask(url, "( INFO )", 5)


def test_proxies_are_not_used(fake, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert ask(fake().url, "( INFO )", 5) == "()"


@pytest.fixture
def short_sheet(monkeypatch):
    """Replace the machine of the command by that of a game of one ply."""
    from ludoteca.evaluate.gdl import interpreted_machine

    monkeypatch.setattr(interpreted_machine, "load_machine", lambda _: sheet())


def test_a_failed_start_of_a_later_match_keeps_the_results(fake, short_sheet, tmp_path, capsys):
    urls, file = [fake().url, fake(START=iter(["READY", "BUSY"]).__next__).url], tmp_path / "m.json"
    arguments = ["tictactoe", "--players", *urls, "--games", "3", "--json", str(file)]
    status, out, err = run(capsys, "ggp-match", *arguments)
    assert status == 2
    assert "1 wins, 0 draws, 0 losses" in out
    assert "did not start: it answered 'BUSY'" in err
    assert len(json.loads(file.read_text())["matches"]) == 1


def test_an_unwritable_file_is_noticed_before_the_first_match(fake, short_sheet, tmp_path, capsys):
    first, second = fake(), fake()
    arguments = ["tictactoe", "--players", first.url, second.url, "--json", str(tmp_path)]
    assert run(capsys, "ggp-match", *arguments)[0] == 2
    assert first.kinds() == second.kinds() == ["INFO"]

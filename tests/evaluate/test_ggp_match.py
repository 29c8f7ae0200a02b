"""Tests of the manager of General Game Playing (GGP), with players over HTTP."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from command_line import run

from ludoteca.envs.gdl.own_sheets import find_sheet
from ludoteca.evaluate.protocols.ggp import GGPPlayer
from ludoteca.evaluate.protocols.ggp_client import ask, player_name
from ludoteca.evaluate.protocols.ggp_http import GGPServer
from ludoteca.evaluate.protocols.ggp_manager import ManagedMatch, one_line_rules
from ludoteca.evaluate.protocols.ggp_results import MatchSeries

pytestmark = pytest.mark.interpreted
MATCHES = Path(__file__).parents[2] / "docs/results/gdl/matches"


@pytest.fixture
def serve():
    """Yield a function that runs a server in a thread, and returns its address."""
    servers = []

    def start(server):
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()
        if isinstance(server, GGPServer):
            server.player.close()


class Recorder(BaseHTTPRequestHandler):
    """Player that records all messages and answers each with `answers`, by its first word."""

    answers: ClassVar = {"START": "READY", "PLAY": "(mark b", "STOP": "DONE"}  # no whole term
    messages: ClassVar = []

    def do_POST(self):
        """Answer a message."""
        message = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.messages.append(message)
        data = self.answers.get(message.split()[1], "what?").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format, *args):
        """Write no log."""


def our_player(agent, name):
    return GGPServer(("127.0.0.1", 0), GGPPlayer(agent, name, quiet=True))


def test_players_change_roles_and_the_better_one_wins(serve, tmp_path, capsys):
    urls = [serve(our_player("alphabeta:depth=2", "Better")), serve(our_player("random", "Dice"))]
    file = tmp_path / "matches.json"
    options = ["--games", "4", "--play-clocks", "10", "--json", str(file)]
    status, out, err = run(capsys, "ggp-match", "tictactoe", "--players", *urls, *options)
    assert status == 0, err
    content = json.loads(file.read_text())
    assert [match["seats"] for match in content["matches"]] == [[0, 1], [1, 0]] * 2
    assert [player["name"] for player in content["players"]] == ["Better", "Dice"]
    assert content["result"]["losses"] == 0
    assert content["result"]["wins"] > 0
    assert "0 moves were missing or illegal" in out
    assert content["summary"] in " ".join(out.split())


def test_illegal_answers_become_random_moves(serve, capsys):
    Recorder.messages.clear()
    faulty, ours = serve(HTTPServer(("127.0.0.1", 0), Recorder)), serve(our_player("random", "A"))
    players = ["--players", f"Faulty={faulty}", ours]
    options = ["--games", "1", "--start-clocks", "20", "9", "--play-clocks", "7", "8"]
    status, out, _ = run(capsys, "ggp-match", "tictactoe", *players, *options)
    assert status == 0
    kinds = [message.split()[1] for message in Recorder.messages]
    plays = kinds.count("PLAY")
    assert kinds == ["START", *["PLAY"] * plays, "STOP"]
    assert Recorder.messages[0].endswith(") 20 7 )")  # its own clocks
    assert one_line_rules(find_sheet("tictactoe").read_text()) in Recorder.messages[0]
    assert Recorder.messages[1].split()[3:] == ["NIL", ")"]
    assert "Faulty against A" in " ".join(out.split())
    assert player_name(faulty) == faulty  # it answers INFO with no list
    assert f"{plays} moves were missing or illegal" in " ".join(out.split())


def test_wrong_arguments_and_missing_players_give_clear_errors(capsys):
    urls = ["http://127.0.0.1:9", "http://127.0.0.1:9"]
    status, _, err = run(capsys, "ggp-match", "tictactoe", "--players", "here", urls[0])
    assert status == 2
    assert "expected addresses http://... of two players, got here" in err
    players = ["--players", f"A={urls[0]}", f"B={urls[1]}"]
    status, _, err = run(capsys, "ggp-match", "dice_race", *players)
    assert status == 2
    assert "the sheet has the role random: there are no matches with chance" in err
    for arguments, message in (
        (["--games", "0"], "games must be"),
        (["--play-clocks", "1", "2", "3"], "play_clocks must be one number of seconds or two"),
        ([], "Connection refused"),
    ):
        status, _, err = run(capsys, "ggp-match", "tictactoe", "--players", *urls, *arguments)
        assert status == 2
        assert message in err


def test_a_player_that_does_not_start_ends_the_series(serve, monkeypatch, capsys):
    monkeypatch.setitem(Recorder.answers, "START", "BUSY")
    urls = [serve(HTTPServer(("127.0.0.1", 0), Recorder)), serve(our_player("random", "A"))]
    status, _, err = run(capsys, "ggp-match", "tictactoe", "--players", *urls)
    assert status == 2
    assert "did not start: it answered 'BUSY'" in err
    assert "(status available)" in ask(urls[1], "(INFO)", 10)  # the match was aborted


def test_score_of_a_series_counts_goals_by_player():
    series = MatchSeries("sheet", ["A", "B"], [])
    for seats, goals in (((0, 1), (100, 0)), ((1, 0), (100, 0)), ((1, 0), (20, 30)), ((0, 1), ())):
        series.add(ManagedMatch(seats, goals, (("a", "b"),), ()))
    series.add(ManagedMatch((1, 0), (50, 50), (), ("ply 0, x: 'b'",)))
    assert series.counts() == (2, 1, 1)
    assert "2 wins, 1 draws, 1 losses; score 62.5 %" in series.summary()
    assert "1 moves were missing or illegal" in series.summary()


def test_the_interval_of_a_short_series_allows_for_draws():
    series = MatchSeries("sheet", ["A", "B"], [])
    for _ in range(10):
        series.add(ManagedMatch((0, 1), (50, 50), (), ()))
    assert "score 50.0 % (23.7 to 76.3)" in series.summary()  # Wilson's interval of 5 of 10


@pytest.mark.parametrize("file", sorted(MATCHES.glob("*.json")), ids=lambda file: file.stem)
def test_published_matches_have_the_summary_of_their_games(file):
    content = json.loads(file.read_text())
    series = MatchSeries(content["sheet"], [player["name"] for player in content["players"]], [])
    for match in content["matches"]:
        series.add(ManagedMatch(**match))
    assert content["summary"] == series.summary()
    score = re.search(r"score (.*?) % (\(.*?\))", series.summary())
    opponent, counts = series.names[1], (len(series.matches), *series.counts())
    cells = series.sheet, opponent, *counts, " ".join(score.groups())
    assert f"| {' | '.join(map(str, cells))} |" in (MATCHES.parent / "sancho.md").read_text()

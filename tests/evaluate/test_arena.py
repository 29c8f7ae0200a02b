"""Tests of the arena's server: games over the registry, commands, and protection."""

import random
import time

import pytest

pytest.importorskip("starlette", reason="the arena needs Starlette: the extra `arena`")
pytest.importorskip("httpx2", reason="Starlette's test client needs httpx2: the extra `dev`")

from arena_client import ADDRESS, Player, follow, open_game
from starlette.testclient import TestClient

from ludoteca.envs.registry import GAMES, game_name
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.arena.server import make_app

pytestmark = pytest.mark.interpreted

MCTS = {"agent": "mcts:simulations=20"}
# Parameters that make games short, as strings, because the form of a new game sends strings.
SMALL = {
    "hungry_geese": {"rows": "5", "columns": "5", "num_players": "2", "episode_steps": "20"},
    "othello": {"board_size": "4"},
    "hex": {"board_size": "3", "swap": "True"},
    "connect4": {"rows": "4", "columns": "4", "connect": "3"},
    "tron": {"rows": "5", "columns": "5"},
    "free_for_all": {"plies": "6"},
}


@pytest.fixture(scope="module")
def client():
    """Yield a client of an arena with two agents and an adviser (agent for hints and analyses)."""
    app = make_app(("random", "mcts:simulations=20"), num_workers=1, adviser="mcts:simulations=60")
    with TestClient(app, base_url=ADDRESS) as client:
        yield client


@pytest.mark.parametrize("id_", GAMES)
def test_people_play_every_game_to_its_end(client, id_):
    game = game_name(id_)
    board = open_game(client, game, SMALL.get(game))
    rng = random.Random(5)
    with follow(client, board) as socket:
        player = Player(socket)
        state = player.state
        while not state["over"]:
            if player.board["simultaneous"]:
                ply = state["ply"]
                for seat in state["to_act"]:
                    action = rng.choice(state["legal_by_player"][str(seat)])
                    player.socket.send_json({"type": "choose", "player": seat, "action": action})
                state = player.wait(lambda state, ply=ply: state["ply"] > ply or state["over"])
            else:
                action = rng.choice(state["position"]["legal"])
                state = player.do("play", action=action, ply=state["ply"])
        assert len(state["moves"]) == state["ply"]
    replay = Replay.from_json(client.get(f"/api/boards/{board['id']}/replay.json").text)
    assert list(replay.returns) == pytest.approx(state["returns"])
    assert client.delete(f"/api/boards/{board['id']}").status_code == 200


def test_a_person_plays_against_an_agent(client):
    board = open_game(client, "tictactoe", seats=["human", "mcts:simulations=20"])
    with follow(client, board) as socket:
        player = Player(socket)
        while not player.state["over"]:
            state = player.wait(lambda s: s["over"] or (s["to_act"] == [0]))
            if not state["over"]:
                player.do("play", action=state["position"]["legal"][0], ply=state["ply"])
        analyses = player.state["analyses"]
        assert analyses
        assert all(a["seat"] == 1 and 0 <= a["score"] <= 1 for a in analyses.values())
        assert all(sum(m["visits"] for m in a["moves"]) >= 1 for a in analyses.values())
    client.delete(f"/api/boards/{board['id']}")


def test_undo_redo_and_stepping(client):
    board = open_game(client, "tictactoe")
    with follow(client, board) as socket:
        player = Player(socket)
        for ply, action in enumerate([4, 0, 8]):
            player.do("play", action=action, ply=ply)
        assert player.state["moves"] == ["b2", "a1", "c3"]
        socket.send_json({"type": "view", "ply": 1})
        view = player.receive("position")["position"]
        assert [k for k, code in enumerate(view["codes"]) if code] == [4]
        assert player.do("undo")["moves"] == ["b2", "a1"]
        assert player.do("undo", ply=0)["moves"] == []
        assert player.do("redo")["moves"] == ["b2"]
        assert player.do("redo")["moves"] == ["b2", "a1"]
        state = player.do("play", action=3, ply=2)  # another move than the undone one
        assert (state["moves"], state["can_redo"]) == (["b2", "a1", "a2"], False)
        assert player.refused("redo") == "there is nothing to redo"


def test_a_position_is_set_up_from_json(client):
    board = open_game(client, "tictactoe")
    with follow(client, board) as socket:
        player = Player(socket)
        player.do("play", action=4, ply=0)
        socket.send_json({"type": "get_position", "ply": 1})
        text = player.receive("position_json")["text"]
        player.do("undo")
        state = player.do("set_up", position=text)
        assert state["set_up"]
        assert state["position"]["codes"][4] > 0
        assert state["position"]["status"] == "O to move"
        other = text.replace("board_size=3", "board_size=4")
        assert "expected a position of" in player.refused("set_up", position=other)
        assert player.do("play", action=0, ply=0)["moves"] == ["a1"]
    response = client.get(f"/api/boards/{board['id']}/replay.json")
    assert response.status_code == 400
    assert "set up" in response.json()["error"]


def test_a_game_starts_from_edited_cells(client):
    board = open_game(client, "hex", {"board_size": "4"})
    with follow(client, board) as socket:
        player = Player(socket)

        def ask(kind, answer, **more):
            socket.send_json({"type": kind, **more})
            return player.receive(answer)

        view = ask("edit", "editor", ply=0)
        assert (view["cells"], view["player"]) == ([0] * 16, 0)
        assert view["players"] == ["black", "white"]
        # 1 is a black stone, 2 a white one; black wins with all four cells of the first column.
        cells = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0]
        won = [*cells[:12], 1, 0, 0, 0]
        answer = ask("check_cells", "cells", cells=won, player=1, ply=0)
        assert answer["problem"] == "the game is over in this position: black wins"
        answer = ask("check_cells", "cells", cells=cells, player=1, ply=0, check=7)
        assert (answer["problem"], answer["check"]) == ("", 7)
        state = player.do("set_up", position=answer["text"])  # the same position, as JSON
        assert state["position"]["codes"] == cells
        reason = player.refused("set_up_cells", cells=cells[1:], player=1, ply=0)
        assert "the codes of 16 cells" in reason
        state = player.do("set_up_cells", cells=cells, player=1, ply=0)
        assert (state["position"]["status"], state["set_up"]) == ("white to move", True)
        assert 11 not in state["position"]["legal"]
    client.delete(f"/api/boards/{board['id']}")


def test_an_adviser_analyzes_every_position(client):
    board = open_game(client, "tictactoe")
    with follow(client, board) as socket:
        player = Player(socket)
        for ply, action in enumerate([0, 4, 8]):
            player.do("play", action=action, ply=ply)
        socket.send_json({"type": "analyze_all"})
        finished = {}
        while len(finished) < 4:
            message = player.receive("analysis")
            if message["analysis"].get("finished"):
                finished[message["ply"]] = message["analysis"]
        assert sorted(finished) == [0, 1, 2, 3]
        assert [finished[ply]["seat"] for ply in range(4)] == [0, 1, 0, 1]
        moves = finished[3]["moves"]
        assert {move["name"] for move in moves} <= {"b1", "c1", "a2", "c2", "a3", "b3"}
        assert sum(move["visits"] for move in moves) <= finished[3]["simulations"]


def test_the_pace_of_a_game_is_set_by_the_form_and_by_options(client):
    board = open_game(client, "tictactoe", move_delay=3)
    with follow(client, board) as socket:
        player = Player(socket)
        assert (player.state["move_delay"], player.state["clock"]) == (3, 0)
        state = player.do("options", move_delay=0.25)
        assert (state["move_delay"], state["clock"]) == (0.25, 0)
        assert "move_delay must be a number from 0" in player.refused("options", move_delay=-1)


@pytest.mark.slow
@pytest.mark.interpreted
def test_an_agent_ponders_during_the_turn_of_a_person():
    app = make_app(("mcts:simulations=20,reuse=True",), num_workers=1)
    with TestClient(app, base_url=ADDRESS) as client:
        seats = ["human", "mcts:simulations=20,reuse=True"]
        board = open_game(client, "connect4", seats=seats)
        with follow(client, board) as socket:
            player = Player(socket)
            assert player.state["ponder"] is False
            player.do("play", action=3, ply=0)
            state = player.wait(lambda state: state["ply"] == 2)
            assert state["analyses"]["1"]["simulations"] == 20
            player.do("options", ponder=True)
            time.sleep(1.5)  # the turn of the person, in which the agent searches
            player.do("play", action=3, ply=2)
            state = player.wait(lambda state: state["ply"] == 4)
            # Without pondering the reused tree has at most 20 simulations from each of two turns.
            assert state["analyses"]["3"]["simulations"] > 40


def test_a_search_is_stopped_and_its_move_is_played(client):
    seats = [MCTS | {"simulations": 1_000_000}, "human"]
    board = open_game(client, "hex", {"board_size": "5"}, seats)
    with follow(client, board) as socket:
        player = Player(socket)
        assert player.state["seats"][0] == "mcts:simulations=1000000"
        player.receive("thinking")  # an intermediate analysis
        socket.send_json({"type": "stop"})
        state = player.wait(lambda state: state["ply"] == 1)
        assert 0 < state["analyses"]["0"]["simulations"] < 1_000_000


def test_records_of_other_programs_are_opened_and_saved(client):
    sgf = "(;GM[11]SZ[4];B[a2];W[swap-pieces](;B[c2])(;B[d2]))(;GM[2]SZ[8];B[d3];W[c5])"
    opened = client.post("/api/replays?game=2", content=sgf).json()
    assert (opened["title"], opened["ply"], opened["notes"]) == ("Othello", 2, [])
    for suffix, start in (("sgf", "(;FF[4]GM[2]"), ("ggf", "(;GM[Othello]"), ("txt", "d3c5")):
        saved = client.get(f"/api/boards/{opened['id']}/replay.{suffix}")
        assert saved.text.startswith(start)
        assert saved.headers["content-disposition"].endswith(f'.{suffix}"')
        again = client.post("/api/replays", content=saved.text).json()
        assert again["spec"] == opened["spec"]
        client.delete(f"/api/boards/{again['id']}")
    hex_board = client.post("/api/replays", content=sgf).json()
    assert hex_board["notes"] == ["1 variation is skipped: only the main line was read"]
    for path, message in (
        (f"/api/boards/{hex_board['id']}/replay.ggf", "GGF supports othello, got a game of hex"),
        (f"/api/boards/{hex_board['id']}/replay.pgn", "expected one of .ggf, .sgf, .txt"),
    ):
        answer = client.get(path)
        assert (answer.status_code, message in answer.json()["error"]) == (400, True)
    for number, message in (("3", "must be an integer from 1 to 2"), ("x", "the number of a game")):
        answer = client.post(f"/api/replays?game={number}", content=sgf)
        assert (answer.status_code, message in answer.json()["error"]) == (400, True)
    for board in (opened, hex_board):
        client.delete(f"/api/boards/{board['id']}")


def test_agents_play_each_other_and_a_replay_is_opened(client):
    board = open_game(client, "connect4", SMALL["connect4"], ["random", "random"])
    with follow(client, board) as socket:
        state = Player(socket).wait(lambda state: state["over"])
    text = client.get(f"/api/boards/{board['id']}/replay.json").text
    opened = client.post("/api/replays", content=text).json()
    with follow(client, opened) as socket:
        copy = Player(socket)
        assert copy.state["moves"] == state["moves"]
        assert copy.state["seats"] == ["human", "human"]
    assert opened["id"] in {entry["id"] for entry in client.get("/api/boards").json()}
    page = client.get(f"/api/boards/{board['id']}/replay.html").text
    assert page.startswith("<!doctype html>")


def test_replays_of_a_run_are_opened(client, tmp_path, monkeypatch):
    monkeypatch.setattr(client.app.state, "run_folders", (tmp_path,))
    for k, actions in enumerate(([4], [0, 1])):
        Replay("tictactoe:board_size=3,line=3", 0, actions, None).save(tmp_path / f"game_{k}.json")
    (tmp_path / "secret.json").write_text("{}")
    (run,) = client.get("/api/runs").json()
    assert run["kind"] == "replays"
    address = f"/api/runs/{run['id']}"
    assert client.get(address).json()["replays"] == ["game_0.json", "game_1.json"]
    board = client.post(f"{address}/replays/1")
    assert (board.status_code, board.json()["ply"]) == (201, 2)
    client.delete(f"/api/boards/{board.json()['id']}")
    for name, status in (("2", 400), ("secret.json", 404), ("-1", 404)):
        assert client.post(f"{address}/replays/{name}").status_code == status


def test_a_failing_agent_stops_the_game_with_a_message():
    # `Throwing`, of tests/helpers/interactive.py, raises an error instead of a move.
    app = make_app(("interactive:Throwing",), num_workers=1)
    with TestClient(app, base_url=ADDRESS) as client:
        board = open_game(client, "tictactoe", seats=["human", "interactive:Throwing"])
        with follow(client, board) as socket:
            player = Player(socket)
            player.do("play", action=0, ply=0)
            state = player.wait(lambda state: state["failure"])
        assert "out of memory" in state["failure"]


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({"game": "chess"}, "unknown game"),
        ({"game": "os:system"}, "unknown game"),
        ({"game": "hex", "params": {"board_size": "20"}}, "from 2 to 19"),
        ({"game": "hex", "params": {"board_size": "many"}}, "must be an integer"),
        ({"game": "hex", "params": {"size": "5"}}, "no parameter"),
        ({"game": "hex", "params": [1]}, "expected the parameters"),
        ({"game": "hex", "seats": ["human"]}, "2 seats"),
        ({"game": "hex", "seats": ["human", "az:/etc/passwd"]}, "no agent"),
        ({"game": "hex", "seats": ["human", "interactive:Throwing"]}, "no agent"),
        ({"game": "hex", "seats": ["human", MCTS | {"simulations": 10**9}]}, "simulations"),
        ({"game": "hex", "seats": ["human", "human"], "seed": -1}, "seed"),
        ({"game": "hex", "seats": ["human", "human"], "seed": 2**63}, "seed must be an integer"),
        ({"game": "hex", "seats": ["human", "human"], "clock": 1e9}, "clock"),
        ({"game": "hex", "seats": ["human", "human"], "move_delay": "1"}, "move_delay"),
        ([], "fields of a form"),
    ],
)  # fmt: skip
def test_wrong_forms_are_refused_with_a_reason(client, form, reason):
    response = client.post("/api/boards", json=form)
    assert response.status_code == 400
    assert reason in response.json()["error"]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"type": "play", "action": 99, "ply": 0}, "from 0 to 8"),
        ({"type": "play", "action": 0, "ply": 7}, "changed"),
        ({"type": "play", "action": "a1", "ply": 0}, "action must be"),
        ({"type": "choose", "player": 0, "action": 0}, "nothing to choose"),
        ({"type": "undo"}, "nothing to undo"),
        ({"type": "view", "ply": 5}, "ply must be"),
        ({"type": "seats", "seats": ["human", "sb3:/etc/passwd"]}, "no agent"),
        ({"type": "set_up", "position": "{}"}, "not a position"),
        ({"type": "read", "path": "/etc/passwd"}, "unknown command"),
        ([1, 2], "expected a JSON object"),
    ],
)
def test_wrong_commands_are_refused_with_a_reason(client, message, reason):
    board = open_game(client, "tictactoe")
    with follow(client, board) as socket:
        player = Player(socket)
        socket.send_json(message)
        assert reason in player.socket.receive_json()["text"]
        socket.send_text("no JSON")
        assert "JSON" in player.socket.receive_json()["text"]
        assert player.do("play", action=0, ply=0)["ply"] == 1  # the game can still be played
    client.delete(f"/api/boards/{board['id']}")

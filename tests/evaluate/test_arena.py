"""Tests of the arena's server: games over the registry, commands, and protection."""

import random

import pytest

pytest.importorskip("starlette", reason="the arena needs Starlette: the extra `arena`")
pytest.importorskip("httpx2", reason="Starlette's test client needs httpx2: the extra `dev`")

from starlette.testclient import TestClient

from ludoteca.envs.registry import GAMES, game_name, make_game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.arena.server import make_app

pytestmark = pytest.mark.interpreted

ADDRESS = "http://127.0.0.1:8765"
# Small parameters, so that games are short; the names are those of the form.
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
    app = make_app(("random", "mcts:simulations=20"), num_workers=1)
    with TestClient(app, base_url=ADDRESS) as client:
        yield client


class Player:
    """Client of one game, with the last state that it received."""

    def __init__(self, socket):
        self.socket = socket
        self.board = self.receive("board")
        self.state = self.receive("state")

    def receive(self, kind):
        """Return the next message of a kind; states on the way are kept."""
        while True:
            message = self.socket.receive_json()
            if message["type"] == "state":
                self.state = message
            if message["type"] == kind:
                return message
            assert message["type"] != "error", message

    def do(self, kind, **more):
        """Send a command and return the state after it."""
        self.socket.send_json({"type": kind, **more})
        return self.receive("state")

    def refused(self, kind, **more):
        """Send a command that must be refused; return the reason."""
        self.socket.send_json({"type": kind, **more})
        while (message := self.socket.receive_json())["type"] != "error":
            pass
        return message["text"]

    def wait(self, condition):
        """Receive states until one fulfils a condition."""
        while not condition(self.state):
            self.receive("state")
        return self.state


def open_game(client, game, params=None, seats=None, **more):
    """Return the description of a new game, with people in all seats by default."""
    count = make_game(game, **{}).num_players if not params else None
    if seats is None:
        form = client.post(f"/api/games/{game}", json=params or {}).json()
        seats = ["human"] * (count or form["players"])
    body = {"game": game, "params": params or {}, "seats": seats, "pause": 0, **more}
    response = client.post("/api/boards", json=body)
    assert response.status_code == 201, response.text
    return response.json()


def follow(client, board):
    """Return a web socket of a game."""
    return client.websocket_connect(f"{ADDRESS.replace('http', 'ws')}/ws/{board['id']}")


@pytest.mark.parametrize("id_", GAMES)
def test_people_play_every_game_to_its_end(client, id_):
    game = game_name(id_)
    board = open_game(client, game, SMALL.get(game))
    choose = random.Random(5)
    with follow(client, board) as socket:
        player = Player(socket)
        state = player.state
        while not state["over"]:
            if player.board["simultaneous"]:
                ply = state["ply"]
                for seat in state["to_act"]:
                    action = choose.choice(state["legal_by_player"][str(seat)])
                    player.socket.send_json({"type": "choose", "player": seat, "action": action})
                state = player.wait(lambda state, ply=ply: state["ply"] > ply or state["over"])
            else:
                action = choose.choice(state["position"]["legal"])
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

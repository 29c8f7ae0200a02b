"""Client of the arena's server without a browser: it opens games and exchanges their messages."""

from ludoteca.envs.registry import make_game

ADDRESS = "http://127.0.0.1:8765"


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
        """Receive states until one satisfies a condition."""
        while not condition(self.state):
            self.receive("state")
        return self.state


def open_game(client, game, params=None, seats=None, **more):
    """Return the description of a new game, with people in all seats by default."""
    count = make_game(game, **{}).num_players if not params else None
    if seats is None:
        form = client.post(f"/api/games/{game}", json=params or {}).json()
        seats = ["human"] * (count or form["players"])
    body = {"game": game, "params": params or {}, "seats": seats, "move_delay": 0, **more}
    response = client.post("/api/boards", json=body)
    assert response.status_code == 201, response.text
    return response.json()


def follow(client, board):
    """Return a web socket of a game that `open_game` has described."""
    return client.websocket_connect(f"{ADDRESS.replace('http', 'ws')}/ws/{board['id']}")

"""Tests of the arena's protection: hosts, origins, tokens, sizes, and random requests."""

import json
import random

import pytest

pytest.importorskip("starlette", reason="the arena needs Starlette: the extra `arena`")
pytest.importorskip("httpx2", reason="Starlette's test client needs httpx2: the extra `dev`")

from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from ludoteca.evaluate.arena.server import MAX_BODY, make_app, static_files

pytestmark = pytest.mark.interpreted

ADDRESS = "http://127.0.0.1:8765"


@pytest.fixture(scope="module")
def sheet(tmp_path_factory):
    """Return the file of a rule sheet that the arena offers."""
    file = tmp_path_factory.mktemp("sheets") / f"{'long' * 20}.kif"
    file.write_text(SHEET)
    return file


@pytest.fixture(scope="module")
def app(sheet):
    """Return an arena for this machine only."""
    return make_app(("random",), num_workers=1, sheets=(sheet,))


@pytest.fixture(scope="module")
def client(app):
    """Yield a client on the same machine."""
    with TestClient(app, base_url=ADDRESS) as client:
        yield client


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},  # DNS rebinding: its owner lets the name mean this machine
        {"host": "evil.example:8765"},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/games", "/static/main.js"])
def test_requests_of_other_sites_are_refused(client, headers, path):
    assert client.get(path, headers=headers).status_code == 403


def test_web_sockets_of_other_sites_are_refused(client):
    address = f"{ADDRESS.replace('http', 'ws')}/ws/any"
    for headers in ({"origin": "http://evil.example"}, {"host": "evil.example"}):
        with (
            pytest.raises(WebSocketDisconnect) as refused,
            client.websocket_connect(address, headers=headers),
        ):
            pass
        assert refused.value.code == 1008  # policy violation, RFC 6455


def test_the_page_of_the_arena_is_served_with_protecting_headers(client):
    response = client.get("/", headers={"origin": ADDRESS, "sec-fetch-site": "same-origin"})
    assert response.status_code == 200
    assert "script-src 'self'" in response.headers["content-security-policy"]
    assert response.headers["x-content-type-options"] == "nosniff"


def test_without_the_token_nothing_is_served():
    app = make_app(("random",), num_workers=1, hosts=("board.example",), token="secret")
    with TestClient(app, base_url="http://board.example") as client:
        for path in (
            "/",
            "/api/games",
            "/static/main.js",
            "/?token=wrong",
            "/api/games?token=secret",
        ):
            assert client.get(path).status_code == 403
        client.cookies.set("ludoteca_arena", "wrong")
        assert client.get("/").status_code == 403
        client.cookies.clear()
        response = client.get("/?token=secret")
        assert response.status_code == 200
        assert str(response.url) == "http://board.example/"  # the token is not in the address
        assert client.get("/api/boards").json() == []


@pytest.mark.parametrize(
    "name",
    [
        "..%2f..%2fserver.py", "%2e%2e/server.py", "../server.py", "%2fetc%2fpasswd", "server.py",
        "main.js%00", "..%5cserver.py", "", ".",
    ],
)  # fmt: skip
def test_no_other_file_can_be_read(client, name):
    response = client.get(f"/static/{name}")
    assert response.status_code in (404, 405)


def test_files_are_served_by_name(client):
    assert {"index.html", "main.js", "style.css"} <= set(static_files())
    for name, content in static_files().items():
        response = client.get(f"/static/{name}")
        assert response.content == content
        assert "http:" not in content.decode().replace("http://www.w3.org/2000/svg", "")
        # Nothing is loaded from other servers.
        assert "https:" not in content.decode().replace('"https:"', "")


def test_large_requests_are_refused(client):
    for path in ("/api/boards", "/api/replays", "/api/games/hex"):
        assert client.post(path, content=b" " * (MAX_BODY + 1)).status_code == 413


def test_a_replay_cannot_import_code(client):
    text = json.dumps(
        {
            "format": "ludoteca-replay", "game": "interactive:anything", "seed": 0, "players": [],
            "actions": [], "returns": None,
        }
    )  # fmt: skip
    response = client.post("/api/replays", content=text)
    assert response.status_code == 400
    assert "not imported" in response.json()["error"]


SHEET = """(role one) (init (at 1)) (<= (legal one go) (true (at 1)))
(<= (next (at 2)) (does one go)) (<= terminal (true (at 2)))
(<= (goal one 100) (true (at 2))) (<= (goal one 0) (true (at 1)))"""


def replay_of_sheet(path):
    """Return the text of a finished game of `SHEET` in a file."""
    data = {"format": "ludoteca-replay", "game": f"gdl:path={path}", "seed": 0, "players": []}
    return json.dumps(data | {"actions": [0], "returns": [1.0]})


def test_only_offered_rule_sheets_are_read(client, tmp_path):
    file = tmp_path / "secret.kif"
    file.write_text(SHEET)
    fields = client.post("/api/games/gdl", json={}).json()["fields"]
    [path] = [field for field in fields if field["name"] == "path"]
    assert path["kind"] == "choice"
    assert {"breakthrough", "eight_puzzle", "tron"} <= set(path["options"])
    body = {"game": "gdl", "params": {"path": str(file)}, "seats": ["human"]}
    for response in (
        client.post("/api/games/gdl", json=body["params"]),
        client.post("/api/boards", json=body),
    ):
        assert response.status_code == 400
        assert "path must be one of atari_go, " in response.json()["error"]
    for spec in (f"gdl:path={file}", f"ludoteca/GDL-v0:path={file}"):
        text = replay_of_sheet(file).replace(f"gdl:path={file}", spec)
        response = client.post("/api/replays", content=text)
        assert response.status_code == 400
        assert "is not offered here" in response.json()["error"]


def test_further_rule_sheets_are_offered(client, sheet):
    form = client.post("/api/games/gdl", json={"path": str(sheet)}).json()
    assert form["players"] == 1
    body = {"game": "gdl", "params": {"path": str(sheet)}, "seats": ["human"]}
    assert client.post("/api/boards", json=body).status_code == 201
    response = client.post("/api/replays", content=replay_of_sheet(sheet))
    assert response.status_code == 201, response.text
    with pytest.raises(ValueError, match=r"there is no file 'missing.kif'"):
        make_app(sheets=("missing.kif",))


def test_random_requests_never_cause_a_server_error(client):
    """Every answer to a random request is a refusal with a reason, never a server error."""
    rng = random.Random(11)
    values = ["", "hex", None, -1, 2**70, 1.5, True, [], {}, ["human"] * 2, "\0", "é" * 50, "../x"]
    keys = ["game", "params", "seats", "seed", "move_delay", "clock", "format", "actions"]
    for _ in range(150):
        body = {key: rng.choice(values) for key in rng.sample(keys, rng.randrange(6))}
        path = rng.choice(["/api/boards", "/api/replays", "/api/games/hex", "/api/games/x"])
        content = json.dumps(rng.choice([body, rng.choice(values), [body]])).encode()
        if rng.random() < 0.3:
            content = bytes(rng.randrange(256) for _ in range(rng.randrange(40)))
        response = client.post(path, content=content)
        assert response.status_code in (200, 201, 400, 413), (path, content)


def test_random_commands_leave_the_connection_usable(client):
    board = client.post("/api/boards", json={"game": "tictactoe", "seats": ["human"] * 2}).json()
    kinds = [
        "play", "choose", "view", "undo", "redo", "restart", "pause", "options", "seats", "analyze",
        "analyze_all", "stop", "stop_analysis", "get_position", "set_up", "edit", "check_cells",
        "set_up_cells", "x", None, 3,
    ]  # fmt: skip
    values = [
        0, 1, 8, 9, -1, 2**70, 0.5, "a", None, True, [], {}, ["human"] * 2, ["random"] * 2,
        [1] + [0] * 8, [2] * 9, [3] * 9, [-1] * 9, ["a"] * 9, [True] * 9,
    ]  # fmt: skip
    names = [
        "action", "ply", "player", "seed", "on", "move_delay", "clock", "seats", "position",
        "cells", "check",
    ]  # fmt: skip
    rng = random.Random(3)
    with client.websocket_connect(f"ws://127.0.0.1:8765/ws/{board['id']}") as socket:
        for _ in range(300):
            message = {name: rng.choice(values) for name in rng.sample(names, 5)}
            socket.send_json(message | {"type": rng.choice(kinds)})
        socket.send_json({"type": "get_position", "ply": 0})
        while socket.receive_json()["type"] != "position_json":
            pass

"""Engines in tournaments by the clock, and in the arena."""

import sys

import pytest
from gtp_engines import HEX_ENGINE, OTHELLO_ENGINE

from ludoteca.agents.time_control import TimeControl
from ludoteca.evaluate.tournament.plan import Tournament
from ludoteca.evaluate.tournament.run import run_tournament

pytestmark = pytest.mark.interpreted

ADDRESS = "http://127.0.0.1:8765"


@pytest.fixture
def engine(tmp_path):
    """Return a function that returns the spec string of an engine for Hex 3x3 with a defect."""
    (tmp_path / "hex.py").write_text(HEX_ENGINE)
    return lambda kind: f"gtp:command={sys.executable} -I -S {tmp_path / 'hex.py'} {kind}"


def test_engines_play_tournaments_by_the_clock(engine, tmp_path):
    (tmp_path / "othello.py").write_text(OTHELLO_ENGINE)
    program = f"gtp:command={sys.executable} -I -S {tmp_path / 'othello.py'}"
    tournament = Tournament(
        ("othello:board_size=4",), (program, "random"), 2, 1, time_control=TimeControl(20, 20)
    )
    results = run_tournament(tournament, tmp_path / "othello", processes=1)
    assert results.forfeits == []

    tournament = Tournament(
        ("hex:board_size=3",),
        (engine("crashing"), engine("slow")),
        2,
        1,
        names=("crashing", "slow"),
        time_control=TimeControl(0.5, 20),
    )
    results = run_tournament(tournament, tmp_path / "hex", processes=1)
    reasons = {(tournament.names[f.agent], f.kind) for _, f in results.forfeits}
    assert reasons == {("crashing", "crash"), ("slow", "timeout")}
    messages = " ".join(forfeit.message for _, forfeit in results.forfeits)
    assert "its standard error ends: Segmentation fault" in messages
    assert "no answer within 0.5 s" in messages


def test_engines_play_in_the_arena(engine):
    pytest.importorskip("starlette", reason="the arena needs Starlette: the extra `arena`")
    pytest.importorskip("httpx2", reason="Starlette's test client needs httpx2: the extra `dev`")
    from starlette.testclient import TestClient

    from ludoteca.evaluate.arena.server import make_app

    good, crashing = engine("good"), engine("crashing")
    app = make_app((good, crashing), num_workers=1, adviser="random")
    with TestClient(app, base_url=ADDRESS) as client:
        for spec in (good, crashing):
            form = {"game": "hex", "params": {"board_size": "3"}, "pause": 0}
            response = client.post("/api/boards", json=form | {"seats": ["human", {"agent": spec}]})
            assert response.status_code == 201, response.text
            path = f"{ADDRESS.replace('http', 'ws')}/ws/{response.json()['id']}"
            with client.websocket_connect(path) as socket:
                state = receive(socket, "state")
                for _ in range(2):  # the second time after an undo
                    action = 4
                    socket.send_json({"type": "play", "action": action, "ply": state["ply"]})
                    while state["ply"] < 2 and not state["failure"]:
                        state = receive(socket, "state")
                    if spec == crashing:
                        assert "crash: the engine ended with exit code 3" in state["failure"]
                        break
                    assert sorted(state["position"]["legal"]) == [
                        1,
                        2,
                        3,
                        5,
                        6,
                        7,
                        8,
                    ]  # it has played a1
                    socket.send_json({"type": "undo"})
                    while state["ply"] > 0:
                        state = receive(socket, "state")


def receive(socket, kind):
    """Return the next message of a kind."""
    while (message := socket.receive_json())["type"] != kind:
        assert message["type"] != "error", message
    return message

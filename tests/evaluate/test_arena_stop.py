"""Tests of stops in the arena: an agent moves, or its process ends and the game pauses."""

import sys
import time

import pytest

pytest.importorskip("starlette", reason="the arena needs Starlette: the extra `arena`")
pytest.importorskip("httpx2", reason="Starlette's test client needs httpx2: the extra `dev`")

from arena_client import ADDRESS, Player, follow, open_game
from starlette.testclient import TestClient

from ludoteca.envs.registry import make_game
from ludoteca.evaluate.arena.server import make_app

pytestmark = pytest.mark.interpreted

HEX = "hex", {"board_size": "5"}
SEARCH = "mcts:simulations=1000000"
FAILING = "interactive:Throwing"
LIMIT = 300  # seconds until a test that waits fails

# Engines that answer everything but the request for a move; they never end by themselves.
ENGINES = {
    "gtp": """
        for line in sys.stdin:
            if line.startswith("genmove"):
                time.sleep(600)
            print("= \\n", flush=True)
        """,
    "nboard": """
        for line in sys.stdin:
            if line.startswith("ping"):
                print("pong", line.split()[1], flush=True)
        """,
}


@pytest.fixture(scope="module")
def client():
    """Yield a client of an arena whose process for searches is shared by several tests."""
    agents = (SEARCH, "alphabeta:depth=100", FAILING, "random")
    with TestClient(make_app(agents, num_workers=1, adviser=SEARCH), base_url=ADDRESS) as client:
        yield client


def seats(agent, game):
    """Return players of all seats: the agent is first, or in simultaneous games last."""
    rules = make_game(game)
    if rules.simultaneous:
        return [*["random"] * (rules.num_players - 1), agent]
    return [agent, "human"]


def stop_search(agent, game, params):
    """Let an agent search its first move in an arena of its own, and stop it, as in `stop_game`."""
    with TestClient(make_app((agent, "random"), num_workers=1), base_url=ADDRESS) as client:
        return stop_game(client, agent, game, params)


def stop_game(client, agent, game, params):
    """Let an agent search the first move of a new game, and stop it.

    Returns:
        The state of the game after the stop, the note or failure, and whether the agent's process
        is still the same.
    """
    board = open_game(client, game, params, seats(agent, game))
    lobby = client.app.state.lobby
    worker, history = lobby.workers.workers[0], lobby.games[board["id"]].history
    with follow(client, board) as socket:
        player = Player(socket)
        end = time.monotonic() + LIMIT
        while not history.actions and not is_searching(worker):
            assert time.monotonic() < end
            time.sleep(0.01)
        pid = worker.pid
        socket.send_json({"type": "stop"})
        state = player.wait(lambda state: state["ply"] > 0 or state["paused"])
        note = ""
        if state["paused"]:
            note = state["failure"] or player.receive("note")["text"]
            # The game resumes with another player, in another process.
            player.do("seats", seats=seats("random", game))
            socket.send_json({"type": "pause", "on": False})
            assert player.wait(lambda state: state["ply"] > 0)["moves"]
        is_same_process = worker.pid == pid
    assert client.delete(f"/api/boards/{board['id']}").status_code == 200  # else it continues
    return state, note, is_same_process


def is_searching(worker):
    """Return whether the worker's process has been in a search for a while, not compiling."""
    job, now = worker._current, time.monotonic()
    if job is None or not job.was_sent or job.is_preparing or job.has_ended.is_set():
        return False
    return now - job.phase_begin > 0.3  # seconds, enough for some simulations


def analysis_of_stopped_search(agent, game, params, client=None):
    """Assert that an agent moves when it is stopped, in the same process; return its analysis.

    The game is played in an arena that has the agent, or without a client in one of its own.
    """
    if client is None:
        state, note, is_same_process = stop_search(agent, game, params)
    else:
        state, note, is_same_process = stop_game(client, agent, game, params)
    assert (note, state["failure"]) == ("", "")
    assert state["ply"] > 0
    assert is_same_process
    return state["analyses"]["0"]


def assert_process_is_ended(agent, game, params):
    """Assert that the process of a stopped agent ends, and that the game pauses with a note."""
    state, note, is_same_process = stop_search(agent, game, params)
    assert note == f"{agent} did not stop by itself, so its process was ended"
    assert (state["failure"], state["ply"], state["thinking"]) == ("", 0, None)
    assert not is_same_process


@pytest.mark.parametrize(
    ("agent", "game", "params"),
    [
        (SEARCH, "tron", {}),
        ("alphabeta:depth=100", *HEX),
    ],
)
def test_a_tree_search_moves_with_its_result_so_far(client, agent, game, params):
    analysis = analysis_of_stopped_search(agent, game, params, client)
    assert analysis["simulations"] < 1_000_000
    assert analysis["moves"]


@pytest.mark.slow
@pytest.mark.interpreted
@pytest.mark.parametrize(
    "params", ["simulations=20000", "simulations=20000,policy=gumbel", "seconds=600"]
)
def test_a_search_with_a_policy_value_network_moves_with_its_result_so_far(params):
    pytest.importorskip("torch", reason="networks need PyTorch: the extra `train`")
    analysis = analysis_of_stopped_search(f"az:hex5,{params}", *HEX)
    assert 0 < analysis["simulations"] < 20_000
    assert sum(move["visits"] or 0 for move in analysis["moves"]) == analysis["simulations"]


@pytest.mark.slow
@pytest.mark.interpreted
def test_a_search_with_a_value_network_moves_with_its_result_so_far(tmp_path):
    pytest.importorskip("torch", reason="networks need PyTorch: the extra `train`")
    from ludoteca.agents.networks.value_network import ValueConfig, make_value_network
    from ludoteca.agents.networks.weights import save_weights

    game, config = make_game("othello"), ValueConfig(filters=(4,), hidden=8)
    file = tmp_path / "value.safetensors"
    weights = make_value_network(config, game).state_dict()
    save_weights(file, weights, {"game": game.spec, "network": config.as_dict()})
    analysis = analysis_of_stopped_search(f"uctnet:{file},simulations=20000", "othello", {})
    assert 0 < analysis["simulations"] < 20_000


@pytest.mark.slow
@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("agent", "game", "params"),
    [
        ("ac:geese,simulations=100000", "hungry_geese", {}),
        ("ac:geese", "hungry_geese", {}),
        ("cnn:geese", "hungry_geese", {}),
        ("dqn:hex5", *HEX),
    ],
)
def test_other_agents_with_networks_move(agent, game, params):
    pytest.importorskip("torch", reason="networks need PyTorch: the extra `train`")
    analysis_of_stopped_search(agent, game, params)


@pytest.mark.slow
@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("agent", "game", "params"),
    [
        ("flat:simulations=1000000", *HEX),
        ("openspiel:simulations=1000000", *HEX),
    ],
)
def test_the_process_of_a_search_that_cannot_be_stopped_is_ended(agent, game, params):
    if agent.startswith("openspiel"):
        pytest.importorskip("pyspiel", reason="the agent needs OpenSpiel: the extra `openspiel`")
    assert_process_is_ended(agent, game, params)


@pytest.mark.slow
@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("kind", "game", "params"), [("gtp", *HEX), ("htp", *HEX), ("nboard", "othello", {})]
)
def test_an_engine_is_ended_with_the_process_of_its_agent(kind, game, params, tmp_path):
    file, pid_file = tmp_path / "engine.py", tmp_path / "pid"
    # Without their indentation of 8 spaces. GTP and HTP engines answer alike.
    lines = [line[8:] for line in ENGINES["nboard" if kind == "nboard" else "gtp"].splitlines()]
    write_pid = f"import sys, time, os; open({str(pid_file)!r}, 'w').write(str(os.getpid()))"
    file.write_text("\n".join([write_pid, *lines]))
    assert_process_is_ended(f"{kind}:command={sys.executable} -I -S {file}", game, params)
    pid, end = int(pid_file.read_text()), time.monotonic() + LIMIT
    while is_running(pid):
        assert time.monotonic() < end
        time.sleep(0.05)


def is_running(pid):
    """Return whether a process has not ended; the state of ended ones is Z in Linux."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.slow
def test_a_game_that_is_stopped_while_its_agent_compiles_pauses_at_once():
    agent = "stopping_agents:Compiling"
    with TestClient(make_app((agent,), num_workers=1), base_url=ADDRESS) as client:
        board = open_game(client, "tictactoe", seats=[agent, "human"])
        worker = client.app.state.lobby.workers.workers[0]
        with follow(client, board) as socket:
            player = Player(socket)
            text = player.state["compiling"] or player.receive("compiling")["text"]
            assert text.startswith("compiling tictactoe")
            pid = worker.pid
            socket.send_json({"type": "stop"})
            state = player.wait(lambda state: state["paused"])
            assert (state["thinking"], state["compiling"], state["failure"]) == (None, "", "")
            note = player.receive("note")["text"]
            assert note == f"{agent} was stopped while its code was compiled or loaded"
            socket.send_json({"type": "pause", "on": False})
            assert player.wait(lambda state: state["ply"] == 1)["moves"] == ["a1"]
            assert worker.pid == pid  # the compilation was not interrupted


@pytest.mark.slow
def test_a_stop_during_a_real_compilation_pauses_and_the_compilation_is_finished(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    agent = "mcts:simulations=1000000000"
    with TestClient(make_app((agent,), num_workers=1), base_url=ADDRESS) as client:
        board = open_game(client, "tictactoe", seats=[agent, "human"])
        worker = client.app.state.lobby.workers.workers[0]
        with follow(client, board) as socket:
            player = Player(socket)
            assert player.state["compiling"] or player.receive("compiling")["text"]
            pid, begin = worker.pid, time.monotonic()
            socket.send_json({"type": "stop"})
            player.wait(lambda state: state["paused"])
            assert time.monotonic() - begin < 2  # seconds, less than the compilation takes
            assert "was stopped while its code was compiled" in player.receive("note")["text"]
            socket.send_json({"type": "pause", "on": False})
            player.receive("thinking")  # the code has been compiled meanwhile
            socket.send_json({"type": "stop"})
            state = player.wait(lambda state: state["ply"] == 1)
            assert state["analyses"]["0"]["simulations"] < 1_000_000_000
            assert worker.pid == pid


def test_an_undo_resumes_a_game_after_a_failure(client):
    board = open_game(client, "tictactoe", seats=["human", FAILING])
    with follow(client, board) as socket:
        player = Player(socket)
        player.do("play", action=0, ply=0)
        player.wait(lambda state: state["failure"])
        state = player.do("undo")
        assert (state["failure"], state["paused"]) == ("", False)
        player.do("seats", seats=["human", "random"])
        player.do("play", action=0, ply=0)
        assert player.wait(lambda state: state["ply"] == 2)["moves"]


def test_an_analysis_that_is_stopped_for_another_position_is_resumed(client):
    board = open_game(client, *HEX)
    with follow(client, board) as socket:
        player = Player(socket)
        player.do("play", action=0, ply=0)
        socket.send_json({"type": "analyze", "ply": 0})
        assert player.receive("analysis")["ply"] == 0
        socket.send_json({"type": "analyze", "ply": 1})
        while (message := player.receive("analysis"))["ply"] == 0:
            assert not message["analysis"].get("finished")
        socket.send_json({"type": "analyze", "ply": 0})
        while (message := player.receive("analysis"))["ply"] == 1:
            assert not message["analysis"].get("finished")
        socket.send_json({"type": "stop"})
        while not (message := player.receive("analysis"))["analysis"].get("finished"):
            assert message["ply"] == 0
        assert 0 < message["analysis"]["simulations"] < 1_000_000

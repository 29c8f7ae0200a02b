"""Tests of the time control of the GTP servers: clocks, and the time that agents are given."""

import sys

import pytest

from ludoteca.envs.registry import make_game
from ludoteca.evaluate.protocols.engine_session import EngineSession
from ludoteca.evaluate.protocols.gtp_clock import GTPClock
from ludoteca.evaluate.protocols.gtp_hex import HexServer
from ludoteca.evaluate.protocols.gtp_othello import OthelloServer
from ludoteca.evaluate.protocols.line_server import CommandError

pytestmark = pytest.mark.interpreted

# Module of an agent that records the seconds it is given for each move in `times`, and lets the
# simulated time `now` pass by them.
TIMED = """
import time
from ludoteca.agents.baselines import RandomAgent
class Timed(RandomAgent):
    seconds = None
    def set_time_control(self, time_control):
        self.seconds = time_control.move_seconds
    def act(self, states, seats, rngs, env_indices):
        if len(states) > 0:  # not when it is compiled
            times.append(self.seconds)
            now[0] += self.seconds or 0
        return super().act(states, seats, rngs, env_indices)
now, times = [0.0], []
"""


@pytest.fixture
def timed(tmp_path, monkeypatch):
    """Return a function that makes a server on simulated time, and lists its moves' seconds."""
    (tmp_path / "timed.py").write_text(TIMED)

    def make(kind, game):
        server = kind(game, f"{tmp_path / 'timed.py'}:Timed")
        module = sys.modules[type(server.session._agent).__module__]
        monkeypatch.setattr("time.perf_counter", lambda: module.now[0])
        return server, module.times

    return make


def ask(server, *lines):
    """Return the answers to commands, without the empty lines that end them."""
    return ["".join(server.respond(f"{line}\n")).removesuffix("\n\n") for line in lines]


# Main time and byo-yomi time in seconds, and the number of moves in the byo-yomi time.
@pytest.mark.parametrize("settings", [(0, 30, 0), (60, 30, 0), (0, 0, 0), (0, 0, 5)])
def test_settings_without_limit(settings):
    assert not GTPClock(*settings).is_limited


def test_main_time_lasts_for_all_moves():
    clock = GTPClock(900, 0, 0)
    assert clock.is_limited
    spent = 0.0
    for max_moves_left in range(30, 0, -1):
        seconds = clock.move_seconds("white", max_moves_left)
        assert 0 < seconds <= 900 / 18 + 1e-9  # 18 moves are expected, 0.6 of 30
        clock.spend("white", seconds)
        spent += seconds
    assert spent == pytest.approx(900)
    assert clock.move_seconds("black", 30) == pytest.approx(50)  # each color has its own
    clock.reset()
    assert clock.move_seconds("white", 30) == pytest.approx(50)


def test_periods_follow_the_main_time():
    clock = GTPClock(10, 20, 4)
    clock.spend("black", 12)  # the last 2 seconds are those of the first period
    assert clock.move_seconds("black", 50) == pytest.approx(18 / 3)
    for _ in range(3):
        clock.spend("black", 6)
    assert clock.move_seconds("black", 50) == pytest.approx(20 / 4)  # a new period
    clock.set_left("black", 3, 1)
    assert clock.move_seconds("black", 50) == pytest.approx(3)
    clock.set_left("white", 2, 0)
    assert clock.move_seconds("white", 1) == pytest.approx(2 + 20 / 4)


def test_agents_take_the_time_of_the_clock(timed):
    server, times = timed(HexServer, make_game("hex:board_size=5"))
    assert ask(server, "genmove b", "clear_board")[1] == "= "
    assert times == [None]  # the limits of the spec string
    times.clear()
    assert ask(server, "time_settings 130 0 0") == ["= "]
    ask(server, "genmove b", "genmove w", "genmove b")
    # The color to move has at most 13, 12 and 12 moves left, of which 0.6 are expected.
    first = 130 / (0.6 * 13)
    assert times == pytest.approx([first, 130 / (0.6 * 12), (130 - first) / (0.6 * 12)])
    ask(server, "time_left w 7.2 0", "genmove w", "reg_genmove b", "genmove b")
    assert times[3] == pytest.approx(7.2 / (0.6 * 11))
    assert len(times) == 5  # an analysis of the same position is not repeated
    ask(server, "clear_board", "genmove b")
    assert times[-1] == pytest.approx(first)


def test_time_per_move_and_its_end(timed):
    server, times = timed(OthelloServer, make_game("othello"))
    ask(server, "time_settings 0 3 1", "genmove b", "genmove w", "boardsize 6", "genmove b")
    assert times == [3, 3, 3]
    ask(server, "time_left w 0 0", "time_settings 0 1 0", "genmove w")
    assert times == [3, 3, 3, None]
    assert ask(server, "time_left w 5 1", "time_settings 1 1 x") == [
        "= ", "? BYO_YOMI_STONES must be an integer of at most 9 digits, got x",
    ]  # fmt: skip


def test_agents_that_fail_with_a_clock_are_errors(tmp_path):
    file = tmp_path / "broken.py"
    file.write_text(
        "from ludoteca.agents.baselines import RandomAgent\n"
        "class Broken(RandomAgent):\n"
        "    def prepare(self):\n"
        "        raise RuntimeError('no memory')\n"
    )
    server = HexServer(make_game("hex:board_size=3"), f"{file}:Broken")
    (answer,) = ask(server, "time_settings 0 1 1")
    assert answer.endswith("failed: RuntimeError: no memory")


def test_an_agent_that_fails_to_compile_does_not_replace_the_agent(tmp_path):
    (tmp_path / "broken.py").write_text(
        "from ludoteca.agents.baselines import RandomAgent\n"
        "class Broken(RandomAgent):\n"
        "    def prepare(self):\n"
        "        raise RuntimeError('no code')\n"
        "    def set_time_control(self, time_control):\n"
        "        pass\n"
    )
    game = make_game("hex:board_size=3")
    session = EngineSession(game, "mcts:simulations=5")
    session.limit_time(1.0)
    with pytest.raises(CommandError, match="no code"):
        session.restart(make_game("hex:board_size=4"), f"{tmp_path / 'broken.py'}:Broken")
    assert (session.game, session.spec) == (game, "mcts:simulations=5")
    assert session.analyze().action in game.legal(session.history.current)

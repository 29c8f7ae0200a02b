"""Tests of the agents `gtp` and `htp`: engines in processes, good ones and broken ones."""

import copy
import os
import sys

import numpy as np
import pytest
from gtp_engines import HEX_ENGINE
from server_process import replace_engines

from ludoteca.agents.external.engines.gtp_hex import moves_to, stones_after, stones_of
from ludoteca.agents.registry import make_agent
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.game import FORFEIT
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.match_table import match_text
from ludoteca.evaluate.play.agent_thread import AgentThread
from ludoteca.evaluate.play.history import GameHistory
from ludoteca.evaluate.protocols.gtp_hex import HexServer
from ludoteca.evaluate.protocols.htp import HTPServer

pytestmark = pytest.mark.interpreted


@pytest.fixture
def engine(tmp_path):
    """Return a function that returns the parameters of an engine for Hex 3x3 with a defect."""
    file = tmp_path / "engine.py"
    file.write_text(HEX_ENGINE)
    return lambda kind: f"command={sys.executable} -I -S {file} {kind}"


@pytest.mark.parametrize("kind", ["good", "chatty"])
def test_engines_play_matches_in_both_seats(engine, kind):
    result = play_match("hex:board_size=3", [f"gtp:{engine(kind)}", "random"], 6, seed=2)
    assert result.forfeits == ()
    assert sum(record.wins for record in result.totals) == 6


def test_engines_play_after_random_plies_and_against_themselves(engine):
    spec = f"htp:{engine('good')}"
    game = make_game("hex:board_size=3,swap=True,first=white")
    result = play_match(game, [spec, spec], 4, random_plies=2, num_replays=4)
    assert result.forfeits == ()
    assert all(replay.returns is not None for replay in result.replays)


@pytest.mark.parametrize(
    ("kind", "reason", "message"),
    [
        ("crashing", "crash", "its standard error ends: Segmentation fault"),
        ("slow", "timeout", "no answer within 0.2 s"),
        ("garbage", "invalid", "expected = or ? in answer to 'genmove black', got \\x00"),
        ("flooding", "invalid", "it wrote more than 1048576 bytes for one move"),
        ("illegal", "invalid", "its move z9 is illegal"),
        ("refusing", "invalid", "it refused 'play "),
        ("resigning", "resign", "it resigned"),
    ],
)
def test_broken_engines_forfeit_with_the_reason(engine, kind, reason, message):
    seconds = 0.2 if kind == "slow" else 30
    spec = f"gtp:{engine(kind)},seconds={seconds}"
    result = play_match("hex:board_size=3", [spec, "random"], 2, num_replays=2)
    assert [(f.game, f.agent, f.seat, f.kind) for f in result.forfeits] == [
        (0, 0, 0, reason), (1, 0, 1, reason),
    ] or (kind == "refusing" and {f.kind for f in result.forfeits} == {reason})  # fmt: skip
    texts = [forfeit.message for forfeit in result.forfeits]
    assert any(message in text for text in texts)
    assert all(len(text) < 1000 for text in texts)
    assert result.totals[0].wins == 0
    assert result.totals[1].wins == 2
    assert np.array_equal(result.returns, [[-1, 1], [1, -1]])
    assert [replay.returns for replay in result.replays] == [None, None]
    assert f"forfeited 2 times (2 {reason})" in match_text(result)


def test_engines_get_the_time_limits_of_the_match(engine):
    """The engine `timed` plays an illegal move unless it is sent limits of 60 s."""
    for seconds, forfeits in ((60.5, 0), (50, 1)):
        result = play_match(
            "hex:board_size=3",
            [f"gtp:{engine('timed')}", "random"],
            1,
            time_control=TimeControl(seconds, 30),
        )
        assert len(result.forfeits) == forfeits


@pytest.mark.parametrize("out_of_time", ["forfeit", "random"])
def test_engines_play_by_the_clock(engine, out_of_time):
    control = TimeControl(0.2, 30, out_of_time=out_of_time)
    result = play_match(
        "hex:board_size=2", [f"gtp:{engine('slow')}", "random"], 1, time_control=control
    )
    late_moves = result.times[0].out_of_time
    if out_of_time == "random":
        assert result.forfeits == ()
        assert late_moves == result.times[0].moves
    else:
        assert [(f.agent, f.kind) for f in result.forfeits] == [(0, "timeout")]
        assert late_moves == 1


def test_forfeits_of_other_agents_in_sequential_games():
    agents = [Quitter(make_game("tictactoe")), "random"]
    result = play_match("tictactoe", agents, 10, batch_size=3)
    assert result.totals[0].losses == 10
    assert [f.ply for f in result.forfeits] == [2, 3] * 5


class Quitter(type(make_agent("random", make_game("tictactoe")))):
    """Agent that forfeits a game at its second move."""

    def act(self, states, seats, rngs, env_indices):
        actions = super().act(states, seats, rngs, env_indices)
        stones = np.array(
            [self.game.layout.cells(s).astype(bool).sum() for s in self.records(states)]
        )
        return np.where(stones >= 2, FORFEIT, actions)

    @staticmethod
    def records(states):
        """Return positions as records."""
        return [states.view(np.recarray)[k] for k in range(len(states))]


def test_play_shows_why_an_engine_forfeits(engine):
    game = make_game("hex:board_size=3")
    agent = make_agent(f"gtp:{engine('illegal')}", game)
    failure = AgentThread(agent, "engine").think(GameHistory(game))
    assert str(failure) == "engine failed: it forfeited: invalid: its move z9 is illegal"


def test_invalid_settings_are_errors(engine):
    game = make_game("hex:board_size=3")
    with pytest.raises(ValueError, match="must begin with a program that can be run, got 'no-such"):
        make_agent("gtp:command=no-such-program --x", game)
    with pytest.raises(ValueError, match="not a command line: No closing quotation"):
        make_agent("gtp:command=python 'x", game)
    with pytest.raises(ValueError, match="play hex, not othello"):
        make_agent(f"htp:{engine('good')}", make_game("othello"))
    with pytest.raises(ValueError, match="play hex and othello, not tictactoe"):
        make_agent(f"gtp:{engine('good')}", make_game("tictactoe"))
    with pytest.raises(ValueError, match="seconds must be"):
        make_agent(f"gtp:{engine('good')},seconds=0", game)


def test_engines_end_with_the_agent(engine):
    game = make_game("hex:board_size=3")
    agent = make_agent(f"gtp:{engine('good')}", game)
    zero = np.zeros(1, np.int64)  # the seat and the index of the game
    states = np.array([game.new()], game.state)
    assert agent.act(states, zero, np.zeros((1, 1), np.uint64), zero).tolist() == [0]
    (child,) = [seat.process._child for seat in agent._engines.values()]
    assert copy.deepcopy(agent)._engines == {}
    assert child.poll() is None
    agent.close()
    assert child.poll() is not None
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("first", ["black", "white"])
def test_positions_are_set_up_by_moves(swap, first):
    game = make_game("hex", board_size=4, swap=swap, first=first)
    rng = np.random.default_rng(1)
    for _ in range(6):
        history = GameHistory(game)
        while not history.is_over:
            is_swap = swap and len(history.actions) == 1
            history.play(16 if is_swap else int(rng.choice(history.legal())))
            s = history.current
            moves = moves_to(game, s)
            assert stones_after(moves) == stones_of(game, s)
            again = GameHistory(game)
            for _, name in moves:
                again.play(game.action_names.index(name.replace("swap-pieces", "swap")))
                if again.is_over:
                    break
            same = [np.array_equal(again.current[name], s[name]) for name in game.state.names]
            assert again.is_over or all(same)


@pytest.mark.parametrize("size", range(2, 20))
@pytest.mark.parametrize("swap", [False, True])
def test_servers_are_played_by_the_agents_on_all_boards(monkeypatch, size, swap):
    server_class, name = [(HexServer, "gtp"), (HTPServer, "htp")][size % 2]
    replace_engines(monkeypatch, lambda: server_class(make_game("hex", swap=swap), "random"))
    game = make_game("hex", board_size=size, swap=swap, first=("black", "white")[size // 2 % 2])
    spec = f"{name}:command={sys.executable}"
    if size <= 5:
        result = play_match(game, [spec, spec if swap else "random"], 4, seed=size)
        assert result.forfeits == ()
        return
    agent, history = make_agent(spec, game), GameHistory(game)
    for ply in range(6):
        seat, env_index = np.array([ply % 2]), np.zeros(1, np.int64)
        action = agent.act(np.array([history.current], game.state), seat, None, env_index)
        history.play(size * size if swap and ply == 1 else int(action[0]))


@pytest.mark.slow
def test_command_is_played_by_the_agent_in_its_process():
    command = f"{sys.executable} -P -m ludoteca gtp --swap --agent random"
    result = play_match("hex:board_size=2,swap=True", [f"gtp:command={command}", "random"], 4)
    assert result.forfeits == ()

"""Othello in GTP (Go Text Protocol): our server, engines as agents, and GRhino, a Debian engine."""

import shutil
import sys
import time

import numpy as np
import pytest
from gtp_engines import OTHELLO_ENGINE
from server_process import replace_engines

from ludoteca.agents.external.engines.gtp_othello import continued, opening_moves
from ludoteca.agents.external.engines.process import EngineProcess
from ludoteca.agents.registry import make_agent
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.play.history import GameHistory
from ludoteca.evaluate.protocols.gtp_othello import OthelloServer

pytestmark = pytest.mark.interpreted

GRHINO = shutil.which("gtp-rhino") or shutil.which("gtp-rhino", path="/usr/games")
needs_grhino = pytest.mark.skipif(
    GRHINO is None, reason="needs the engine gtp-rhino: apt-get install grhino"
)


@pytest.fixture
def engine(tmp_path):
    """Return the spec string of an engine."""
    (tmp_path / "engine.py").write_text(OTHELLO_ENGINE)
    return f"gtp:command={sys.executable} -I -S {tmp_path / 'engine.py'}"


def ask(server, *lines):
    """Return the answers of a server to command lines."""
    return ["".join(server.respond(f"{line}\n")).removesuffix("\n\n") for line in lines]


def random_game(size, seed, auto_pass=False):
    """Return the history of a random game."""
    history = GameHistory(make_game("othello", board_size=size, auto_pass=auto_pass))
    rng = np.random.default_rng(seed)
    while not history.is_over:
        history.play(int(rng.choice(history.legal())))
    return history


def has_passes(history):
    """Return whether a player has passed."""
    return history.game.num_actions - 1 in history.actions


@pytest.mark.parametrize(
    "size", [4, pytest.param(6, marks=pytest.mark.slow), pytest.param(8, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("auto_pass", [False, True])
def test_engines_play_matches_in_both_seats(engine, size, auto_pass):
    game = make_game("othello", board_size=size, auto_pass=auto_pass)
    plies = 0 if size == 4 else 4
    result = play_match(game, [engine, "random"], 6, random_plies=plies, seed=size)
    assert result.forfeits == ()


def test_server_is_played_by_the_agent(monkeypatch):
    replace_engines(monkeypatch, lambda: OthelloServer(make_game("othello"), "random"))
    game = make_game("othello", board_size=6)
    result = play_match(game, [f"gtp:command={sys.executable}"] * 2, 2, random_plies=4)
    assert result.forfeits == ()


@pytest.mark.parametrize("size", [4, 8])
def test_passes_may_be_sent_or_left_out(size):
    server = OthelloServer(make_game("othello", board_size=size), "random")
    seeds = [seed for seed in range(9) if has_passes(random_game(size, seed))][:1]
    assert seeds
    for seed in seeds:
        history = random_game(size, seed)
        for sends_passes in (True, False):
            assert ask(server, "clear_board") == ["= "]
            for ply, action in enumerate(history.actions):
                color, name = "bw"[history.mover_at(ply)], history.game.action_names[action]
                if name == "pass":
                    assert ask(server, f"reg_genmove {color}", f"genmove {color}") == ["= pass"] * 2
                if name != "pass" or sends_passes:
                    assert ask(server, f"play {color} {name}") == ["= "]
            black, white = (int(discs).bit_count() for discs in history.current.discs)
            score = f"{'B' if black > white else 'W'}+{abs(black - white)}"
            assert ask(server, "final_score") == [f"= {score if black != white else 0}"]
            assert ask(server, "genmove b") == ["? the game is over"]
            for _ in range(sum(name != history.game.num_actions - 1 for name in history.actions)):
                assert ask(server, "undo") == ["= "]  # discs, with the passes after them
            assert ask(server, "undo") == ["? cannot undo: no move has been played"]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("boardsize 5", "unacceptable size: expected 4, 6 or 8, got 5"),
        ("boardsize 8 6", "unacceptable size: expected a square board, got 8 6"),
        ("play b c5", "white is to move, not black"),
        ("play w pass", "illegal move: pass; the legal moves are c3 e3 c5"),
        ("play w i9", "illegal move: there is no move i9"),
        ("genmove black", "white is to move, not black"),
        ("set_game Go", "unsupported game: expected Othello, got Go"),
        ("final_score", "cannot score: the game is not over"),
    ],
)
def test_commands_that_fail_leave_the_position(line, answer):
    server = OthelloServer(make_game("othello"), "random")
    assert ask(server, "list_games", "set_game Othello", "play black D3") == [
        "= Othello", "= ", "= ",
    ]  # fmt: skip
    before = ask(server, "showboard")
    assert ask(server, line) == [f"? {answer}"]
    assert ask(server, "showboard") == before


@pytest.mark.parametrize("auto_pass", [False, True])
def test_moves_to_a_position_are_found(auto_pass):
    for seed in range(2):
        history = random_game(6, seed, auto_pass)
        game, pass_action = history.game, history.game.num_actions - 1
        moves = []
        for s in history.positions[:-1]:
            if game.legal(s) == [pass_action]:
                continue
            found = continued(game, moves, s)
            assert found is not None
            assert found[: len(moves)] == moves
            moves = found
        assert len(moves) == sum(action != pass_action for action in history.actions[:-1])
        middle = history.positions[12]
        if game.legal(middle) != [pass_action]:  # an earlier position needs fewer moves
            assert continued(game, moves, middle) == moves[: sum(
                action != pass_action for action in history.actions[:12]
            )]  # fmt: skip
        assert continued(game, moves[:3], history.positions[8]) is None
        opening = opening_moves(game, history.positions[8])
        assert continued(game, opening, history.positions[8]) == opening


def test_position_without_known_moves_is_an_error():
    game = make_game("othello")
    s = game.new()
    s.discs[0] |= np.uint64(1)  # a corner that cannot be reached
    with pytest.raises(ValueError, match="no moves to the position with 5 discs were found"):
        opening_moves(game, s)


@pytest.mark.slow
@needs_grhino
def test_grhino_plays_matches_by_the_clock():
    result = play_match(
        "othello",
        [f"gtp:command={GRHINO} -l 2", "alphabeta:depth=2"],
        4,
        random_plies=6,
        time_control=TimeControl(5, 30),
    )
    assert result.forfeits == ()
    assert result.times[0].out_of_time == 0
    assert all(np.abs(result.returns).sum(1) <= 2)


@pytest.mark.slow
@needs_grhino
def test_grhino_forfeits_on_other_boards_and_when_out_of_time():
    result = play_match("othello:board_size=6", [f"gtp:command={GRHINO}", "random"], 2)
    assert [forfeit.kind for forfeit in result.forfeits] == ["invalid"] * 2
    assert "it refused 'boardsize 6': unacceptable size" in result.forfeits[0].message
    start = time.monotonic()
    control = TimeControl(0.2, 10)
    slow = f"gtp:command={GRHINO} -l 5 -m 20 -b 0"
    result = play_match("othello", [slow, "random"], 1, random_plies=4, time_control=control)
    assert [forfeit.kind for forfeit in result.forfeits] == ["timeout"]
    assert time.monotonic() - start < 60


@pytest.mark.slow
@needs_grhino
@pytest.mark.parametrize("seed", range(20))
def test_server_and_grhino_agree_on_whole_games(seed):
    """Moves, passes and scores of random games are those of GRhino."""
    process = EngineProcess(f"{GRHINO} -l 1 -b 0")
    process.set_time_limit(120)
    other = make_agent(f"gtp:command={GRHINO}", make_game("othello")).make_engine(process)
    other.ask("clear_board")
    server, history = OthelloServer(make_game("othello"), "random"), random_game(8, seed)
    for ply, action in enumerate(history.actions):
        color, name = "bw"[history.mover_at(ply)], history.game.action_names[action]
        if name == "pass":
            (answer,) = ask(server, f"reg_genmove {color}")
            assert other.ask(f"reg_genmove {color}").lower() == answer.removeprefix("= ") == "pass"
            continue
        assert ask(server, f"play {color} {name}") == ["= "]
        other.ask(f"play {color} {name}")
    (score,) = ask(server, "final_score")
    assert score.removeprefix("= ") == other.ask("final_score")
    process.close()

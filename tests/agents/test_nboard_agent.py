"""The agent `nboard`, which plays Othello engines by the NBoard protocol; our own server, too."""

import sys

import numpy as np
import pytest
from server_process import replace_engines

from ludoteca.agents.registry import make_agent
from ludoteca.envs.engine.trajectory import record_trajectory
from ludoteca.envs.formats.ggf import position_text, read_ggf_game
from ludoteca.envs.formats.record import RecordText
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.protocols.nboard import NBoardServer

pytestmark = pytest.mark.interpreted

# Engine that plays the first legal move by its own rules of Othello; its argument selects a defect.
ENGINE = """
import re, sys, time
kind, size, board, mover = sys.argv[1], 0, "", "*"
def out(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()
def flips(k):
    other, total = "O" if mover == "*" else "*", 0
    for dr, dc in [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]:
        r, c, run = k // size + dr, k % size + dc, 0
        while 0 <= r < size and 0 <= c < size and board[r * size + c] == other:
            r, c, run = r + dr, c + dc, run + 1
        if run and 0 <= r < size and 0 <= c < size and board[r * size + c] == mover:
            total += run
    return total
for line in sys.stdin:
    words = line.split(None, 2)
    if words[0] == "ping":
        out("status ready") if kind == "chatty" else None
        out("pong " + words[1])
    elif words[:2] == ["set", "game"]:
        first, *rows = re.search(r"BO\\[([^]]*)\\]", words[2])[1].split()
        size, board, mover = int(first), "".join(rows)[:-1], rows[-1][-1]
    elif words[0] == "go":
        if kind == "crashing":
            sys.exit(3)
        if kind == "slow":
            time.sleep(60)
        if kind == "complaining":
            out("status Error: no book")
        if kind == "chatty":
            out("status Thinking")
            out("nodestats 100 0.5")
        k = next(k for k in range(size * size) if board[k] == "-" and flips(k))
        name = "ABCDEFGH"[k % size] + str(k // size + 1)
        out("=== PA" if kind == "passing" else "===" + name + ("/1.5/0.1" * (kind == "chatty")))
"""


@pytest.fixture
def engine(tmp_path):
    """Return a function that returns the spec string of an engine with a defect."""
    file = tmp_path / "engine.py"
    file.write_text(ENGINE)
    return lambda kind: f"nboard:command={sys.executable} -I -S {file} {kind}"


@pytest.mark.parametrize("kind", ["good", "chatty"])
@pytest.mark.parametrize("auto_pass", [False, True])
def test_engines_play_matches_in_both_seats(engine, kind, auto_pass):
    game = f"othello:board_size=4,auto_pass={auto_pass}"
    result = play_match(game, [f"{engine(kind)},depth=3", "random"], 4, random_plies=2)
    assert result.forfeits == ()
    assert result.totals[0].games == 4


@pytest.mark.parametrize(
    ("kind", "reason", "message"),
    [
        ("crashing", "crash", "ended with exit code 3"),
        ("slow", "timeout", "no answer within 0.2 s"),
        ("passing", "invalid", "its move PA is illegal"),
        ("complaining", "invalid", "it reported: status Error: no book"),
    ],
)
def test_broken_engines_forfeit_with_the_reason(engine, kind, reason, message):
    spec = f"{engine(kind)},seconds={0.2 if kind == 'slow' else 30}"
    result = play_match("othello:board_size=4", [spec, "random"], 1)
    (forfeit,) = result.forfeits
    assert (forfeit.agent, forfeit.kind) == (0, reason)
    assert message in forfeit.message


@pytest.mark.parametrize("size", [4, 6, 8])
def test_positions_of_random_games_are_read_again(size):
    game = make_game("othello", board_size=size)
    played = record_trajectory(game, 1, seed=size, interpreted=True)
    for s in view_records(played.positions[0, : played.plies[0]]):
        if not game.is_terminal(s):
            read = read_ggf_game(RecordText(position_text(game, s)))
            assert read.game is game
            assert read.actions == ()
            np.testing.assert_array_equal(read.start.discs, s.discs)
            assert read.start.to_move == s.to_move
            assert game.legal(read.start) == game.legal(s)


@pytest.mark.parametrize("size", [4, 6, 8])
def test_our_server_is_played_by_the_agent(monkeypatch, size):
    replace_engines(monkeypatch, lambda: NBoardServer("greedy"))
    spec = f"nboard:command={sys.executable}"
    result = play_match(f"othello:board_size={size}", [spec, "random"], 2, random_plies=3)
    assert result.forfeits == ()


def test_invalid_settings_are_errors(engine):
    with pytest.raises(ValueError, match="play othello, not hex"):
        make_agent(engine("good"), make_game("hex"))
    with pytest.raises(ValueError, match="depth must be"):
        make_agent(f"{engine('good')},depth=0", make_game("othello"))


@pytest.mark.slow
def test_command_is_played_by_the_agent_in_its_process():
    command = f"{sys.executable} -P -m ludoteca nboard --agent greedy"
    result = play_match("othello:board_size=4", [f"nboard:command={command}", "random"], 2)
    assert result.forfeits == ()
